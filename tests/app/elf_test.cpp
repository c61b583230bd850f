// ELF files as linkers write them, and as nobody should.
#include "core/io/elf.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/elf.h"

namespace tilescope::test {
namespace {

std::span<const std::byte> bytes_of_elf(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string elf_refusal(const std::string& file) {
  const auto read = read_elf(bytes_of_elf(file), "x");
  return read ? "none" : read.error().sentence;
}

std::string patched(std::string file, std::size_t at, std::uint64_t value, int bytes) {
  std::string number;
  put_number(number, value, bytes);
  return file.replace(at, number.size(), number);
}

// Strings begin at 0: "", "libc.so.6", "$ORIGIN:/opt/x"
const std::string elf_strings("\0libc.so.6\0$ORIGIN:/opt/x\0", 26);

TEST(Elf, HasSectionsAndWhatItNeeds) {
  const std::string file = made_elf({{".nv_fatbin", "abcdefghij"},
                                     made_dynamic({{5, 77}, {1, 1}, {29, 11}}, 3),
                                     {".dynstr", elf_strings, 3},
                                     {".bss", "", 8}});
  const auto elf = read_elf(bytes_of_elf(file), "x");
  ASSERT_TRUE(elf.ok()) << elf.error().sentence;
  const auto section = std::find_if(elf->sections.begin(), elf->sections.end(),
                                    [](const ElfSection& s) { return s.name == ".nv_fatbin"; });
  ASSERT_NE(section, elf->sections.end());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(section->bytes.data()), 10), "abcdefghij");
  EXPECT_EQ(section->bytes.size(), 10u);
  EXPECT_EQ(elf->needed, std::vector<std::string>{"libc.so.6"});
  EXPECT_EQ(elf->runpath, (std::vector<std::string>{"$ORIGIN", "/opt/x"}));
  EXPECT_TRUE(elf->rpath.empty());
}

TEST(Elf, WithoutTheTableOfSectionsThereIsNone) {
  const auto elf = read_elf(bytes_of_elf(patched(made_elf({}), 40, 0, 8)), "x");
  ASSERT_TRUE(elf.ok());
  EXPECT_TRUE(elf->sections.empty());
}

TEST(Elf, WhatIsNotThereHasASentence) {
  const std::string file = made_elf({{".nv_fatbin", "abcdefghij"}});
  EXPECT_EQ(elf_refusal(file), "none");
  EXPECT_NE(elf_refusal("").find("does not begin as a program"), std::string::npos);
  EXPECT_NE(elf_refusal(file.substr(0, 63)).find("does not begin"), std::string::npos);
  EXPECT_NE(elf_refusal(patched(file, 4, 1, 1)).find("64 bits"), std::string::npos);
  EXPECT_NE(elf_refusal(file.substr(0, file.size() - 1)).find("its 3 sections"), std::string::npos);
  EXPECT_NE(elf_refusal(patched(file, 40, ~std::uint64_t{0}, 8)).find("ends before"),
            std::string::npos);
  EXPECT_NE(elf_refusal(patched(file, 58, 40, 2)).find("have 40 bytes"), std::string::npos);
  EXPECT_NE(elf_refusal(patched(file, 62, 9, 2)).find("names of its sections"), std::string::npos);
  // The first one's bytes: where, and how many.
  const std::size_t table = file.size() - 3 * 64;
  EXPECT_NE(elf_refusal(patched(file, table + 64 + 24, ~std::uint64_t{0}, 8)).find("a section is"),
            std::string::npos);
  EXPECT_NE(elf_refusal(patched(file, table + 64 + 32, ~std::uint64_t{0}, 8)).find("a section is"),
            std::string::npos);
  EXPECT_EQ(elf_refusal(patched(file, table + 64, 0xffffffff, 4)), "none") << "it has no name then";
}

}  // namespace
}  // namespace tilescope::test
