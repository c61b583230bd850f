// Launch file text -> LaunchFile. core/io/launch_file.h shows the format.
#include <algorithm>
#include <cstring>
#include <limits>

#include "core/io/launch_file.h"
#include "core/io/launch_objects.h"
#include "core/io/toml_reader.h"

namespace tilescope {
namespace {

// PTX ISA "Kernel Function Parameters": up to 32,764 bytes from sm_70 and PTX 8.1 on.
constexpr std::int64_t most_parameter_bytes = 32764;

// The keys that give a value, of which an argument has exactly one.
constexpr std::string_view value_keys[] = {
    "buffer", "null", "bytes", "tensormap", "texture", "surface", "u8",   "i8",  "u16",
    "i16",    "u32",  "i32",   "u64",       "i64",     "f16",     "bf16", "f32", "f64"};

class LaunchParser {
 public:
  explicit LaunchParser(std::string_view name) : toml_(name) { file_.name = name; }

  Outcome<LaunchFile> parse(std::string_view text) {
    const toml::table root = toml_.parse(text);
    if (!toml_.failed()) launch(root);
    const auto buffers = toml_.tables(root, "buffer", "the launch file");
    for (const toml::table* table : buffers) buffer(*table);
    // A buffer may hold addresses of those that come after it.
    for (std::size_t i = 0; i < file_.buffers.size() && !toml_.failed(); ++i) {
      point(*buffers[i], file_.buffers[i]);
    }
    for (const toml::table* table : toml_.tables(root, "arg", "the launch file")) argument(*table);
    for (const toml::table* table : toml_.tables(root, "variable", "the launch file")) {
      variable(*table);
    }
    if (toml_.failed()) return toml_.error();
    return std::move(file_);
  }

 private:
  void launch(const toml::table& root) {
    const std::string_view what = "the launch file";
    toml_.only(root,
               {"entry", "link", "grid", "block", "cluster", "cooperative", "dynamic_smem",
                "device", "variables_at", "buffer", "arg", "variable"},
               what);
    file_.variables_at = static_cast<std::uint64_t>(
        toml_.integer(root, "variables_at", what, 0x0500'0000'0000, 0x05fe'ffff'0000).value_or(0));
    if (file_.variables_at % 4096) {
      toml_.fail(root.get("variables_at")->source(), "variables_at is no multiple of 4096.");
    }
    file_.device = toml_.text(root, "device", what).value_or("");
    file_.launch.entry = toml_.text(root, "entry", what).value_or("");
    file_.link = toml_.texts(root, "link", what).value_or(std::vector<std::string>{});
    for (const std::string_view key : {"grid", "block"}) {
      if (root.contains(key)) continue;
      toml_.fail(root.source(), fmt::format("The launch file has no {0}; {0} = {1} would work.",
                                            key, key == "grid" ? "[1, 1, 1]" : "[128, 1, 1]"));
    }
    file_.launch.grid = extent(root, "grid").value_or(Dim3{});
    file_.launch.block = extent(root, "block").value_or(Dim3{});
    file_.launch.cluster = extent(root, "cluster");
    file_.launch.cooperative = toml_.boolean(root, "cooperative", what).value_or(false);
    file_.launch.dynamic_shared = static_cast<std::uint32_t>(
        toml_.integer(root, "dynamic_smem", what, 0, most_int32).value_or(0));
  }

  std::optional<Dim3> extent(const toml::table& root, std::string_view key) {
    const auto list = toml_.integers(root, key, "the launch file", 1, most_int32);
    if (!list) return std::nullopt;
    if (list->empty() || list->size() > 3) {
      toml_.fail(
          root.get(key)->source(),
          fmt::format("{} has {} numbers; one to three (x, y, z) would work.", key, list->size()));
      return std::nullopt;
    }
    Dim3 dim;
    dim.x = static_cast<std::uint32_t>((*list)[0]);
    if (list->size() > 1) dim.y = static_cast<std::uint32_t>((*list)[1]);
    if (list->size() > 2) dim.z = static_cast<std::uint32_t>((*list)[2]);
    return dim;
  }

  // ---- buffers ----

  void buffer(const toml::table& table) {
    PlannedBuffer plan;
    plan.where = toml_.place(table.source());
    std::string what = fmt::format("[[buffer]] {}", file_.buffers.size() + 1);
    plan.name = toml_.text(table, "name", what).value_or("");
    if (plan.name.empty()) toml_.fail(table.source(), fmt::format("{} has no name.", what));
    what = fmt::format("[[buffer]] \"{}\"", plan.name);
    toml_.only(table,
               {"name", "dtype", "shape", "file", "random", "zeros", "poison", "pointers", "out",
                "expect", "rtol", "atol", "tile", "address", "unwritten"},
               what);
    if (buffer_named(plan.name)) {
      toml_.fail(table.source(), fmt::format("There are two buffers named \"{}\".", plan.name));
    }
    plan.dtype = dtype(table, what);
    plan.shape = toml_.integers(table, "shape", what, 0, most_int64);
    fill(table, what, plan);
    plan.out = toml_.text(table, "out", what);
    plan.expect = toml_.text(table, "expect", what);
    plan.rtol = tolerance(table, "rtol", what);
    plan.atol = tolerance(table, "atol", what);
    plan.tile = toml_.integers(table, "tile", what, 1, most_int64).value_or(plan.tile);
    place(table, what, plan);
    file_.buffers.push_back(std::move(plan));
  }

  // Addresses of buffers are above all others that a launch has (core/sim/memory/device_memory.h).
  void place(const toml::table& table, std::string_view what, PlannedBuffer& plan) {
    constexpr std::int64_t least = 0x7000'0000'0000, most = 0x7fff'ffff'ff00;
    plan.address =
        static_cast<std::uint64_t>(toml_.integer(table, "address", what, least, most).value_or(0));
    if (plan.address % 256) {
      toml_.fail(table.get("address")->source(),
                 fmt::format("{} has the address 0x{:x}, which is no multiple of 256.", what,
                             plan.address));
    }
    const toml::node* const list = table.get("unwritten");
    if (!list) return;
    const auto wrong = [&] {
      toml_.fail(
          list->source(),
          fmt::format("unwritten of {} is no list of stretches of bytes, each behind the one "
                      "before; [[0, 64], [128, 256]] would work.",
                      what));
    };
    const toml::array* const all = list->as_array();
    if (!all) return wrong();
    std::uint64_t end = 0;
    for (const toml::node& each : *all) {
      const toml::array* const pair = each.as_array();
      if (!pair || pair->size() != 2) return wrong();
      const auto from = (*pair)[0].value<std::int64_t>(), to = (*pair)[1].value<std::int64_t>();
      if (!from || !to || *from < static_cast<std::int64_t>(end) || *to <= *from) return wrong();
      end = static_cast<std::uint64_t>(*to);
      plan.unwritten.emplace_back(static_cast<std::uint64_t>(*from), end);
    }
  }

  void variable(const toml::table& table) {
    const std::string what = fmt::format("[[variable]] {}", file_.variables.size() + 1);
    toml_.only(table, {"name", "file", "expect"}, what);
    PlannedVariable plan;
    plan.where = toml_.place(table.source());
    plan.name = toml_.text(table, "name", what).value_or("");
    plan.file = toml_.text(table, "file", what).value_or("");
    plan.expect = toml_.text(table, "expect", what);
    if (plan.name.empty() || plan.file.empty()) {
      toml_.fail(table.source(),
                 fmt::format("{} has to have a name and a file; name = \"counter\", file = "
                             "\"counter.npy\" would work.",
                             what));
    }
    file_.variables.push_back(std::move(plan));
  }

  DType dtype(const toml::table& table, std::string_view what) {
    const std::string known = "f16 bf16 f32 f64 e4m3 e5m2 u8 i8 u16 i16 u32 i32 u64 i64";
    const std::optional<std::string> name = toml_.text(table, "dtype", what);
    if (!name) {
      toml_.fail(table.source(),
                 fmt::format("{} has no dtype; one of {} would work.", what, known));
      return {};
    }
    const std::optional<DType> type = dtype_named(*name);
    if (!type) {
      toml_.fail(table.get("dtype")->source(),
                 fmt::format("{} has the dtype \"{}\", which does not exist; one of {} would work.",
                             what, *name, known));
    }
    return type.value_or(DType::f32);
  }

  // Exactly one source of the contents; zeros = false is as good as nothing.
  void fill(const toml::table& table, std::string_view what, PlannedBuffer& plan) {
    const auto file = toml_.text(table, "file", what);
    const auto seed = toml_.integer(table, "random", what, 0, most_int64);
    const bool zeros = toml_.boolean(table, "zeros", what).value_or(false);
    const bool poison = toml_.boolean(table, "poison", what).value_or(false);
    const bool pointers = table.contains("pointers");
    // Addresses may stand among what a file holds.
    const int sources = file.has_value() + seed.has_value() + zeros + poison + (pointers && !file);
    if (sources != 1) {
      toml_.fail(
          table.source(),
          fmt::format("{} has {} of file, random, zeros, poison and pointers; exactly one says "
                      "what it holds.",
                      what, sources == 0 ? "none" : "more than one"));
    }
    if (file) plan.fill = Fill::file, plan.file = *file;
    if (seed) plan.fill = Fill::random, plan.seed = static_cast<std::uint64_t>(*seed);
    if (poison) plan.fill = Fill::poison;
    if (pointers && !file) plan.fill = Fill::pointers;
    if (!file && !pointers && !plan.shape) {
      toml_.fail(table.source(),
                 fmt::format("{} has no shape; it may be left out only where a file is given. "
                             "shape = [256, 256] would work.",
                             what));
    }
  }

  // pointers = [{ buffer = "A", offset = 512 }, { null = true }]: addresses, of 8 bytes each; where
  // a file says the rest, each with the byte where it stands: { at = 64, buffer = "A" }.
  void point(const toml::table& table, PlannedBuffer& plan) {
    if (!table.contains("pointers")) return;
    const std::string what = fmt::format("[[buffer]] \"{}\"", plan.name);
    const bool among = plan.fill == Fill::file;
    if (!among && plan.dtype != DType::u64) {
      toml_.fail(table.source(), fmt::format("{} has pointers and the dtype {}; addresses are u64.",
                                             what, name_of(plan.dtype)));
    }
    std::uint64_t number = 0;
    for (const toml::table* one : toml_.tables(table, "pointers", what)) {
      const std::string place = fmt::format("pointer {} of {}", number, what);
      if (among) {
        point_among(*one, place, plan);
      } else {
        point_next(*one, place, number, plan);
      }
      ++number;
    }
    if (!among) size_of_pointers(table, what, number, plan);
  }

  void point_among(const toml::table& one, const std::string& place, PlannedBuffer& plan) {
    toml_.only(one, {"at", "buffer", "offset"}, place);
    const auto at = toml_.integer(one, "at", place, 0, most_int64);
    if (!at || !one.contains("buffer")) {
      toml_.fail(one.source(), fmt::format("{} has to say at which byte it stands, and where it "
                                           "points; {{ at = 64, buffer = \"A\" }} would work.",
                                           place));
      return;
    }
    const std::optional<std::uint32_t> index = named_buffer(one, place);
    const auto offset = toml_.integer(one, "offset", place, -most_int64, most_int64);
    if (index) {
      plan.pointers.push_back({static_cast<std::uint64_t>(*at), *index, offset.value_or(0)});
    }
  }

  void point_next(const toml::table& one, const std::string& place, std::uint64_t number,
                  PlannedBuffer& plan) {
    toml_.only(one, {"buffer", "offset", "null"}, place);
    const bool null = toml_.boolean(one, "null", place).value_or(false);
    if (null == one.contains("buffer")) {
      toml_.fail(one.source(), fmt::format("{} has to have one of buffer and null = true.", place));
    } else if (!null) {
      const std::optional<std::uint32_t> index = named_buffer(one, place);
      const auto offset = toml_.integer(one, "offset", place, -most_int64, most_int64);
      if (index) plan.pointers.push_back({8 * number, *index, offset.value_or(0)});
    }
  }

  void size_of_pointers(const toml::table& table, const std::string& what, std::uint64_t number,
                        PlannedBuffer& plan) {
    const auto count = static_cast<std::int64_t>(number);
    if (!plan.shape) plan.shape = {count};
    std::int64_t room = 1;
    constexpr std::int64_t enough = std::int64_t{1} << 20;  // pointers a file can hold
    for (const std::int64_t extent : *plan.shape) {
      room = std::min(room * std::min(extent, enough), enough);
    }
    if (room < count) {
      toml_.fail(table.source(),
                 fmt::format("{} has {} pointers, but its shape {} has room for {}.", what, count,
                             shape_text(*plan.shape), room));
    }
  }

  std::optional<double> tolerance(const toml::table& table, std::string_view key,
                                  std::string_view what) {
    const std::optional<double> value = toml_.number(table, key, what);
    if (value && !(*value >= 0 && *value <= std::numeric_limits<double>::max())) {
      toml_.fail(table.get(key)->source(),
                 fmt::format("{} of {} is {}, but must be a number of 0 or more, like 1e-3.", key,
                             what, *value));
    }
    return value;
  }

  std::optional<std::uint32_t> buffer_named(std::string_view name) const {
    for (std::size_t i = 0; i < file_.buffers.size(); ++i) {
      if (file_.buffers[i].name == name) return static_cast<std::uint32_t>(i);
    }
    return std::nullopt;
  }

  // ---- arguments ----

  void argument(const toml::table& table) {
    const std::string what = fmt::format("[[arg]] {}", file_.arguments.size() + 1);
    const bool is_struct =
        table.contains("at") || (table.contains("size") && !table.contains("tensormap"));
    file_.arguments.push_back(is_struct ? structure(table, what) : value(table, what));
    parameter_bytes_ += static_cast<std::int64_t>(file_.arguments.back().bytes.size());
    if (parameter_bytes_ > most_parameter_bytes) {
      file_.arguments.pop_back();  // so that a long file of large structs stays small in memory
      toml_.fail(table.source(),
                 fmt::format("With {} the kernel's parameters are {} bytes; up to {} "
                             "can be passed.",
                             what, parameter_bytes_, most_parameter_bytes));
    }
  }

  Argument structure(const toml::table& table, const std::string& what) {
    toml_.only(table, {"size", "at"}, fmt::format("{}, a struct,", what));
    Argument argument;
    const auto size = toml_.integer(table, "size", what, 1, most_parameter_bytes);
    if (!size) {
      toml_.fail(table.source(),
                 fmt::format("{} is a struct (it has \"at\") without a size; size = "
                             "BYTES says how large it is.",
                             what));
      return argument;
    }
    argument.bytes.resize(static_cast<std::size_t>(*size));
    std::vector<bool> taken(argument.bytes.size());
    for (const toml::table* part : toml_.tables(table, "at", what)) {
      place_part(*part, what, argument, taken);
    }
    return argument;
  }

  // One { offset = N, <value> } of a struct into its bytes.
  void place_part(const toml::table& part, const std::string& what, Argument& whole,
                  std::vector<bool>& taken) {
    const auto offset = toml_.integer(part, "offset", "a part of " + what, 0, most_parameter_bytes);
    if (!offset) {
      toml_.fail(part.source(), fmt::format("A part of {} has no offset; offset = 0 is its first "
                                            "byte.",
                                            what));
      return;
    }
    const auto at = static_cast<std::size_t>(*offset);
    const std::string place = fmt::format("the part at offset {} of {}", at, what);
    const Argument one = value(part, place, true);
    if (toml_.failed()) return;
    if (at + one.bytes.size() > whole.bytes.size()) {
      toml_.fail(part.source(), fmt::format("{} reaches to byte {}, but the struct's size is {}.",
                                            place, at + one.bytes.size(), whole.bytes.size()));
      return;
    }
    for (std::size_t i = 0; i < one.bytes.size(); ++i) {
      if (taken[at + i]) {
        toml_.fail(part.source(),
                   fmt::format("{} overlaps another part at byte {}.", place, at + i));
        return;
      }
      taken[at + i] = true;
      whole.bytes[at + i] = one.bytes[i];
    }
    for (Argument::Address address : one.addresses) {
      address.at += static_cast<std::uint32_t>(at);
      whole.addresses.push_back(address);
    }
    for (Argument::Map map : one.maps) {
      map.at += static_cast<std::uint32_t>(at);
      whole.maps.push_back(std::move(map));
    }
    for (Argument::Handle handle : one.handles) {
      handle.at += static_cast<std::uint32_t>(at);
      whole.handles.push_back(handle);
    }
  }

  // What one table of [[arg]] or `at` gives. In a struct, "offset" is where it lies, and "plus" the
  // bytes into a buffer; elsewhere "offset" is these.
  Argument value(const toml::table& table, const std::string& what, bool in_struct = false) {
    std::vector<std::string_view> given;
    for (const std::string_view key : value_keys) {
      if (table.contains(key)) given.push_back(key);
    }
    if (given.size() != 1) {
      const std::string found =
          given.empty() ? "no value" : fmt::format("both {} and {}", given[0], given[1]);
      toml_.fail(table.source(),
                 fmt::format(
                     "{} has {}; it takes exactly one of buffer, null, bytes, tensormap, "
                     "texture, surface, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64.",
                     what, found));
      return {};
    }
    const std::string_view key = given[0];
    if (key == "tensormap") {
      toml_.only(table, {key, in_struct ? "offset" : "size"}, what);
      return tensormap(table, what);
    }
    if (key == "texture" || key == "surface") {
      toml_.only(table,
                 in_struct ? std::vector<std::string_view>{key, "offset"}
                           : std::vector<std::string_view>{key},
                 what);
      return texture(table, key, what);
    }
    if (key == "buffer" && in_struct) {
      toml_.only(table, {key, "offset", "plus"}, what);
    } else if (key == "buffer" || in_struct) {
      toml_.only(table, {key, "offset"}, what);
    } else {
      toml_.only(table, {key}, what);
    }
    if (key == "buffer") return pointer(table, what, in_struct);
    if (key == "null") return null(table, what);
    if (key == "bytes") return hexadecimal(table, what);
    return scalar(table, key, what);
  }

  Argument pointer(const toml::table& table, const std::string& what, bool in_struct) {
    const std::optional<std::uint32_t> index = named_buffer(table, what);
    if (!index) return {};
    const auto offset =
        toml_.integer(table, in_struct ? "plus" : "offset", what, -most_int64, most_int64);
    return Argument::pointer(*index, offset.value_or(0));
  }

  // The buffer that the key `buffer` names.
  std::optional<std::uint32_t> named_buffer(const toml::table& table, const std::string& what) {
    if (!table.contains("buffer")) {
      toml_.fail(table.source(), fmt::format("{} has no buffer.", what));
      return {};
    }
    const std::string name = toml_.text(table, "buffer", what).value_or("");
    const std::optional<std::uint32_t> index = buffer_named(name);
    if (!index) {
      std::string known;
      for (const PlannedBuffer& plan : file_.buffers) {
        if (!known.empty()) known += ", ";
        known += plan.name;
      }
      toml_.fail(table.get("buffer")->source(),
                 fmt::format("{} points to a buffer \"{}\", which does not exist; {}.", what, name,
                             known.empty() ? "there is no [[buffer]] in the file"
                                           : "the buffers are " + known));
    }
    return index;
  }

  Argument null(const toml::table& table, const std::string& what) {
    if (!toml_.boolean(table, "null", what).value_or(true)) {
      toml_.fail(table.get("null")->source(),
                 fmt::format("null of {} is false; null = true gives a null pointer.", what));
    }
    return Argument::u64(0);
  }

  Argument hexadecimal(const toml::table& table, const std::string& what) {
    Argument argument;
    const std::string digits = toml_.text(table, "bytes", what).value_or("");
    const auto nibble = [](char c) {
      if (c >= '0' && c <= '9') return c - '0';
      if (c >= 'a' && c <= 'f') return c - 'a' + 10;
      if (c >= 'A' && c <= 'F') return c - 'A' + 10;
      return -1;
    };
    bool good = digits.size() % 2 == 0 &&
                digits.size() <= 2 * static_cast<std::size_t>(most_parameter_bytes);
    for (std::size_t i = 0; good && i < digits.size(); i += 2) {
      const int high = nibble(digits[i]), low = nibble(digits[i + 1]);
      good = high >= 0 && low >= 0;
      argument.bytes.push_back(static_cast<std::byte>(good ? high * 16 + low : 0));
    }
    if (!good) {
      toml_.fail(
          table.get("bytes")->source(),
          fmt::format("bytes of {} is not hexadecimal: two digits a byte and nothing else, up "
                      "to {} bytes, like \"00ff\".",
                      what, most_parameter_bytes));
    }
    return argument;
  }

  Argument scalar(const toml::table& table, std::string_view key, const std::string& what) {
    const DType type = *dtype_named(key);
    Argument argument;
    argument.bytes.resize(bytes_of(type));
    if (is_float(type)) {
      store_element(type, argument.bytes.data(), toml_.number(table, key, what).value_or(0));
      return argument;
    }
    // TOML's integers are i64: a u64 above that has to be written as bytes.
    const bool sign = is_signed_integer(type);
    const int magnitude_bits = bits_of(type) - sign;
    const std::int64_t most =
        magnitude_bits >= 63 ? most_int64 : (std::int64_t{1} << magnitude_bits) - 1;
    const std::int64_t least = sign ? -most - 1 : 0;
    const std::int64_t number = toml_.integer(table, key, what, least, most).value_or(0);
    std::memcpy(argument.bytes.data(), &number, argument.bytes.size());
    return argument;
  }

  // tensormap = { buffer = "A", box = [64, 128], ... }: what cuTensorMapEncodeTiled takes; in place
  // of the box lower, upper, channels, pixels: what cuTensorMapEncodeIm2col takes; with wide what
  // cuTensorMapEncodeIm2colWide takes. Whether the tensor and the buffer fit is known when there is
  // a buffer.
  Argument tensormap(const toml::table& table, const std::string& what) {
    const toml::table* given = table.get("tensormap")->as_table();
    if (!given) {
      toml_.fail(
          table.get("tensormap")->source(),
          fmt::format("tensormap of {} is no table; tensormap = {{ buffer = \"A\", box = [64, "
                      "128] }} would work.",
                      what));
      return {};
    }
    const std::string map_of = "the tensormap of " + what;
    only_of_tensor_map(toml_, *given, map_of);
    TensorMap map;
    map.buffer = named_buffer(*given, map_of).value_or(0);
    const std::string_view type = (*given)["dtype"].value_or(std::string_view{});
    const std::optional<MapPacking> packing = packing_named(type);
    const std::optional<MapFloat> floats = map_float_named(type);
    map.packing = packing.value_or(MapPacking::none);
    map.floats = floats.value_or(MapFloat::f32);
    if (given->contains("dtype") && !packing && !floats) map.dtype = dtype(*given, map_of);
    read_tensor_map(toml_, *given, map_of, map);
    const toml::table& sized = given->contains("size") ? *given : table;
    const std::int64_t size =
        toml_.integer(sized, "size", what, map_bytes, most_parameter_bytes).value_or(map_bytes);
    return Argument::tensor_map(std::move(map), static_cast<std::uint32_t>(size));
  }

  // texture = { buffer = "A", width = 64, height = 32, filter = "linear", address = "clamp",
  // normalized = true, format = "f32x1" }; surface = { buffer = "A", width = 64, format = "u8x4" }.
  Argument texture(const toml::table& table, std::string_view key, const std::string& what) {
    const toml::table* given = table.get(key)->as_table();
    if (!given) {
      toml_.fail(
          table.get(key)->source(),
          fmt::format("{0} of {1} is no table; {0} = {{ buffer = \"A\", width = 64, format = "
                      "\"f32x1\" }} would work.",
                      key, what));
      return {};
    }
    const std::string of = fmt::format("the {} of {}", key, what);
    Texture t;
    t.surface = key == "surface";
    read_texture(toml_, *given, of, t);
    if (!toml_.failed()) t.buffer = named_buffer(*given, of).value_or(0);
    return Argument::handle(t);
  }

  TomlReader toml_;
  LaunchFile file_;
  std::int64_t parameter_bytes_ = 0;  // of all arguments so far
};

}  // namespace

Outcome<LaunchFile> parse_launch_file(std::string_view text, std::string_view name) {
  return LaunchParser(name).parse(text);
}

}  // namespace tilescope
