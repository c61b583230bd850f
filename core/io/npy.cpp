#include "core/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/io/npy_header.h"

namespace tilescope {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

Error broken(std::string_view name, std::string_view what) {
  return {ErrorKind::unreadable, fmt::format("{} {}.", name, what), std::string(name)};
}

Error mismatch(std::string_view name, std::string_view what) {
  return {ErrorKind::mismatch, fmt::format("{} {}.", name, what), std::string(name)};
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Where the header lies in the file, and so where the data begins.
struct Frame {
  std::size_t begin = 0, length = 0;
};

// Of a file of `size` bytes that begins with `file`.
Outcome<Frame> find_header(std::span<const std::byte> file, std::uint64_t size,
                           std::string_view name) {
  if (file.empty()) return broken(name, "is empty; a .npy file as np.save writes it would work");
  if (text_of(file).substr(0, magic.size()) != magic.substr(0, file.size())) {
    return broken(name,
                  "is not a .npy file (it does not begin with \\x93NUMPY); save the matrix with "
                  "np.save");
  }
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(file[i]); };
  if (file.size() < 8) return broken(name, "ends inside the .npy magic and version");
  const std::size_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    return broken(name, fmt::format("is .npy version {}.{}; versions 1.0, 2.0 and 3.0 are read",
                                    major, minor));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4, begin = 8 + length_bytes;
  if (file.size() < begin) return broken(name, "ends inside the length of its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > size - begin) {
    return broken(name, fmt::format("ends inside its header: the header is said to be {} bytes, {} "
                                    "are there",
                                    length, size - begin));
  }
  if (length > file.size() - begin) {
    return broken(name,
                  fmt::format("has a header of {} bytes, more than any array's shape and type "
                              "need; up to {} are read",
                              length, npy_front - 12));
  }
  return Frame{begin, length};
}

// An element type as 'descr' tells it: "<f4" is little-endian float of 4 bytes.
struct Descr {
  bool big_endian = false;
  char kind = 0;  // NumPy's letter: f i u V b c S U O M m
  std::size_t width = 0;
};

Outcome<Descr> parse_descr(std::string_view text, std::string_view name) {
  const auto unknown = [&] {
    return broken(name,
                  fmt::format("has the element type '{}', which is no NumPy type; '<f4' (f32) "
                              "or '<i8' (i64) would be",
                              text));
  };
  Descr d;
  std::string_view rest = text;
  // '=' is the order of the machine that wrote it; every machine that this runs on is
  // little-endian.
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    d.big_endian = rest[0] == '>';
    rest.remove_prefix(1);
  }
  if (rest == "?") rest = "b1";
  if (rest == "O") rest = "O8";  // NumPy writes objects without their width
  if (rest.empty()) return unknown();
  d.kind = rest[0];
  rest.remove_prefix(1);
  if (std::string_view("fiuVbcSaUOMm").find(d.kind) == std::string_view::npos) return unknown();
  if (d.kind == 'M' || d.kind == 'm') rest = rest.substr(0, rest.find('['));  // M8[ns]
  if (rest.empty()) return unknown();
  for (const char c : rest) {
    if (c < '0' || c > '9' || d.width > 1000000) return unknown();
    d.width = 10 * d.width + static_cast<std::size_t>(c - '0');
  }
  return d;
}

std::optional<DType> plain_type(const Descr& d) {
  if (d.kind == 'f') {
    if (d.width == 2) return DType::f16;
    if (d.width == 4) return DType::f32;
    if (d.width == 8) return DType::f64;
  }
  if (d.kind == 'i' || d.kind == 'u') {
    const bool sign = d.kind == 'i';
    if (d.width == 1) return sign ? DType::i8 : DType::u8;
    if (d.width == 2) return sign ? DType::i16 : DType::u16;
    if (d.width == 4) return sign ? DType::i32 : DType::u32;
    if (d.width == 8) return sign ? DType::i64 : DType::u64;
  }
  return std::nullopt;
}

bool numpy_lacks(DType type) {
  return type == DType::bf16 || type == DType::e4m3 || type == DType::e5m2;
}

// Raw bits that may be read as `as`. ml_dtypes saves its 8-bit floats as 'f1', a width that NumPy
// itself does not have.
bool raw_bits_of(const Descr& d, DType as) {
  if (d.width != bytes_of(as)) return false;
  if (d.kind == 'V') return true;
  return numpy_lacks(as) && (d.kind == 'i' || d.kind == 'u' || (d.kind == 'f' && d.width == 1));
}

std::string_view kind_in_words(char kind) {
  switch (kind) {
    case 'b':
      return "booleans";
    case 'c':
      return "complex numbers";
    case 'S':
    case 'a':
    case 'U':
      return "strings";
    case 'O':
      return "Python objects";
    case 'M':
    case 'm':
      return "dates or durations";
    case 'f':
      return "floats of a width that no kernel here knows";
    case 'V':
      return "raw bytes";
    default:
      return "integers of a width that no kernel here knows";
  }
}

Outcome<DType> element_type(const NpyHeader& header, const Descr& d, std::string_view name,
                            std::optional<DType> as) {
  const std::optional<DType> plain = plain_type(d);
  if (as && (plain == as || raw_bits_of(d, *as))) return *as;
  if (as && plain) {
    return mismatch(name,
                    fmt::format("holds {} ('{}'), but {} was asked for; convert it with "
                                "astype in NumPy, or ask for {}",
                                name_of(*plain), header.descr, name_of(*as), name_of(*plain)));
  }
  if (plain) return *plain;
  if (d.kind == 'V' && !as && (d.width == 1 || d.width == 2)) {
    return mismatch(
        name, fmt::format("holds raw {}-byte values ('{}') and cannot say of which type; "
                          "give the dtype: {}",
                          d.width, header.descr, d.width == 1 ? "e4m3 or e5m2" : "bf16 or f16"));
  }
  std::string wanted = as ? fmt::format("{} was asked for", name_of(*as))
                          : std::string("numbers of a type in f16 f32 f64 u8 ... i64 are read");
  if (d.kind == 'b' && d.width == 1) wanted += "; x.astype(np.uint8) in NumPy makes it one";
  return mismatch(name,
                  fmt::format("holds {} ('{}'); {}", kind_in_words(d.kind), header.descr, wanted));
}

// The bytes that the shape needs; nothing where that is beyond 2^63.
std::optional<std::uint64_t> bytes_needed(const NpyHeader& header, std::size_t width) {
  if (std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end()) return 0;
  std::uint64_t bytes = width;
  for (const std::int64_t extent : header.shape) {
    const auto n = static_cast<std::uint64_t>(extent);
    if (bytes > static_cast<std::uint64_t>(INT64_MAX) / n) return std::nullopt;
    bytes *= n;
  }
  return bytes;
}

// All that is known of a file of `size` bytes before its data is read.
struct Known {
  Frame frame;
  NpyHeader header;
  Descr descr;
  DType type = DType::f32;
  std::uint64_t bytes = 0;
};

Outcome<Known> look(std::span<const std::byte> front, std::uint64_t size, std::string_view name,
                    std::optional<DType> as) {
  const Outcome<Frame> frame = find_header(front, size, name);
  if (!frame) return frame.error();
  auto header = parse_npy_header(text_of(front.subspan(frame->begin, frame->length)), name);
  if (!header) return header.error();
  const Outcome<Descr> descr = parse_descr(header->descr, name);
  if (!descr) return descr.error();
  const Outcome<DType> type = element_type(*header, *descr, name, as);
  if (!type) return type.error();
  const std::uint64_t there = size - frame->begin - frame->length;
  const std::optional<std::uint64_t> needed = bytes_needed(*header, descr->width);
  if (!needed) {
    return broken(name, fmt::format("has the shape {}, more bytes than any memory holds",
                                    shape_text(header->shape)));
  }
  if (*needed != there) {
    // NumPy would take the first array and leave the rest unsaid.
    return broken(name,
                  fmt::format("has {} bytes of data, but its shape {} of {} needs {}: the file "
                              "is {}",
                              there, shape_text(header->shape), name_of(*type), *needed,
                              there < *needed
                                  ? "cut short"
                                  : "longer than one array; save each array to a file of its own"));
  }
  return Known{*frame, std::move(*header), *descr, *type, *needed};
}

// Column-major data moved to row-major places: walks the result in order, and the source by an
// odometer over the shape.
std::vector<std::byte> to_row_major(std::span<const std::byte> data,
                                    const std::vector<std::int64_t>& shape, std::size_t width) {
  std::vector<std::byte> out(data.size());
  const std::size_t rank = shape.size();
  std::vector<std::size_t> stride(rank), index(rank, 0);
  std::size_t step = width;
  for (std::size_t d = 0; d < rank; ++d) {
    stride[d] = step;
    step *= static_cast<std::size_t>(shape[d]);
  }
  std::size_t from = 0;
  for (std::size_t to = 0; to < out.size(); to += width) {
    std::memcpy(out.data() + to, data.data() + from, width);
    for (std::size_t d = rank; d-- > 0;) {
      from += stride[d];
      if (++index[d] < static_cast<std::size_t>(shape[d])) break;
      from -= stride[d] * index[d];
      index[d] = 0;
    }
  }
  return out;
}

void swap_byte_order(std::vector<std::byte>& bytes, std::size_t width) {
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
}

// NumPy's name for a type, or for the integer of its width where NumPy has no such type.
std::string descr_of(DType type) {
  const std::size_t width = bytes_of(type);
  const char kind = is_float(type) && !numpy_lacks(type) ? 'f'
                    : is_signed_integer(type)            ? 'i'
                                                         : 'u';
  return fmt::format("{}{}{}", width == 1 ? '|' : '<', kind, width);
}

}  // namespace

Outcome<NpyFacts> npy_facts(std::span<const std::byte> front, std::uint64_t size,
                            std::string_view name, std::optional<DType> as) {
  const Outcome<Known> known = look(front, size, name, as);
  if (!known) return known.error();
  return NpyFacts{known->type, known->header.shape, known->bytes};
}

Outcome<Buffer> read_npy(std::span<const std::byte> file, std::string_view name,
                         std::optional<DType> as) {
  Outcome<Known> known = look(file.first(std::min(file.size(), npy_front)), file.size(), name, as);
  if (!known) return known.error();
  const std::span<const std::byte> data = file.subspan(known->frame.begin + known->frame.length);
  NpyHeader& header = known->header;
  const std::size_t width = known->descr.width;
  Buffer tensor;
  tensor.name = name;
  tensor.dtype = known->type;
  tensor.shape = std::move(header.shape);
  tensor.bytes = header.fortran_order && tensor.shape.size() > 1
                     ? to_row_major(data, tensor.shape, width)
                     : std::vector<std::byte>(data.begin(), data.end());
  if (known->descr.big_endian) swap_byte_order(tensor.bytes, width);
  return tensor;
}

std::vector<std::byte> write_npy(const Buffer& tensor) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   descr_of(tensor.dtype), shape_text(tensor.shape));
  const std::size_t before = magic.size() + 2 + 2;
  header.append((64 - (before + header.size() + 1) % 64) % 64, ' ');
  header += '\n';

  std::string front(magic);
  front += {'\x01', '\x00'};
  front += static_cast<char>(header.size() & 0xff);
  front += static_cast<char>(header.size() >> 8);
  front += header;
  std::vector<std::byte> file(front.size() + tensor.bytes.size());
  std::memcpy(file.data(), front.data(), front.size());
  if (!tensor.bytes.empty()) {
    std::memcpy(file.data() + front.size(), tensor.bytes.data(), tensor.bytes.size());
  }
  return file;
}

}  // namespace tilescope
