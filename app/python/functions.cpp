// The language's functions, from its own table: one Python function for each name.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <deque>
#include <set>

#include "app/python/examples.h"
#include "app/python/signatures.h"
#include "app/python/values.h"
#include "core/language/parser.h"

namespace tilescope::python {
namespace {

// Arguments as the parser would make them; words stay text.
Evaluated value_called(const language::Function& function, nb::args given) {
  language::Arguments arguments(given.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i < function.kinds.size() && function.kinds[i] == 'W') {
      if (!PyUnicode_Check(given[i].ptr())) {
        refuse(fmt::format("{}{}: argument {} is {}; it needs a name as text, such as \"f16\".",
                           function.help.name, function.help.parameters, i + 1, about(given[i])));
      }
      arguments[i].word = text_in(given[i]);
    } else {
      arguments[i].value = value_of(given[i]);
    }
  }
  return language::call(function, std::move(arguments), 0, 0);
}

std::string about_function(const language::Function& f) {
  std::string out = fmt::format("{}{}: {}.\n\n", f.help.name, f.help.parameters, f.help.help);
  if (const std::string_view example = example_of(f.help.name); !example.empty())
    out += fmt::format(">>> import tilescope as ts\n{}\n\n", example);
  return out + "Error: the language's sentence, where there is no such value.";
}

// Texts that nanobind only points to: as long as the process.
const char* kept(std::string text) {
  static auto* const texts = new std::deque<std::string>();
  return texts->emplace_back(std::move(text)).c_str();
}

nb::object evaluated(const std::string& expression, nb::kwargs names) {
  if (is_linear_layout(expression)) {
    return object_of(value_of_linear_layout(nb::str(expression.c_str())));
  }
  language::Names bound;
  for (const auto& [name, value] : names) {
    const std::string text(text_in(name));
    if (language::find_function(text) || text == "o" || text == "Sw") {
      refuse(fmt::format("`{}` is a name of the language; bind another one.", text));
    }
    bound.insert_or_assign(text, value_of(value));
  }
  std::optional<Evaluated> result = language::run(expression, bound, nullptr);
  if (!result) refuse("An empty expression; try (9,(4,8)):(59,(13,1)).");
  if (const Problem* problem = std::get_if<Problem>(&*result)) {
    refuse(problem->sentence + "\n" + caret(expression, *problem));
  }
  return object_of(std::get<Value>(*result), nb::tuple(names.values()));
}

}  // namespace

Value called(std::string_view name, nb::args arguments) {
  return taken(value_called(*language::find_function(name), arguments));
}

void define_functions(nb::module_& module) {
  module.def("eval", &evaluated, nb::arg("expression"), nb::arg("names"),
             nb::sig("def eval(expression: str, **names: Value) -> Any"),
             R"doc(The value of an expression in the layout language; `names` are bound in it.

>>> import tilescope as ts
>>> ts.eval("composition((6,2):(8,2), (4,3):(3,1))")
Layout("((2,2),3):((24,2),8)")
>>> ts.eval("size(A)", A=ts.Layout((4, 8)))
32
>>> ts.eval("composition((6,2):(8,2), (4,3):(3,2))")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
tilescope.Error: composition: ...

Numbers and tuples are Python's; what may be true or false is a Verdict, findings are a dict.
Error: what is wrong or refused, and where.)doc");
  std::set<std::string_view> known{"TileLayout"};  // the class of what it makes
  for (const FunctionHelp& help : functions()) {
    if (!known.insert(help.name).second) continue;
    const language::Function* function = language::find_function(help.name);
    module.def(
        kept(std::string(help.name)),
        [function](nb::args given) -> nb::object {
          const Evaluated result = value_called(*function, given);
          if (const Value* value = std::get_if<Value>(&result)) return object_of(*value, given);
          refuse(std::get<Problem>(result).sentence);
        },
        nb::sig(kept(signature_of(*function))), kept(about_function(*function)));
  }
}

}  // namespace tilescope::python
