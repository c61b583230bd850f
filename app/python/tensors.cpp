#include "app/python/tensors.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "app/python/arrays.h"
#include "app/python/boxes.h"
#include "core/layout/text.h"
#include "core/run/job.h"
#include "core/tensor/text.h"

namespace tilescope::python {
namespace {

using Held = Box<Tensor>;

// --- from an array ------------------------------------------------------------------------------

std::optional<ElementType> type_of_numpy(std::string_view name) {
  if (name == "bool") return ElementType::u8;
  if (name == "complex128") return ElementType::c64;
  if (name.starts_with("uint")) return element_named("u" + std::string(name.substr(4)));
  if (name.starts_with("int")) return element_named("s" + std::string(name.substr(3)));
  if (name.starts_with("float")) return element_named("f" + std::string(name.substr(5)));
  return std::nullopt;
}

// NumPy's type for elements of a DLPack array that NumPy may not know: raw bits where it does not.
std::string raw_type_of(const HostArray& array) {
  const std::optional<DType> type = array.dtype();
  if (!type || *type == DType::bf16 || (is_float(*type) && array.element_bytes() == 1)) {
    return fmt::format("u{}", array.element_bytes());
  }
  const char letter = is_float(*type) ? 'f' : is_signed_integer(*type) ? 'i' : 'u';
  return fmt::format("{}{}", letter, array.element_bytes());
}

// The language's name for them; a type= that is told wins, if it is as wide.
ElementType type_of(const HostArray& array, const nb::object& dtype, const nb::object& told) {
  const std::string name = str_of(nb::getattr(dtype, "name"));
  if (!told.is_none()) {
    if (!PyUnicode_Check(told.ptr()))
      refuse(fmt::format("type={}: a name is needed, such as \"bf16\".", about(told)));
    const std::optional<ElementType> type = element_named(text_in(told));
    if (!type)
      refuse(fmt::format("type={}: there is no such type; {} are.", about(told), element_names()));
    if (bits_of(*type) != static_cast<int>(8 * array.element_bytes())) {
      refuse(fmt::format("type={} has {} bits, and {} has {}.", about(told), bits_of(*type), name,
                         8 * array.element_bytes()));
    }
    return *type;
  }
  const std::optional<DType> known = array.dtype();
  if (known && (*known == DType::bf16 || array.element_bytes() == 1)) {
    if (const auto type = element_named(name_of(*known))) return *type;
  }
  if (const std::optional<ElementType> type = type_of_numpy(name)) return *type;
  refuse(
      fmt::format("Elements of {} have no name in the language; type= gives them one of {} bits.",
                  name, 8 * array.element_bytes()));
}

Memory memory_of(const nb::object& told) {
  const std::optional<Memory> memory =
      PyUnicode_Check(told.ptr()) ? memory_named(text_in(told)) : std::nullopt;
  if (!memory) refuse(fmt::format("memory={}: gmem, smem, rmem and tmem are.", about(told)));
  return *memory;
}

// The array's own layout: its shape, with strides in elements.
Layout own_layout(const HostArray& array) {
  Tuple shape, stride;
  for (std::size_t d = 0; d < array.shape().size(); ++d) {
    const std::int64_t bytes = array.strides()[d], item = array.element_bytes();
    if (bytes % item != 0) {
      refuse(
          fmt::format("Dimension {} of {} has a stride of {} bytes, which is no whole number of "
                      "elements of {}: no layout says where they are.",
                      d, array.text(), bytes, item));
    }
    shape.push(Tuple(array.shape()[d]));
    stride.push(Tuple(bytes / item));
  }
  if (shape.empty()) return Layout(1, 0);
  return taken(make_layout(shape, stride));
}

std::shared_ptr<const HostElements> elements_of(nb::handle object, const HostArray& array) {
  static std::atomic<std::uint32_t> last{0};
  auto out = std::make_shared<HostElements>();
  out->array = nb::borrow(object);
  out->text = array.text();
  out->read_only = array.read_only();
  out->source = ++last;
  const std::int64_t item = array.element_bytes();
  out->first = (array.data() - array.begin()) / item;
  out->count = out->first + (array.begin() + array.bytes() - array.data()) / item;
  std::byte* const begin = array.data() - out->first * item;
  auto* const kept = new HostArray(array);
  const nb::capsule owner(kept, [](void* held) noexcept { delete static_cast<HostArray*>(held); });
  const std::size_t bytes = static_cast<std::size_t>(out->count * item);
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object raw =
      out->read_only
          ? nb::cast(nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(begin, {bytes}, owner))
          : nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(begin, {bytes}, owner));
  const nb::object dtype = PyObject_CheckBuffer(object.ptr())
                               ? nb::getattr(numpy.attr("asarray")(object), "dtype")
                               : numpy.attr("dtype")(raw_type_of(array).c_str());
  out->flat = raw.attr("view")(dtype);
  return out;
}

// --- what lies where ----------------------------------------------------------------------------

[[noreturn]] void refuse_beyond(const HostElements& in, std::int64_t lowest, std::int64_t highest) {
  const bool negative = lowest < -in.first;
  refuse(
      fmt::format("The layout reaches offset {}, and the array ({}) has {} to {}, counted in its "
                  "memory from its first element on.",
                  negative ? lowest : highest, in.text, -in.first, in.count - in.first - 1));
}

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  bool fits = true;
  const std::int64_t sum = checked_add(a, b, fits);
  if (!fits) refuse("The offset does not fit in 64 bits.");
  return sum;
}

// Which of `flat`'s elements an offset is.
std::int64_t place_in(const HostElements& in, std::int64_t offset) {
  if (offset < -in.first || offset >= in.count - in.first) refuse_beyond(in, offset, offset);
  return in.first + offset;
}

// Every offset that the tensor reaches lies in the array.
void check_bounds(const Tensor& tensor, const HostElements& in) {
  const Layout& layout = tensor.layout;
  std::int64_t lowest = origin_of(tensor), highest = lowest;
  const std::int64_t count = taken(size(layout));
  if (layout.swizzle.identity()) {
    bool fits = true;
    lowest = highest = checked_add(lowest, layout.offset.value, fits);
    for (int i = 0; i < layout.leaves(); ++i) {
      const Mode& m = layout.modes.leaf[i];
      const std::int64_t step = checked_mul(m.shape.value - 1, m.stride.value, fits);
      std::int64_t& end = step < 0 ? lowest : highest;
      end = checked_add(end, step, fits);
    }
    if (!fits) refuse("The layout's offsets do not fit in 64 bits.");
  } else {
    constexpr std::int64_t countable = std::int64_t{1} << 24;
    if (count > countable) {
      refuse(fmt::format("A swizzled layout of {} elements over an array; up to {} work.", count,
                         countable));
    }
    const std::int64_t origin = lowest;
    lowest = highest = sum_of(origin, layout(0));
    for (std::int64_t i = 1; i < count; ++i) {
      const std::int64_t offset = sum_of(origin, layout(i));
      lowest = std::min(lowest, offset);
      highest = std::max(highest, offset);
    }
  }
  if (lowest < -in.first || highest >= in.count - in.first) refuse_beyond(in, lowest, highest);
}

// --- coordinates ----------------------------------------------------------------------------

// A colon is `_`, as NumPy has it.
nb::object without_colons(nb::handle key) {
  if (PySlice_Check(key.ptr())) {
    if (nb::getattr(key, "start").is_none() && nb::getattr(key, "stop").is_none() &&
        nb::getattr(key, "step").is_none()) {
      return nb::cast(Int::all());
    }
    refuse(
        fmt::format("{}: `_` or `:` alone takes a whole mode; a part of one is a tile, as "
                    "ts.local_tile has it.",
                    about(key)));
  }
  if (!PyTuple_Check(key.ptr())) return nb::borrow(key);
  nb::list out;
  for (const nb::handle each : nb::borrow<nb::tuple>(key)) out.append(without_colons(each));
  return nb::tuple(out);
}

bool has_underscore(const Tuple& coordinate) {
  for (int i = 0; i < coordinate.leaves; ++i) {
    if (coordinate.leaf[i].kind == Int::Kind::all) return true;
  }
  return false;
}

// Each number is one of the extent's that it chooses from.
void check_coordinate(const Tuple& coordinate, const Tree<Mode>& modes, const Layout& layout) {
  if (!coordinate.scalar()) {
    if (coordinate.rank() != modes.rank() || modes.scalar()) return;  // the language says it
    for (int i = 0; i < coordinate.rank(); ++i) {
      check_coordinate(coordinate.mode(i), modes.mode(i), layout);
    }
    return;
  }
  const Int& number = coordinate.leaf[0];
  if (number.kind == Int::Kind::all) return;
  if (!number.known() || !number.axis.none()) {
    refuse(fmt::format("A coordinate of {}: an element is chosen by known numbers.", text(number)));
  }
  const Result<std::int64_t> extent = size(Layout(modes));
  if (extent && (number.value < 0 || number.value >= *extent)) {
    refuse(fmt::format("A coordinate of {} in an extent of {}: {} has the shape {}.", number.value,
                       *extent, text(layout), text(layout.shape())));
  }
}

bool is_whole(nb::handle key) {
  return key.ptr() == Py_Ellipsis;
}

Tuple coordinate_of_key(const Held& self, nb::handle key) {
  const Tuple coordinate = tuple_of(without_colons(key));
  if (!language::takes_coordinates(Value(self.value))) {
    refuse(fmt::format("{} has no layout, and so no coordinates.", text(Value(self.value))));
  }
  check_coordinate(coordinate, self.value.layout.modes, self.value.layout);
  return coordinate;
}

Held part_at(const Held& self, const Tuple& coordinate) {
  const Result<Tensor> part = slice(coordinate, self.value);
  if (!part) refuse(sentence(part.refusal));
  return {*part, self.elements};
}

std::int64_t element_offset(const Held& self, const Tuple& coordinate) {
  const Tensor& tensor = self.value;
  const std::int64_t origin = origin_of(tensor);
  return sum_of(origin, taken(crd2idx(coordinate, tensor.layout)));
}

// --- NumPy's view of it -------------------------------------------------------------------------

// An extent and a stride for each mode; nothing where a mode has no single stride.
struct Strided {
  std::vector<std::int64_t> shape, stride;  // in elements
};
std::optional<Strided> strided(const Layout& layout) {
  Strided out;
  if (!layout.swizzle.identity()) return std::nullopt;
  for (int i = 0; i < layout.rank() && !layout.modes.empty(); ++i) {
    const Result<Layout> mode = coalesce(Layout(layout.modes, i));
    if (!mode || mode->leaves() != 1) return std::nullopt;
    out.shape.push_back(mode->modes.leaf[0].shape.value);
    out.stride.push_back(mode->modes.leaf[0].stride.value);
  }
  return out;
}

nb::tuple tuple_from(const std::vector<std::int64_t>& numbers) {
  nb::list out;
  for (const std::int64_t n : numbers) out.append(nb::int_(n));
  return nb::tuple(out);
}

std::vector<std::int64_t> shape_by_mode(const Layout& layout) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < layout.rank() && !layout.modes.empty(); ++i) {
    out.push_back(taken(size(Layout(layout.modes, i))));
  }
  return out;
}

// Which of `flat`'s elements the tensor's are, in the order of the coordinates.
nb::object indices_of(const Held& tensor, const HostElements& in) {
  const std::int64_t origin = in.first + origin_of(tensor.value);
  const Layout& layout = tensor.value.layout;
  const std::int64_t count = layout.modes.empty() ? 1 : taken(size(layout));
  auto* const all = new std::vector<std::int64_t>(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) (*all)[static_cast<std::size_t>(i)] = origin + layout(i);
  const nb::capsule owner(
      all, [](void* held) noexcept { delete static_cast<std::vector<std::int64_t>*>(held); });
  return nb::cast(
      nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(all->data(), {all->size()}, owner));
}

nb::object view_of(const Held& tensor, const HostElements& in, const Strided& as) {
  const std::int64_t item = nb::cast<std::int64_t>(in.flat.attr("itemsize"));
  const Tensor& t = tensor.value;
  std::vector<std::int64_t> steps;
  for (const std::int64_t stride : as.stride) steps.push_back(stride * item);
  const std::int64_t begin = in.first + origin_of(t) + t.layout.offset.value;
  return nb::module_::import_("numpy").attr("ndarray")(
      nb::arg("shape") = tuple_from(as.shape), nb::arg("dtype") = in.flat.attr("dtype"),
      nb::arg("buffer") = in.flat, nb::arg("offset") = begin * item,
      nb::arg("strides") = tuple_from(steps));
}

}  // namespace

const HostElements& elements_in(const Held& tensor) {
  if (tensor.elements) return *tensor.elements;
  refuse(
      fmt::format("{} is a layout and a type, and over no array: ts.Tensor(array, layout) has "
                  "elements.",
                  text(Value(tensor.value))));
}

std::int64_t origin_of(const Tensor& tensor) {
  if (!tensor.layout.concrete() || !tensor.offset.plain() || !tensor.offset.known()) {
    refuse(fmt::format("{} has offsets that are no known numbers, and so no elements of an array.",
                       text(Value(tensor))));
  }
  return tensor.offset.offset().value;
}

std::int64_t offset_in(const Tensor& tensor, std::int64_t index) {
  return sum_of(origin_of(tensor), tensor.layout(index));
}

nb::object element(const HostElements& in, std::int64_t offset) {
  return in.flat[nb::int_(place_in(in, offset))];
}

nb::object item_at(const Held& self, nb::handle key) {
  if (is_whole(key)) return nb::cast(self);
  const Tuple coordinate = coordinate_of_key(self, key);
  if (has_underscore(coordinate)) return nb::cast(part_at(self, coordinate));
  const HostElements& in = elements_in(self);
  return element(in, element_offset(self, coordinate));
}

void set_item(const Held& self, nb::handle key, nb::handle value) {
  const HostElements& in = elements_in(self);
  if (in.read_only) refuse(fmt::format("The array ({}) is read-only.", in.text));
  const Tuple coordinate = is_whole(key) ? Tuple(Int::all()) : coordinate_of_key(self, key);
  if (!has_underscore(coordinate)) {
    in.flat[nb::int_(place_in(in, element_offset(self, coordinate)))] = value;
    return;
  }
  const Held part = is_whole(key) ? self : part_at(self, coordinate);
  check_bounds(part.value, in);
  if (const std::optional<Strided> as = strided(part.value.layout)) {
    view_of(part, in, *as)[nb::ellipsis()] = value;
    return;
  }
  // In the order of the coordinates, the first mode fastest.
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object all =
      numpy.attr("broadcast_to")(value, tuple_from(shape_by_mode(part.value.layout)));
  in.flat[indices_of(part, in)] = all.attr("ravel")(nb::arg("order") = "F");
}

Held tensor_over(nb::handle array, const nb::object& layout, const nb::object& type,
                 const nb::object& memory) {
  const std::optional<HostArray> host = HostArray::of(array);
  if (!host) {
    refuse(
        fmt::format("{} is no array: NumPy's are, and what has the buffer protocol or DLPack on "
                    "the CPU.",
                    about(array)));
  }
  if (host->bytes() == 0) {
    refuse(fmt::format("The array ({}) has no elements, and a layout has at least one.",
                       host->text()));
  }
  Held out;
  if (layout.is_none()) {
    out.value.layout = own_layout(*host);
  } else {
    const Value value = value_of(layout);
    const Slice* slice = std::get_if<Slice>(&value);
    out.value.layout = slice ? slice->layout : layout_of(layout);
    if (slice) out.value.offset = slice->offset;
  }
  out.elements = elements_of(array, *host);
  out.value.memory = memory_of(memory);
  out.value.type = type_of(*host, out.elements->flat.attr("dtype"), type);
  out.value.source = out.elements->source;
  check_bounds(out.value, *out.elements);
  return out;
}

template <>
bool same_elements(const Held& a, const Held& b) {
  if (!a.elements || !b.elements) return !a.elements && !b.elements;
  return a.elements->array.is(b.elements->array);
}

nb::object object_of(const Value& value, const nb::tuple& from) {
  const Tensor* const tensor = std::get_if<Tensor>(&value);
  if (!tensor || tensor->source == 0) return object_of(value);
  for (const nb::handle each : from) {
    Held* held = nullptr;
    if (nb::try_cast(each, held) && held && held->elements &&
        held->elements->source == tensor->source) {
      return nb::cast(Held{*tensor, held->elements});
    }
  }
  return object_of(value);
}

nb::object numpy_of(const Held& tensor, const nb::object& copy) {
  if (!copy.is_none() && !PyBool_Check(copy.ptr())) {
    refuse(fmt::format("copy={}: True, False and None are.", about(copy)));
  }
  const HostElements& in = elements_in(tensor);
  check_bounds(tensor.value, in);
  const std::optional<Strided> as = strided(tensor.value.layout);
  const bool must_not = copy.is(nb::bool_(false));
  if (as) {
    const nb::object view = view_of(tensor, in, *as);
    return copy.is_none() || must_not ? view : nb::object(view.attr("copy")());
  }
  if (must_not) {
    refuse(
        fmt::format("{} has modes without a single stride, or a swizzle: NumPy has no view of "
                    "it, and copy=None makes a copy.",
                    text(Value(tensor.value))));
  }
  return in.flat[indices_of(tensor, in)].attr("reshape")(
      tuple_from(shape_by_mode(tensor.value.layout)), nb::arg("order") = "F");
}

}  // namespace tilescope::python
