// tilescope list [kernels|devices|presets|commands|opcodes|functions]
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/devices.h"
#include "core/language/language.h"
#include "core/ptx/opcodes.h"
#include "kernels/catalog/catalog.h"
#include "viz/scene/commands.h"
#include "viz/scene/presets.h"

namespace tilescope {
namespace {

struct Row {
  std::string name, help;
};

struct Listing {
  std::string_view name, help;
  std::vector<Row> (*rows)();
};

template <class Items, class F>
std::vector<Row> rows_of(const Items& items, F row) {
  std::vector<Row> out;
  for (const auto& item : items) out.push_back(row(item));
  return out;
}

const Listing listings[] = {
    {"kernels", "what `tilescope run` runs by name",
     [] { return rows_of(catalog(), [](const CatalogEntry& e) {
            return Row{e.name, e.help};
          }); }},
    {"devices", "what `--on` takes",
     [] {
       const Outcome<OpenDevice> gpu = open_gpu();
       return std::vector<Row>{
           {"sim", open_simulator().about},
           {"gpu", gpu ? gpu->about : "none: " + gpu.error().sentence},
           {"both", "the simulator, then the GPU; their results are compared with each other too"}};
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
    {"opcodes", "the PTX instructions that the simulator executes, form by form",
     [] {
       std::vector<Row> rows;
       for (const ptx::Opcode& o : ptx::opcodes()) {
         for (int form = 0; form < static_cast<int>(o.forms.size()); ++form) {
           rows.push_back({ptx::syntax(o, form),
                           form ? "" : fmt::format("{} (PTX ISA {})", o.about, o.section)});
         }
       }
       return rows;
     }},
    {"functions", "the functions of layout expressions",
     [] {
       return rows_of(functions(), [](const FunctionHelp& f) {
         return Row{fmt::format("{}{}", f.name, f.parameters), std::string(f.help)};
       });
     }},
};

void print_rows(const std::vector<Row>& rows, Terminal& terminal) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.name.size());
  for (const Row& row : rows) terminal.print(fmt::format("{:{}}  {}\n", row.name, width, row.help));
}

int list(const std::string& what, Terminal& terminal) {
  if (what.empty()) {
    std::vector<Row> rows;
    for (const Listing& l : listings) rows.push_back({std::string(l.name), std::string(l.help)});
    print_rows(rows, terminal);
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const Row& row : rows) names.push_back({{"name", row.name}, {"help", row.help}});
    if (terminal.json()) terminal.document({{"listings", names}});
    return 0;
  }
  for (const Listing& listing : listings) {
    if (listing.name != what) continue;
    const std::vector<Row> rows = listing.rows();
    print_rows(rows, terminal);
    nlohmann::ordered_json items = nlohmann::ordered_json::array();
    for (const Row& row : rows) items.push_back({{"name", row.name}, {"help", row.help}});
    if (terminal.json()) terminal.document({{what, items}});
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
    std::string what;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  std::string names;
  for (const Listing& l : listings) names += fmt::format("{}{}", names.empty() ? "" : "|", l.name);
  app.add_option("WHAT", options->what, "what to list; the lists that there are where left out")
      .type_name(names);
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return list(options->what, terminal); };
}

}  // namespace tilescope
