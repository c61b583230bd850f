// Textures as an H200 samples them (textures_h200.txt).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/sim/machine/device.h"
#include "tests/sim/tensor_kernel.h"

namespace tilescope::test {
namespace {

using u32 = std::uint32_t;

struct Case {
  Texture texture;
  std::string text;  // its first line
  bool floats = true;
  std::vector<std::byte> data;
  std::vector<std::vector<u32>> coordinates, answers;
};

constexpr const char* kernel = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry sample(.param .u64 t, .param .u64 in, .param .u64 out)
{
	.reg .b32 n, r<4>;
	.reg .f32 c<4>;
	.reg .b64 h, i, o, off;
	ld.param.u64 h, [t];
	ld.param.u64 i, [in];
	ld.param.u64 o, [out];
	mov.u32 n, %tid.x;
	mul.wide.u32 off, n, 16;
	add.u64 i, i, off;
	add.u64 o, o, off;
	ld.global.v4.f32 {c0, c1, c2, c3}, [i];
	tex.GEOMETRY.v4.TYPE.f32 {r0, r1, r2, r3}, [h, {COORDINATES}];
	st.global.v4.b32 [o], {r0, r1, r2, r3};
	ret;
}
)";

std::vector<Case> cases() {
  std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/sim/textures_h200.txt");
  std::vector<Case> out;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    if (line.rfind("case ", 0) == 0) {
      Case& c = out.emplace_back();
      c.text = line;
      std::string word, address, filter, coordinates, format, read;
      int dimensions = 0;
      Texture& t = c.texture;
      words >> word >> dimensions >> address >> filter >> coordinates >> format >> read >>
          t.width >> t.height >> t.depth;
      t.address.fill(texture_address_named(address).value());
      t.linear = filter == "linear";
      t.normalized = coordinates == "normalized";
      EXPECT_TRUE(read_format(format, t)) << format;
      t.as_float = read == "normalized";
      t.border = {0.5f, 1.5f, 2.5f, 3.5f};
      c.floats = t.as_float || t.kind == TexelKind::floating;
      std::getline(file, line);
      for (std::size_t i = 0; i < line.size(); i += 2) {
        c.data.push_back(static_cast<std::byte>(std::stoul(line.substr(i, 2), nullptr, 16)));
      }
    } else if (line[0] != '#') {
      std::vector<u32> numbers[2];
      int side = 0;
      for (std::string word; words >> word;) {
        if (word == "=") {
          side = 1;
        } else {
          numbers[side].push_back(static_cast<u32>(std::stoul(word, nullptr, 16)));
        }
      }
      out.back().coordinates.push_back(numbers[0]);
      out.back().answers.push_back(numbers[1]);
    }
  }
  return out;
}

// How far a sample may be from the chip's. Elements as they are agree to the bit, filtered f32 to a
// rounding; of three dimensions a weight may be a 256th off, and how the chip rounds what it makes
// of narrow elements is not known.
double tolerance(const Texture& t) {
  const bool plain = t.kind == TexelKind::floating && t.bits == 32;
  if (!t.linear) return t.as_float ? 1e-6 : 0;
  return plain && !t.depth ? 1e-6 : 0.02;
}

TEST(Textures, AreSampledAsAnH200Does) {
  const std::vector<Case> all = cases();
  EXPECT_EQ(all.size(), 42u);
  for (const Case& c : all) {
    const u32 dimensions = c.texture.dimensions();
    constexpr const char* coordinates[] = {"c0", "c0, c1", "c0, c1, c2, c2"};
    const std::string type = c.floats                                     ? "f32"
                             : c.texture.kind == TexelKind::signed_number ? "s32"
                                                                          : "u32";
    Job job;
    job.program = {
        "sample.ptx",
        filled(filled(filled(kernel, "GEOMETRY", std::to_string(dimensions) + "d"), "TYPE", type),
               "COORDINATES", coordinates[dimensions - 1])};
    const auto samples = static_cast<u32>(c.answers.size());
    job.launch.block = {samples, 1, 1};
    std::vector<std::byte> in(16 * samples);
    for (u32 i = 0; i < samples; ++i) {
      std::memcpy(&in[16 * i], c.coordinates[i].data(), 4 * c.coordinates[i].size());
    }
    const auto bytes = static_cast<std::int64_t>(c.data.size());
    job.buffers = {{"T", DType::u8, {bytes}, c.data, false},
                   {"IN", DType::u32, {samples, 4}, in, false},
                   {"OUT", DType::u32, {samples, 4}, std::vector<std::byte>(16 * samples), false}};
    job.arguments = {Argument::handle(c.texture), Argument::pointer(1), Argument::pointer(2)};
    auto run = sim::SimDevice(sim::Options{}).start(job);
    ASSERT_TRUE(run) << c.text << ": " << run.error().sentence;
    ASSERT_EQ((*run)->advance(1'000'000), RunState::done)
        << c.text << ": " << (*run)->reports().back().sentence;
    const std::vector<std::byte> found = (*run)->buffers()[2].bytes;
    for (u32 i = 0; i < samples; ++i) {
      for (std::size_t k = 0; k < c.answers[i].size(); ++k) {
        u32 bits = 0;
        std::memcpy(&bits, &found[16 * i + 4 * k], 4);
        if (!c.floats) {
          EXPECT_EQ(bits, c.answers[i][k]) << c.text << " sample " << i << " component " << k;
          continue;
        }
        float sim = 0, chip = 0;
        std::memcpy(&sim, &bits, 4);
        std::memcpy(&chip, &c.answers[i][k], 4);
        EXPECT_NEAR(sim, chip, tolerance(c.texture))
            << c.text << " sample " << i << " component " << k;
      }
    }
  }
}

}  // namespace
}  // namespace tilescope::test
