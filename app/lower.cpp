// tilescope lower EXPR|KERNEL: from a layout to LLVM, level by level.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/pictures.h"
#include "core/language/language.h"
#include "core/layout/text.h"
#include "core/lower/check.h"
#include "core/lower/request.h"
#include "kernels/catalog/catalog.h"
#include "viz/lower/lower_scene.h"

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string what, layout, follow, level, output, theme = "light";
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

Outcome<std::vector<NamedLayout>> layouts_of(const CatalogEntry& entry, const Options& options,
                                             std::string& element) {
  tilescope::Request request;
  for (const auto& [name, value] :
       {std::pair("m", options.m), std::pair("n", options.n), std::pair("k", options.k)}) {
    if (value) request.sizes[name] = *value;
  }
  const Outcome<Fit> fitted = fit(entry, request);
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
    if (!options.layout.empty() || options.dynamic || options.m || options.n || options.k) {
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

void print(const lowering::Lowering& l, const Chosen& which, const lowering::Checked& checked,
           const Options& options, Terminal& terminal) {
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
  terminal.print(fmt::format(
      "\nChecked: {} levels answer the same for {} thread{}, with {} choices of block and unknown "
      "numbers{}.\n",
      checked.levels, checked.threads, checked.threads == 1 ? "" : "s", checked.inputs,
      checked.elements > 0
          ? fmt::format("; {} elements lie where the layouts have them", checked.elements)
          : std::string()));
}

Json document_of(const lowering::Lowering& l, const Chosen& which, const lowering::Checked& checked,
                 const std::string& expression) {
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
  return {
      {"expression", expression},
      {"types", lowering::type_lines(l)},
      {"levels", std::move(levels)},
      {"outcome", lowering::text(l, l.outcome)},
      {"thread_offset", lowering::partition_formula(l)},
      {"checked",
       {{"threads", checked.threads}, {"inputs", checked.inputs}, {"elements", checked.elements}}}};
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

int lower_command(const Options& options, Terminal& terminal) {
  const Outcome<std::string> expression = expression_of(options);
  if (!expression) return terminal.fail(expression.error());
  const Outcome<lowering::Request> request =
      lowering::request_of(*expression, options.align.value_or(0));
  if (!request) return terminal.fail(request.error());
  const Outcome<lowering::Lowering> l = lowering::lower(*request);
  if (!l) return terminal.fail(l.error());
  const Outcome<std::optional<int>> follow = followed(*l, options);
  if (!follow) return terminal.fail(follow.error());
  const Outcome<lowering::Checked> checked = lowering::check(*l);
  if (!checked) return terminal.fail(checked.error());
  if (is_name(options.what)) terminal.say(*expression);
  if (!options.output.empty()) {
    const Outcome<std::size_t> bytes = draw(*l, *follow, options);
    if (!bytes) return terminal.fail(bytes.error());
    if (terminal.json()) terminal.document({{"file", options.output}, {"bytes", *bytes}});
    return 0;
  }
  const Chosen which = chosen(*l, *follow);
  if (terminal.json()) {
    terminal.document(document_of(*l, which, *checked, *expression));
    return 0;
  }
  print(*l, which, *checked, options, terminal);
  return 0;
}

}  // namespace

Action define_lower(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("WHAT", options->what,
                 "a layout, a tensor, or slice, partition_S, partition_D, crd2idx, get_... of one; "
                 "or a kernel's name")
      .required()
      .type_name("EXPR|KERNEL");
  app.add_option("--follow", options->follow,
                 "only what became of one value of the program: slice, src_partitioned")
      .type_name("NAME");
  app.add_option("--level", options->level, "one level only")
      .one_of({"as written", "slices expanded", "arithmetic", "LLVM", "folded LLVM"});
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
