#include "app/run_results.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/profiles.h"

namespace tilescope {
namespace {

using nlohmann::ordered_json;

// What is told of a run's reports.
struct Told {
  explicit Told(const std::vector<Report>& reports, const Telling& telling)
      : telling_(telling), sifted_(sift(reports, telling.rules)) {}

  const std::vector<Report>& reports() const { return sifted_.kept; }

  void say(Terminal& terminal) const {
    if (!reports().empty()) terminal.say(text_of_reports(reports(), telling_.verbose));
    const std::string silenced = text_of_silenced(sifted_.counts, telling_.rules);
    if (!silenced.empty()) terminal.say(silenced);
    if (telling_.writes_rules) terminal.print(rules_for(reports()));
  }

  // Which rules were needed; with what would silence the rest.
  void add_to(ordered_json& document) const {
    if (!telling_.rules.empty()) {
      ordered_json silenced = ordered_json::array();
      for (std::size_t i = 0; i < telling_.rules.size(); ++i) {
        if (!sifted_.counts[i]) continue;
        silenced.push_back({{"rule", telling_.rules[i].place},
                            {"reason", telling_.rules[i].reason},
                            {"count", sifted_.counts[i]}});
      }
      document["suppressed"] = std::move(silenced);
    }
    if (telling_.writes_rules) document["suppressions"] = rules_for(reports());
  }

 private:
  const Telling& telling_;
  Sifted sifted_;
};

ordered_json to_json(const std::vector<Ran>& ran, const Telling& telling) {
  ordered_json out = ordered_json::array();
  for (const Ran& one : ran) {
    const std::optional<double> own = one.chip_seconds();
    out.push_back({{"device", one.device},
                   {"about", one.about},
                   {"seconds", one.seconds},
                   {"kernel_seconds", own ? ordered_json(*own) : nullptr},
                   {"reports", to_json(Told(one.execution->reports(), telling).reports())}});
  }
  return out;
}

// The file goes with the first comparison of an output, whose device it was written from.
const std::optional<std::string>& file_of(const Compared& c) {
  static const std::optional<std::string> none;
  return c.ran == 0 ? c.output->file : none;
}

// Of a run that ended and is not right: an output that differs, else the hazard that --strict
// minds.
ordered_json what_is_wrong(const RunResults& results, const std::vector<Ran>& ran,
                           const std::vector<Compared>& compared) {
  for (const Compared& c : compared) {
    if (!c.diff || c.diff->ok()) continue;
    const std::string& buffer = results.run.job.buffers[c.output->buffer].name;
    return {{"kind", "different"},
            {"sentence",
             fmt::format("{} of {} on {} differs.", buffer, results.run.kernel, ran[c.ran].device)},
            {"where", buffer}};
  }
  for (const DiffReport& diff : results.variables) {
    if (diff.ok()) continue;
    return {{"kind", "different"},
            {"sentence",
             fmt::format("The variable {} of {} differs.", diff.got_name, results.run.kernel)},
            {"where", diff.got_name}};
  }
  const Told told(ran.front().execution->reports(), results.telling);
  for (const Report& r : told.reports()) {
    if (r.weight != Weight::hazard) continue;
    return {{"kind", "hazard"}, {"sentence", r.sentence}, {"where", text(r.site)}};
  }
  for (const auto& h :
       results.searched ? results.searched->hazards : decltype(Searched::hazards)()) {
    return {{"kind", "hazard"}, {"sentence", h.report.sentence}, {"where", text(h.report.site)}};
  }
  if (results.proved && results.proved->proof.failure()) {
    const Report& last = results.proved->proof.failure()->reports.back();
    return {{"kind", "fault"}, {"sentence", last.sentence}, {"where", text(last.site)}};
  }
  return {{"kind", "not_proved"},
          {"sentence", "Nothing failed, and it is not proved that no order does."},
          {"where", ""}};
}

// Two counts: of PTX, and of what the chip's assembler makes something of.
std::string instructions_text(const Execution& execution, const sim::Statistics& stats) {
  const std::uint64_t all = execution.progress().instructions, issued = stats.sum.issued;
  if (issued == 0 || issued > all) return "";
  return fmt::format("\nPTX instructions by warps: {}; {} issued, {} more need no issue slot\n",
                     all, issued, all - issued);
}

// The window before an order that fails. `order`: as `run` takes it, "--lazy" or "--schedule
// 0.4@9".
std::string seen_by(const RunResults& results, std::string_view order) {
  std::string how(order.starts_with("--") ? order : "");
  if (how == "--lazy") how += " on";
  return fmt::format("see it: tilescope gui --do 'open {}{}{}' --do run", results.opened,
                     how.empty() ? "" : " ", how);
}

// What only some orders of a search show.
void tell_hazards(const RunResults& results, Terminal& terminal) {
  for (const auto& h : results.searched->hazards) {
    const Told told({h.report}, results.telling);
    if (told.reports().empty()) continue;
    told.say(terminal);
    const std::string how = "--schedule " + schedule_of(*results.searched, h);
    terminal.say("search: a hazard of another schedule; again with " + how + "\n" +
                 seen_by(results, how));
  }
}

void print_results(const RunResults& results, const std::vector<Ran>& ran,
                   const std::vector<Compared>& compared, Terminal& terminal) {
  for (const Ran& one : ran) Told(one.execution->reports(), results.telling).say(terminal);
  const PreparedRun& run = results.run;
  const std::string numerics =
      results.numerics.empty() ? "" : fmt::format("; {} numerics", results.numerics);
  terminal.print(fmt::format("{} on {}: {}{}\n", run.kernel, results.on, describe(run), numerics));
  for (const Compared& c : compared) {
    if (c.diff) terminal.print(text(*c.diff));
    for (const Pattern& p : c.patterns) {
      terminal.print(fmt::format("pattern: {}. {}\n", p.name, p.evidence));
    }
  }
  for (const DiffReport& diff : results.variables) terminal.print(text(diff));
  for (const Output& output : run.outputs) {
    if (output.file) terminal.say(fmt::format("wrote {}", *output.file));
  }
  for (const Ran& one : ran) terminal.say(time_text(one));
  if (results.searched) {
    terminal.print(text(*results.searched));
    tell_hazards(results, terminal);
  }
  if (results.proved) {
    const auto& failure = results.proved->proof.failure();
    if (failure) terminal.say(text_of_reports(failure->reports, results.telling.verbose));
    terminal.print(text(*results.proved));
    if (failure) terminal.say(seen_by(results, failure->how));
  }
  if (results.stats) {
    terminal.print("\n" + text(*results.stats, source_line) +
                   instructions_text(*ran.front().execution, *results.stats));
  }
}

}  // namespace

int tell_fault(const RunResults& results, const std::vector<Report>& reports, Terminal& terminal) {
  const Report& fault = reports.back();
  const Told told(reports, results.telling);
  if (terminal.json()) {
    ordered_json document = {{"ok", false},
                             {"error",
                              {{"kind", name_of(ErrorKind::fault)},
                               {"sentence", fault.sentence},
                               {"where", text(fault.site)}}},
                             {"kernel", results.run.kernel},
                             {"reports", to_json(told.reports())}};
    told.add_to(document);
    if (results.searched) document["search"] = to_json(*results.searched);
    if (results.proves) document["prove"] = {{"verdict", "fails"}, {"runs", 1}};
    if (results.stats) document["stats"] = json_of(*results.stats);
    terminal.document(std::move(document));
  } else {
    told.say(terminal);
    if (results.searched) {
      terminal.say(text(*results.searched));
      tell_hazards(results, terminal);
      terminal.say(seen_by(results, "--schedule " + schedule_of(*results.searched)));
    }
    if (results.proves) terminal.print("prove: fails in the order that was run first\n");
    if (results.stats) terminal.print(text(*results.stats, source_line));
  }
  return exit_code(ErrorKind::fault);
}

void tell_results(const RunResults& results, const std::vector<Ran>& ran,
                  const std::vector<Compared>& compared, bool ok, Terminal& terminal) {
  if (!terminal.json()) return print_results(results, ran, compared, terminal);
  const PreparedRun& run = results.run;
  ordered_json each = ordered_json::array();
  for (const Compared& c : compared) {
    each.push_back({{"buffer", run.job.buffers[c.output->buffer].name},
                    {"device", ran[c.ran].device},
                    {"file", file_of(c) ? ordered_json(*file_of(c)) : nullptr},
                    {"diff", c.diff ? to_json(*c.diff) : nullptr},
                    {"patterns", to_json(c.patterns)}});
  }
  const Execution& first = *ran.front().execution;
  const Told told(first.reports(), results.telling);
  ordered_json document = {{"ok", ok}};
  if (!ok) document["error"] = what_is_wrong(results, ran, compared);
  document["kernel"] = run.kernel;
  document["device"] = results.on;
  if (!results.numerics.empty()) document["numerics"] = results.numerics;
  document["blocks"] = first.progress().total;
  document["warp_instructions"] = first.progress().instructions;
  document["seconds"] = ran.front().seconds;
  document["devices"] = to_json(ran, results.telling);
  document["reports"] = to_json(told.reports());
  told.add_to(document);
  document["outputs"] = std::move(each);
  if (!results.variables.empty()) {
    ordered_json variables = ordered_json::array();
    for (const DiffReport& diff : results.variables) {
      variables.push_back({{"variable", diff.got_name}, {"diff", to_json(diff)}});
    }
    document["variables"] = std::move(variables);
  }
  if (results.searched) document["search"] = to_json(*results.searched);
  if (results.proved) document["prove"] = to_json(*results.proved);
  if (results.stats) document["stats"] = json_of(*results.stats);
  terminal.document(std::move(document));
}

}  // namespace tilescope
