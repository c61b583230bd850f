#include "app/python/differences.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "app/python/arrays.h"
#include "app/python/values.h"

namespace tilescope::python {
namespace {

HostArray array_given(nb::handle object, const char* what) {
  std::optional<HostArray> array = HostArray::of(object);
  if (!array) refuse(fmt::format("{}: {} is no array.", what, about(object)));
  return std::move(*array);
}

DType type_of(const HostArray& array, const char* what) {
  if (const std::optional<DType> type = array.dtype()) return *type;
  refuse(fmt::format("{} is {}: an array of floats or integers of 8 to 64 bits is needed.", what,
                     array.text()));
}

// An integer of any type, exactly.
struct Whole {
  std::uint64_t bits = 0;  // of two's complement
  bool negative = false;
  bool operator==(const Whole&) const = default;
};
Whole whole_in(DType type, const std::byte* from) {
  Whole out;
  const std::size_t bytes = bytes_of(type);
  std::memcpy(&out.bits, from, bytes);
  const std::size_t bits = 8 * bytes;
  out.negative = is_signed_integer(type) && (out.bits >> (bits - 1) & 1) != 0;
  if (out.negative && bits < 64) out.bits |= ~std::uint64_t{0} << bits;
  return out;
}
std::string text(const Whole& whole) {
  return whole.negative ? fmt::format("{}", static_cast<std::int64_t>(whole.bits))
                        : fmt::format("{}", whole.bits);
}

// The reference in the type of what is judged: floats are rounded, integers have to fit.
std::vector<std::byte> converted(const std::vector<std::byte>& bytes, DType from, DType to,
                                 const std::vector<std::int64_t>& shape) {
  if (from == to) return bytes;
  if (is_float(from) && !is_float(to)) {
    refuse(
        fmt::format("The reference has elements of {}, and what is compared with it of {}: "
                    "round it, as .astype() does.",
                    name_of(from), name_of(to)));
  }
  const std::size_t step = bytes_of(from), width = bytes_of(to), count = bytes.size() / step;
  std::vector<std::byte> out(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* const at = bytes.data() + i * step;
    std::byte* const into = out.data() + i * width;
    if (is_float(to)) {
      store_element(to, into, load_element(from, at));
      continue;
    }
    const Whole whole = whole_in(from, at);
    std::memcpy(into, &whole.bits, width);
    if (whole_in(to, into) == whole) continue;
    refuse(fmt::format("Element {} of the reference is {}, which is no {}.",
                       index_text(static_cast<std::int64_t>(i), shape), text(whole), name_of(to)));
  }
  return out;
}

// Raw bits where a type is named that the array has none of.
DType named_type(const HostArray& array, const DiffHow& how, const char* what) {
  if (!how.dtype || !array.dtype()) return type_of(array, what);
  const bool raw = !is_float(*array.dtype()) && array.element_bytes() == bytes_of(*how.dtype);
  return raw ? *how.dtype : *array.dtype();
}

std::vector<std::int64_t> tile_of(nb::handle object) {
  const Tuple sides = tuple_of(object);
  std::vector<std::int64_t> out;
  for (int i = 0; i < sides.leaves; ++i) {
    const Int& n = sides.leaf[i];
    if (!n.known() || !n.axis.none() || n.value < 1) {
      refuse(fmt::format("tile={}: numbers of 1 or more, rows and columns.", about(object)));
    }
    out.push_back(n.value);
  }
  return out;
}

double tolerance_in(nb::handle object, const char* name) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    refuse(fmt::format("{}={}: a number is needed.", name, about(object)));
  }
  return value;
}

nb::tuple index_of(const DiffReport& report, std::int64_t index) {
  nb::list out;
  std::vector<std::int64_t> at(report.shape.size());
  for (std::size_t d = at.size(); d-- > 0;) {
    at[d] = index % report.shape[d];
    index /= report.shape[d];
  }
  for (const std::int64_t each : at) out.append(each);
  return nb::tuple(out);
}

nb::list listed(const DiffReport& report, const std::vector<Mismatch>& all) {
  nb::list out;
  for (const Mismatch& each : all)
    out.append(nb::make_tuple(index_of(report, each.index), each.got, each.want));
  return out;
}

std::string repr_of(const Difference& d) {
  std::string found;
  for (const Pattern& each : d.patterns) found += (found.empty() ? ": " : ", ") + each.name;
  return fmt::format("<Difference: {} of {} elements wrong{}>", d.report.wrong, d.report.compared,
                     found);
}

}  // namespace

std::string text(const Difference& difference) {
  std::string out = tilescope::text(difference.report);
  for (const Pattern& each : difference.patterns)
    out += fmt::format("pattern: {}. {}\n", each.name, each.evidence);
  return out;
}

DiffHow diff_how(nb::dict words, DiffHow how, const char* function) {
  std::optional<double> rtol, atol;
  for (const auto& [key, value] : words) {
    const std::string name(text_in(key));
    if (value.is_none()) continue;
    if (name == "rtol") {
      rtol = tolerance_in(value, "rtol");
    } else if (name == "atol") {
      atol = tolerance_in(value, "atol");
    } else if (name == "tile") {
      how.tile = tile_of(value);
    } else if (name == "nan_equal") {
      if (!PyBool_Check(value.ptr()))
        refuse(fmt::format("nan_equal={}: True or False.", about(value)));
      how.nan_equal = value.ptr() == Py_True;
    } else if (name == "dtype") {
      how.dtype = PyUnicode_Check(value.ptr()) ? dtype_named(text_in(value)) : std::nullopt;
      if (!how.dtype)
        refuse(
            fmt::format("dtype={}: f16, bf16, f32, e4m3, e5m2 or another type of a launch "
                        "file is needed.",
                        about(value)));
    } else {
      refuse(fmt::format("{}() has no {}=; it takes rtol, atol, dtype, tile and nan_equal.",
                         function, name));
    }
  }
  if (rtol || atol) how.tolerance = Tolerance{rtol.value_or(0), atol.value_or(0)};
  return how;
}

Difference difference_of(nb::handle got_object, nb::handle want_object, const DiffHow& how) {
  const HostArray got = array_given(got_object, "diff"), want = array_given(want_object, "diff");
  const DType type = named_type(got, how, "What is compared");
  if (how.dtype && type != *how.dtype) {
    refuse(fmt::format("dtype=\"{}\" is for raw bits of {} bytes, and what is compared is {}.",
                       name_of(*how.dtype), bytes_of(*how.dtype), got.text()));
  }
  Buffer a{how.name, type, got.shape(), got.packed()};
  Buffer b{"reference", type, want.shape(),
           converted(want.packed(), named_type(want, how, "The reference"), type, want.shape())};
  DiffOptions options{how.tolerance.value_or(tolerance_for(type))};
  options.nan_equal = how.nan_equal;
  PatternHints hints;
  if (!how.tile.empty())
    hints.tile = {how.tile.size() > 1 ? how.tile[how.tile.size() - 2] : 1, how.tile.back()};
  Outcome<DiffReport> report = Error{};
  std::vector<Pattern> patterns;
  {
    const nb::gil_scoped_release released;
    report = diff(a, b, options);
    if (report && !report->ok()) patterns = find_patterns(a, b, options, hints);
  }
  return {taken(std::move(report)), std::move(patterns)};
}

void define_differences(nb::module_& module) {
  nb::class_<Pattern>(module, "Pattern", "What wrong elements have in common.")
      .def_prop_ro(
          "kind", [](const Pattern& self) { return std::string(tilescope::name_of(self.kind)); },
          "everything, tile, rows, columns, rectangle, writer, moved, value or stage.")
      .def_ro("name", &Pattern::name, "\"transposed\", \"every 4th row\", \"a whole tile\"...")
      .def_ro("evidence", &Pattern::evidence, "A sentence with the numbers.")
      .def("__repr__", [](const Pattern& self) { return fmt::format("<Pattern {}>", self.name); })
      .def("__str__",
           [](const Pattern& self) { return fmt::format("{}. {}", self.name, self.evidence); });
  const auto of = [](auto member) {
    return [member](const Difference& self) { return self.report.*member; };
  };
  nb::class_<Difference>(module, "Difference", "How a result compares with what it should be.")
      .def_prop_ro("wrong", of(&DiffReport::wrong),
                   "Elements beyond the tolerance: not |got - want| <= atol + rtol * |want|.")
      .def_prop_ro("compared", of(&DiffReport::compared))
      .def_prop_ro("exact", of(&DiffReport::exact), "Elements that have the same value.")
      .def_prop_ro(
          "ok", [](const Difference& self) { return self.report.ok(); }, "None is wrong.")
      .def_prop_ro(
          "max_absolute", [](const Difference& self) { return self.report.max_absolute.value; },
          "The largest |got - want|.")
      .def_prop_ro(
          "max_relative", [](const Difference& self) { return self.report.max_relative.value; },
          "The largest |got - want| / |want|.")
      .def_prop_ro(
          "max_ulp", [](const Difference& self) { return self.report.max_ulp.value; },
          "The most values of the type between the two.")
      .def_prop_ro("rtol",
                   [](const Difference& self) { return self.report.options.tolerance.rtol; })
      .def_prop_ro("atol",
                   [](const Difference& self) { return self.report.options.tolerance.atol; })
      .def_prop_ro(
          "first", [](const Difference& self) { return listed(self.report, self.report.first); },
          nb::sig("def first(self) -> list[tuple[tuple[int, ...], float, float]]"),
          "The first wrong elements, up to 8, the last index fastest: (index, got, want).")
      .def_prop_ro(
          "worst", [](const Difference& self) { return listed(self.report, self.report.worst); },
          nb::sig("def worst(self) -> list[tuple[tuple[int, ...], float, float]]"),
          "Those with the largest absolute errors, the worst first.")
      .def_ro("patterns", &Difference::patterns,
              "What the wrong elements have in common: the name of the mistake. Empty where the "
              "numbers leave a doubt.")
      .def("__bool__",
           [](const Difference&) -> bool {
             refuse("A Difference is neither true nor false: ask for its .ok or .wrong.");
           })
      .def("__repr__", &repr_of)
      .def("__str__", [](const Difference& self) { return text(self); });
  static const std::string signature =
      fmt::format("def diff(got: Any, want: Any, *, {}) -> Difference", diff_signature);
  module.def(
      "diff",
      [](nb::handle got, nb::handle want, nb::kwargs words) {
        return difference_of(got, want, diff_how(nb::dict(words), {}, "diff"));
      },
      nb::arg("got"), nb::arg("want"), nb::arg("words"), nb::sig(signature.c_str()),
      R"doc(Compares an array with what it should be, element by element, and looks for the mistake.

>>> import numpy as np, tilescope as ts
>>> want = np.arange(64, dtype=np.float32).reshape(8, 8)
>>> ts.diff(want.T, want)
<Difference: 56 of 64 elements wrong: transposed>

The arrays have one shape. `want` may be of a wider type, to which it is rounded.
rtol, atol: wrong is what is not |got - want| <= atol + rtol * |want|; what is left out is 0. Without
    both: what rounding in the type excuses, as torch.testing.assert_close has it.
dtype: "bf16", "e4m3", "e5m2" of raw bits in integers of that width.
tile: rows and columns that one CTA computes.
nan_equal: two NaN are equal.

Error: arrays that cannot be compared; the sentence has both.)doc");
}

}  // namespace tilescope::python
