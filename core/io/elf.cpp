#include "core/io/elf.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/io/bytes.h"

namespace tilescope {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t file_header_bytes = 64, section_header_bytes = 64, dynamic_entry_bytes = 16;
constexpr std::uint32_t no_bits = 8, dynamic_section = 6;  // SHT_NOBITS, SHT_DYNAMIC
constexpr std::uint64_t dt_null = 0, dt_needed = 1, dt_rpath = 15, dt_runpath = 29;
constexpr std::uint16_t extended_index = 0xffff;  // SHN_XINDEX

struct SectionHeader {
  std::uint32_t name = 0, type = 0, link = 0;
  std::uint64_t offset = 0, size = 0;
};

std::uint16_t u16(ByteReader& in) {
  const std::uint16_t low = in.u8();
  return static_cast<std::uint16_t>(low | in.u8() << 8);
}

std::vector<std::string> folders(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) out.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

class ElfReader {
 public:
  ElfReader(Bytes bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Outcome<ElfFile> read() {
    constexpr std::string_view begins(
        "\x7f"
        "ELF\x02\x01",
        6);  // 64 bits, little-endian
    if (bytes_.size() < file_header_bytes || text(bytes_.first(begins.size())) != begins) {
      return wrong("it does not begin as a program of 64 bits does");
    }
    ByteReader in(bytes_.subspan(40), 0);
    const std::uint64_t at = in.u64();    // e_shoff
    in.u32(), u16(in), u16(in), u16(in);  // flags, header bytes, program headers
    const std::uint16_t each = u16(in);
    std::uint64_t count = u16(in);
    std::uint64_t names = u16(in);
    if (at == 0) return ElfFile();  // it was stripped of them
    if (each != section_header_bytes) {
      return wrong(fmt::format("the headers of its sections have {} bytes", each));
    }
    const std::optional<SectionHeader> first = header(at, 0);
    if (!first) return wrong("it ends before the headers of its sections");
    if (count == 0) count = first->size;
    if (names == extended_index) names = first->link;
    if (count > (bytes_.size() - at) / section_header_bytes) {
      return wrong(fmt::format("it ends before the headers of its {} sections", count));
    }
    std::vector<SectionHeader> headers;
    for (std::uint64_t i = 0; i < count; ++i) headers.push_back(*header(at, i));
    if (names >= count && count > 0) return wrong("the names of its sections are in none of these");
    ElfFile out;
    for (const SectionHeader& h : headers) {
      const std::optional<Bytes> bytes = bytes_of(h);
      if (!bytes) {
        return wrong(fmt::format("a section is to have {} bytes at {}, and the file has {}", h.size,
                                 h.offset, bytes_.size()));
      }
      out.sections.push_back({std::string(string_at(headers[names], h.name)), *bytes});
    }
    for (const SectionHeader& h : headers) {
      if (h.type == dynamic_section && h.link < count) read_dynamic(h, headers[h.link], out);
    }
    return out;
  }

 private:
  static std::string_view text(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::optional<SectionHeader> header(std::uint64_t table, std::uint64_t index) const {
    if (table > bytes_.size() || (bytes_.size() - table) / section_header_bytes <= index) {
      return {};
    }
    ByteReader in(bytes_.subspan(table + index * section_header_bytes, section_header_bytes), 0);
    SectionHeader h;
    h.name = in.u32(), h.type = in.u32();
    in.u64(), in.u64();  // flags, address
    h.offset = in.u64(), h.size = in.u64(), h.link = in.u32();
    return h;
  }

  // Nothing: they are not there.
  std::optional<Bytes> bytes_of(const SectionHeader& h) const {
    if (h.type == no_bits || h.type == 0) return Bytes();
    if (h.offset > bytes_.size() || h.size > bytes_.size() - h.offset) return {};
    return bytes_.subspan(h.offset, h.size);
  }

  // Of a table of strings; empty where there is none.
  std::string_view string_at(const SectionHeader& table, std::uint64_t at) const {
    const std::string_view all = text(bytes_of(table).value_or(Bytes()));
    if (at >= all.size()) return {};
    const std::string_view rest = all.substr(at);
    return rest.substr(0, std::min(rest.find('\0'), rest.size()));
  }

  void read_dynamic(const SectionHeader& h, const SectionHeader& strings, ElfFile& out) const {
    const Bytes entries = bytes_of(h).value_or(Bytes());
    for (std::size_t at = 0; entries.size() - at >= dynamic_entry_bytes;
         at += dynamic_entry_bytes) {
      ByteReader in(entries.subspan(at, dynamic_entry_bytes), 0);
      const std::uint64_t tag = in.u64(), value = in.u64();
      if (tag == dt_null) break;
      if (tag == dt_needed) out.needed.emplace_back(string_at(strings, value));
      if (tag == dt_runpath) out.runpath = folders(string_at(strings, value));
      if (tag == dt_rpath) out.rpath = folders(string_at(strings, value));
    }
  }

  Error wrong(std::string_view what) const {
    return {ErrorKind::unreadable, fmt::format("{} is not read as an ELF file: {}.", name_, what),
            std::string(name_)};
  }

  Bytes bytes_;
  std::string_view name_;
};

}  // namespace

Outcome<ElfFile> read_elf(std::span<const std::byte> bytes, std::string_view name) {
  return ElfReader(bytes, name).read();
}

}  // namespace tilescope
