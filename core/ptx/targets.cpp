#include "core/ptx/targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ptx/modifiers.h"

namespace tilescope::ptx {
namespace {

// "8.6" -> 806, so that 8.10 comes behind 8.9. 0 where it is no version.
int version_number(std::string_view text) {
  int parts[2] = {}, part = 0;
  for (const char c : text) {
    if (c == '.' && part == 0) {
      part = 1;
    } else if (c >= '0' && c <= '9' && parts[part] < 100) {
      parts[part] = parts[part] * 10 + (c - '0');
    } else {
      return 0;
    }
  }
  return parts[0] * 100 + parts[1];
}

struct Introduced {
  int capability;
  std::string_view plain, family, own;  // versions of the PTX ISA
};
// 11.1.2, "PTX ISA Notes".
constexpr Introduced introduced[] = {
    {50, "4.0", "", ""},        {52, "4.1", "", ""},        {53, "4.2", "", ""},
    {60, "5.0", "", ""},        {61, "5.0", "", ""},        {62, "5.0", "", ""},
    {70, "6.0", "", ""},        {72, "6.1", "", ""},        {75, "6.3", "", ""},
    {80, "7.0", "", ""},        {86, "7.1", "", ""},        {87, "7.4", "", ""},
    {88, "9.0", "", ""},        {89, "7.8", "", ""},        {90, "7.8", "", "8.0"},
    {100, "8.6", "8.8", "8.6"}, {103, "8.8", "8.8", "8.8"}, {110, "9.0", "9.0", "9.0"},
    {120, "8.7", "8.8", "8.7"}, {121, "8.8", "8.8", "8.8"},
};

std::string_view version_of(const Introduced& row, char suffix) {
  return suffix == 'a' ? row.own : suffix == 'f' ? row.family : row.plain;
}

// Does a file for `target` have what one of these names has?
bool has(const Target& target, const Target& name) {
  if (name.suffix == 'a') return target.suffix == 'a' && target.capability == name.capability;
  if (name.suffix == 'f') {
    return target.suffix != 0 && target.capability / 10 == name.capability / 10 &&
           target.capability >= name.capability;
  }
  return target.capability >= name.capability;
}

template <class F>
void for_words(std::string_view list, F f) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.size(), list.find(' '));
    if (end) f(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + 1));
  }
}

bool meets(const Target& target, std::string_view needs) {
  bool any = false;
  for_words(needs, [&](std::string_view name) {
    any = any || has(target, target_named(name).value_or(Target{}));
  });
  return any;
}

std::string needs_text(std::string_view needs) {
  std::string out;
  for_words(needs, [&](std::string_view name) {
    const char suffix = target_named(name).value_or(Target{}).suffix;
    out += fmt::format("{}{}{}", out.empty() ? "" : ", or ", name,
                       suffix == 'a'   ? ""
                       : suffix == 'f' ? " or later of its family"
                                       : " or later");
  });
  return out;
}

struct Condition {
  const TargetRule* rule = nullptr;
  std::vector<ModifierRule> modifiers;

  bool holds(const Modifiers& of) const {
    return std::all_of(modifiers.begin(), modifiers.end(), [&](const ModifierRule& m) {
      return std::count(m.values.begin(), m.values.end(), of[m.field]) != 0;
    });
  }
};

// Of each opcode.
const std::vector<std::vector<Condition>>& conditions() {
  static const std::vector<std::vector<Condition>> all = [] {
    std::vector<std::vector<Condition>> out(static_cast<std::size_t>(Op::count_));
    for (const Opcode& row : opcodes()) {
      for (const TargetRule& rule : row.targets) {
        out[static_cast<std::size_t>(row.op)].push_back({&rule, modifier_rules(rule.forms)});
      }
    }
    return out;
  }();
  return all;
}

}  // namespace

std::optional<Target> target_named(std::string_view name) {
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (name.substr(0, prefix.size()) == prefix) {
      name.remove_prefix(prefix.size());
      Target out;
      while (!name.empty() && name[0] >= '0' && name[0] <= '9' && out.capability < 1000) {
        out.capability = out.capability * 10 + (name[0] - '0');
        name.remove_prefix(1);
      }
      if (name == "a" || name == "f") {
        out.suffix = name[0];
        name = {};
      }
      if (out.capability == 101) out.capability = 110;
      return out.capability && name.empty() ? std::optional<Target>(out) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::string missing_on(std::string_view target, std::string_view version, Op op,
                       const Modifiers& modifiers, std::size_t operands) {
  const std::vector<Condition>& rows = conditions()[static_cast<std::size_t>(op)];
  if (rows.empty()) return "";
  const Target chip = target_named(target).value_or(Target{});
  for (const Condition& row : rows) {
    const TargetRule& rule = *row.rule;
    if (operands < rule.operands || !row.holds(modifiers)) continue;
    if (!meets(chip, rule.needs)) {
      return fmt::format("this needs {} (PTX ISA {}), and the file is for {}",
                         needs_text(rule.needs), rule.section, target);
    }
    if (!rule.version.empty() && version_number(version) < version_number(rule.version)) {
      return fmt::format("this needs version {} of PTX (PTX ISA {}), and the file is of {}",
                         rule.version, rule.section, version);
    }
  }
  return "";
}

namespace {

constexpr int known_chips[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

template <class Runs>
std::vector<int> chips_where(Runs runs) {
  std::vector<int> out;
  for (const int chip : known_chips) {
    if (runs(chip)) out.push_back(chip);
  }
  return out;
}

}  // namespace

std::vector<int> chips_of(std::string_view target) {
  const Target name = target_named(target).value_or(Target{});
  return chips_where([&](int chip) { return has(Target{chip, 'a'}, name); });
}

std::vector<int> chips_with(Op op, const Modifiers& modifiers, std::size_t operands) {
  const std::vector<Condition>& rows = conditions()[static_cast<std::size_t>(op)];
  return chips_where([&](int chip) {
    return std::all_of(rows.begin(), rows.end(), [&](const Condition& row) {
      return operands < row.rule->operands || !row.holds(modifiers) ||
             meets(Target{chip, 'a'}, row.rule->needs);
    });
  });
}

std::string missing_target(std::string_view target, std::string_view version) {
  const std::optional<Target> chip = target_named(target);
  const auto row =
      std::find_if(std::begin(introduced), std::end(introduced),
                   [&](const Introduced& r) { return chip && r.capability == chip->capability; });
  if (row == std::end(introduced) || version_of(*row, chip->suffix).empty()) {
    return fmt::format("the target '{}' is not known: one such as sm_80, sm_90a or sm_100f",
                       target);
  }
  // It had another name before.
  const bool renamed = target.find("101") != std::string_view::npos;
  const std::string_view least = !renamed              ? version_of(*row, chip->suffix)
                                 : chip->suffix == 'f' ? "8.8"
                                                       : "8.6";
  if (version_number(version) >= version_number(least)) return "";
  return fmt::format(
      "the target {} needs version {} of PTX (PTX ISA 11.1.2), and the file is of {}", target,
      least, version);
}

}  // namespace tilescope::ptx
