// Statistics as text for people: what bounds the kernel first, then tables, the worst lines last.
#include <fmt/format.h>

#include <algorithm>

#include "core/profile/statistics.h"

namespace tilescope::sim {
namespace {

std::string percent(double share) {
  return fmt::format("{:5.1f}%", 100 * share);
}

std::string bytes_text(double bytes) {
  static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) bytes /= 1024, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

// "0-3, 8": warps of a block.
std::string ranges(const std::vector<std::uint32_t>& warps) {
  std::string out;
  for (std::size_t i = 0; i < warps.size();) {
    std::size_t end = i + 1;
    while (end < warps.size() && warps[end] == warps[end - 1] + 1) ++end;
    if (!out.empty()) out += ", ";
    out +=
        end - i == 1 ? fmt::format("{}", warps[i]) : fmt::format("{}-{}", warps[i], warps[end - 1]);
    i = end;
  }
  return out;
}

// "copies in (mbarrier) 61.0%, a result 4.2%": the longest few.
std::string waits_text(const std::vector<Waited>& waits, std::size_t most = 3) {
  std::string out;
  for (std::size_t i = 0; i < std::min(waits.size(), most); ++i) {
    if (waits[i].share < 0.0005) break;
    out += fmt::format("{}{} {:.1f}%", out.empty() ? "" : ", ", text(waits[i].key),
                       100 * waits[i].share);
  }
  return out;
}

std::string head(const Statistics& s) {
  std::string out = s.verdict + "\n";
  if (s.known_time) {
    out += fmt::format("predicted {}, on {}, {} cycles at {:.3g} GHz", text(s.time()), s.device,
                       s.end, s.clock);
    if (s.uncertain > 0) out += fmt::format(", give or take {:.0f}%", 100 * s.uncertain);
    if (s.work > 0) {
      out += fmt::format("; {:.4g} TFLOP/s", s.rate / 1e12);
      if (s.peak > 0) {
        out += fmt::format(", {:.1f}% of {:.4g} for {}", 100 * s.rate / s.peak, s.peak / 1e12,
                           s.peak_of);
      }
    }
    out += "\n";
  }
  if (s.blocks_simulated < s.blocks) {
    out += fmt::format("{} of {} CTAs were simulated; the time of the others is that of these\n",
                       s.blocks_simulated, s.blocks);
  }
  if (s.faults) out += "the run ended with a fault: these are the figures up to there\n";
  return out;
}

std::string occupancy(const Statistics& s) {
  std::string out =
      fmt::format("\noccupancy: {} CTA{} of {} warp{} on an SM", s.resident_blocks,
                  s.resident_blocks == 1 ? "" : "s", s.warps, s.warps == 1 ? "" : "s");
  if (s.warps_at_most) out += fmt::format(", {} of {} warps", s.resident_warps, s.warps_at_most);
  if (!s.limited_by.empty()) out += fmt::format("; limited by {}", s.limited_by);
  out += "\n";
  if (s.processors && s.processors_used) {
    out += fmt::format("SMs: {} of {} had a CTA", s.processors_used, s.processors);
    if (s.known_time && s.folded == 0 && s.blocks_simulated == s.blocks) {
      out += fmt::format(", all of them together {:.1f}% of the time", 100 * s.occupied);
    }
    out += "\n";
  }
  return out;
}

std::string pipes(const Statistics& s) {
  if (s.pipes.empty()) return "";
  std::string out = "\nunit              busy    idle\n";
  for (const PipeUse& p : s.pipes) {
    out += fmt::format("{:<16}{}  {}\n", name_of(p.pipe), percent(p.busy), percent(1 - p.busy));
  }
  return out;
}

std::string_view unit_of(const Statistics& s) {
  return s.known_time ? "cycles" : "instructions";
}

std::string looked_at(const Statistics& s) {
  if (s.folded == 0) return "";
  if (s.kept_from) return fmt::format(" ({} {} to {})", unit_of(s), *s.kept_from, s.kept_to);
  return fmt::format(" (of {} CTA{} that the record has whole)", s.blocks_looked_at,
                     s.blocks_looked_at == 1 ? "" : "s");
}

std::string roles(const Statistics& s) {
  if (s.roles.empty()) return "";
  std::size_t wide = 4;
  const auto name = [](const Role& r) {
    return fmt::format("{} {}: {}", r.warps.size() == 1 ? "warp" : "warps", ranges(r.warps),
                       r.name);
  };
  for (const Role& r : s.roles) wide = std::max(wide, name(r).size());
  std::string out =
      fmt::format("\n{:<{}}        issued", fmt::format("role{}", looked_at(s)), wide);
  if (s.known_time) out += "    runs   waits for";
  out += "\n";
  for (const Role& r : s.roles) {
    out += fmt::format("{:<{}}  {:>12}", name(r), wide, r.instructions);
    if (s.known_time) out += fmt::format("  {}   {}", percent(r.running), waits_text(r.waits));
    out += "\n";
  }
  return out;
}

std::string units(const Statistics& s) {
  if (s.units.empty()) return "";
  std::string out = fmt::format("\n{:<14}  operations     amount", "asynchronous");
  if (s.known_time)
    out += "    busy  outside  in flight  queued    took   idle because its warps wait for";
  out += "\n";
  for (const UnitUse& u : s.units) {
    const auto amount = static_cast<double>(u.amount);
    out += fmt::format("{:<14}  {:>10}  {:>9}", name_of(u.unit), u.operations,
                       u.bytes ? bytes_text(amount) : fmt::format("{:.3g}", amount));
    if (s.known_time) {
      out += fmt::format("  {}   {}  {:>9.1f}  {:>6.0f}  {:>6.0f}   {}", percent(u.busy),
                         percent(u.outside), u.in_flight, u.queued, u.worked, waits_text(u.idle));
      if (u.idle_running >= 0.0005) {
        out += fmt::format("{}(they run {:.1f}%)", u.idle.empty() ? "" : " ", 100 * u.idle_running);
      }
    }
    while (out.ends_with(' ')) out.pop_back();
    out += "\n";
  }
  return out;
}

std::string traffic(const Statistics& s) {
  std::string out = "\nmemory        bytes";
  if (s.known_time) out += "        B/cycle   of the device's";
  out += "\n";
  const auto row = [&](std::string_view name, const Traffic& t, std::string_view of) {
    if (t.bytes == 0) return;
    out += fmt::format("{:<8}{:>11}", name, bytes_text(static_cast<double>(t.bytes)));
    if (s.known_time) {
      out += fmt::format("  {:>13}", fmt::format("{:.1f}{}", t.rate, of));
      if (t.limit > 0) out += fmt::format("   {} of {:.0f}", percent(t.share()), t.limit);
    }
    out += "\n";
  };
  row("TMEM", s.tensor, " each");
  row("shared", s.shared, " each");
  row("L2", s.l2, "");
  row("memory", s.memory, "");
  const auto excess = [&](std::string_view what, std::uint64_t done, std::uint64_t ideal) {
    if (done == 0) return;
    out += fmt::format("{}: {}, ideal {}", what, done, ideal);
    if (ideal > 0 && done > ideal) {
      out += fmt::format(", excess {} ({:.2f} times)", done - ideal,
                         static_cast<double>(done) / static_cast<double>(ideal));
    }
    out += "\n";
  };
  excess("wavefronts of shared memory", s.sum.wavefronts, s.sum.ideal_wavefronts);
  excess("sectors of global memory", s.sum.sectors, s.sum.ideal_sectors);
  return out == "\nmemory        bytes\n" ? "" : out;
}

std::string stalls(const Statistics& s) {
  if (s.stalls.empty()) return "";
  std::string out = fmt::format("\nstalls        share of {} {}\n", s.stalled,
                                s.known_time ? "warp cycles" : "instructions of the grid");
  for (const Waited& w : s.stalls) {
    if (w.share >= 0.0005) out += fmt::format("{}  for {}\n", percent(w.share), text(w.key));
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

// The causes of one line, most first: "copies 80%, result 12%".
std::string causes(const LineUse& line) {
  std::vector<Waited> waits;
  for (std::size_t i = 1; i < line.counters.stalled.size(); ++i) {
    if (line.counters.stalled[i] == 0) continue;
    waits.push_back(
        {{static_cast<Stall>(i), Unit::count_},
         static_cast<double>(line.counters.stalled[i]) / static_cast<double>(line.stalls)});
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Waited& a, const Waited& b) { return a.share > b.share; });
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, waits.size()); ++i) {
    out += fmt::format("{}{} {:.0f}%", i ? ", " : "", text(waits[i].key), 100 * waits[i].share);
  }
  return out;
}

std::string worst_lines(const Statistics& s, SourceText source, std::size_t most) {
  if (s.lines.empty() || most == 0) return "";
  std::string out = fmt::format("\n{} line{} with most stalls\n  stalls     issued\n",
                                std::min(most, s.lines.size()), s.lines.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(most, s.lines.size()); ++i) {
    const LineUse& line = s.lines[i];
    const double share =
        s.stalled ? static_cast<double>(line.stalls) / static_cast<double>(s.stalled) : 0;
    const std::string place = line.file.empty() ? fmt::format("PTX line {}", line.ptx_line)
                                                : fmt::format("{}:{}", line.file, line.line);
    out += fmt::format("  {} {:>10}  {}", percent(share), line.counters.issued, place);
    const std::string why = causes(line);
    if (!why.empty()) out += fmt::format("  [{}]", why);
    const LineCounters& c = line.counters;
    if (c.wavefronts > c.ideal_wavefronts) {
      out += fmt::format("  {} wavefronts for {}", c.wavefronts, c.ideal_wavefronts);
    }
    if (c.sectors > c.ideal_sectors) {
      out += fmt::format("  {} sectors for {}", c.sectors, c.ideal_sectors);
    }
    const std::string text =
        !line.file.empty() && source ? source(line.file, line.line) : std::string();
    if (!text.empty()) out += fmt::format("\n{:21}{}", "", trimmed(text));
    out += fmt::format("\n{:21}{}\n", "", line.ptx);
  }
  return out;
}

}  // namespace

std::string text(const Statistics& s, SourceText source, std::size_t lines) {
  return head(s) + pipes(s) + roles(s) + units(s) + stalls(s) + traffic(s) + occupancy(s) +
         worst_lines(s, source, lines);
}

}  // namespace tilescope::sim
