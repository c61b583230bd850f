#include "core/profile/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/profile/verdict.h"

namespace tilescope::sim {
namespace {

// The row of that name, made where there is none.
Pair& row(std::vector<Pair>& rows, const std::string& name) {
  for (Pair& r : rows) {
    if (r.name == name) return r;
  }
  rows.push_back({name, 0, 0});
  return rows.back();
}

void by_change(std::vector<Pair>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Pair& x, const Pair& y) {
    return std::abs(x.change()) > std::abs(y.change());
  });
}

void add_roles(const Statistics& s, double Pair::*side, std::vector<PairTable>& tables) {
  for (const Role& role : s.roles) {
    auto table = std::find_if(tables.begin(), tables.end(),
                              [&](const PairTable& t) { return t.name == role.name; });
    if (table == tables.end()) {
      tables.push_back({role.name, {}});
      table = tables.end() - 1;
    }
    row(table->rows, "runs").*side += role.running * role.cycles;
    for (const Waited& w : role.waits) row(table->rows, text(w.key)).*side += w.share * role.cycles;
  }
}

void add_traffic(const Statistics& s, double Pair::*side, std::vector<Pair>& rows) {
  const auto set = [&](const char* name, std::uint64_t value) {
    row(rows, name).*side = static_cast<double>(value);
  };
  set("TMEM bytes", s.tensor.bytes);
  set("shared bytes", s.shared.bytes);
  set("L2 bytes", s.l2.bytes);
  set("memory bytes", s.memory.bytes);
  set("wavefronts", s.sum.wavefronts);
  set("excess wavefronts", s.sum.wavefronts - std::min(s.sum.wavefronts, s.sum.ideal_wavefronts));
  set("sectors", s.sum.sectors);
  set("excess sectors", s.sum.sectors - std::min(s.sum.sectors, s.sum.ideal_sectors));
}

std::string place(const LineUse& line) {
  return line.file.empty() ? fmt::format("PTX line {}", line.ptx_line)
                           : fmt::format("{}:{}", line.file, line.line);
}

// "add.s32 %r, %r, 4": what two compilations of one line have in common.
std::string shape_of(std::string_view ptx) {
  std::string out;
  bool in_register = false;
  for (const char c : ptx) {
    if (c == '%') in_register = true;
    const bool digit = c >= '0' && c <= '9';
    if (in_register && digit) continue;
    if (c != '%' && !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) in_register = false;
    out += c;
  }
  return out;
}

LinePair pair_of(const LineUse* a, const LineUse* b) {
  LinePair out;
  if (a) {
    out.a = place(*a), out.ptx = a->ptx;
    out.a_stalls = static_cast<double>(a->stalls);
    out.a_issued = static_cast<double>(a->counters.issued);
  }
  if (b) {
    out.b = place(*b), out.ptx = b->ptx;
    out.b_stalls = static_cast<double>(b->stalls);
    out.b_issued = static_cast<double>(b->counters.issued);
  }
  return out;
}

std::vector<LinePair> pair_lines(const Statistics& a, const Statistics& b) {
  std::vector<LinePair> out;
  std::vector<bool> taken(b.lines.size());
  std::vector<const LineUse*> left;
  const auto match = [&](const std::vector<const LineUse*>& lines, auto key, auto may) {
    std::multimap<std::string, std::size_t> at;
    for (std::size_t i = 0; i < b.lines.size(); ++i) {
      if (!taken[i] && may(b.lines[i])) at.emplace(key(b.lines[i]), i);
    }
    for (const LineUse* line : lines) {
      const auto found = may(*line) ? at.find(key(*line)) : at.end();
      if (found == at.end()) {
        left.push_back(line);
        continue;
      }
      out.push_back(pair_of(line, &b.lines[found->second]));
      taken[found->second] = true;
      at.erase(found);
    }
  };
  std::vector<const LineUse*> all;
  for (const LineUse& line : a.lines) all.push_back(&line);
  match(all, place, [](const LineUse& line) { return !line.file.empty(); });
  all = std::exchange(left, {});
  match(
      all, [](const LineUse& line) { return shape_of(line.ptx); },
      [](const LineUse&) { return true; });
  for (const LineUse* line : left) out.push_back(pair_of(line, nullptr));
  for (std::size_t i = 0; i < b.lines.size(); ++i) {
    if (!taken[i]) out.push_back(pair_of(nullptr, &b.lines[i]));
  }
  std::stable_sort(out.begin(), out.end(), [](const LinePair& x, const LinePair& y) {
    return std::abs(x.change()) > std::abs(y.change());
  });
  return out;
}

std::string percent(double share) {
  return fmt::format("{:.0f}%", 100 * share);
}

// What feeds the tensor core in both, or of all roles together: the wait whose share of the time
// changed most, as (of a block's time) it had in a and has in b.
Pair main_change(const Difference& d) {
  std::vector<Pair> rows;
  const UnitUse *a = find(d.a, Unit::tensor), *b = find(d.b, Unit::tensor);
  const auto add = [&](const Statistics& s, const UnitUse* tensor, double Pair::*side) {
    if (a && b) {
      row(rows, "other instructions").*side += tensor->idle_running;
      row(rows, "prologue and epilogue of CTAs").*side += tensor->outside;
      for (const Waited& w : tensor->idle) row(rows, "waits for " + text(w.key)).*side += w.share;
      return;
    }
    double cycles = 0;
    for (const Role& role : s.roles) cycles += role.cycles * static_cast<double>(role.warps.size());
    for (const Role& role : s.roles) {
      const double weight = role.cycles * static_cast<double>(role.warps.size()) / cycles;
      for (const Waited& w : role.waits) row(rows, text(w.key)).*side += w.share * weight;
    }
  };
  add(d.a, a, &Pair::a);
  add(d.b, b, &Pair::b);
  by_change(rows);
  return rows.empty() ? Pair{} : rows.front();
}

std::string with_capital(std::string_view text) {
  std::string out(text);
  if (out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

std::string work_text(const Statistics& s) {
  std::string out = s.what.empty() ? s.kernel : fmt::format("{}, {}", s.kernel, s.what);
  if (s.rate > 0) out += fmt::format(" ({:.4g} TFLOP/s)", s.rate / 1e12);
  return out;
}

// Times say little of runs that did not do the same; their rates do, where both have one.
std::string other_work(const Difference& d, std::string_view a, std::string_view b) {
  if (d.a.what == d.b.what && d.a.work == d.b.work) return "";
  return fmt::format("They did different work: {} {}; {} {}. ", a, work_text(d.a), b,
                     work_text(d.b));
}

std::string times_text(const Difference& d, std::string_view a, std::string_view b) {
  const auto us = [](double seconds) { return fmt::format("{:.2f} us", seconds * 1e6); };
  const std::string now = with_capital(b);
  if (d.ratio > 0.99 && d.ratio < 1.01) {
    return fmt::format("{} takes as long as {}: {} and {}.", now, a, us(d.b.seconds),
                       us(d.a.seconds));
  }
  if (d.ratio < 1) {
    return fmt::format("{} is {:.2f} times as fast as {}: {} instead of {}.", now, 1 / d.ratio, a,
                       us(d.b.seconds), us(d.a.seconds));
  }
  return fmt::format("{} takes {:.2f} times as long as {}: {} instead of {}.", now, d.ratio, a,
                     us(d.b.seconds), us(d.a.seconds));
}

// "26% of a CTA's time instead of 31%"
std::string share_text(double now, double before, std::string_view of = "") {
  const std::string b = percent(now), a = percent(before);
  return b == a ? fmt::format("{}{} in both", b, of) : fmt::format("{}{} instead of {}", b, of, a);
}

}  // namespace

std::string verdict_of(const Difference& d, std::string_view a, std::string_view b) {
  std::string out = other_work(d, a, b);
  if (!d.known_time) {
    if (d.a.known_time == d.b.known_time) {
      return out + "The records have no time: what follows is what was done, not how long it took.";
    }
    return out + fmt::format(
                     "{} has no time (its schedule was randomised), so stalls cannot be compared: "
                     "what follows is what was executed.",
                     with_capital(d.a.known_time ? b : a));
  }
  out += times_text(d, a, b);
  const UnitUse *before = find(d.a, Unit::tensor), *now = find(d.b, Unit::tensor);
  const Pair most = main_change(d);
  const bool changed = std::abs(most.change()) >= 0.01;
  if (before && now) {
    out += " The tensor core has work " + share_text(now->busy, before->busy, " of a CTA's time");
    if (changed) {
      out += fmt::format("; of the rest, {} take {}", most.name, share_text(most.b, most.a));
    }
    out += ".";
  } else if (changed) {
    out += fmt::format(" Warps wait {} of their time for {} instead of {}.", percent(most.b),
                       most.name, percent(most.a));
  }
  return out;
}

Difference difference_of(Statistics a, Statistics b) {
  Difference d;
  d.a = std::move(a);
  d.b = std::move(b);
  d.known_time = d.a.known_time && d.b.known_time && d.a.seconds > 0 && d.b.seconds > 0;
  if (d.known_time) d.ratio = d.b.seconds / d.a.seconds;
  if (d.known_time) {
    for (const PipeUse& p : d.a.pipes) row(d.pipes, std::string(name_of(p.pipe))).a = p.cycles;
    for (const PipeUse& p : d.b.pipes) row(d.pipes, std::string(name_of(p.pipe))).b = p.cycles;
    add_roles(d.a, &Pair::a, d.roles);
    add_roles(d.b, &Pair::b, d.roles);
    for (PairTable& role : d.roles) by_change(role.rows);
  }
  const auto stalls = [&](const Statistics& s, double Pair::*side) {
    for (const Waited& w : s.stalls) {
      row(d.stalls, text(w.key)).*side = w.share * static_cast<double>(s.stalled);
    }
  };
  // Of one the unit is cycles, of the other instructions; and bytes by level, wavefronts and
  // sectors are counted by a clock.
  const bool same_unit = d.a.known_time == d.b.known_time;
  if (same_unit) stalls(d.a, &Pair::a);
  if (same_unit) stalls(d.b, &Pair::b);
  by_change(d.pipes);
  by_change(d.stalls);
  add_traffic(d.a, &Pair::a, d.traffic);
  add_traffic(d.b, &Pair::b, d.traffic);
  d.traffic.erase(std::remove_if(d.traffic.begin(), d.traffic.end(),
                                 [&](const Pair& p) {
                                   if (!same_unit) return p.a == 0 || p.b == 0;
                                   return p.a == 0 && p.b == 0;
                                 }),
                  d.traffic.end());
  if (same_unit) d.lines = pair_lines(d.a, d.b);
  d.verdict = verdict_of(d, "A", "B");
  return d;
}

}  // namespace tilescope::sim
