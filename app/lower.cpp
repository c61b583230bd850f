// tilescope lower EXPR|KERNEL|F.ptx: from a layout to LLVM, level by level, and on to PTX.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/lower_code.h"
#include "app/pictures.h"
#include "core/language/language.h"
#include "core/layout/text.h"
#include "core/lower/check.h"
#include "core/lower/code.h"
#include "core/lower/request.h"
#include "kernels/catalog/catalog.h"
#include "viz/lower/lower_scene.h"

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string what, layout, follow, level, output, theme = "light";
  std::string ptx, entry, launch;
  std::optional<std::int64_t> m, n, k, align;
  bool dynamic = false, json = false;
};

Error usage(std::string sentence) {
  return {ErrorKind::usage, std::move(sentence), ""};
}

// A word without anything that an expression has: the name of a kernel.
bool is_name(const std::string& what) {
  return !what.empty() &&
         what.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

// A PTX file.
bool is_code(const std::string& what) {
  return what.size() > 4 && what.compare(what.size() - 4, 4, ".ptx") == 0;
}

tilescope::Request sizes_of(const Options& options) {
  tilescope::Request request;
  for (const auto& [name, value] :
       {std::pair("m", options.m), std::pair("n", options.n), std::pair("k", options.k)}) {
    if (value) request.sizes[name] = *value;
  }
  return request;
}

Outcome<std::vector<NamedLayout>> layouts_of(const CatalogEntry& entry, const Options& options,
                                             std::string& element) {
  const Outcome<Fit> fitted = fit(entry, sizes_of(options));
  if (!fitted) return fitted.error();
  if (!fitted->variant.dtypes.empty()) element = name_of(fitted->variant.dtypes[0]);
  return entry.layouts(*fitted, fitted->variant);
}

const NamedLayout* named(const std::vector<NamedLayout>& all, std::string_view name) {
  for (const NamedLayout& one : all) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// What a kernel is written in, as what lowering takes: where it has threads, values and tiles, a
// thread's part of a CTA's tile; else a layout of it.
Outcome<std::string> expression_of(const CatalogEntry& entry, const Options& options) {
  std::string element = "f32";
  const Outcome<std::vector<NamedLayout>> all = layouts_of(entry, options, element);
  if (!all) return all.error();
  const NamedLayout *threads = named(*all, "thread layout"), *values = named(*all, "value layout"),
                    *tiles = named(*all, "tiles");
  if (options.layout.empty() && threads && values && tiles) {
    std::string tensor = tiles->expression;
    if (options.dynamic) {
      const Evaluated tv =
          evaluate(fmt::format("make_layout_tv({}, {})", threads->expression, values->expression));
      tensor = fmt::format("zipped_divide((?,?):(?,1), {})",
                           text(std::get<ThreadValue>(std::get<Value>(tv)).tiler));
    }
    return fmt::format(
        "partition_S(make_tiled_copy(UniversalCopy<{}>, {}, {}), ?, "
        "slice(((_,_),?), gmem<{}> o {}))",
        element, threads->expression, values->expression, element, tensor);
  }
  if (options.dynamic) {
    return usage(
        fmt::format("--dynamic is for a kernel with a thread layout, a value layout and "
                    "tiles; {} is written without.",
                    entry.name));
  }
  const NamedLayout* one =
      options.layout.empty() && !all->empty() ? &all->front() : named(*all, options.layout);
  if (one) {
    // A matrix of the kernel is a tensor of its type; other layouts stay what they are.
    for (const TensorSpec& tensor : entry.tensors) {
      if (one->name == tensor.name || one->name == "matrix") {
        return fmt::format("gmem<{}> o {}", element, one->expression);
      }
    }
    return one->expression;
  }
  std::string names;
  for (const NamedLayout& each : *all) names += (names.empty() ? "" : ", ") + each.name;
  return Error{
      ErrorKind::unknown,
      fmt::format("{} has no layout `{}`; there are {}.", entry.name, options.layout, names), ""};
}

Outcome<std::string> expression_of(const Options& options) {
  if (!is_name(options.what)) {
    const bool sizes = (options.m || options.n || options.k) && !is_name(options.ptx);
    if (!options.layout.empty() || options.dynamic || sizes) {
      return usage(
          "--layout, --dynamic and sizes go with a kernel's name, not with an expression.");
    }
    return options.what;
  }
  const Outcome<const CatalogEntry*> entry = find_kernel(options.what);
  if (!entry) return entry.error();
  return expression_of(**entry, options);
}

// The statement of the program that is followed; nothing where none is asked for.
Outcome<std::optional<int>> followed(const lowering::Lowering& l, const Options& options) {
  if (options.follow.empty()) return std::optional<int>();
  const std::string name = options.follow[0] == '%' ? options.follow : "%" + options.follow;
  const std::vector<lowering::Statement>& first = l.levels[0].statements;
  std::string names;
  for (std::size_t s = 0; s < first.size(); ++s) {
    const std::vector<std::string>& own = first[s].names;
    if (std::find(own.begin(), own.end(), name) != own.end()) {
      return std::optional<int>(static_cast<int>(s));
    }
    for (const std::string& each : own) names += (names.empty() ? "" : ", ") + each;
  }
  return Error{ErrorKind::unknown, fmt::format("The program has no {}; there are {}.", name, names),
               ""};
}

// Which statements of each level are shown.
using Chosen = std::vector<std::vector<int>>;

Chosen chosen(const lowering::Lowering& l, std::optional<int> follow) {
  Chosen out(l.levels.size());
  for (std::size_t i = 0; i < l.levels.size(); ++i) {
    if (follow) {
      out[i] = lowering::became(l, 0, *follow, static_cast<int>(i));
      continue;
    }
    for (std::size_t s = 0; s < l.levels[i].statements.size(); ++s) {
      out[i].push_back(static_cast<int>(s));
    }
  }
  return out;
}

std::string source_text(const std::vector<int>& from) {
  if (from.empty()) return {};
  std::string out = "  // from";
  for (const int s : from) out += fmt::format(" {}", s);
  return out;
}

// The code below the levels: of --ptx, or of the kernel that is asked for; nothing where neither
// is.
Outcome<std::optional<lowering::Code>> code_of(const lowering::Lowering& l,
                                               const Options& options) {
  const std::string& of = options.ptx.empty() && (is_name(options.what) || is_code(options.what))
                              ? options.what
                              : options.ptx;
  if (of.empty()) return std::optional<lowering::Code>();
  if (!is_name(of)) {
    Outcome<lowering::Code> code = code_of_file(of, options.entry, options.launch);
    if (!code) return code.error();
    return std::optional(std::move(*code));
  }
  const Outcome<const CatalogEntry*> entry = find_kernel(of);
  if (!entry) return entry.error();
  Outcome<lowering::Code> code = code_of_kernel(
      **entry, sizes_of(options), lowering::unknown_numbers(l) ? &l.tensor.layout : nullptr);
  if (!code) return code.error();
  return std::optional(std::move(*code));
}

void print(const lowering::Lowering& l, const Chosen& which,
           const std::optional<lowering::Lowered>& code, const Options& options,
           Terminal& terminal) {
  for (const std::string& line : lowering::type_lines(l)) terminal.print(line + "\n");
  for (std::size_t i = 0; i < l.levels.size(); ++i) {
    const lowering::Level& level = l.levels[i];
    if (!options.level.empty() && options.level != level.title) continue;
    terminal.print(fmt::format("\n{}{}: {}\n", level.title,
                               level.pass.empty() ? "" : fmt::format(" ({})", level.pass),
                               level.says));
    for (const int s : which[i]) {
      terminal.print(fmt::format("{:>4}  {}{}\n", s, lowering::text(l, level, s),
                                 source_text(level.statements[static_cast<std::size_t>(s)].from)));
    }
    if (which[i].empty()) terminal.print("      nothing is left of it\n");
  }
  if (const std::string formula = lowering::partition_formula(l); !formula.empty()) {
    terminal.print(fmt::format("\nA thread's offset: {}\n", formula));
  }
  const bool whole = options.level.empty() || options.level == "PTX";
  if (code && whole) terminal.print("\n" + lowering::page(*code));
}

void print(const lowering::Checked& checked, Terminal& terminal) {
  terminal.print(fmt::format(
      "\nChecked: {} levels answer the same for {} thread{}, with {} choices of block and unknown "
      "numbers{}.\n",
      checked.levels, checked.threads, checked.threads == 1 ? "" : "s", checked.inputs,
      checked.elements > 0
          ? fmt::format("; {} elements lie where the layouts have them", checked.elements)
          : std::string()));
}

Json document_of(const lowering::Lowered& code) {
  Json addresses = Json::array(), parts = Json::array();
  for (const lowering::CodeAddress& a : code.addresses) {
    addresses.push_back(
        {{"base", a.base}, {"what", a.what}, {"sum", a.sum}, {"more", a.more}, {"lines", a.lines}});
  }
  for (const lowering::CodePart& p : code.parts) {
    parts.push_back({{"name", p.name}, {"instructions", p.instructions}, {"lines", p.lines}});
  }
  return {{"addresses", std::move(addresses)}, {"parts", std::move(parts)}, {"loops", code.loops},
          {"compared", code.compared},         {"agrees", code.agrees},     {"found", code.found},
          {"sums_agree", code.sums_agree},     {"sums", code.sums}};
}

Json document_of(const lowering::Lowering& l, const Chosen& which,
                 const std::optional<lowering::Checked>& checked,
                 const std::optional<lowering::Lowered>& code, const std::string& expression) {
  Json levels = Json::array();
  for (std::size_t i = 0; i < l.levels.size(); ++i) {
    const lowering::Level& level = l.levels[i];
    Json statements = Json::array();
    for (const int s : which[i]) {
      const lowering::Statement& one = level.statements[static_cast<std::size_t>(s)];
      statements.push_back({{"number", s},
                            {"names", one.names},
                            {"text", lowering::text(l, level, s)},
                            {"from", one.from}});
    }
    levels.push_back({{"title", level.title},
                      {"pass", level.pass},
                      {"says", level.says},
                      {"statements", std::move(statements)}});
  }
  Json out = {{"expression", expression}, {"types", lowering::type_lines(l)}};
  out["levels"] = std::move(levels);
  if (checked) {
    out["outcome"] = lowering::text(l, l.outcome);
    out["thread_offset"] = lowering::partition_formula(l);
    out["checked"] = {{"threads", checked->threads},
                      {"inputs", checked->inputs},
                      {"elements", checked->elements}};
  }
  if (code) out["ptx"] = document_of(*code);
  return out;
}

// All levels beside each other, what is followed in them marked; answers how many bytes it wrote.
Outcome<std::size_t> draw(const lowering::Lowering& l, std::optional<int> follow,
                          const Options& options) {
  const Theme* theme = theme_named(options.theme);
  if (!theme) {
    return usage(fmt::format("--theme {}: there are light and dark.", options.theme));
  }
  std::optional<LowerSpot> spot;
  if (follow) spot = LowerSpot{0, *follow};
  const Outcome<std::vector<std::byte>> picture =
      paint_for_file(lower_scene(l, spot, *theme), options.output);
  if (!picture) return picture.error();
  if (const std::optional<Error> error = write_file(options.output, std::span(*picture))) {
    return *error;
  }
  return picture->size();
}

struct Levels {
  lowering::Lowering l;
  std::string expression;
  std::optional<lowering::Checked> checked;
};

// The levels of an expression or a kernel; of a PTX file alone there are none.
Outcome<Levels> levels_of(const Options& options) {
  Levels out;
  if (is_code(options.what)) {
    if (!options.ptx.empty()) {
      return usage("Two PTX files: an expression or a kernel goes with --ptx, or a file alone.");
    }
    if (!options.follow.empty()) {
      return usage("--follow follows a value of a program of layouts; a PTX file alone has none.");
    }
    return out;
  }
  Outcome<std::string> expression = expression_of(options);
  if (!expression) return expression.error();
  out.expression = std::move(*expression);
  const Outcome<lowering::Request> request =
      lowering::request_of(out.expression, options.align.value_or(0));
  if (!request) return request.error();
  Outcome<lowering::Lowering> l = lowering::lower(*request);
  if (!l) return l.error();
  out.l = std::move(*l);
  Outcome<lowering::Checked> checked = lowering::check(out.l);
  if (!checked) return checked.error();
  out.checked = *checked;
  return out;
}

// 1 where the code has other bytes than the layout.
int ending(const std::optional<lowering::Lowered>& code) {
  return code && code->compared && !code->agrees ? 1 : 0;
}

int lower_command(const Options& options, Terminal& terminal) {
  if (options.ptx.empty() && !is_code(options.what) &&
      (!options.launch.empty() || !options.entry.empty())) {
    return terminal.fail(usage("--launch and --entry go with a PTX file."));
  }
  Outcome<Levels> levels = levels_of(options);
  if (!levels) return terminal.fail(levels.error());
  lowering::Lowering& l = levels->l;
  const Outcome<std::optional<int>> follow = followed(l, options);
  if (!follow) return terminal.fail(follow.error());
  std::optional<lowering::Lowered> lowered;
  Outcome<std::optional<lowering::Code>> code = code_of(l, options);
  if (code && *code) {
    Outcome<lowering::Lowered> done = lowering::lower_to(l, **code);
    if (done) {
      lowered = std::move(*done);
    } else {
      code = done.error();
    }
  }
  // A kernel's levels stand without its code; who names a file wants that.
  if (!code && (!is_name(options.what) || !options.ptx.empty())) {
    return terminal.fail(code.error());
  }
  if (!code) terminal.say("No PTX below: " + code.error().sentence);
  if (is_name(options.what)) terminal.say(levels->expression);
  if (!options.output.empty()) {
    const Outcome<std::size_t> bytes = draw(l, *follow, options);
    if (!bytes) return terminal.fail(bytes.error());
    if (terminal.json()) terminal.document({{"file", options.output}, {"bytes", *bytes}});
    return ending(lowered);
  }
  const Chosen which = chosen(l, *follow);
  if (terminal.json()) {
    terminal.document(document_of(l, which, levels->checked, lowered, levels->expression));
    return ending(lowered);
  }
  print(l, which, lowered, options, terminal);
  if (levels->checked) print(*levels->checked, terminal);
  return ending(lowered);
}

}  // namespace

Action define_lower(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("WHAT", options->what,
                 "a layout, a tensor, or slice, partition_S, partition_D, crd2idx, get_... of one; "
                 "or a kernel's name, or a PTX file")
      .required()
      .type_name("EXPR|KERNEL|F.ptx");
  app.add_option("--follow", options->follow,
                 "only what became of one value of the program: slice, src_partitioned")
      .type_name("NAME");
  app.add_option("--level", options->level, "one level only")
      .one_of({"as written", "slices expanded", "arithmetic", "LLVM", "folded LLVM", "PTX"});
  app.add_option("--ptx", options->ptx,
                 "the PTX of an expression: a file, or a kernel's name; its addresses are compared "
                 "with the layout's, thread by thread")
      .type_name("F.ptx|KERNEL");
  app.add_option("--entry", options->entry, "of a PTX file with several: its entry")
      .type_name("NAME");
  app.add_option("--launch", options->launch, "of a PTX file: the parameters that it is tried with")
      .type_name("F.toml");
  app.add_option("-o,--output", options->output,
                 "a picture instead, all levels beside each other: .svg, .png, .pdf or .tex")
      .type_name("FILE");
  app.add_option("--theme", options->theme, "of the picture").one_of({"light", "dark"});
  app.add_option("--align", options->align,
                 "bytes that the tensor's pointer is a multiple of (default: an element's)");
  app.add_option("--layout", options->layout, "of a kernel: the layout to lower, by its name")
      .type_name("NAME");
  app.add_flag("--dynamic", options->dynamic,
               "of a kernel with tiles: sizes and strides that are not known until it runs");
  app.add_option("--m", options->m, "of a kernel: its size m");
  app.add_option("--n", options->n, "of a kernel: its size n");
  app.add_option("--k", options->k, "of a kernel: its size k");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return lower_command(*options, terminal); };
}

}  // namespace tilescope
