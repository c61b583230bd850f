// tilescope compare A.tsr B.tsr
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/profiles.h"
#include "core/io/record_file.h"

namespace tilescope {
namespace {

struct Options {
  std::string a, b;
  std::uint64_t lines = 10;
  bool json = false;
};

// The record's figures are all that is compared: it is not kept.
Outcome<sim::Statistics> figures_of(const std::string& path) {
  const Outcome<std::vector<std::byte>> file = read_file(path);
  if (!file) return file.error();
  const Outcome<sim::Record> record = read_record(*file, path);
  if (!record) return record.error();
  return sim::statistics_of(*record);
}

int compare(const Options& options, Terminal& terminal) {
  Outcome<sim::Statistics> a = figures_of(options.a);
  if (!a) return terminal.fail(a.error());
  Outcome<sim::Statistics> b = figures_of(options.b);
  if (!b) return terminal.fail(b.error());
  const sim::Difference difference = difference_of(std::move(*a), std::move(*b));
  if (terminal.json()) {
    nlohmann::ordered_json document = {{"ok", true}};
    document.update(json_of(difference));
    terminal.document(std::move(document));
  } else {
    terminal.print(text(difference, options.lines));
  }
  return 0;
}

}  // namespace

Action define_compare(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("A", options->a, "a record (tilescope run KERNEL --record A.tsr)").required();
  app.add_option("B", options->b, "what it is compared with").required();
  app.add_option("--lines", options->lines, "how many lines to show (default 10)").type_name("N");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return compare(*options, terminal); };
}

}  // namespace tilescope
