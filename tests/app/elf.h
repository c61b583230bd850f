// ELF files made by hand, field by field (System V ABI).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilescope::test {

struct MadeSection {
  std::string name, bytes;
  std::uint32_t type = 1, link = 0;  // SHT_PROGBITS
};

inline void put_number(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 255);
}

// Sections as they are given, numbered from 1; behind them the one that has their names.
inline std::string made_elf(std::vector<MadeSection> sections) {
  sections.insert(sections.begin(), MadeSection{"", "", 0});
  sections.push_back({".shstrtab", "", 3});
  std::string names;
  std::vector<std::uint64_t> name_at, bytes_at;
  for (const MadeSection& s : sections) {
    name_at.push_back(names.size());
    names += s.name + '\0';
  }
  sections.back().bytes = names;
  std::string body;
  constexpr std::uint64_t header = 64;
  for (const MadeSection& s : sections) {
    while (body.size() % 8) body += '\0';
    bytes_at.push_back(header + body.size());
    body += s.bytes;
  }
  while (body.size() % 8) body += '\0';
  std::string out(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  out.resize(16);
  put_number(out, 3, 2), put_number(out, 62, 2), put_number(out, 1, 4);  // shared, x86-64
  put_number(out, 0, 8), put_number(out, 0, 8), put_number(out, header + body.size(), 8);
  put_number(out, 0, 4), put_number(out, header, 2), put_number(out, 56, 2), put_number(out, 0, 2);
  put_number(out, 64, 2), put_number(out, sections.size(), 2);
  put_number(out, sections.size() - 1, 2);
  out += body;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    put_number(out, name_at[i], 4), put_number(out, sections[i].type, 4);
    put_number(out, 0, 8), put_number(out, 0, 8), put_number(out, bytes_at[i], 8);
    put_number(out, sections[i].bytes.size(), 8), put_number(out, sections[i].link, 4);
    put_number(out, 0, 4), put_number(out, 1, 8), put_number(out, 0, 8);
  }
  return out;
}

// .dynamic of these tags and places in the strings, which are section `link`.
inline MadeSection made_dynamic(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& entries,
                                std::uint32_t link) {
  MadeSection out{".dynamic", "", 6, link};
  for (const auto& [tag, value] : entries)
    put_number(out.bytes, tag, 8), put_number(out.bytes, value, 8);
  put_number(out.bytes, 0, 8), put_number(out.bytes, 0, 8);
  return out;
}

}  // namespace tilescope::test
