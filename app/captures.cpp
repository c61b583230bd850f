#include "app/captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "app/demangle.h"
#include "app/files.h"
#include "core/io/npy.h"
#include "core/sim/async/map_bits.h"
#include "core/sim/machine/textures.h"

namespace tilescope {
namespace {

// More stretches of undefined bytes are no pattern that anybody meant: they are written as if they
// were defined.
constexpr std::size_t most_stretches = 10000;

using Stretches = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Stretches unwritten(const sim::Region& region) {
  Stretches out;
  if (!region.undefined_bits()) return out;
  for (std::uint64_t at = 0; at < region.size(); ++at) {
    while (at % 8 == 0 && at < region.size() && region.undefined_bits()[at / 8] == 0) at += 8;
    if (at >= region.size() || !region.is_undefined(at)) continue;
    if (!out.empty() && out.back().second == at) {
      ++out.back().second;
    } else {
      out.emplace_back(at, at + 1);
    }
    if (out.size() > most_stretches) return {};
  }
  return out;
}

// Every 8 bytes that could be an address.
template <class Use>
void each_word(const std::byte* bytes, std::uint64_t size, Use use) {
  for (std::uint64_t at = 0; at + 8 <= size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    if (word >= 0x0000'0500'0000'0000) use(word);
  }
}

// Where the tensors of maps begin that lie in these bytes.
template <class Use>
void each_tensor(const std::byte* bytes, std::uint64_t size, Use use) {
  for (std::uint64_t at = 0; at + sim::tiled_map_bytes <= size; at += 8) {
    if (!sim::begins_as_map(bytes + at)) continue;
    sim::MapBits bits{};
    std::memcpy(bits.data(), bytes + at, std::min<std::uint64_t>(bits.size(), size - at));
    if (const auto map = sim::decode_map(bits)) use(map->address);
  }
}

std::string list_of(const Dim3& d) {
  return fmt::format("[{}, {}, {}]", d.x, d.y, d.z);
}

std::string hex(const std::byte* bytes, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += fmt::format("{:02x}", static_cast<unsigned>(bytes[i]));
  }
  return out;
}

std::span<const std::byte> contents(const sim::Region& region) {
  return {region.data(), static_cast<std::size_t>(region.size())};
}

std::optional<Error> write_bytes(const std::string& path, std::span<const std::byte> bytes,
                                 DType type = DType::u8) {
  Buffer buffer;
  buffer.dtype = type;
  buffer.shape = {static_cast<std::int64_t>(bytes.size() / tilescope::bytes_of(type))};
  buffer.bytes.assign(bytes.begin(), bytes.end());
  const std::vector<std::byte> npy = write_npy(buffer);
  return write_file(path, std::span(npy));
}

// What C++ calls the elements, and what they are here.
constexpr std::pair<std::string_view, DType> element_types[] = {
    {"float", DType::f32},
    {"double", DType::f64},
    {"__half", DType::f16},
    {"__nv_bfloat16", DType::bf16},
    {"int", DType::i32},
    {"unsigned int", DType::u32},
    {"unsigned", DType::u32},
    {"short", DType::i16},
    {"unsigned short", DType::u16},
    {"signed char", DType::i8},
    {"char", DType::i8},
    {"unsigned char", DType::u8},
    {"long", DType::i64},
    {"unsigned long", DType::u64},
    {"long long", DType::i64},
    {"float2", DType::f32},
    {"float4", DType::f32},
    {"int2", DType::i32},
    {"int4", DType::i32},
    {"uint2", DType::u32},
    {"uint4", DType::u32},
    {"double2", DType::f64},
    {"__half2", DType::f16},
    {"__nv_bfloat162", DType::bf16},
    {"unsigned long long", DType::u64},
};

// The types of a C++ function's parameters: "float const*", "int" of "add<4>(float const*, int)".
std::vector<std::string> parameter_types(std::string_view name) {
  std::vector<std::string> out;
  if (name.empty() || name.back() != ')') return out;
  std::size_t begin = name.size();
  int depth = 0;
  do {
    --begin;
    depth += name[begin] == ')' ? 1 : name[begin] == '(' ? -1 : 0;
  } while (depth > 0 && begin > 0);
  std::string one;
  for (const char c : name.substr(begin + 1, name.size() - begin - 2)) {
    depth += c == '<' || c == '(' || c == '[' ? 1 : c == '>' || c == ')' || c == ']' ? -1 : 0;
    if (c != ',' || depth > 0) {
      if (c != ' ' || !one.empty()) one += c;
      continue;
    }
    out.push_back(std::exchange(one, {}));
  }
  out.push_back(std::move(one));
  return out;
}

// The element type that a pointer is declared with; nothing: another one, or no pointer.
std::optional<DType> pointed_type(std::string_view type) {
  if (type.ends_with(" __restrict__")) type.remove_suffix(13);
  if (!type.ends_with('*')) return {};
  type.remove_suffix(1);
  for (const std::string_view word : {" const", " volatile"}) {
    if (type.ends_with(word)) type.remove_suffix(word.size());
  }
  for (const auto& [name, is] : element_types) {
    if (name == type) return is;
  }
  return {};
}

// Of what parameters point to, by where it begins: its elements as the kernel's name says them,
// where it has whole ones.
std::map<std::uint64_t, DType> pointed_at(const CapturedLaunch& c, const ptx::Function& entry) {
  std::map<std::uint64_t, DType> out;
  const std::vector<std::string> types = parameter_types(demangled(entry.name));
  if (types.size() != entry.parameters.size()) return out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const ptx::Parameter& p = entry.parameters[i];
    const std::optional<DType> type = pointed_type(types[i]);
    std::uint64_t address = 0;
    if (!type || p.bytes != sizeof address) continue;
    std::memcpy(&address, &c.parameters[p.offset], sizeof address);
    const sim::Region* const region = c.memory.find(address);
    if (region && region->size() % tilescope::bytes_of(*type) == 0) {
      out.emplace(region->base(), *type);
    }
  }
  return out;
}

// The texture or surface that a word is the handle of; null: it is none's.
const Texture* texture_of(const CapturedLaunch& c, std::uint64_t word) {
  const Texture* const found = c.textures ? sim::texture_of(*c.textures, word) : nullptr;
  return found && !found->ended ? found : nullptr;
}

// How a launch file has it: over the buffer of that name.
std::string text_of(const Texture& t, const sim::Region& region, const std::string& buffer) {
  const auto kind = t.kind == TexelKind::floating          ? 'f'
                    : t.kind == TexelKind::unsigned_number ? 'u'
                                                           : 's';
  std::string out =
      fmt::format("{} = {{ buffer = \"{}\", offset = {}, width = {}",
                  t.surface ? "surface" : "texture", buffer, t.place - region.base(), t.width);
  if (t.height) out += fmt::format(", height = {}", t.height);
  if (t.depth) out += fmt::format(", {} = {}", t.layered ? "layers" : "depth", t.depth);
  if (t.cube) out += ", cube = true";
  if (t.pitch) out += fmt::format(", pitch = {}", t.pitch);
  out += fmt::format(", format = \"{}{}x{}\"", kind, t.bits, t.components);
  if (t.surface) return out + " }";
  const bool whole = t.kind != TexelKind::floating && !t.as_float;
  const auto border = [&](std::size_t i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &t.border[i], sizeof bits);
    return whole ? fmt::format("{}", bits) : fmt::format("{}", t.border[i]);
  };
  const auto mode = [&](std::size_t k) {
    constexpr std::string_view names[] = {"wrap", "clamp", "mirror", "border"};
    return names[static_cast<std::size_t>(t.address[k])];
  };
  out += fmt::format(", filter = \"{}\", address = [\"{}\", \"{}\", \"{}\"]",
                     t.linear ? "linear" : "point", mode(0), mode(1), mode(2));
  out += fmt::format(", normalized = {}, read = \"{}\", border = [{}, {}, {}, {}] }}", t.normalized,
                     t.as_float ? "normalized" : "element", border(0), border(1), border(2),
                     border(3));
  return out;
}

// A parameter, whose bytes may hold handles. `names`: of buffers, by where they begin.
std::string argument_text(const CapturedLaunch& c, const ptx::Parameter& p,
                          const std::map<std::uint64_t, std::string>& names) {
  const std::byte* const bytes = &c.parameters[p.offset];
  std::string parts;
  std::uint32_t from = 0;
  const auto plain = [&](std::uint32_t to) {
    if (from == to) return;
    parts += fmt::format("{}{{ offset = {}, bytes = \"{}\" }}", parts.empty() ? "" : ", ", from,
                         hex(bytes + from, to - from));
  };
  for (std::uint32_t at = 0; at + 8 <= p.bytes; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    const Texture* const texture = texture_of(c, word);
    const sim::Region* const region = texture ? c.memory.find(texture->place) : nullptr;
    const auto name = region ? names.find(region->base()) : names.end();
    if (name == names.end()) continue;
    const std::string text = text_of(*texture, *region, name->second);
    if (p.bytes == 8) return text;
    plain(at);
    parts += fmt::format("{}{{ offset = {}, {} }}", parts.empty() ? "" : ", ", at, text);
    from = at + 8;
  }
  if (parts.empty()) return fmt::format("bytes = \"{}\"", hex(bytes, p.bytes));
  plain(p.bytes);
  return fmt::format("size = {}\nat = [{}]", p.bytes, parts);
}

// The handles of textures that stand in memory, and in which buffer; empty: none does.
std::string handles_in_memory(const CapturedLaunch& c) {
  std::string out;
  for (const sim::Region* region : reachable(c)) {
    each_word(region->data(), region->size(), [&](std::uint64_t word) {
      if (!out.empty() || !texture_of(c, word)) return;
      out = fmt::format("0x{:x} in buffer {}", word, region->name());
    });
  }
  return out;
}

}  // namespace

namespace {

std::set<const sim::Region*> all_reachable(const CapturedLaunch& c) {
  std::set<const sim::Region*> known;
  std::vector<const sim::Region*> open;
  const auto reach = [&](std::uint64_t address) {
    if (const Texture* const texture = texture_of(c, address)) address = texture->place;
    const sim::Region* const region = c.memory.find(address);
    if (region && known.insert(region).second) open.push_back(region);
  };
  each_word(c.parameters.data(), c.parameters.size(), reach);
  each_tensor(c.parameters.data(), c.parameters.size(), reach);
  for (const ptx::Placed& placed : c.module.variables()) reach(placed.address);
  while (!open.empty()) {
    const sim::Region* const region = open.back();
    open.pop_back();
    each_word(region->data(), region->size(), reach);
    each_tensor(region->data(), region->size(), reach);
  }
  return known;
}

// What kernels have allocated: a launch file knows of none.
bool reaches_heap(const CapturedLaunch& c) {
  const std::set<const sim::Region*> known = all_reachable(c);
  return std::any_of(known.begin(), known.end(),
                     [](const sim::Region* r) { return r->name() == ptx::heap_name; });
}

}  // namespace

std::vector<const sim::Region*> reachable(const CapturedLaunch& c) {
  const std::set<const sim::Region*> known = all_reachable(c);
  std::vector<const sim::Region*> out;
  for (const sim::Region& region : c.memory.regions()) {
    if (known.count(&region) && region.kind() == sim::Region::Kind::buffer) out.push_back(&region);
  }
  return out;
}

std::optional<Error> write_capture(const std::string& folder, const CapturedLaunch& c) {
  if (reaches_heap(c)) {
    return Error{ErrorKind::unsupported,
                 fmt::format("{} was not written: the launch can reach what kernels have allocated "
                             "(malloc, new), of which a launch file knows nothing.",
                             folder),
                 folder};
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return Error{ErrorKind::unreadable,
                 fmt::format("The folder {} cannot be made: {}.", folder, failed.message()),
                 folder};
  }
  const Outcome<const ptx::Function*> entry = c.module.entry(c.launch.entry);
  if (!entry.ok()) return entry.error();
  std::string toml = fmt::format(
      "# A launch as a program made it: memory lies where it lay there.\n"
      "entry = \"{}\"\ngrid = {}\nblock = {}\n",
      c.launch.entry, list_of(c.launch.grid), list_of(c.launch.block));
  if (c.launch.cluster) toml += fmt::format("cluster = {}\n", list_of(*c.launch.cluster));
  if (c.launch.cooperative) toml += "cooperative = true\n";
  if (c.launch.dynamic_shared) toml += fmt::format("dynamic_smem = {}\n", c.launch.dynamic_shared);
  if (!c.device.empty()) toml += fmt::format("device = \"{}\"\n", c.device);
  toml += fmt::format("variables_at = 0x{:x}\n", c.module.variables_at());
  const auto in_folder = [&](const std::string& name) {
    return (std::filesystem::path(folder) / name).string();
  };
  const std::map<std::uint64_t, DType> types = pointed_at(c, **entry);
  // What it left of a region, where that is known: the same file where that is the same.
  const auto write_left = [&](const sim::Region& region, const std::string& file,
                              DType type) -> std::optional<Error> {
    if (!c.left) return {};
    const auto changed = c.left->find(region.base());
    const bool same = changed == c.left->end();
    const std::string left =
        same ? file : file.substr(0, file.size() - std::strlen(".npy")) + ".left.npy";
    toml += fmt::format("expect = \"{}\"\n", left);
    return same ? std::nullopt : write_bytes(in_folder(left), changed->second, type);
  };
  std::size_t number = 0;
  std::map<std::uint64_t, std::string> names;  // of buffers
  for (const sim::Region* region : reachable(c)) {
    const std::string file = fmt::format("b{}.npy", number);
    const auto pointed = types.find(region->base());
    const DType type = pointed == types.end() ? DType::u8 : pointed->second;
    if (auto error = write_bytes(in_folder(file), contents(*region), type)) return error;
    // Names need not differ in a program.
    const std::string name = fmt::format("{} ({})", region->name(), number);
    names[region->base()] = name;
    toml += fmt::format(
        "\n[[buffer]]\nname = \"{}\"\ndtype = \"{}\"\nfile = \"{}\"\n"
        "address = 0x{:x}\n",
        name, name_of(type), file, region->base());
    if (auto error = write_left(*region, file, type)) return error;
    ++number;
    const Stretches stretches = unwritten(*region);
    if (stretches.empty()) continue;
    std::string list;
    for (const auto& [begin, end] : stretches) {
      list += fmt::format("{}[{}, {}]", list.empty() ? "" : ", ", begin, end);
    }
    toml += fmt::format("unwritten = [{}]\n", list);
  }
  for (const ptx::Placed& placed : c.module.variables()) {
    const sim::Region* const region = c.memory.find(placed.address);
    if (!region || region->size() == 0) continue;
    const std::string file = fmt::format("v{}.npy", number++);
    if (auto error = write_bytes(in_folder(file), contents(*region))) return error;
    toml +=
        fmt::format("\n[[variable]]\nname = \"{}\"\nfile = \"{}\"\n", placed.variable.name, file);
    if (auto error = write_left(*region, file, DType::u8)) return error;
  }
  for (const ptx::Parameter& p : (*entry)->parameters) {
    toml += fmt::format("\n[[arg]]\n{}\n", argument_text(c, p, names));
  }
  if (auto error = write_file(in_folder("kernel.ptx"), *c.module.text().text)) return error;
  if (auto error = write_file(in_folder("launch.toml"), toml)) return error;
  const std::string handles = c.textures ? handles_in_memory(c) : "";
  if (handles.empty()) return {};
  return Error{ErrorKind::unsupported,
               fmt::format("{} does not run as it did: handles of textures stand in memory ({}), "
                           "and a launch file gives them as parameters alone.",
                           folder, handles),
               folder};
}

}  // namespace tilescope
