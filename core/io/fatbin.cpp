#include "core/io/fatbin.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "core/io/bytes.h"
#include "core/io/elf.h"

namespace tilescope {
namespace {

constexpr std::size_t most_ptx = std::size_t{256} << 20;  // of all entries together
constexpr std::size_t entry_header_bytes = 64;
constexpr std::uint16_t ptx_kind = 1, machine_code_kind = 2, entry_version = 0x101;
constexpr std::uint64_t debug_flag = 2, lz4_flag = 0x2000, zstd_flag = 0x8000;

using Bytes = std::span<const std::byte>;

// An entry's header as it stands there.
struct EntryHeader {
  std::uint16_t kind = 0, version = 0;
  std::uint32_t header = 0;
  std::uint64_t payload = 0;
  std::uint32_t packed = 0, options = 0, isa = 0, chip = 0, name = 0, name_bytes = 0;
  std::uint64_t flags = 0, zero = 0, unpacked = 0;
};

std::uint16_t u16(ByteReader& in) {
  const std::uint16_t low = in.u8();
  return static_cast<std::uint16_t>(low | in.u8() << 8);
}

EntryHeader entry_header(Bytes bytes) {
  ByteReader in(bytes, 0);
  EntryHeader h;
  h.kind = u16(in), h.version = u16(in);
  h.header = in.u32(), h.payload = in.u64();
  h.packed = in.u32(), h.options = in.u32(), h.isa = in.u32(), h.chip = in.u32();
  h.name = in.u32(), h.name_bytes = in.u32();
  h.flags = in.u64(), h.zero = in.u64(), h.unpacked = in.u64();
  return h;
}

// What is wrong, if anything. LZ4 makes at most 255 bytes of one.
std::string unpack_lz4(Bytes packed, std::uint64_t size, std::string& out) {
  if (packed.size() > most_ptx || size > 255 * packed.size() + 64)
    return "it cannot hold that much";
  out.resize(static_cast<std::size_t>(size));
  const int made =
      LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()), out.data(),
                          static_cast<int>(packed.size()), static_cast<int>(out.size()));
  if (made < 0) return "its bytes are not LZ4's";
  return static_cast<std::uint64_t>(made) == size ? "" : "it ends too early";
}

// Grows with what there is, because a small frame may claim to be large.
std::string unpack_zstd(Bytes packed, std::uint64_t size, std::string& out) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             ZSTD_freeDStream);
  if (!stream) return "there is no memory for it";
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::size_t done = 0, left = 1;
  while (left != 0 && done < size) {
    out.resize(static_cast<std::size_t>(
        std::min<std::uint64_t>(size, std::max<std::uint64_t>(1 << 16, 2 * done))));
    ZSTD_outBuffer to{out.data(), out.size(), done};
    left = ZSTD_decompressStream(stream.get(), &to, &in);
    if (ZSTD_isError(left)) return ZSTD_getErrorName(left);
    if (to.pos == done && in.pos == in.size) break;
    done = to.pos;
  }
  out.resize(done);
  return done == size ? "" : "it ends too early";
}

class FatbinReader {
 public:
  FatbinReader(Bytes bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Outcome<std::vector<FatbinEntry>> read() {
    ByteReader in(bytes_, 0);
    const std::uint32_t magic = in.u32();
    const std::uint16_t version = u16(in), header = u16(in);
    const std::uint64_t size = in.u64();
    if (in.failed() || magic != fatbin_magic) {
      return wrong(0, "it does not begin as a fat binary does");
    }
    if (version != 1 || header < fatbin_header_bytes || header > bytes_.size()) {
      return wrong(
          0, fmt::format("its version {} with a header of {} bytes is not known", version, header));
    }
    if (size > bytes_.size() - header) {
      return wrong(0, fmt::format("it says that it has {} bytes after its header, and has {}", size,
                                  bytes_.size() - header));
    }
    bytes_ = bytes_.first(header + static_cast<std::size_t>(size));
    std::vector<FatbinEntry> out;
    for (std::size_t at = header; bytes_.size() - at >= entry_header_bytes;) {
      if (std::string error = entry(at, out); !error.empty()) return wrong(at, error);
    }
    return out;
  }

 private:
  // Reads the entry at `at` and goes to the next one; answers what is wrong, if anything.
  std::string entry(std::size_t& at, std::vector<FatbinEntry>& out) {
    const Bytes rest = bytes_.subspan(at);
    const EntryHeader h = entry_header(rest);
    if (h.version != entry_version || h.header < entry_header_bytes) {
      return fmt::format("the entry's version {:#x} with a header of {} bytes is not known",
                         h.version, h.header);
    }
    if (h.header > rest.size() || h.payload > rest.size() - h.header) {
      return fmt::format("the entry has {} bytes and {} are left", h.header + h.payload,
                         rest.size());
    }
    FatbinEntry made;
    made.kind = h.kind == ptx_kind            ? FatbinEntry::Kind::ptx
                : h.kind == machine_code_kind ? FatbinEntry::Kind::machine_code
                                              : FatbinEntry::Kind::other;
    made.chip = h.chip;
    made.for_debugger = h.flags & debug_flag;
    if (h.name_bytes > 0 && h.name <= h.header && h.name_bytes <= h.header - h.name) {
      made.name.assign(reinterpret_cast<const char*>(rest.data()) + h.name, h.name_bytes);
      made.name.resize(std::min(made.name.size(), made.name.find('\0')));
    }
    if (made.kind == FatbinEntry::Kind::ptx) {
      const Bytes payload = rest.subspan(h.header, static_cast<std::size_t>(h.payload));
      if (std::string error = text(h, payload, made.text); !error.empty()) return error;
    }
    if (made.kind == FatbinEntry::Kind::machine_code) {
      made.has_functions =
          has_functions(h, rest.subspan(h.header, static_cast<std::size_t>(h.payload)));
    }
    out.push_back(std::move(made));
    at += h.header + static_cast<std::size_t>(h.payload);
    return "";
  }

  // Machine code is an ELF file with a section for each function. What is large has some.
  bool has_functions(const EntryHeader& h, Bytes payload) const {
    constexpr std::uint64_t small = 1 << 16;
    const bool packed = h.flags & (lz4_flag | zstd_flag);
    const std::uint64_t size = packed ? h.unpacked : payload.size();
    if (size > small || (packed && h.packed > payload.size())) return true;
    std::string out;
    if (packed && !(h.flags & lz4_flag ? unpack_lz4(payload.first(h.packed), size, out)
                                       : unpack_zstd(payload.first(h.packed), size, out))
                       .empty()) {
      return true;
    }
    const Bytes file = packed ? std::as_bytes(std::span(out)) : payload;
    const Outcome<ElfFile> elf = read_elf(file, name_);
    return !elf || std::any_of(elf->sections.begin(), elf->sections.end(),
                               [](const ElfSection& s) { return s.name.starts_with(".text"); });
  }

  std::string text(const EntryHeader& h, Bytes payload, std::string& out) {
    const bool packed = h.flags & (lz4_flag | zstd_flag);
    const std::uint64_t size = packed ? h.unpacked : payload.size();
    if (size > most_ptx - unpacked_) {
      return fmt::format("it holds more than {} MiB of PTX", most_ptx >> 20);
    }
    if (packed && h.packed > payload.size()) {
      return fmt::format("its {} packed bytes are more than the entry's {}", h.packed,
                         payload.size());
    }
    if (!packed) {
      out.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
    } else {
      const std::string error = h.flags & lz4_flag
                                    ? unpack_lz4(payload.first(h.packed), size, out)
                                    : unpack_zstd(payload.first(h.packed), size, out);
      if (!error.empty()) return fmt::format("the PTX cannot be unpacked: {}", error);
    }
    unpacked_ += static_cast<std::size_t>(size);
    while (!out.empty() && out.back() == '\0') out.pop_back();
    return "";
  }

  Error wrong(std::size_t at, std::string_view what) const {
    return {ErrorKind::unreadable,
            fmt::format("{} is not read as a fat binary: {} (byte {}).", name_, what, at),
            std::string(name_)};
  }

  Bytes bytes_;
  std::string_view name_;
  std::size_t unpacked_ = 0;
};

}  // namespace

Outcome<std::vector<FatbinEntry>> read_fatbin(std::span<const std::byte> bytes,
                                              std::string_view name) {
  return FatbinReader(bytes, name).read();
}

std::uint64_t fatbin_bytes(std::span<const std::byte> begin) {
  ByteReader in(begin, 0);
  const std::uint32_t magic = in.u32();
  const std::uint16_t version = u16(in), header = u16(in);
  const std::uint64_t size = in.u64();
  if (in.failed() || magic != fatbin_magic || version != 1) return 0;
  return size > ~std::uint64_t{0} - header ? 0 : header + size;
}

}  // namespace tilescope
