// Values of the language as Python's objects, and back.
//
//     Python                              the language
//     7, numpy.int64(7)                   a number
//     (9, (4, 8)), [9, 4]                 a tuple
//     ts._, None                          `_`
//     ts.Int("?{div=16}"), ts.Int("1@0")  a number that is not known, or on an axis
//     (ts.Layout(4, 1), 8)                a tiler, <4:1,8>
//     ts.Layout, ts.Swizzle, ts.Tensor... themselves
//     "SM80_16x8x16_F32F16F16F32_TN"      whatever the expression is
//     an object with .shape and .stride   a layout
//     layouts of CuTeDSL's, tensor-layouts' and Triton's: tilescope/_foreign.py
//
// What comes back is a number or a tuple of Python's wherever it can be one.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/language/functions.h"
#include "core/language/language.h"

namespace tilescope::python {

namespace nb = nanobind;

// Raises tilescope.Error with this sentence; `type`: a class derived from it.
[[noreturn]] void refuse(const std::string& sentence);
[[noreturn]] void refuse(const Error& error);
template <class T>
T taken(Outcome<T> outcome) {
  if (!outcome) refuse(outcome.error());
  return std::move(*outcome);
}
// What app says of options, in Python's words: "--a-dtype zz;" is "a_dtype=zz;".
Error in_words(Error error);
template <class T>
T taken_of_words(Outcome<T> outcome) {
  if (!outcome) refuse(in_words(outcome.error()));
  return std::move(*outcome);
}
template <class T>
const T& taken(const Result<T>& result) {
  if (!result) refuse(sentence(result.refusal));
  return result.value;
}
Value taken(Evaluated result);
Value taken(language::Answer answer);

// What the language has besides numbers, tuples and layouts, each with a class of its own.
template <class T>
struct Box {
  T value;
};
// A tensor may be over an array: tensors.h.
struct HostElements;
template <>
struct Box<Tensor> {
  Tensor value;
  std::shared_ptr<const HostElements> elements = nullptr;
};
// Of two tensors: whether they are over the same array, or none of them is over one.
template <class T>
bool same_elements(const Box<T>&, const Box<T>&) {
  return true;
}
template <>
bool same_elements(const Box<Tensor>& a, const Box<Tensor>& b);

// Triton's LinearLayout as it prints it, which is no expression of the language.
bool is_linear_layout(std::string_view text);
Value value_of_linear_layout(nb::handle text);

// Refused where the object is nothing that the language knows.
Value value_of(nb::handle object);
Tuple tuple_of(nb::handle object);
Layout layout_of(nb::handle object);
std::int64_t number_of(nb::handle object);

// A function of the language by its name, which there is.
Value called(std::string_view name, nb::args arguments);

nb::object object_of(const Value& value);
// A tensor that was made of one that is over an array is over it, too: `from` are the objects that
// the value was made of.
nb::object object_of(const Value& value, const nb::tuple& from);
nb::object object_of(const Tuple& tuple);
nb::object object_of(const Int& number);
nb::object object_of(const Layout& layout);

// What a str holds, for as long as it lives. Refused: half a letter of UTF-16, which is no text.
std::string_view text_in(nb::handle text);
// str(object); and what an object is, for a sentence that it cannot be used.
std::string str_of(nb::handle object);
std::string type_name_of(nb::handle object);
// A path as text, of str or os.PathLike. Refused: of anything else.
std::string path_of(nb::handle object);
std::string about(nb::handle object);

// The parts of the module, each with its own file.
void define_errors(nb::module_& module);
void define_values(nb::module_& module);
void define_tensor(nb::module_& module);
void define_functions(nb::module_& module);
void define_pictures(nb::module_& module);
void define_launches(nb::module_& module);
void define_kernels(nb::module_& module);
void define_devices(nb::module_& module);

// Derived from Error; they have the run as `.run`.
[[noreturn]] void raise_with_run(bool fault, const std::string& sentence, nb::object run);

}  // namespace tilescope::python
