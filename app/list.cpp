// tilescope list [kernels|devices|presets|commands|opcodes|functions|atoms] [FILTER]
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/descriptions.h"
#include "app/devices.h"
#include "app/lesson_store.h"
#include "app/listed_atoms.h"
#include "app/variants.h"
#include "core/language/language.h"
#include "core/lesson/glossary.h"
#include "core/ptx/opcodes.h"
#include "core/ptx/refused.h"
#include "kernels/catalog/catalog.h"
#include "viz/commands/commands.h"
#include "viz/layout/presets.h"

namespace tilescope {
namespace {

struct Row {
  std::string name, help;
  nlohmann::ordered_json more = {};  // further fields of the JSON document
  std::string detail = {};           // further lines where it is not JSON
};

struct Listing {
  std::string_view name, help;
  std::vector<Row> (*rows)();
  // The rows that a filter finds, where that is not for their text to say.
  std::vector<Row> (*found)(const std::string& filter) = nullptr;
};

template <class Items, class F>
std::vector<Row> rows_of(const Items& items, F row) {
  std::vector<Row> out;
  for (const auto& item : items) out.push_back(row(item));
  return out;
}

std::vector<Row> atoms(const std::string& filter) {
  return rows_of(listed_atoms(filter), [](const ListedAtom& a) {
    return Row{a.name,
               a.about,
               {{"shape", a.shape},
                {"threads", a.threads},
                {"types", a.types},
                {"varies", a.varies},
                {"source", a.source}}};
  });
}

// In their order; one that cannot be read is told by `tilescope lesson NAME`.
std::vector<Lesson> readable_lessons() {
  std::vector<Lesson> all;
  for (const std::string& name : lesson_names()) {
    const auto text = lesson_text(name);
    if (!text) continue;
    if (auto lesson = read_lesson(*text, name)) all.push_back(std::move(*lesson));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Lesson& a, const Lesson& b) { return a.number < b.number; });
  return all;
}

std::vector<Row> lessons() {
  const auto progress = saved_progress();
  return rows_of(readable_lessons(), [&](const Lesson& lesson) {
    const std::string done = progress ? progress_words(*progress, lesson) : "";
    return Row{lesson.name,
               done.empty() ? lesson.about : fmt::format("{} ({})", lesson.about, done),
               {{"title", lesson.title}, {"steps", lesson.steps.size()}, {"progress", done}}};
  });
}

std::vector<Row> words() {
  return rows_of(glossary(readable_lessons()), [](const GlossaryEntry& entry) {
    return Row{entry.term.forms.front(), entry.term.meaning, {{"lesson", entry.lesson}}};
  });
}

nlohmann::ordered_json json_of(const SizeParameter& size) {
  return {{"name", size.name},
          {"least", size.least},
          {"most", size.most},
          {"default", size.fallback},
          {"help", size.help}};
}

nlohmann::ordered_json json_of(const OptionParameter& option) {
  return {{"name", option.name},
          {"values", option.values},
          {"form", option.form},
          {"default", option.fallback},
          {"help", option.help}};
}

// Which of its forms the program carries, as the options that choose them; any other needs nvcc.
Row kernel_row(const CatalogEntry& entry) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array(), options = sizes, forms = sizes;
  for (const SizeParameter& size : entry.sizes) sizes.push_back(json_of(size));
  for (const OptionParameter& option : entry.options) options.push_back(json_of(option));
  for (const CarriedVariant& variant : carried_variants(entry)) forms.push_back(variant.words);
  Row row{entry.name, entry.help, {{"sizes", sizes}, {"options", options}}};
  if (!forms.empty()) row.more["carried"] = forms;
  return row;
}

// A kernel's name, or a part of it, with the options of each.
std::vector<Row> kernels_found(const std::string& filter) {
  std::vector<Row> out;
  for (const CatalogEntry& entry : catalog()) {
    if (entry.name.find(filter) == std::string::npos &&
        entry.help.find(filter) == std::string::npos) {
      continue;
    }
    out.push_back(kernel_row(entry));
    std::string& detail = out.back().detail;
    if (filter != entry.name) continue;
    for (const SizeParameter& size : entry.sizes) {
      detail += fmt::format("  --{} N: {}; {} to {} (default {})\n", size.name, size.help,
                            size.least, size.most, size.fallback);
    }
    for (const OptionParameter& option : entry.options) {
      detail += fmt::format("  --{} {}: {}{} (default {})\n", option.name, option.form, option.help,
                            option.values.empty() || option.form.find('|') != std::string::npos
                                ? ""
                                : fmt::format("; {}", fmt::join(option.values, ", ")),
                            option.fallback);
    }
    const std::vector<CarriedVariant> carried = carried_variants(entry);
    if (carried.empty()) {
      detail.pop_back();
      continue;
    }
    detail +=
        fmt::format("{} forms are carried; for others nvcc compiles the kernel:", carried.size());
    for (const CarriedVariant& each : carried) {
      detail += "\n  " + (each.words.empty() ? "as it is without options" : each.words);
    }
  }
  return out;
}

const Listing listings[] = {
    {"kernels", "what `tilescope run` runs by name; FILTER finds single ones, with their options",
     [] { return rows_of(catalog(), kernel_row); }, kernels_found},
    {"devices", "what `--on` takes, and the chips that `--device` takes",
     [] {
       const Outcome<OpenDevice> gpu = open_gpu();
       std::vector<Row> rows = {
           {"sim", open_simulator().about},
           {"gpu", gpu ? gpu->about : "none: " + gpu.error().sentence},
           {"both", "the simulator, then the GPU; their results are compared with each other too"}};
       for (const auto& [name, device] : described_devices()) {
         rows.push_back({name, "--device: " + text(device)});
       }
       return rows;
     }},
    {"presets", "what `draw 'preset NAME'` and the window's `open preset NAME` take",
     [] {
       return rows_of(presets(), [](const Preset& p) {
         return Row{std::string(p.name), std::string(p.help)};
       });
     }},
    {"commands", "the window's commands, for the palette and `gui --do`",
     [] {
       return rows_of(window_commands(), [](const WindowCommand& c) {
         return Row{fmt::format("{} {}", c.name, c.arguments), std::string(c.help)};
       });
     }},
    {"opcodes",
     "the PTX instructions that the simulator executes, form by form, and those it refuses",
     [] {
       std::vector<Row> rows;
       for (const ptx::Opcode& o : ptx::opcodes()) {
         for (int form = 0; form < static_cast<int>(o.forms.size()); ++form) {
           rows.push_back({ptx::syntax(o, form),
                           form ? "" : fmt::format("{} (PTX ISA {})", o.about, o.section)});
         }
       }
       for (const ptx::Refused& no : ptx::refused()) {
         std::string names;
         for (std::string_view opcode : no.opcodes) {
           names += fmt::format("{}{}", names.empty() ? "" : ", ", opcode);
         }
         const bool lacks = no.word.starts_with('!');
         if (!no.word.empty()) {
           names += fmt::format(" {} .{}", lacks ? "without" : "with", no.word.substr(lacks));
         }
         rows.push_back({names, fmt::format("refused: {} (PTX ISA {})", no.why, no.section)});
       }
       return rows;
     }},
    {"atoms", "the MMA and copy atoms of layout expressions; FILTER finds single ones",
     [] { return atoms(""); }, atoms},
    {"lessons", "what `tilescope lesson` and the window's `lesson` take", lessons},
    {"words", "the words that the lessons explain", words},
    {"functions", "the functions of layout expressions",
     [] {
       return rows_of(functions(), [](const FunctionHelp& f) {
         return Row{fmt::format("{}{}", f.name, f.parameters), std::string(f.help)};
       });
     }},
};

// A name and its help in two columns, as `--help` has them: a name that is too long for the first
// stands alone, its help below.
void print_rows(const std::vector<Row>& rows, Terminal& terminal) {
  constexpr std::size_t widest = 48;
  std::size_t width = 0;
  for (const Row& row : rows) {
    if (row.name.size() <= widest) width = std::max(width, row.name.size());
  }
  for (const Row& row : rows) {
    const char* const between = row.name.size() > width && !row.help.empty() ? "\n" : "";
    const std::size_t indent = *between ? width : 0;
    terminal.print(fmt::format("{:{}}{}{:{}}{}{}\n", row.name, row.help.empty() ? 0 : width,
                               between, "", indent, row.help.empty() ? "" : "  ", row.help));
    if (!row.detail.empty()) terminal.print(row.detail + "\n");
  }
}

std::vector<Row> rows_found(const Listing& listing, const std::string& filter) {
  if (listing.found) return listing.found(filter);
  std::vector<Row> rows = listing.rows();
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](const Row& row) {
                              return row.name.find(filter) == std::string::npos &&
                                     row.help.find(filter) == std::string::npos;
                            }),
             rows.end());
  return rows;
}

nlohmann::ordered_json items_of(const std::vector<Row>& rows) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json item = {{"name", row.name}, {"help", row.help}};
    item.update(row.more.is_null() ? nlohmann::ordered_json::object() : row.more);
    items.push_back(std::move(item));
  }
  return items;
}

int list(const std::string& what, const std::string& filter, Terminal& terminal) {
  if (what.empty()) {
    std::vector<Row> rows;
    for (const Listing& l : listings) rows.push_back({std::string(l.name), std::string(l.help)});
    print_rows(rows, terminal);
    if (terminal.json()) terminal.document({{"listings", items_of(rows)}});
    return 0;
  }
  for (const Listing& listing : listings) {
    if (listing.name != what) continue;
    const std::vector<Row> rows = rows_found(listing, filter);
    if (rows.empty() && !filter.empty()) {
      return terminal.fail(
          {ErrorKind::unknown,
           fmt::format("Nothing in the list of {} has `{}`; leave it out to see all.", what,
                       filter),
           ""});
    }
    print_rows(rows, terminal);
    if (terminal.json()) terminal.document({{what, items_of(rows)}});
    return 0;
  }
  std::string names;
  for (const Listing& l : listings) names += fmt::format("{}{}", names.empty() ? "" : ", ", l.name);
  return terminal.fail({ErrorKind::unknown,
                        fmt::format("There is no list of `{}`; there are {}.", what, names), ""});
}

}  // namespace

Action define_list(CommandOptions& app) {
  struct Options {
    std::string what, filter;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  std::string names;
  for (const Listing& l : listings) names += fmt::format("{}{}", names.empty() ? "" : "|", l.name);
  app.add_option("WHAT", options->what, "what to list (default: the names of the lists)")
      .type_name(names);
  app.add_option("FILTER", options->filter, "only what has this text");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return list(options->what, options->filter, terminal); };
}

}  // namespace tilescope
