#include "tests/mutate/score.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <utility>

namespace tilescope::test {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool has_place(const std::string& places, std::size_t place) {
  if (places == "*") return true;
  std::istringstream in(places);
  for (std::string number; std::getline(in, number, ',');) {
    if (std::stoul(number) == place) return true;
  }
  return false;
}

// FNV-1a: the same on every machine, which std::hash is not.
std::uint64_t hash_of(const std::string& s, std::uint64_t seed) {
  std::uint64_t out = 14695981039346656037ull ^ seed;
  for (const char ch : s) out = (out ^ static_cast<unsigned char>(ch)) * 1099511628211ull;
  return out;
}

std::map<std::string, std::vector<Mutant>> by_kind(const Case& c) {
  std::map<std::string, std::vector<Mutant>> out;
  for (const Mutation& m : c.changes) {
    std::vector<Mutant>& all = out[m.kind];
    all.push_back({c.name, m, all.size(), {}, nullptr});
  }
  return out;
}

void shuffle(std::vector<Mutant>& all, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
}

double share(std::size_t part, std::size_t all) {
  return all ? static_cast<double>(part) / static_cast<double>(all) : 1;
}

}  // namespace

std::vector<Rule> read_rules(const std::string& path, std::string& mistake) {
  std::vector<Rule> out;
  std::ifstream file(path);
  if (!file) mistake = path + " cannot be read";
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
    if (fields.size() != 5) {
      mistake =
          fmt::format("{}:{}: {} fields, where kind, kernel, places, reason and source are five",
                      path, number, fields.size());
      return {};
    }
    out.push_back({fields[0], fields[1], fields[2], fields[3], fields[4]});
  }
  return out;
}

bool Rule::is_of(const Mutant& m) const {
  return matches(kind, m.change.kind) && matches(kernel, m.kernel) && has_place(places, m.place);
}

bool Mutant::missed() const {
  return (trial.verdict == Verdict::unchanged || trial.verdict == Verdict::noted) && !rule;
}

std::vector<Mutant> drawn(const Case& c, std::size_t per_kind, std::uint64_t seed,
                          const std::string& kind) {
  std::vector<Mutant> out;
  for (auto& [name, all] : by_kind(c)) {
    if (!matches(kind, name)) continue;
    shuffle(all, hash_of(c.name + " " + name, seed));
    if (per_kind && all.size() > per_kind) all.resize(per_kind);
    out.insert(out.end(), all.begin(), all.end());
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Mutant& a, const Mutant& b) { return a.change.line < b.change.line; });
  return out;
}

std::vector<Mutant> sampled(const Case& c, std::size_t count, std::uint64_t seed) {
  std::vector<Mutant> out = drawn(c, 1, seed);
  shuffle(out, hash_of(c.name, seed));
  if (out.size() > count) out.resize(count);
  return out;
}

void try_all(const Case& c, std::vector<Mutant>& mutants, const std::vector<Rule>& rules,
             std::size_t jobs) {
  std::vector<const Mutation*> changes;
  for (const Mutant& m : mutants) changes.push_back(&m.change);
  const std::vector<Trial> trials = try_apart(c, changes, tried_orders(), jobs);
  changes.clear();
  std::vector<Mutant*> missed;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    Mutant& m = mutants[i];
    m.trial = trials[i];
    if (m.trial.verdict != Verdict::unchanged && m.trial.verdict != Verdict::noted) continue;
    const auto rule =
        std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.is_of(m); });
    if (rule != rules.end()) m.rule = &*rule;
    if (m.missed() && m.trial.verdict == Verdict::unchanged)
      missed.push_back(&m), changes.push_back(&m.change);
  }
  const std::vector<Trial> again = try_apart(c, changes, more_orders(), jobs);
  for (std::size_t i = 0; i < missed.size(); ++i) missed[i]->trial = again[i];
}

void Score::add(const Mutant& m) {
  ++tried;
  switch (m.trial.verdict) {
    case Verdict::named:
      ++named;
      here += m.trial.told == Where::here;
      near += m.trial.told == Where::near;
      at_here += m.trial.at == Where::here;
      at_near += m.trial.at == Where::near;
      break;
    case Verdict::refused:
      ++refused;
      break;
    case Verdict::wrong:
      ++wrong;
      break;
    case Verdict::endless:
      ++endless;
      break;
    case Verdict::idle:
      ++equivalent;
      break;
    case Verdict::noted:
    case Verdict::unchanged:
      if (m.rule) {
        ++equivalent;
      } else {
        ++(m.trial.verdict == Verdict::noted ? noted : missed);
      }
      break;
    case Verdict::crashed:
    case Verdict::count_:
      ++crashed;
      break;
  }
}

double Score::seen() const {
  return share(named + wrong, effective());
}
double Score::blamed() const {
  return share(here + near, named);
}

std::string table(const std::vector<Mutant>& mutants, const std::string& by) {
  std::vector<std::string> names;
  std::map<std::string, Score> scores;
  Score all;
  for (const Mutant& m : mutants) {
    const std::string& name = by == "kernel" ? m.kernel : m.change.kind;
    if (!scores.count(name)) names.push_back(name);
    scores[name].add(m);
    all.add(m);
  }
  if (by != "kernel") std::sort(names.begin(), names.end());
  std::size_t width = by.size();
  for (const std::string& name : names) width = std::max(width, name.size());
  std::string out = fmt::format(
      "{:<{}} {:>6} {:>7} {:>6} {:>6} {:>6} {:>7} {:>7} {:>10} {:>6} {:>6} {:>7} {:>7}\n", by,
      width, "tried", "refused", "named", "here", "near", "wrong", "endless", "equivalent", "noted",
      "missed", "crashed", "seen");
  const auto line = [&](const std::string& name, const Score& s) {
    out += fmt::format(
        "{:<{}} {:>6} {:>7} {:>6} {:>6} {:>6} {:>7} {:>7} {:>10} {:>6} {:>6} {:>7} {:>6.1f}%\n",
        name, width, s.tried, s.refused, s.named, s.here, s.near, s.wrong, s.endless, s.equivalent,
        s.noted, s.missed, s.crashed, 100 * s.seen());
  };
  for (const std::string& name : names) line(name, scores[name]);
  line("all", all);
  return out;
}

std::string tsv(const std::vector<Mutant>& mutants) {
  std::string out =
      "kernel\tkind\tplace\tline\tverdict\tblame\tblame at\torder\treport\tline told\tother "
      "lines\tchange\ttold\trule\n";
  for (const Mutant& m : mutants) {
    const Trial& t = m.trial;
    std::string others;
    for (const std::uint32_t line : t.others)
      others += (others.empty() ? "" : " ") + std::to_string(line);
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", m.kernel,
                       m.change.kind, m.place, m.change.line,
                       m.rule                                          ? "equivalent"
                       : m.missed() && t.verdict == Verdict::unchanged ? "missed"
                                                                       : name_of(t.verdict),
                       name_of(t.told), name_of(t.at), t.order, t.report, t.line, others,
                       m.change.sentence, t.sentence, m.rule ? m.rule->reason : "");
  }
  return out;
}

}  // namespace tilescope::test
