// Pictures, and why a value is what it is.
#include "app/python/pictures.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "app/files.h"
#include "app/stills.h"
#include "app/values.h"
#include "core/language/parser.h"
#include "viz/paint/markup.h"

namespace tilescope::python {
namespace {

// "1200x800" of (1200, 800).
std::string size_text(const nb::object& size) {
  if (size.is_none()) return "";
  if (PyUnicode_Check(size.ptr())) return std::string(text_in(size));
  const Tuple sides = tuple_of(size);
  if (sides.leaves != 2) {
    refuse(
        fmt::format("size={}: a width and a height in pixels, such as (1200, 800).", about(size)));
  }
  return fmt::format("{}x{}", sides.leaf[0].value, sides.leaf[1].value);
}

StillOptions options_of(const nb::object& colour, const nb::object& size, const nb::object& file,
                        const std::string& theme, const std::string& format) {
  StillOptions options;
  if (!colour.is_none()) {
    if (!PyUnicode_Check(colour.ptr()))
      refuse(fmt::format("colour={}: a name is needed, such as \"tile\".", about(colour)));
    options.colour = text_in(colour);
  }
  options.size = size_text(size);
  options.theme = theme;
  options.output = file.is_none() ? "picture." + format : path_of(file);
  return options;
}

// Text as text, all else as bytes; into a file where there is one.
nb::object given(const Outcome<std::vector<std::byte>>& picture, const StillOptions& options,
                 const nb::object& file) {
  if (!picture) refuse(picture.error());
  if (!file.is_none()) {
    if (const auto error = write_file(options.output, std::span(*picture))) refuse(*error);
    return nb::none();
  }
  const char* const begin = reinterpret_cast<const char*>(picture->data());
  const bool binary = options.output.ends_with(".png") || options.output.ends_with(".pdf");
  if (binary) return nb::bytes(begin, picture->size());
  const nb::str text(begin, picture->size());
  if (!options.output.ends_with(".svg")) return text;
  return nb::module_::import_("tilescope._picture").attr("Picture")(text);
}

// What a value is best seen as.
Outcome<LayoutView> view_of(const Value& value) {
  const bool has_text =
      std::holds_alternative<Layout>(value) || std::holds_alternative<Tensor>(value);
  return has_text ? LayoutView::of_expression(text(value))
                  : LayoutView::of_value(value, text(value));
}

// Why a value is what it is; the value may be a refusal.
struct Explanation {
  std::string expression;
  Derivation steps;
  Evaluated result;
};

Explanation explained(const std::string& expression) {
  Explanation out{expression, {}, Problem{}};
  std::optional<Evaluated> result = Scope().explain(expression, out.steps);
  if (!result) refuse("An empty expression; try (9,(4,8)):(59,(13,1)).");
  out.result = std::move(*result);
  // What is no expression has no steps to look at.
  const Problem* problem = std::get_if<Problem>(&out.result);
  if (problem && !problem->refused && out.steps.empty()) {
    refuse(problem->sentence + "\n" + caret(expression, *problem));
  }
  return out;
}

std::string explanation_text(const Explanation& e) {
  const Value* value = std::get_if<Value>(&e.result);
  return derivation_text(e.steps) +
         (value ? text(*value) : "refused: " + std::get<Problem>(e.result).sentence);
}

nb::object step_of(const DerivationStep& step) {
  nb::dict out;
  out["level"] = step.level;
  out["operation"] = step.operation;
  out["operands"] = step.operands;
  out["result"] = step.result;
  out["sentence"] = step.sentence;
  out["layout"] = step.layout ? object_of(*step.layout) : nb::none();
  return out;
}

// The picture as an image of its own, so that the names in one do not meet those in another of the
// same page; empty where there is none.
std::string image_of(const Outcome<std::vector<std::byte>>& picture) {
  if (!picture) return "";
  std::string out = "<img src=\"data:image/svg+xml;charset=utf-8,";
  for (const std::byte byte : *picture) {
    const auto c = static_cast<unsigned char>(byte);
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
        std::string_view(" -_.,:;/=()").find(static_cast<char>(c)) != std::string::npos;
    if (plain) {
      out += static_cast<char>(c);
    } else {
      out += fmt::format("%{:02X}", c);
    }
  }
  return out + "\" style=\"max-width: 100%\">";
}

// What a step came to, where it is more than a number and small enough to be seen.
bool worth_a_picture(const DerivationStep& step) {
  constexpr std::int64_t most = 256;
  if (!step.layout) return false;
  const Result<std::int64_t> count = size(*step.layout);
  return count && *count > 1 && *count <= most;
}

// The picture of the whole expression, and the steps: a part is folded into what it is a part of,
// and opened has the picture of what it came to.
std::string html_of(const Explanation& e) {
  StillOptions options;
  options.output = "picture.svg";
  std::string out = "<div><code>" + markup_of(e.expression) + "</code><br>" +
                    image_of(still_of(e.expression, options));
  int open = 0;  // <details> that are not closed
  for (const DerivationStep& step : e.steps) {
    for (; open > step.level; --open) out += "</details>";
    const std::string equals = step.result.empty() ? "" : " = " + markup_of(step.result);
    out += fmt::format(
        "<details{} style=\"margin-left:1.5em\"><summary><b>{}</b> <code>{}{}</code></summary>{}",
        step.level == 0 ? " open" : "", markup_of(step.operation), markup_of(step.operands), equals,
        markup_of(step.sentence));
    if (step.level > 0 && worth_a_picture(step)) {
      const Outcome<LayoutView> view = view_of(Value(*step.layout));
      if (view) out += "<br>" + image_of(still_of(*view, options));
    }
    ++open;
  }
  for (; open > 0; --open) out += "</details>";
  const Value* value = std::get_if<Value>(&e.result);
  out += "<code>" +
         markup_of(value ? text(*value) : "refused: " + std::get<Problem>(e.result).sentence) +
         "</code>";
  return out + "</div>";
}

}  // namespace

nb::object picture_of(const Value& value, const nb::object& colour, const nb::object& size,
                      const nb::object& file, const std::string& theme, const std::string& format) {
  const StillOptions options = options_of(colour, size, file, theme, format);
  return given(still_of(taken(view_of(value)), options), options, file);
}

nb::object svg_of(const Value& value) {
  const Outcome<LayoutView> view = view_of(value);
  if (!view) return nb::none();
  StillOptions options;
  options.output = "picture.svg";
  const Outcome<std::vector<std::byte>> picture = still_of(*view, options);
  return picture ? given(picture, options, nb::none()) : nb::object(nb::none());
}

void define_pictures(nb::module_& module) {
  module.def(
      "draw",
      [](const nb::object& what, const nb::object& colour, const nb::object& size,
         const nb::object& file, const std::string& theme, const std::string& format) {
        if (!PyUnicode_Check(what.ptr()))
          return picture_of(value_of(what), colour, size, file, theme, format);
        const StillOptions options = options_of(colour, size, file, theme, format);
        return given(still_of(std::string(text_in(what)), options), options, file);
      },
      nb::arg("what").none(), nb::arg("colour") = nb::none(), nb::arg("size") = nb::none(),
      nb::arg("file") = nb::none(), nb::kw_only(), nb::arg("theme") = "light",
      nb::arg("format") = "svg",
      nb::sig("def draw(what: object, colour: str | None = None, size: str | tuple[int, int] | "
              "None = None, "
              "file: str | os.PathLike | None = None, *, theme: str = 'light', format: str = "
              "'svg') -> str | "
              "bytes | None"),
      R"doc(The picture that `tilescope draw` makes of an expression, "preset NAME", or a value.

Of an expression it shows more than of its value: a division beside what it divides, a partition in
what it is taken from.

>>> import tilescope as ts
>>> ts.draw("zipped_divide((8,8):(8,1), <4,4>)", colour="tile")[:4]
'<svg'
>>> ts.draw("(4,8):(8,1)", format="png")[:4]
b'\x89PNG'

What else may be said: Layout.draw. Error: the expression is refused, or a word is.)doc");

  nb::class_<Explanation>(module, "Explanation",
                          "The steps to a value, and the value or why there is none.")
      .def_prop_ro(
          "value", [](const Explanation& self) { return object_of(taken(self.result)); },
          nb::sig("def value(self) -> Any"),
          "The value. Error: the expression is refused, with its sentence.")
      .def_prop_ro(
          "steps",
          [](const Explanation& self) {
            nb::list out;
            for (const DerivationStep& step : self.steps) out.append(step_of(step));
            return out;
          },
          nb::sig("def steps(self) -> list[dict[str, Any]]"),
          "One dict a step: level, operation, operands, result, sentence, layout.")
      .def("__str__", &explanation_text)
      .def("__repr__", &explanation_text)
      .def("_repr_html_", &html_of,
           "For a notebook: the picture of the expression, and the steps to unfold, each with the\n"
           "picture of what it came to.");
  module.def("explain", &explained, nb::arg("expression"),
             R"doc(Why an expression has its value: each operation, and by which rule.

>>> import tilescope as ts
>>> ts.explain("coalesce((2,4):(1,2))")
coalesce (2,4):(1,2) = 8:1
    the same function with the fewest leaves; by mode.
  leaf 0 2:1 = 2:1
      The first mode.
  leaf 1 4:2 = 8:1
      Goes on where 2:1 ends (2 * 1 = 2): one mode.
8:1

Error: the text is no expression. One that is refused has its steps, and raises when `value` is
asked for.)doc");
}

}  // namespace tilescope::python
