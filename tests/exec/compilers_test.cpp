// What run-time compilers hand over under `tilescope exec`: PTX where machine code is asked for.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "app/cuda/linked_texts.h"

namespace tilescope {
namespace {

std::string printed(const std::string& before) {
  const std::string command = before + " " TILESCOPE_COMPILERS_CLIENT " " TILESCOPE_FAKE_NVRTC
                                       " " TILESCOPE_FAKE_NVJITLINK
                                       " /nowhere/else/libcuda.so.1 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string out;
  std::array<char, 4096> piece;
  for (std::size_t n; pipe && (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    out.append(piece.data(), n);
  }
  EXPECT_EQ(::pclose(pipe), 0);
  return out;
}

TEST(RunTimeCompilers, HandOverMachineCodeByThemselves) {
  EXPECT_EQ(printed(""), R"(linked nvrtc: 0, 14 bytes, ELF of nvrtc
nvrtc 0: 0, 0 bytes, 
nvrtc 1: 0, 0 bytes, 
nvrtc 2: 0, 14 bytes, ELF of nvrtc
nvrtc 3: 4, 0 bytes, 
one: ELF -arch=sm_90 2 
two: ELF -arch=sm_90 2 2 
PTX called code: ELF -arch=sm_90 1 
code: ELF -arch=sm_90 1 
any: ELF -arch=sm_90 10 
refused: ELF -arch=sm_90 9 
optimized: ELF -arch=sm_90 -lto 3 
optimized to PTX: ELF -arch=sm_90 -ptx 3 
driver: none
)");
}

TEST(RunTimeCompilers, HandOverPtxUnderTheAuditor) {
  EXPECT_EQ(printed("LD_AUDIT=" TILESCOPE_COMPILERS),
            R"(linked nvrtc: 0, 25 bytes, .version 9.0 // of nvrtc
nvrtc 0: 0, 0 bytes, 
nvrtc 1: 0, 0 bytes, 
nvrtc 2: 0, 25 bytes, .version 9.0 // of nvrtc
nvrtc 3: 4, 0 bytes, 
one: .version 8.0 // a
two: .version 8.0 // a
//// tilescope: linked with what follows ////
.version 8.0 // b
PTX called code: .version 8.0 // c
code: ELF -arch=sm_90 1 
any: .version 8.0 // d
refused: ELF -arch=sm_90 9 
optimized: .version of -arch=sm_90 -lto -ptx 3 
optimized to PTX: ELF -arch=sm_90 -ptx 3 
driver: )" TILESCOPE_STANDIN "\n");
}

TEST(RunTimeCompilers, TextsThatAreLinkedComeApartAgain) {
  EXPECT_EQ(several_texts("one"), (std::vector<std::string_view>{"one"}));
  const std::string one = one_text({"a", "b\n", "c"});
  EXPECT_EQ(several_texts(one), (std::vector<std::string_view>{"a", "b\n", "c"}));
}

}  // namespace
}  // namespace tilescope
