// A comparison as text for people.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/profile/difference.h"

namespace tilescope::sim {
namespace {

std::string number(double value) {
  return fmt::format("{:.0f}", value);
}

std::string ratio(double a, double b) {
  return a > 0 ? fmt::format("{:.2f}", b / a) : "";
}

std::string title(const Statistics& s) {
  return fmt::format("{}{}{}{}{}", s.kernel, s.what.empty() ? "" : ", ", s.what,
                     s.device.empty() ? "" : " on ", s.device);
}

// Rows of two numbers, their difference and their ratio; shares of `a_whole` and `b_whole` in
// percent beside them where these are known.
std::string table(const std::vector<Pair>& rows, std::size_t wide, double a_whole, double b_whole,
                  std::string_view indent = "") {
  std::string out;
  for (const Pair& r : rows) {
    const auto side = [](double value, double whole) {
      return whole > 0 ? fmt::format("{:>12} {:5.1f}%", number(value), 100 * value / whole)
                       : fmt::format("{:>12}", number(value));
    };
    out += fmt::format("{}{:<{}}{}  {}  {:>+12.0f}  {:>6}", indent, r.name, wide - indent.size(),
                       side(r.a, a_whole), side(r.b, b_whole), r.change(), ratio(r.a, r.b));
    while (out.ends_with(' ')) out.pop_back();
    out += "\n";
  }
  return out;
}

std::string head_of_table(std::string_view name, std::size_t wide, bool shares) {
  const int column = shares ? 19 : 12;
  return fmt::format("\n{:<{}}{:>{}}  {:>{}}  {:>12}  {:>6}\n", name, wide, "A", column, "B",
                     column, "B - A", "B / A");
}

std::string lines_text(const Difference& d, std::size_t most) {
  std::string out;
  std::size_t shown = 0;
  for (const LinePair& line : d.lines) {
    if (shown == most || line.change() == 0) break;
    ++shown;
    const std::string where = line.a.empty()     ? line.b + "  (B alone)"
                              : line.b.empty()   ? line.a + "  (A alone)"
                              : line.a == line.b ? line.a
                                                 : line.a + "  ->  " + line.b;
    out += fmt::format("{:>12} {:>12} {:>+12}  {}\n{:41}{}\n", number(line.a_stalls),
                       number(line.b_stalls), static_cast<long long>(line.change()), where, "",
                       line.ptx);
  }
  if (out.empty()) return out;
  return fmt::format("\nlines whose stalls changed most ({})\n{:>12} {:>12} {:>12}\n",
                     d.known_time ? "cycles of warps" : "instructions of the grid", "A", "B",
                     "B - A") +
         out;
}

}  // namespace

std::string text(const Difference& d, std::size_t lines) {
  std::string out = d.verdict + "\n";
  for (const auto& [name, s] : {std::pair("A", &d.a), std::pair("B", &d.b)}) {
    out += fmt::format("{}: {}", name, title(*s));
    if (s->seconds > 0) {
      out += fmt::format("; {:.2f} us, {} cycles", s->seconds * 1e6, s->end);
      if (s->work > 0) out += fmt::format(", {:.4g} TFLOP/s", s->rate / 1e12);
    }
    out += "\n";
  }
  if (d.known_time) {
    out += fmt::format("time B / A: {:.3f}\n", d.ratio);
    out += fmt::format("A: {}\nB: {}\n", d.a.verdict, d.b.verdict);
  }
  std::size_t wide = 26;
  for (const PairTable& role : d.roles) {
    for (const Pair& r : role.rows) wide = std::max(wide, r.name.size() + 4);
  }
  const auto a_end = static_cast<double>(d.a.end), b_end = static_cast<double>(d.b.end);
  if (!d.pipes.empty()) {
    out += head_of_table("units: cycles busy", wide, true) + table(d.pipes, wide, a_end, b_end);
  }
  if (!d.roles.empty()) {
    out += head_of_table("roles: cycles of a warp", wide, true);
    for (const PairTable& role : d.roles) {
      double a = 0, b = 0;
      for (const Pair& r : role.rows) a += r.a, b += r.b;
      out += fmt::format("{}{}\n", role.name, a == 0 ? " (B alone)" : b == 0 ? " (A alone)" : "");
      out += table(role.rows, wide, a, b, "  ");
    }
  }
  if (!d.stalls.empty()) {
    out += head_of_table("stalls of all warps", wide, false) + table(d.stalls, wide, 0, 0);
  }
  if (!d.traffic.empty()) {
    out += head_of_table("traffic", wide, false) + table(d.traffic, wide, 0, 0);
  }
  return out + lines_text(d, lines);
}

}  // namespace tilescope::sim
