#include "core/run/suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tilescope {
namespace {

// The line that a user wrote.
std::pair<std::string_view, std::uint32_t> written(const Site& site) {
  if (!site.caller.empty()) return {site.caller, site.caller_line};
  return {site.source, site.source_line};
}

// In quotes, as TOML has it.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

bool fits(std::string_view pattern, std::string_view text) {
  // Where the last * stands, and how much of the text it has taken.
  std::size_t p = 0, t = 0, star = pattern.npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

bool matches(const Suppression& rule, const Report& r) {
  if (r.weight == Weight::fault) return false;
  const auto [source, line] = written(r.site);
  return fits(rule.kind, r.kind) && fits(rule.kernel, r.site.kernel) && fits(rule.source, source) &&
         (rule.line == 0 || rule.line == line) &&
         (rule.ptx_line == 0 || rule.ptx_line == r.site.ptx_line);
}

Sifted sift(const std::vector<Report>& reports, const std::vector<Suppression>& rules) {
  Sifted out;
  out.counts.resize(rules.size());
  for (const Report& r : reports) {
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const Suppression& each) { return matches(each, r); });
    if (rule == rules.end()) {
      out.kept.push_back(r);
    } else {
      out.counts[static_cast<std::size_t>(rule - rules.begin())] += r.count;
    }
  }
  return out;
}

std::string text_of_silenced(const std::vector<std::uint64_t>& counts,
                             const std::vector<Suppression>& rules) {
  std::string out;
  for (std::size_t i = 0; i < rules.size() && i < counts.size(); ++i) {
    if (!counts[i]) continue;
    out += fmt::format("{}silenced {} time{} by {}: {}", out.empty() ? "" : "\n", counts[i],
                       counts[i] == 1 ? "" : "s", rules[i].place, rules[i].reason);
  }
  return out;
}

std::string rules_for(const std::vector<Report>& reports) {
  std::vector<std::string> rules;
  for (const Report& r : reports) {
    if (r.weight == Weight::fault) continue;
    const auto [source, line] = written(r.site);
    std::string rule = fmt::format("[[suppress]]\nkind = {}\nkernel = {}\n", quoted(r.kind),
                                   quoted(r.site.kernel));
    if (!source.empty()) {
      rule += fmt::format("source = {}\nline = {}\n", quoted(source), line);
    } else if (r.site.ptx_line) {
      rule += fmt::format("ptx_line = {}\n", r.site.ptx_line);
    }
    rule += "reason = \"\"\n";
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) {
      rules.push_back(std::move(rule));
    }
  }
  return fmt::format("{}", fmt::join(rules, "\n"));
}

}  // namespace tilescope
