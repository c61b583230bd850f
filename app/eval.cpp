// tilescope eval EXPR... | -
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/values.h"
#include "core/language/language.h"

namespace tilescope {
namespace {

struct Options {
  std::vector<std::string> expressions;
  bool json = false;
  bool explain = false;
};

Error as_error(const std::string& expression, const Problem& problem) {
  return {ErrorKind::refused, problem.sentence, caret(expression, problem)};
}

// An atom is printed over several lines; where a line is an answer, blanks stand between them.
std::string on_one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == '\n' || c == ' ';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

// One line out for each line in. A bad line answers `error: ...` and the rest goes on.
int evaluate_lines(Terminal& terminal) {
  Scope scope;
  bool all_fine = true;
  std::string line;
  for (LineRead read; (read = read_line(std::cin, line)) != LineRead::none;) {
    if (read == LineRead::cut) {
      return terminal.fail({ErrorKind::unreadable,
                            fmt::format("A line of standard input is longer than {} bytes, and may "
                                        "never end; no more is read.",
                                        most_line),
                            ""});
    }
    const std::optional<Evaluated> result = scope.evaluate(line);
    if (!result) {
      terminal.print("\n");
    } else if (const Value* value = std::get_if<Value>(&*result)) {
      terminal.print(on_one_line(text(*value)) + "\n");
    } else {
      all_fine = false;
      const Problem& problem = std::get<Problem>(*result);
      terminal.print(fmt::format("error: {} (column {})\n", problem.sentence, problem.begin + 1));
    }
  }
  return all_fine ? 0 : 1;
}

// What is told of one expression in the document; the steps stand in it with --explain.
nlohmann::ordered_json answer_of(const std::string& expression, const Value& value) {
  return {{"expression", expression},
          {"value", text(value)},
          {"kind", kind_of(value)},
          {"data", data_of(value)}};
}

// The value of each: one that is refused says so and the rest goes on, as line by line. With
// --explain the steps stand before the value, or before the refusal that they lead to. The document
// has the first refusal where a failure is looked for, and every one in its place of the results.
int evaluate_all(const Options& options, Terminal& terminal) {
  Scope scope;
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  std::optional<Error> first;
  for (const std::string& expression : options.expressions) {
    Derivation steps;
    const std::optional<Evaluated> result =
        options.explain ? scope.explain(expression, steps) : scope.evaluate(expression);
    if (!result) continue;
    if (options.explain) terminal.print(derivation_text(steps));
    nlohmann::ordered_json answer;
    if (const Problem* problem = std::get_if<Problem>(&*result)) {
      const Error error = as_error(expression, *problem);
      if (!terminal.json()) terminal.fail(error);
      if (!first) first = error;
      answer = {{"expression", expression}, {"error", to_json(error)}};
    } else {
      const Value& value = std::get<Value>(*result);
      terminal.print(text(value) + "\n");
      answer = answer_of(expression, value);
    }
    if (options.explain) answer["steps"] = data_of(steps);
    results.push_back(std::move(answer));
  }
  if (terminal.json() && first) {
    terminal.document({{"ok", false}, {"error", to_json(*first)}, {"results", results}});
  } else if (terminal.json()) {
    terminal.document({{"results", results}});
  }
  return first ? exit_code(first->kind) : 0;
}

}  // namespace

Action define_eval(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("EXPR", options->expressions,
                 "expressions in CuTe's notation, or - to read one a line from stdin")
      .required();
  app.add_flag("--explain", options->explain, "also the steps of each operation, and why");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) {
    if (options->expressions.size() == 1 && options->expressions[0] == "-") {
      if (options->explain) {
        return terminal.fail({ErrorKind::usage,
                              "`eval -` answers line by line; --explain goes with expressions.",
                              ""});
      }
      if (terminal.json()) {
        return terminal.fail(
            {ErrorKind::usage, "`eval -` answers line by line; --json goes with expressions.", ""});
      }
      return evaluate_lines(terminal);
    }
    return evaluate_all(*options, terminal);
  };
}

}  // namespace tilescope
