// How many registers an entry takes, as it is estimated.
#include "core/ptx/pressure.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tilescope::ptx {
namespace {

std::uint32_t registers_of(const std::string& name, const std::string& text,
                           std::string_view entry) {
  Outcome<Module> m = parse_module(name, text);
  if (!m.ok()) return ADD_FAILURE() << m.error().sentence, 0;
  const auto shared = std::make_shared<const Module>(std::move(*m));
  const Outcome<const Function*> function = shared->entry(entry);
  if (!function.ok()) return ADD_FAILURE() << function.error().sentence, 0;
  const Outcome<Program> program = decode(shared, **function);
  if (!program.ok()) return ADD_FAILURE() << program.error().sentence, 0;
  return estimated_registers(*program);
}

// Loads `count` numbers of 32 or 64 bits, and then adds them: all are alive together.
std::string loads(int count, int bits, const std::string& bounds = "") {
  const std::string type = std::to_string(bits);
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)" + bounds +
      "\n{\n.reg .b" + type + " %v<" + std::to_string(count + 1) +
      ">;\n.reg .b32 %r<2>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [a];\n"
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n";
  for (int i = 0; i < count; ++i) {
    text += "ld.global.u" + type + " %v" + std::to_string(i) + ", [%rd3+" + std::to_string(8 * i) +
            "];\n";
  }
  for (int i = 1; i < count; ++i)
    text += "add.s" + type + " %v0, %v0, %v" + std::to_string(i) + ";\n";
  return text + "st.global.u" + type + " [%rd3], %v0;\nret;\n}\n";
}
std::uint32_t of_loads(int count, int bits, const std::string& bounds = "") {
  return registers_of("loads.ptx", loads(count, bits, bounds), "k");
}

TEST(Pressure, IsWhatIsAliveTogether) {
  EXPECT_EQ(of_loads(60, 32) - of_loads(20, 32), 42u) << "40 words, and a twentieth";
  EXPECT_EQ(of_loads(30, 64), of_loads(60, 32)) << "two words each";
  EXPECT_EQ(of_loads(400, 32), most_registers);
}

// PTX ISA 11.4: .maxnreg, and what leaves room for so many CTAs of so many threads.
TEST(Pressure, StaysWithinWhatIsAllowed) {
  EXPECT_EQ(of_loads(200, 32, " .maxnreg 40"), 40u);
  EXPECT_EQ(of_loads(200, 32, " .reqntid 1024, 1, 1"), 64u);
  EXPECT_EQ(of_loads(200, 32, " .maxntid 256, 1, 1 .minnctapersm 4"), 64u);
  EXPECT_EQ(of_loads(20, 32, " .maxntid 256, 1, 1 .minnctapersm 4"), of_loads(20, 32));
}

// `ptxas -v` 13.0 of kernels here.
TEST(Pressure, IsNotFarFromWhatPtxasSays) {
  struct Known {
    const char* kernel;
    std::uint32_t ptxas;
  };
  for (const auto& [kernel, ptxas] :
       {Known{"elementwise_add", 50}, Known{"matmul_naive", 32}, Known{"matmul_tiled", 80},
        Known{"hgemm_v3", 80}, Known{"hgemm_v5", 56}, Known{"hgemm_v10", 168},
        Known{"wgmma_v2", 154}, Known{"wgmma_v5", 168}, Known{"wgmma_v9", 168}}) {
    const std::string path = TILESCOPE_PTX "/" + std::string(kernel) + ".ptx";
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const double own = registers_of(path, text.str(), kernel);
    EXPECT_NEAR(own, ptxas, 0.35 * ptxas) << kernel;
  }
}

}  // namespace
}  // namespace tilescope::ptx
