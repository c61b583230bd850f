#include "core/io/suppressions_file.h"

#include <cstdint>

#include "core/io/toml_reader.h"

namespace tilescope {

Outcome<std::vector<Suppression>> parse_suppressions(std::string_view text, std::string_view name) {
  TomlReader toml(name);
  const toml::table root = toml.parse(text);
  std::vector<Suppression> out;
  if (!toml.failed()) toml.only(root, {"suppress"}, "a file of suppressions");
  for (const toml::table* table : toml.tables(root, "suppress", "a file of suppressions")) {
    const std::string_view what = "[[suppress]]";
    toml.only(*table, {"kind", "kernel", "source", "line", "ptx_line", "reason"}, what);
    const auto line = [&](std::string_view key) {
      return static_cast<std::uint32_t>(toml.integer(*table, key, what, 1, INT32_MAX).value_or(0));
    };
    Suppression rule;
    rule.kind = toml.text(*table, "kind", what).value_or("");
    rule.kernel = toml.text(*table, "kernel", what).value_or("*");
    rule.source = toml.text(*table, "source", what).value_or("*");
    rule.line = line("line");
    rule.ptx_line = line("ptx_line");
    rule.reason = toml.text(*table, "reason", what).value_or("");
    rule.place = toml.place(table->source());
    if (!toml.failed() && rule.kind.empty()) {
      toml.fail(table->source(),
                "A [[suppress]] has no kind: kind = \"tcgen05_fence\" would silence that one, and "
                "\"*\" all.");
    }
    if (!toml.failed() && rule.reason.empty()) {
      toml.fail(
          table->source(),
          "A [[suppress]] has no reason: say why what it silences may stay, reason = \"...\".");
    }
    out.push_back(std::move(rule));
  }
  if (toml.failed()) return toml.error();
  return out;
}

}  // namespace tilescope
