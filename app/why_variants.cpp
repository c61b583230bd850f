#include "app/why_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/variants.h"
#include "core/profile/run_graph.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;

// What the result does not depend on.
constexpr std::array<std::string_view, 4> shapes = {"tile", "cluster", "consumers", "split-k"};
bool is_shape(std::string_view option) {
  return std::find(shapes.begin(), shapes.end(), option) != shapes.end();
}

struct Form {
  std::string words;  // "hgemm_v8", "--tile 128x256 --cluster 2x1 --consumers ping-pong"
  std::string kernel;
  KernelOptions own;
};

// "hgemm_v" of hgemm_v7; empty: it is on no ladder.
std::string ladder_of(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  const bool numbered = end != std::string::npos && end + 1 < name.size() && name[end] == 'v';
  return numbered ? name.substr(0, end + 1) : "";
}

// The sizes of the kernel that was asked for are those of all.
KernelOptions with_sizes(const CatalogEntry& asked, const KernelOptions& own,
                         const CatalogEntry& of) {
  KernelOptions out = own;
  for (const SizeParameter& size : asked.sizes) {
    const bool has = std::any_of(of.sizes.begin(), of.sizes.end(),
                                 [&](const SizeParameter& s) { return s.name == size.name; });
    if (has && !out.count(size.name)) out[size.name] = fmt::format("{}", size.fallback);
  }
  return out;
}

std::string sizes_text(const CatalogEntry& asked, const KernelOptions& own) {
  std::string out;
  for (const auto& [name, value] : with_sizes(asked, own, asked)) {
    const bool size = std::any_of(asked.sizes.begin(), asked.sizes.end(),
                                  [&](const SizeParameter& s) { return s.name == name; });
    if (size) out += fmt::format("{}--{} {}", out.empty() ? "" : " ", name, value);
  }
  return out;
}

// Forms of the same types and majors: all of their tiles and clusters, with either way to use two
// consumers.
std::vector<Form> forms_of(const CatalogEntry& entry, const HandoffsOptions& options) {
  std::vector<Form> out;
  if (const std::string ladder = ladder_of(entry.name); !ladder.empty()) {
    for (const CatalogEntry& rung : catalog()) {
      if (ladder_of(rung.name) != ladder) continue;
      out.push_back({rung.name, rung.name, with_sizes(entry, options.own, rung)});
    }
    return out;
  }
  if (!entry.choices_of) return out;
  Choices asked;
  for (const auto& [name, value] : options.own) {
    const bool is_option = std::any_of(entry.options.begin(), entry.options.end(),
                                       [&](const OptionParameter& o) { return o.name == name; });
    if (is_option && !is_shape(name)) asked[name] = value;
  }
  asked = completed(entry, asked);
  const bool has_consumers =
      std::any_of(entry.options.begin(), entry.options.end(),
                  [](const OptionParameter& o) { return o.name == "consumers"; });
  for (const CarriedVariant& variant : carried_variants(entry)) {
    const Choices choices = completed(entry, entry.choices_of(variant.values));
    const bool same = std::all_of(choices.begin(), choices.end(), [&](const auto& choice) {
      const auto own = asked.find(choice.first);
      return is_shape(choice.first) || own == asked.end() || own->second == choice.second ||
             choice.first == "alpha" || choice.first == "beta";
    });
    if (!same) continue;
    for (const std::string_view consumers : {"cooperative", "ping-pong"}) {
      Form form{"", entry.name, options.own};
      for (const std::string_view shape : {"tile", "cluster"}) {
        const auto choice = choices.find(shape);
        if (choice == choices.end()) continue;
        form.own[std::string(shape)] = choice->second;
        form.words += fmt::format("--{} {} ", shape, choice->second);
      }
      if (has_consumers) {
        form.own["consumers"] = consumers;
        form.words += fmt::format("--consumers {}", consumers);
      }
      out.push_back(std::move(form));
      if (!has_consumers) break;
    }
  }
  return out;
}

struct Timed {
  std::string words;
  double end = 0;
  std::vector<sim::PathStep> path;
};

}  // namespace

int explain_variants(const HandoffsOptions& options, Terminal& terminal) {
  const Outcome<const CatalogEntry*> entry = find_kernel(options.of);
  if (!entry) return terminal.fail(entry.error());
  const std::vector<Form> forms = forms_of(**entry, options);
  if (forms.empty()) {
    return terminal.fail({ErrorKind::usage,
                          fmt::format("{} is built in one form. Those that are built in several: "
                                      "dense_gemm, by --tile and --cluster; hgemm_v1 to v10 and "
                                      "wgmma_v1 to v9, which are the same product.",
                                      options.of),
                          ""});
  }
  std::vector<Timed> timed;
  std::vector<std::string> refused;
  std::string unit = "cycles";
  for (std::size_t i = 0; i < forms.size(); ++i) {
    terminal.progress(forms[i].words, static_cast<double>(i) / static_cast<double>(forms.size()));
    HandoffsOptions one = options;
    one.of = forms[i].kernel;
    one.own = forms[i].own;
    const Outcome<ExplainedRun> run = explained_run(one, terminal);
    if (!run) {
      if (run.error().kind == ErrorKind::interrupted) return terminal.fail(run.error());
      refused.push_back(forms[i].words);
      continue;
    }
    const sim::Timeline timeline(run->record);
    const sim::RunGraph graph(timeline);
    const std::vector<double> times = graph.times(options.what);
    timed.push_back({forms[i].words, graph.end_of(times), graph.path(options.what, times)});
  }
  terminal.end_progress();
  std::stable_sort(timed.begin(), timed.end(),
                   [](const Timed& a, const Timed& b) { return a.end < b.end; });
  if (terminal.json()) {
    Json all = Json::array();
    for (const Timed& each : timed) {
      Json shares = Json::object();
      const auto totals = sim::totals_of(each.path);
      for (const sim::PathKind kind : sim::kinds_of(each.path)) {
        shares[std::string(name_of(kind))] = totals[static_cast<std::size_t>(kind)];
      }
      all.push_back({{"form", each.words}, {"end", each.end}, {"totals", std::move(shares)}});
    }
    terminal.document({{"ok", true},
                       {"kernel", options.of},
                       {"sizes", sizes_text(**entry, options.own)},
                       {"what_if", text_of(options.what)},
                       {"variants", std::move(all)},
                       {"refused", refused}});
    return 0;
  }
  std::string out = fmt::format("{}{}: cycles, and what the longest chain of each went to\n",
                                sizes_text(**entry, options.own),
                                options.what.changes() ? ", with " + text_of(options.what) : "");
  for (const Timed& each : timed) {
    const auto totals = sim::totals_of(each.path);
    std::string shares;
    std::size_t told = 0;
    for (const sim::PathKind kind : sim::kinds_of(each.path)) {
      if (told++ == 3) break;
      shares += fmt::format("{}{:.0f}% {}", shares.empty() ? "" : ", ",
                            100 * static_cast<double>(totals[static_cast<std::size_t>(kind)]) /
                                std::max(1.0, each.end),
                            name_of(kind));
    }
    out += fmt::format("  {:>9.0f}  {:<50}  {}\n", each.end, each.words, shares);
  }
  if (!refused.empty()) {
    out += fmt::format("{} cannot do this problem.\n",
                       refused.size() == 1 ? "One form" : fmt::format("{} forms", refused.size()));
  }
  terminal.print(out);
  return 0;
}

}  // namespace tilescope
