// What the recorders share. A recorder is a library that stands in for the CUDA driver or runtime:
// a host program runs unmodified and without a GPU, "device memory" is this process's own memory,
// and each launch becomes a folder with the kernel's PTX, a launch file and its buffers
// (docs/manual/launch-files.md), which `tilescope run` runs at once; what it leaves is copied back,
// so the program goes on as on a GPU.
//
// Which bytes of a parameter are addresses is found by their value: words of 8 bytes, aligned, that
// lie in an allocation. A tensor map is found by the pattern that encode() wrote in place of its
// 128 bytes.
//
// Environment:
//   TILESCOPE          the program
//   RECORDER_FOLDER    where launches go: 000_NAME, 001_NAME, ...
//   RECORDER_OPTIONS   more options of `tilescope run`
//   RECORDER_PTX       folders (a:b) with X.cubin beside X.ptx: the PTX of a module that is given
//   as a cubin
#pragma once

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace recorder {

using Address = std::uint64_t;

inline std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// ---- Device memory
// ---------------------------------------------------------------------------------

struct Allocation {
  Address at;
  std::size_t bytes;
};

// What may be addressed by a kernel: allocations that do not overlap.
class Memory {
 public:
  void add(const void* at, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_[reinterpret_cast<Address>(at)] = bytes;
  }
  void remove(const void* at) {
    const std::lock_guard lock(mutex_);
    sizes_.erase(reinterpret_cast<Address>(at));
  }
  // The allocation that holds this address, or ends there (one past the end is a pointer too, but
  // not where another one begins).
  std::optional<Allocation> find(Address address) {
    const std::lock_guard lock(mutex_);
    auto after = sizes_.upper_bound(address);
    if (after == sizes_.begin()) return std::nullopt;
    --after;
    if (address - after->first >= after->second) return std::nullopt;
    return Allocation{after->first, after->second};
  }

 private:
  std::mutex mutex_;
  std::map<Address, std::size_t> sizes_;
};

inline Memory& memory() {
  static Memory* one = new Memory;  // outlives every destructor that frees
  return *one;
}

// ---- Tensor maps
// -----------------------------------------------------------------------------------

// What cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col was given; the driver's numbers of types.
struct Map {
  Address address = 0;
  int type = 0;
  std::vector<std::uint64_t> dims, strides;
  std::vector<std::uint32_t> box, element_strides;
  int interleave = 0, swizzle = 0, oob = 0;
  bool im2col = false;
  std::vector<std::int32_t> lower, upper;
  std::uint32_t channels = 0, pixels = 0;
};

constexpr std::size_t map_bytes = 128;

inline std::vector<Map>& maps() {
  static std::vector<Map>* all = new std::vector<Map>;
  return *all;
}

// The pattern of map `index`: 16 words that say so, all of them.
inline std::array<std::uint64_t, 16> pattern_of(std::size_t index) {
  std::array<std::uint64_t, 16> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = 0x70616d2d65706f63u * (2 * i + 1) ^ static_cast<std::uint64_t>(index) << 32;
    words[i] &=
        ~(std::uint64_t{1} << 21);  // CuTe's runtime clears this bit of word 1 of small maps
  }
  return words;
}

inline void encode(void* at, Map map) {
  maps().push_back(std::move(map));
  const auto words = pattern_of(maps().size() - 1);
  std::memcpy(at, words.data(), map_bytes);
}

// The map whose pattern stands there; nothing where none does.
inline std::optional<std::size_t> map_at(const void* at) {
  std::array<std::uint64_t, 16> words;
  std::memcpy(words.data(), at, map_bytes);
  const std::size_t index = (words[0] ^ pattern_of(0)[0]) >> 32;
  if (index >= maps().size() || words != pattern_of(index)) return std::nullopt;
  return index;
}

// The allocation that a map is over. Tensors of ragged rows begin a whole extent before it, which a
// further coordinate makes up for (FlashAttention's stores of variable lengths).
inline std::optional<Allocation> home_of(const Map& map) {
  if (const auto direct = memory().find(map.address)) return direct;
  for (std::size_t i = 1; i < map.dims.size(); ++i) {
    if (const auto ragged = memory().find(map.address + map.dims[i] * map.strides[i - 1]))
      return ragged;
  }
  return std::nullopt;
}

// A map in the chip's own form, as CuTeDSL's host code writes it without the driver: what the words
// mean was read off the maps that the driver of an H200 (580.159) made of known arguments.
//   0, 1    address
//   2       bit 0: im2col; 4 to 6: rank - 1; 7 to 10: type; 11, 12: interleave; 13, 14: swizzle;
//           15: NaN outside; 16: f32 as tf32; 17, 18: promotion in L2
//   3 to 6  strides / 16, without their bits 36 to 39, which are the nibbles of word 7
//   8 to 12 extents - 1
//           (type 11, packed elements of 4 bits, is from CuTeDSL's maps on sm_100)
//   13      3 bits each: element strides - 1; the last byte and those of word 14: box - 1
// Nothing where these words are no such map.
inline std::optional<Map> hardware_map(const void* at) {
  std::array<std::uint32_t, 16> w;
  std::memcpy(w.data(), at, sizeof w);
  static constexpr int types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 13};  // as CUtensorMapDataType
  const std::uint32_t rank = (w[2] >> 4 & 7) + 1, type = w[2] >> 7 & 15;
  if (rank > 5 || type >= std::size(types) || w[2] >> 22 || (w[2] & 1) || w[15] ||
      w[13] >> 15 & 511)
    return std::nullopt;
  Map map;
  map.address = w[0] | static_cast<Address>(w[1]) << 32;
  map.type = types[type];
  if (w[2] >> 16 & 1) map.type = type == 8 ? 12 : 11;  // TFLOAT32_FTZ, TFLOAT32
  map.interleave = w[2] >> 11 & 3, map.swizzle = w[2] >> 13 & 3, map.oob = w[2] >> 15 & 1;
  for (std::uint32_t i = 0; i < 5; ++i) {
    const std::uint64_t extent = w[8 + i] + std::uint64_t{1};
    const std::uint32_t box = (i == 0 ? w[13] >> 24 : w[14] >> 8 * (i - 1) & 255) + 1;
    if (i >= rank) {
      if (extent != 1) return std::nullopt;
      continue;
    }
    map.dims.push_back(extent);
    map.box.push_back(box);
    map.element_strides.push_back((w[13] >> 3 * i & 7) + 1);
    if (i + 1 < rank)
      map.strides.push_back((w[3 + i] | static_cast<std::uint64_t>(w[7] >> 4 * i & 15) << 32) * 16);
  }
  if (!home_of(map)) return std::nullopt;
  return map;
}

// ---- Kernels
// ---------------------------------------------------------------------------------------

// A kernel's parameter: its bytes, and where it lies in a buffer of all parameters.
struct Parameter {
  std::size_t bytes, offset;
};

struct Kernel {
  const std::string* ptx = nullptr;
  std::string entry;
  std::vector<Parameter> parameters;
};

// The entries of a PTX text, in its order.
inline std::vector<std::string> entries_of(const std::string& ptx) {
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = ptx.find(".entry", at)) != std::string::npos;) {
    at += 6;
    if (!std::isspace(static_cast<unsigned char>(ptx[at]))) continue;
    std::size_t begin = ptx.find_first_not_of(" \t\n\r", at), end = begin;
    while (end < ptx.size() &&
           (std::isalnum(static_cast<unsigned char>(ptx[end])) || std::strchr("_$%.", ptx[end])))
      ++end;
    names.push_back(ptx.substr(begin, end - begin));
    at = end;
  }
  return names;
}

// PTX ISA "Kernel Function Parameters": .param .align 64 .b8 name[128], or .param .u64 .ptr .global
// name.
inline std::vector<Parameter> parameters_of(const std::string& ptx, const std::string& entry) {
  std::vector<Parameter> all;
  std::size_t at = 0;
  for (;;) {
    at = ptx.find(entry, at);
    if (at == std::string::npos) return all;
    const std::size_t before = ptx.find_last_not_of(" \t\n\r", at - 1);
    const std::size_t end = at + entry.size();
    const bool whole = end >= ptx.size() || !(std::isalnum(static_cast<unsigned char>(ptx[end])) ||
                                              ptx[end] == '_' || ptx[end] == '$');
    if (whole && before != std::string::npos && before >= 5 &&
        ptx.compare(before - 5, 6, ".entry") == 0) {
      at = end;
      break;
    }
    at = end;
  }
  const std::size_t open = ptx.find_first_not_of(" \t\n\r", at);
  if (open == std::string::npos || ptx[open] != '(') return all;
  const std::string list = ptx.substr(open + 1, ptx.find(')', open) - open - 1);
  std::size_t offset = 0;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    std::size_t align = 0, bytes = 0, count = 1;
    std::istringstream words(part);
    std::string word, name;
    while (words >> word) {
      if (word == ".align") {
        std::size_t n = 0;
        words >> n;
        if (bytes == 0) align = n;  // behind .ptr it is the alignment of what is pointed to
      } else if (word[0] == '.') {
        if (const std::size_t digit = word.find_first_of("0123456789");
            digit != std::string::npos && bytes == 0 && std::strchr("busf", word[1])) {
          bytes = std::strtoul(word.c_str() + digit, nullptr, 10) / 8;
        }
      } else {
        name += word;
      }
    }
    if (bytes == 0) continue;
    if (const std::size_t bracket = name.find('['); bracket != std::string::npos) {
      count = std::strtoul(name.c_str() + bracket + 1, nullptr, 10);
    }
    if (align == 0) align = bytes;
    offset = (offset + align - 1) / align * align;
    all.push_back({bytes * count, offset});
    offset += bytes * count;
  }
  return all;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The PTX beside the same cubin in a folder of RECORDER_PTX.
inline std::string ptx_beside(const char* cubin_bytes) {
  Elf64_Ehdr head;
  std::memcpy(&head, cubin_bytes, sizeof head);
  std::istringstream folders(text_of("RECORDER_PTX"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder, error)) {
      if (file.path().extension() != ".cubin") continue;
      const std::string cubin = read_file(file.path());
      // The image comes without its size: its header is compared first, so that no more is read
      // than it has.
      if (cubin.size() < sizeof head || std::memcmp(cubin.data(), &head, sizeof head) != 0)
        continue;
      if (std::memcmp(cubin.data(), cubin_bytes, cubin.size()) != 0) continue;
      return read_file(std::filesystem::path(file.path()).replace_extension(".ptx"));
    }
  }
  return "";
}

// The PTX of a module: the image itself, where it is text; of a cubin, ptx_beside; of a fatbin that
// of its first part that has any. A fatbin begins with its magic number, its header's size in bytes
// 6 and 7, and its size; each part with its kind (1: PTX, 2: cubin), its header's size in bytes 4
// to 7, and its size in 8 to 15. Empty where there is none.
inline std::string ptx_of(const void* image) {
  const char* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) == 0) return ptx_beside(bytes);
  std::uint32_t magic;
  std::memcpy(&magic, bytes, 4);
  if (magic != 0xba55ed50) {
    const std::string text(bytes);
    return text.find(".version") == std::string::npos ? "" : text;
  }
  std::uint16_t head;
  std::uint64_t size;
  std::memcpy(&head, bytes + 6, 2);
  std::memcpy(&size, bytes + 8, 8);
  for (const char *part = bytes + head, *end = part + size; part < end;) {
    std::uint16_t kind;
    std::uint32_t part_head;
    std::uint64_t part_size;
    std::memcpy(&kind, part, 2);
    std::memcpy(&part_head, part + 4, 4);
    std::memcpy(&part_size, part + 8, 8);
    const char* inside = part + part_head;
    std::string ptx;
    if (kind == 2) ptx = ptx_beside(inside);
    if (kind == 1) ptx = std::string(inside, strnlen(inside, part_size));
    if (ptx.find(".version") != std::string::npos) return ptx;
    part = inside + part_size;
  }
  return "";
}

// ---- Launches
// --------------------------------------------------------------------------------------

// A file of bytes, .npy version 1.0.
inline void write_npy(const std::filesystem::path& path, const std::uint8_t* bytes,
                      std::size_t count) {
  std::string head =
      "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  head.resize((10 + head.size() + 1 + 63) / 64 * 64 - 11, ' ');
  head += '\n';
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(head.size() & 255)).put(static_cast<char>(head.size() >> 8));
  out << head;
  out.write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(count));
}

// `tilescope run` of a launch folder: its document in report.json, what it says otherwise in
// report.txt. Its exit code.
inline int execute(const std::filesystem::path& folder) {
  std::vector<std::string> words = {text_of("TILESCOPE"),
                                    "run",
                                    (folder / "kernel.ptx").string(),
                                    "--launch",
                                    (folder / "launch.toml").string(),
                                    "--json"};
  std::istringstream options(text_of("RECORDER_OPTIONS"));
  for (std::string word; options >> word;) words.push_back(word);
  std::vector<char*> arguments, variables;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (char** one = environ; *one; ++one) {
    if (std::strncmp(*one, "LD_PRELOAD=", 11) != 0 &&
        std::strncmp(*one, "LD_LIBRARY_PATH=", 16) != 0)
      variables.push_back(*one);
  }
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string report = (folder / "report.json").string(),
                    said = (folder / "report.txt").string();
  posix_spawn_file_actions_addopen(&actions, 1, report.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&actions, 2, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return -failed;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

using Extent = std::array<std::uint32_t, 3>;

struct Shape {
  Extent grid{1, 1, 1}, block{1, 1, 1};
  std::optional<Extent> cluster;
  std::size_t dynamic_smem = 0;
  bool cooperative = false;
};

// One launch on its way to a folder.
class Launch {
 public:
  Launch(const Kernel& kernel, const Shape& shape) : kernel_(kernel), shape_(shape) {
    static int count = 0;
    char number[16];
    std::snprintf(number, sizeof number, "%03d_", count++);
    folder_ =
        std::filesystem::path(text_of("RECORDER_FOLDER")) / (number + kernel.entry.substr(0, 60));
  }

  // Runs it with these parameters, one block of bytes each. Empty, or what went wrong.
  std::string run(const std::vector<std::vector<std::uint8_t>>& parameters) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "kernel.ptx") << *kernel_.ptx;
    std::string arguments;
    for (const auto& parameter : parameters) arguments += argument(parameter);
    // Buffers may point to buffers, which are added behind them.
    std::string buffers;
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers += buffer(i);
    std::ofstream toml(folder_ / "launch.toml");
    toml << "entry = \"" << kernel_.entry << "\"\ngrid = " << list(shape_.grid)
         << "\nblock = " << list(shape_.block) << '\n';
    if (shape_.cluster) toml << "cluster = " << list(*shape_.cluster) << '\n';
    if (shape_.cooperative) toml << "cooperative = true\n";
    if (shape_.dynamic_smem) toml << "dynamic_smem = " << shape_.dynamic_smem << '\n';
    toml << buffers << arguments;
    toml.close();
    const int code = execute(folder_);
    if (code != 0)
      return "tilescope run ended with " + std::to_string(code) + " for " + folder_.string();
    read_back();
    return "";
  }

 private:
  template <class T>
  static std::string list(const T& numbers) {
    std::string text = "[";
    for (const auto n : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
    return text + "]";
  }

  static std::string name_of(std::size_t index) { return "b" + std::to_string(index); }

  // The buffer of an allocation, by its index.
  std::size_t buffer_of(const Allocation& allocation) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].at == allocation.at) return i;
    }
    buffers_.push_back(allocation);
    pointers_.push_back(false);
    return buffers_.size() - 1;
  }

  // An address at a place of a struct, `{ offset = 8, buffer = "b0", plus = 512 }`, or of a buffer,
  // `{ at = 8, buffer = "b0", offset = 512 }`.
  std::string pointer(std::string_view key, std::size_t at, Address address, const Allocation& to) {
    std::string text = "{ " + std::string(key) + " = " + std::to_string(at) + ", buffer = \"" +
                       name_of(buffer_of(to)) + '"';
    if (address != to.at)
      text += (key == "at" ? ", offset = " : ", plus = ") + std::to_string(address - to.at);
    return text + " }";
  }

  static std::string hexadecimal(const std::uint8_t* bytes, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
      text += digits;
    }
    return text;
  }

  // What of these bytes is tensor maps and addresses, as parts; `plain(from, to)` tells what is
  // between.
  template <class Plain>
  std::vector<std::string> parts(const std::uint8_t* bytes, std::size_t size, std::string_view key,
                                 Plain plain) {
    std::vector<std::string> found;
    std::size_t from = 0;
    for (std::size_t at = 0; at + 8 <= size;) {
      Address word;
      std::memcpy(&word, bytes + at, 8);
      std::string part;
      std::size_t length = 8;
      if (at + map_bytes <= size) {
        std::optional<Map> map;
        if (const auto index = map_at(bytes + at)) map = maps()[*index];
        if (!map && at % 64 == 0) map = hardware_map(bytes + at);
        if (map) {
          part = "{ " + std::string(key) + " = " + std::to_string(at) +
                 ", tensormap = " + tensor_map(*map) + " }";
          length = map_bytes;
        }
      }
      if (part.empty()) {
        if (const auto to = memory().find(word)) part = pointer(key, at, word, *to);
      }
      if (part.empty()) {
        at += 8;
        continue;
      }
      plain(found, from, at);
      found.push_back(part);
      from = at += length;
    }
    plain(found, from, size);
    return found;
  }

  std::string argument(const std::vector<std::uint8_t>& bytes) {
    const auto all = parts(
        bytes.data(), bytes.size(), "offset", [&](auto& found, std::size_t from, std::size_t to) {
          bool zero = true;
          for (std::size_t i = from; i < to; ++i) zero = zero && bytes[i] == 0;
          if (!zero)
            found.push_back("{ offset = " + std::to_string(from) + ", bytes = \"" +
                            hexadecimal(bytes.data() + from, to - from) + "\" }");
        });
    return "\n[[arg]]\nsize = " + std::to_string(bytes.size()) + "\nat = [" + joined(all) + "]\n";
  }

  static std::string joined(const std::vector<std::string>& all) {
    std::string text;
    for (const auto& one : all) text += (text.empty() ? "" : ",\n      ") + one;
    return text;
  }

  // Buffer `index` as bytes, with the addresses in it.
  std::string buffer(std::size_t index) {
    const Allocation one = buffers_[index];
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(one.at);
    const std::string name = name_of(index);
    write_npy(folder_ / (name + ".npy"), bytes, one.bytes);
    std::string text =
        "\n[[buffer]]\nname = \"" + name + "\"\ndtype = \"u8\"\nfile = \"" + name + ".npy\"\n";
    const auto all = parts(bytes, one.bytes, "at", [](auto&, std::size_t, std::size_t) {});
    pointers_[index] = !all.empty();
    if (!all.empty()) {
      text += "pointers = [" + joined(all) + "]\n";
    } else {
      text += "out = \"" + name + "_after.npy\"\n";
    }
    return text;
  }

  std::string tensor_map(const Map& map) {
    // CUtensorMapDataType, in its order; the last three are packed: 16 elements of 4 bits in 8
    // bytes, of 4 or 6 bits in 16 bytes.
    static constexpr const char* types[] = {
        "u8",  "u16",  "u32",     "i32",  "u64",      "i64",   "f16",       "f32",
        "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", "b4x16", "b4x16_p64", "b6x16_p32"};
    static constexpr const char* swizzles[] = {
        "none", "32B", "64B", "128B", "128B_atom32B", "128B_atom32B_flip8B", "128B_atom64B"};
    static constexpr const char* interleaves[] = {"none", "16B", "32B"};
    const auto to = home_of(map);
    if (!to) return "{ }";  // the launch file is refused, with this place
    std::string text = "{ buffer = \"" + name_of(buffer_of(*to)) + "\", dtype = \"" +
                       types[map.type] + "\", dims = " + list(map.dims) +
                       ", element_strides = " + list(map.element_strides);
    if (!map.strides.empty()) text += ", strides = " + list(map.strides);
    if (map.address != to->at)
      text += ", offset = " + std::to_string(static_cast<std::int64_t>(map.address - to->at));
    if (map.im2col) {
      text += ", lower = " + list(map.lower) + ", upper = " + list(map.upper) +
              ", channels = " + std::to_string(map.channels) +
              ", pixels = " + std::to_string(map.pixels);
    } else {
      text += ", box = " + list(map.box);
    }
    return text + ", swizzle = \"" + swizzles[map.swizzle] + "\", interleave = \"" +
           interleaves[map.interleave] + "\", oob = \"" + (map.oob ? "nan" : "zero") + "\" }";
  }

  // What the kernel left, back to where the program looks for it. A buffer with addresses keeps
  // them: the simulator's own mean nothing here.
  void read_back() const {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (pointers_[i]) continue;
      const std::string after = read_file(folder_ / (name_of(i) + "_after.npy"));
      if (after.size() < buffers_[i].bytes) continue;
      std::memcpy(reinterpret_cast<void*>(buffers_[i].at),
                  after.data() + after.size() - buffers_[i].bytes, buffers_[i].bytes);
    }
  }

  const Kernel& kernel_;
  Shape shape_;
  std::filesystem::path folder_;
  std::vector<Allocation> buffers_;
  std::vector<bool> pointers_;  // whether a buffer holds addresses
};

// Launches a kernel as kernelParams does: a pointer to each parameter. Empty, or what went wrong,
// which is also said on stderr.
inline std::string launch(const Kernel& kernel, const Shape& shape, void* const* parameters) {
  if (kernel.ptx->empty()) {
    std::fprintf(
        stderr,
        "recorder: %s comes in a module without PTX, and no folder of RECORDER_PTX has its cubin\n",
        kernel.entry.c_str());
    return "no PTX";
  }
  std::vector<std::vector<std::uint8_t>> values;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const auto* bytes = static_cast<const std::uint8_t*>(parameters[i]);
    values.emplace_back(bytes, bytes + kernel.parameters[i].bytes);
  }
  const std::string wrong = Launch(kernel, shape).run(values);
  if (!wrong.empty()) std::fprintf(stderr, "recorder: %s\n", wrong.c_str());
  return wrong;
}

// All blocks of a cooperative launch run at once: whether these are more than the chip has room
// for.
inline bool too_large_together(const Shape& shape) {
  const auto count = [](const Extent& dims) { return std::uint64_t{dims[0]} * dims[1] * dims[2]; };
  int blocks = 0, multiprocessors = 0;
  cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, nullptr, static_cast<int>(count(shape.block)), shape.dynamic_smem);
  cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  return count(shape.grid) > static_cast<std::uint64_t>(blocks) * multiprocessors;
}

}  // namespace recorder
