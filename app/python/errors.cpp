// tilescope.Error and what is derived from it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cctype>

#include "app/python/values.h"

namespace tilescope::python {
namespace {

// The classes, for as long as the interpreter lives.
PyObject *error_class = nullptr, *fault_class = nullptr, *hazard_class = nullptr;

PyObject* make_class(nb::module_& module, const char* name, const char* full_name,
                     const char* about, PyObject* base) {
  PyObject* made = PyErr_NewExceptionWithDoc(full_name, about, base, nullptr);
  if (!made) throw nb::python_error();
  module.attr(name) = nb::handle(made);
  return made;
}

[[noreturn]] void raise(PyObject* type, const std::string& sentence) {
  PyErr_SetString(type, sentence.c_str());
  throw nb::python_error();
}

}  // namespace

void define_errors(nb::module_& module) {
  error_class =
      make_class(module, "Error", "tilescope.Error",
                 "What was asked for is refused; the sentence says why, and what would work.",
                 PyExc_ValueError);
  fault_class =
      make_class(module, "Fault", "tilescope.Fault",
                 "The kernel did what a chip refuses, hangs on or surely corrupts. `.run` is the "
                 "run as far as it came; its last report is the fault.",
                 error_class);
  hazard_class =
      make_class(module, "Hazard", "tilescope.Hazard",
                 "With strict=True: the kernel relied on what PTX does not promise. `.run` is the "
                 "run, which went on to its end.",
                 error_class);
  // A run stays in its process: what is copied or sent to another one has the sentence alone.
  nb::object reduce = nb::cpp_function(
      [](nb::handle self) { return nb::make_tuple(self.type(), self.attr("args")); },
      nb::name("__reduce__"), nb::is_method());
  for (PyObject* const type : {fault_class, hazard_class}) nb::setattr(type, "__reduce__", reduce);
}

void refuse(const std::string& sentence) {
  raise(error_class, sentence);
}

void refuse(const Error& error) {
  if (error.kind == ErrorKind::interrupted) raise(PyExc_KeyboardInterrupt, error.sentence);
  // The caret's picture and a file's line say where.
  refuse(error.where.empty() ? error.sentence : error.sentence + "\n" + error.where);
}

Error in_words(Error error) {
  const std::string in = std::move(error.sentence);
  std::string& out = error.sentence = "";
  for (std::size_t i = 0; i < in.size();) {
    const bool option = in.compare(i, 2, "--") == 0 && (i == 0 || in[i - 1] == ' ');
    if (!option) {
      out += in[i++];
      continue;
    }
    for (i += 2; i < in.size() && (std::isalnum(static_cast<unsigned char>(in[i])) || in[i] == '-');
         ++i) {
      out += in[i] == '-' ? '_' : in[i];
    }
    out += '=';
    const std::size_t end = in.find(' ', i + 1);
    const char last = in[std::min(end, in.size()) - 1];
    const bool value = end == std::string::npos || last == ':' || last == ';';
    if (i < in.size() && in[i] == ' ' && value) ++i;
  }
  return error;
}

void raise_with_run(bool fault, const std::string& sentence, nb::object run) {
  PyObject* const type = fault ? fault_class : hazard_class;
  nb::object raised = nb::handle(type)(nb::str(sentence.c_str()));
  raised.attr("run") = std::move(run);
  PyErr_SetObject(type, raised.ptr());
  throw nb::python_error();
}

}  // namespace tilescope::python
