// Python's objects as values of the language, and back.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <optional>

#include "app/python/values.h"
#include "core/layout/text.h"
#include "core/tensor/text.h"

namespace tilescope::python {
namespace {

bool is_number(nb::handle object) {
  return PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr());
}
bool is_sequence(nb::handle object) {
  return PyTuple_Check(object.ptr()) || PyList_Check(object.ptr());
}

// Lists may be changed while they are read, by nobody here: what they hold is converted in C.
Py_ssize_t length(nb::handle sequence) {
  return PyTuple_Check(sequence.ptr()) ? PyTuple_Size(sequence.ptr()) : PyList_Size(sequence.ptr());
}
nb::object item(nb::handle sequence, Py_ssize_t i) {
  PyObject* const one = PyTuple_Check(sequence.ptr()) ? PyTuple_GetItem(sequence.ptr(), i)
                                                      : PyList_GetItem(sequence.ptr(), i);
  if (!one) throw nb::python_error();
  return nb::borrow(one);
}

std::int64_t number_in(nb::handle object) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) {
    refuse(fmt::format("{} does not fit in 64 bits.", str_of(object)));
  }
  if (number == -1 && PyErr_Occurred()) throw nb::python_error();
  return number;
}

// numpy.int64 and its like: what Python takes for an index, but no array of one element.
nb::object as_index(nb::handle object) {
  if (PyBool_Check(object.ptr()) || !PyIndex_Check(object.ptr())) return {};
  PyObject* const number = PyNumber_Index(object.ptr());
  if (!number) PyErr_Clear();
  return nb::steal(number);
}

// tilescope/_foreign.py: what others' objects are here; None, or none at all, where they are
// nothing.
nb::object foreign(nb::handle object) {
  const nb::object module = nb::getattr(object.type(), "__module__", nb::none());
  if (!PyUnicode_Check(module.ptr())) return {};
  const std::string_view name = text_in(module);
  const std::string_view package = name.substr(0, name.find('.'));
  if (package != "cutlass" && package != "tensor_layouts" && package != "triton" &&
      package != "tvm") {
    return {};
  }
  nb::object found = nb::module_::import_("tilescope._foreign").attr("value")(object);
  return found.is_none() ? nb::object() : found;
}

Value evaluated_text(nb::handle text) {
  if (is_linear_layout(text_in(text))) return value_of_linear_layout(text);
  return taken(evaluate(text_in(text)));
}

// One number, or nothing.
std::optional<Int> int_in(nb::handle object) {
  if (is_number(object)) return Int(number_in(object));
  if (object.is_none()) return Int::all();
  Int* held = nullptr;
  if (nb::try_cast(object, held) && held) return *held;
  if (const nb::object index = as_index(object)) return Int(number_in(index));
  const nb::object number = PyIndex_Check(object.ptr()) ? foreign(object) : nb::object();
  if (number && nb::try_cast(number, held) && held) return *held;
  if (number && is_number(number)) return Int(number_in(number));
  return std::nullopt;
}

// Puts an object behind the leaves of a tuple; false: it is no number and no tuple of such.
bool append(nb::handle object, Tuple& out, int level) {
  if (is_sequence(object)) {
    if (level >= 64) refuse("Nested deeper than 64 brackets.");
    const int begin = out.leaves;
    const Py_ssize_t count = length(object);
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!append(item(object, i), out, level + 1)) return false;
    }
    if (out.leaves == begin) return level == 0;  // (): nothing, and nothing that may be in a tuple
    ++out.open[begin];
    ++out.close[out.leaves - 1];
    return true;
  }
  std::optional<Int> leaf = int_in(object);
  if (!leaf && PyUnicode_Check(object.ptr())) {
    if (text_in(object) == "X") leaf = Int::all();  // CuTe's Step<_1,X,_1>
    const Value value = leaf ? Value() : evaluated_text(object);
    const Tuple* number = std::get_if<Tuple>(&value);
    if (!leaf && number && number->scalar()) leaf = number->leaf[0];
  }
  if (!leaf) return false;
  if (out.leaves == max_leaves) {
    Tuple full;
    full.overflowed = 1;
    refuse(sentence(full.capacity()));
  }
  out.leaf[out.leaves++] = *leaf;
  return true;
}

std::optional<Tuple> tuple_in(nb::handle object) {
  Tuple out;
  if (!append(object, out, 0)) return std::nullopt;
  if (out.depth() > max_depth) out.overflowed = 2;
  if (const Refusal r = out.capacity()) refuse(sentence(r));
  return out;
}

// A tuple in which something is no number: a tiler, as CuTe has it in Python.
Tiler tiler_in(nb::handle sequence) {
  Tiler out;
  const Py_ssize_t count = length(sequence);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::object each = item(sequence, i);
    const std::optional<Tiler> part = language::tiler_part(value_of(each));
    if (!part) {
      refuse(
          fmt::format("A tiler holds layouts, numbers, shapes and `_`; this is {}.", about(each)));
    }
    out.push(*part);
    if (const Refusal r = out.modes.capacity()) refuse(sentence(r));
  }
  return out;
}

template <class T>
bool take_box(nb::handle object, std::optional<Value>& out) {
  Box<T>* held = nullptr;
  if (out || !nb::try_cast(object, held) || !held) return false;
  out = held->value;
  return true;
}

template <class... T>
std::optional<Value> in_a_box(nb::handle object) {
  std::optional<Value> out;
  (take_box<T>(object, out), ...);
  return out;
}

// A layout of somebody else's: pycute's, tensor-layouts', CuTeDSL's. NumPy's arrays have strides,
// not a stride.
std::optional<Layout> layout_like(nb::handle object) {
  if (PyType_Check(object.ptr()) || !nb::hasattr(object, "shape") ||
      !nb::hasattr(object, "stride")) {
    return std::nullopt;
  }
  const nb::object shape = object.attr("shape"), stride = object.attr("stride");
  const std::optional<Tuple> s = tuple_in(shape), d = tuple_in(stride);
  if (!s || !d) return std::nullopt;
  return taken(make_layout(*s, *d));
}

}  // namespace

Value taken(Evaluated result) {
  if (Value* value = std::get_if<Value>(&result)) return std::move(*value);
  refuse(std::get<Problem>(result).sentence);
}

Value taken(language::Answer answer) {
  if (Value* value = std::get_if<Value>(&answer)) return std::move(*value);
  refuse(language::sentence_of(answer));
}

bool is_linear_layout(std::string_view text) {
  return text.find("where out dims are:") != text.npos;
}

Value value_of_linear_layout(nb::handle text) {
  return value_of(nb::module_::import_("tilescope._foreign").attr("linear_text")(text));
}

std::string_view text_in(nb::handle text) {
  Py_ssize_t size = 0;
  const char* const begin = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (begin) return {begin, static_cast<std::size_t>(size)};
  PyErr_Clear();
  refuse("A text has half a letter of UTF-16 in it, which is none.");
}

std::string str_of(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  if (!text) throw nb::python_error();
  return std::string(text_in(text));
}

std::string type_name_of(nb::handle object) {
  return str_of(nb::getattr(object.type(), "__name__"));
}

std::string path_of(nb::handle object) {
  const bool is_path = PyUnicode_Check(object.ptr()) || nb::hasattr(object, "__fspath__");
  if (!is_path) refuse(fmt::format("{} is no path: text, or os.PathLike.", about(object)));
  const nb::object path = nb::steal(PyOS_FSPath(object.ptr()));
  if (!path) throw nb::python_error();
  return str_of(path);
}

std::string about(nb::handle object) {
  const Py_ssize_t most = 40;
  nb::object shown = nb::steal(PyObject_Repr(object.ptr()));
  if (!shown) {
    PyErr_Clear();
    return type_name_of(object);
  }
  const std::string text(text_in(shown));
  if (std::ssize(text) > most || text.find('\n') != text.npos) {
    return fmt::format("an object of type {}", type_name_of(object));
  }
  return text;
}

Value value_of(nb::handle object) {
  Layout* layout = nullptr;
  if (nb::try_cast(object, layout) && layout) return *layout;
  if (PyUnicode_Check(object.ptr())) return evaluated_text(object);
  if (is_sequence(object)) {
    if (const std::optional<Tuple> tuple = tuple_in(object)) return *tuple;
    return tiler_in(object);
  }
  if (const std::optional<Int> number = int_in(object)) return Tuple(*number);
  std::optional<Value> value =
      in_a_box<Swizzle, Tiler, Slice, ThreadValue, Place, Tensor, Shared<MmaAtom>, Shared<CopyAtom>,
               Shared<TiledMma>, Shared<TiledCopy>, Shared<TileLayout>, Verdict>(object);
  if (value) return std::move(*value);
  if (const nb::object ours = foreign(object)) return value_of(ours);
  if (const std::optional<Layout> theirs = layout_like(object)) return *theirs;
  refuse(fmt::format(
      "{} is none of the language's values: a number, a tuple, a layout, what its functions "
      "answer, or an expression as text would be.",
      about(object)));
}

Tuple tuple_of(nb::handle object) {
  if (const std::optional<Tuple> tuple = tuple_in(object)) return *tuple;
  const Value value = value_of(object);
  if (const Tuple* tuple = std::get_if<Tuple>(&value)) return *tuple;
  refuse(fmt::format("{} is {}; a number or a tuple of numbers is needed.", about(object),
                     kind_of(value)));
}

Layout layout_of(nb::handle object) {
  const Value value = value_of(object);
  if (const Layout* layout = std::get_if<Layout>(&value)) return *layout;
  if (const Tuple* tuple = std::get_if<Tuple>(&value)) return taken(make_layout(*tuple));
  refuse(fmt::format("{} is {}; a layout is needed.", about(object), kind_of(value)));
}

std::int64_t number_of(nb::handle object) {
  const std::optional<Int> number = int_in(object);
  if (number && number->known() && number->axis.none()) return number->value;
  refuse(fmt::format("{} is no number.", about(object)));
}

nb::object object_of(const Int& number) {
  if (number.known() && number.axis.none()) return nb::int_(number.value);
  return nb::cast(number);
}

nb::object object_of(const Tuple& tuple) {
  if (tuple.empty()) return nb::make_tuple();
  if (tuple.scalar()) return object_of(tuple.leaf[0]);
  // A stack of the tuples that are open.
  std::array<nb::list, max_depth + 2> open;
  int level = 0;
  for (int i = 0; i < tuple.leaves; ++i) {
    for (int k = 0; k < tuple.open[i]; ++k) open[++level] = nb::list();
    open[level].append(object_of(tuple.leaf[i]));
    for (int k = 0; k < tuple.close[i]; ++k, --level) {
      nb::object closed = nb::tuple(open[level]);
      if (level == 1) return closed;
      open[level - 1].append(std::move(closed));
    }
  }
  return nb::tuple(open[1]);
}

nb::object object_of(const Layout& layout) {
  return nb::cast(layout);
}

namespace {

struct Objects {
  nb::object operator()(const Tuple& tuple) const { return object_of(tuple); }
  nb::object operator()(const Layout& layout) const { return object_of(layout); }
  nb::object operator()(const Numbers& numbers) const {
    nb::list out;
    for (const std::int64_t n : numbers) out.append(nb::int_(n));
    return out;
  }
  nb::object operator()(const Tuples& tuples) const {
    nb::list out;
    for (const Tuple& t : tuples) out.append(object_of(t));
    return out;
  }
  nb::object operator()(const Places& places) const {
    nb::list out;
    for (const Place& p : places) out.append((*this)(p));
    return out;
  }
  nb::object operator()(const Place& place) const {
    if (place.plain()) return object_of(place.offset());
    if (const Result<Tuple> coordinate = coordinate_of(place)) return object_of(*coordinate);
    return nb::cast(Box<Place>{place});
  }
  nb::object operator()(const Facts& facts) const {
    nb::dict out;
    for (const Fact& fact : facts) {
      const nb::str name(fact.name.data(), fact.name.size());
      const std::int64_t* number = std::get_if<std::int64_t>(&fact.value);
      out[name] = number ? nb::object(nb::int_(*number))
                         : nb::object(nb::str(std::get<std::string>(fact.value).c_str()));
    }
    return out;
  }
  template <class T>
  nb::object operator()(const T& other) const {
    return nb::cast(Box<T>{other});
  }
};

}  // namespace

nb::object object_of(const Value& value) {
  return std::visit(Objects{}, value);
}

}  // namespace tilescope::python
