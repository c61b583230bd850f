// Device memory, PTX modules and launches of a recorder that gives out all device memory itself, so
// that nothing has to be found by its value (as common.h does for memory that a program brings).
//
// The simulator places the buffers of a launch file at fixed addresses, in their order
// (place_memory, core/sim/machine/launch.cpp). Memory gives out these very addresses, and a launch
// file lists every slot, so pointers are right wherever they stand: in parameters, in structs, in
// device memory. Tensor maps are the simulator's own bits (core/sim/async/map_bits.h), so these
// are too.
// The environment is common.h's, without RECORDER_PTX, and RECORDER_ZEROED: memory is given out as
// zeros, for programs that read before they write and make nothing of it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "common.h"

namespace recorder {

// Says it once on stderr.
inline void once(const std::string& what) {
  static std::set<std::string> said;
  if (said.insert(what).second) std::fprintf(stderr, "recorder: %s\n", what.c_str());
}

// ---- device memory ----

struct Slot {
  std::uint64_t base = 0, bytes = 0;
  bool used = false;
  bool written = false;  // by the host or a launch; else its bytes are undefined
};

class Arena {
 public:
  // Null where there is no room.
  void* take(std::uint64_t bytes) {
    bytes = std::max<std::uint64_t>(bytes, 1);
    for (Slot& slot : slots_) {
      if (slot.used || slot.bytes != bytes) continue;
      slot.used = true;
      slot.written = zeroed_;
      std::memset(at(slot.base), 0, slot.bytes);
      return at(slot.base);
    }
    if (!reserve() || end_ + bytes + 2 * gap > first + room) return nullptr;
    slots_.push_back({end_, bytes, true, zeroed_});
    end_ = (end_ + bytes + 2 * gap - 1) / gap * gap;
    return at(slots_.back().base);
  }
  bool give_back(const void* p) {
    Slot* slot = find(reinterpret_cast<std::uint64_t>(p));
    if (!slot || slot->base != reinterpret_cast<std::uint64_t>(p)) return false;
    slot->used = false;
    return true;
  }
  Slot* find(std::uint64_t address) {
    auto after = std::upper_bound(slots_.begin(), slots_.end(), address,
                                  [](std::uint64_t a, const Slot& s) { return a < s.base; });
    if (after == slots_.begin()) return nullptr;
    Slot& slot = *--after;
    // One past the end still belongs to it: pointers to ends are passed.
    return slot.used && address <= slot.base + slot.bytes ? &slot : nullptr;
  }
  void wrote(const void* p) {
    if (Slot* slot = find(reinterpret_cast<std::uint64_t>(p))) slot->written = true;
  }
  std::vector<Slot>& slots() { return slots_; }
  static std::byte* at(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

 private:
  bool reserve() {
    if (reserved_) return true;
    void* got = mmap(at(first), room, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    reserved_ = got == at(first);
    if (!reserved_) once("the addresses of the simulator's buffers are taken in this process");
    return reserved_;
  }

  // place_memory's.
  static constexpr std::uint64_t first = 0x7f0000000000, gap = std::uint64_t{1} << 20;
  static constexpr std::uint64_t room = std::uint64_t{8} << 30;
  const bool zeroed_ = std::getenv("RECORDER_ZEROED") != nullptr;
  std::vector<Slot> slots_;  // by address
  std::uint64_t end_ = first;
  bool reserved_ = false;
};

// ---- PTX ----

inline bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

// The place of a whole name in the text from `from` on.
inline std::size_t find_name(std::string_view text, std::string_view name, std::size_t from = 0) {
  for (std::size_t at = text.find(name, from); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end])))
      return at;
  }
  return std::string_view::npos;
}

struct Entry {
  std::vector<Parameter> parameters;
  unsigned most_threads = 1024;
};

// A module's text. Variables that a program reads or writes by name become buffers: the simulator
// keeps none from one launch to the next.
class Module {
 public:
  explicit Module(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  // 90 of sm_90a.
  int architecture() const {
    const std::size_t at = text_.find(".target sm_");
    return at == text_.npos ? 0 : std::atoi(text_.c_str() + at + 11);
  }

  const Entry* entry(const std::string& name) {
    if (const auto known = entries_.find(name); known != entries_.end()) return &known->second;
    std::size_t at = text_.find(".entry " + name + "(");
    if (at == text_.npos) at = text_.find(".entry " + name + "\n");
    if (at == text_.npos) return nullptr;
    Entry& entry = entries_[name];
    entry.parameters = parameters_of(text_, name);
    const std::size_t open = text_.find_first_of("({", at);
    const std::size_t end = text_[open] == '(' ? text_.find(')', open) : open;
    const std::size_t body = text_.find('{', end);
    const std::string head = text_.substr(end, body - end);
    for (const char* word : {".maxntid ", ".reqntid "}) {
      const std::size_t bound = head.find(word);
      if (bound == head.npos) continue;
      std::istringstream numbers(head.substr(bound + 9));
      unsigned x = 1, y = 1, z = 1;
      char comma = ' ';
      numbers >> x;
      if (numbers >> comma && comma == ',') numbers >> y;
      if (numbers >> comma && comma == ',') numbers >> z;
      entry.most_threads = x * y * z;
    }
    return &entry;
  }

  // Makes the variable's uses the address of a buffer of `arena`, with its initial bytes. Nothing
  // happens where it is not used, or is no plain .global variable.
  std::uint64_t move_variable(const std::string& name, std::size_t bytes, Arena& arena) {
    const std::size_t at = find_name(text_, name);
    if (at == text_.npos) return 0;
    const std::size_t begin = text_.rfind('\n', at) + 1, end = text_.find(';', at);
    const std::string line = text_.substr(begin, end - begin);
    if (line.find(".global") == line.npos || line.find(".extern") != line.npos) return 0;
    if (find_name(text_, name, end) == text_.npos) return 0;
    const auto initial = initial_bytes(line, bytes);
    if (!initial) return 0;
    void* place = arena.take(bytes);
    if (!place) return 0;
    std::memcpy(place, initial->data(), bytes);
    arena.wrote(place);
    const auto address = reinterpret_cast<std::uint64_t>(place);
    text_.replace(begin, end + 1 - begin, "");
    for (std::size_t use = find_name(text_, name); use != text_.npos;
         use = find_name(text_, name, use)) {
      std::uint64_t target = address;
      std::size_t over = use + name.size();
      if (text_[over] == '+' && std::isdigit(static_cast<unsigned char>(text_[over + 1]))) {
        std::size_t digits = 0;
        target += std::stoull(text_.substr(over + 1, 20), &digits);
        over += 1 + digits;
      }
      text_.replace(use, over - use, std::to_string(target));
    }
    ++version_;
    return address;
  }

  // The bytes of a .const variable from now on.
  bool set_constant(const std::string& name, const std::vector<unsigned char>& bytes) {
    const std::size_t at = find_name(text_, name);
    if (at == text_.npos) return false;
    const std::size_t begin = text_.rfind('\n', at) + 1, end = text_.find(';', at);
    const std::string line = text_.substr(begin, end - begin);
    if (line.find(".const") == line.npos) return false;
    std::string align = "16";
    if (const std::size_t a = line.find(".align "); a != line.npos) {
      align = std::to_string(std::atoi(line.c_str() + a + 7));
    }
    std::string now =
        ".const .align " + align + " .b8 " + name + "[" + std::to_string(bytes.size()) + "] = {";
    for (std::size_t i = 0; i < bytes.size(); ++i) now += (i ? "," : "") + std::to_string(bytes[i]);
    text_.replace(begin, end - begin,
                  (line.find(".visible") != line.npos ? ".visible " : "") + now + "}");
    ++version_;
    return true;
  }
  // What a .const variable holds.
  std::optional<std::vector<unsigned char>> constant(const std::string& name,
                                                     std::size_t bytes) const {
    const std::size_t at = find_name(text_, name);
    if (at == text_.npos) return std::nullopt;
    const std::size_t begin = text_.rfind('\n', at) + 1;
    return initial_bytes(text_.substr(begin, text_.find(';', at) - begin), bytes);
  }

  // The name of a file in the folder that holds the text as it is now.
  const std::string& file(const std::string& folder) {
    if (written_ == version_) return path_;
    path_ = "module" + std::to_string(count()++) + ".ptx";
    std::ofstream(folder + "/" + path_) << text_;
    written_ = version_;
    return path_;
  }

 private:
  static int& count() {
    static int modules = 0;
    return modules;
  }

  // "... .u32 name[3] = {1, 2}": nothing where an initial value is no integer.
  static std::optional<std::vector<unsigned char>> initial_bytes(const std::string& line,
                                                                 std::size_t bytes) {
    std::vector<unsigned char> all(bytes);
    const std::size_t equals = line.find('=');
    if (equals == line.npos) return all;
    std::size_t width = 0;
    std::istringstream words(line.substr(0, equals));
    for (std::string word; words >> word;) {
      if (word.size() > 1 && word[0] == '.' && std::strchr("bsuf", word[1]) &&
          std::isdigit(static_cast<unsigned char>(word[2]))) {
        width = std::stoul(word.substr(2)) / 8;
      }
    }
    std::string values = line.substr(equals + 1);
    for (char& c : values) c = c == '{' || c == '}' || c == ',' ? ' ' : c;
    std::istringstream numbers(values);
    std::size_t at = 0;
    for (std::string word; numbers >> word; at += width) {
      std::uint64_t value = 0;
      if (word.rfind("0f", 0) == 0 || word.rfind("0d", 0) == 0) {
        value = std::stoull(word.substr(2), nullptr, 16);
      } else if (std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '-') {
        value = static_cast<std::uint64_t>(
            word[0] == '-' ? std::stoll(word)
                           : static_cast<long long>(std::stoull(word, nullptr, 0)));
      } else {
        return std::nullopt;
      }
      if (at + width > bytes) return std::nullopt;
      std::memcpy(all.data() + at, &value, width);
    }
    return all;
  }

  std::string text_, path_;
  std::map<std::string, Entry> entries_;
  int version_ = 0, written_ = -1;
};

// ---- launches ----

enum class Ran : std::uint8_t { well, faulted, refused };

// Runs a kernel of the module, and leaves what it wrote in memory.
class Runner {
 public:
  explicit Runner(Arena& arena) : arena_(arena) {}

  Ran run(Module& module, const std::string& entry, const Shape& shape,
          const std::vector<std::vector<unsigned char>>& arguments) {
    static const std::string folder = text_of("RECORDER_FOLDER");
    std::filesystem::create_directories(folder);
    const std::vector<bool> reached = reach(arguments);
    const std::string text = launch_text(entry, shape, arguments, reached);
    const std::string ptx = module.file(folder);
    // The same launch on the same bytes leaves the same bytes: programs that time a kernel repeat
    // it.
    const std::uint64_t key = hash(ptx + text, reached);
    if (const auto known = results_.find(key); known != results_.end()) {
      give(known->second);
      return Ran::well;
    }
    char number[16];
    std::snprintf(number, sizeof number, "/%03d_", launches_++);
    const std::string here = folder + number + entry.substr(0, 60);
    std::filesystem::create_directories(here);
    std::filesystem::create_symlink("../" + ptx, here + "/kernel.ptx");
    std::ofstream(here + "/launch.toml") << text;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const Slot& slot = arena_.slots()[i];
      if (reached[i] && slot.written) {
        write_npy(here + "/" + name(i) + ".npy", reinterpret_cast<const std::uint8_t*>(slot.base),
                  slot.bytes);
      }
    }
    const int code = execute(here);
    if (code != 0) {
      once(entry + ": tilescope ended with " + std::to_string(code) + ", see " + here);
      return code == 3 ? Ran::faulted : Ran::refused;
    }
    // What the kernel printed.
    std::ifstream said(here + "/report.txt");
    for (std::string line; std::getline(said, line);) std::puts(line.c_str());
    Result result;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (reached[i]) result.push_back({i, read_file(here + "/" + name(i) + "_after.npy")});
    }
    give(result);
    if (results_.size() > 64) results_.clear();
    results_[key] = std::move(result);
    return Ran::well;
  }

 private:
  using Result = std::vector<std::pair<std::size_t, std::string>>;  // the .npy file of a slot

  static std::string name(std::size_t slot) { return "b" + std::to_string(slot); }

  // Which slots the arguments point into, and what is reached from there. The others before the
  // last of these keep their place in the launch file, undefined.
  std::vector<bool> reach(const std::vector<std::vector<unsigned char>>& arguments) {
    std::vector<bool> reached(arena_.slots().size());
    std::vector<std::size_t> open;
    const auto scan = [&](const void* data, std::size_t bytes) {
      // The simulator's tensor maps have their address at a multiple of 4.
      for (std::size_t at = 0; at + 8 <= bytes; at += 4) {
        std::uint64_t word = 0;
        std::memcpy(&word, static_cast<const char*>(data) + at, 8);
        const Slot* slot = word >> 40 == 0x7f ? arena_.find(word) : nullptr;
        if (!slot) continue;
        const auto index = static_cast<std::size_t>(slot - arena_.slots().data());
        if (!reached[index]) reached[index] = true, open.push_back(index);
      }
    };
    for (const auto& argument : arguments) scan(argument.data(), argument.size());
    for (const std::size_t always : always_) {
      if (!reached[always]) reached[always] = true, open.push_back(always);
    }
    while (!open.empty()) {
      const Slot slot = arena_.slots()[open.back()];
      open.pop_back();
      if (slot.written) scan(Arena::at(slot.base), slot.bytes);
    }
    while (!reached.empty() && !reached.back()) reached.pop_back();
    return reached;
  }

 public:
  // Module variables: kernels reach them by name.
  void always(std::uint64_t address) {
    always_.push_back(static_cast<std::size_t>(arena_.find(address) - arena_.slots().data()));
  }

 private:
  std::string launch_text(const std::string& entry, const Shape& shape,
                          const std::vector<std::vector<unsigned char>>& arguments,
                          const std::vector<bool>& reached) {
    std::ostringstream out;
    const auto extent = [&](const char* key, const Extent& e) {
      out << key << " = [" << e[0] << ", " << e[1] << ", " << e[2] << "]\n";
    };
    out << "entry = \"" << entry << "\"\n";
    extent("grid", shape.grid);
    extent("block", shape.block);
    if (shape.cluster) extent("cluster", *shape.cluster);
    if (shape.cooperative) out << "cooperative = true\n";
    out << "dynamic_smem = " << shape.dynamic_smem << "\n";
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const Slot& slot = arena_.slots()[i];
      out << "[[buffer]]\nname = \"" << name(i) << "\"\ndtype = \"u8\"\nshape = [" << slot.bytes
          << "]\n";
      if (reached[i] && slot.written) {
        out << "file = \"" << name(i) << ".npy\"\n";
      } else {
        out << "poison = true\n";
      }
      if (reached[i]) out << "out = \"" << name(i) << "_after.npy\"\n";
    }
    for (const auto& argument : arguments) {
      out << "[[arg]]\nbytes = \"";
      for (const unsigned char byte : argument) {
        out << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
      }
      out << "\"\n";
    }
    return out.str();
  }

  std::uint64_t hash(const std::string& text, const std::vector<bool>& reached) {
    std::uint64_t h = 14695981039346656037u;
    const auto mix = [&](const void* data, std::size_t bytes) {
      std::size_t at = 0;
      for (; at + 8 <= bytes; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, static_cast<const char*>(data) + at, 8);
        h = (h ^ word) * 1099511628211u;
        h ^= h >> 29;
      }
      for (; at < bytes; ++at) {
        h = (h ^ static_cast<const unsigned char*>(data)[at]) * 1099511628211u;
      }
    };
    mix(text.data(), text.size());
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const Slot& slot = arena_.slots()[i];
      if (reached[i] && slot.written) mix(Arena::at(slot.base), slot.bytes);
    }
    return h;
  }

  void give(const Result& result) {
    for (const auto& [index, bytes] : result) {
      Slot& slot = arena_.slots()[index];
      if (bytes.size() < slot.bytes) continue;
      std::memcpy(Arena::at(slot.base), bytes.data() + bytes.size() - slot.bytes, slot.bytes);
      slot.written = true;
    }
  }

  Arena& arena_;
  std::map<std::uint64_t, Result> results_;
  std::vector<std::size_t> always_;
  int launches_ = 0;
};

}  // namespace recorder
