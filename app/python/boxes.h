// What the classes of the language's values have in common: text, equality, a picture, and for some
// coordinates.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <functional>
#include <string>
#include <string_view>

#include "app/python/pictures.h"
#include "app/python/values.h"

namespace tilescope::python {

template <class T>
std::string text_in(const Box<T>& box) {
  return text(Value(box.value));
}

template <class T>
nb::class_<Box<T>> define_box(nb::module_& module, const char* name, const char* about_it) {
  nb::class_<Box<T>> made(module, name, about_it);
  const std::string_view name_view(name);
  made.def("__str__", &text_in<T>)
      .def("__repr__",
           [name_view](const Box<T>& self) {
             return fmt::format("<{} {}>", name_view, text_in(self));
           })
      .def(
          "__eq__",
          [](const Box<T>& self, nb::handle other) -> nb::object {
            Box<T>* right = nullptr;
            if (!nb::try_cast(other, right) || !right) return nb::borrow(Py_NotImplemented);
            return nb::bool_(text_in(self) == text_in(*right) && same_elements(self, *right));
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Box<T>& self) { return std::hash<std::string>()(text_in(self)); });
  define_pictures_of<Box<T>>(made);
  return made;
}

// L(4, 5), L((4,(1,2))), L(7), L(3, _): as the language has it.
inline Tuple coordinate_in(nb::args given) {
  if (given.size() == 0) refuse("A coordinate is needed: a number, or one for each mode.");
  return given.size() == 1 ? tuple_of(given[0]) : tuple_of(given);
}

// A coordinate's place in it, as the language has it.
template <class T>
void define_call(nb::class_<Box<T>>& made) {
  made.def(
      "__call__",
      [](const nb::object& self, nb::args given) {
        const Value value(nb::cast<const Box<T>&>(self).value);
        const Tuple coordinate = coordinate_in(given);
        if (!language::takes_coordinates(value)) {
          refuse(fmt::format("{} is {}, and has no coordinates.", text(value), kind_of(value)));
        }
        return object_of(taken(language::at(value, coordinate)), nb::make_tuple(self));
      },
      nb::sig("def __call__(self, *coordinate: Coordinate) -> Answer"),
      "The offset or place of a coordinate, from its own beginning; with `_` a slice. Error: it "
      "does not fit.");
}

}  // namespace tilescope::python
