// How one element of D came about: its value behind every product of the sum, and of this one every
// term as a bar of bits, with what was cut off.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "viz/product/product_painter.h"

namespace tilescope {
namespace {

constexpr double least_step = 101;  // high: with one term

struct Bits {
  int high = 0, low = 0;  // exponents of the first and the last bit that is set
};
// Of a number that is one and not zero.
Bits bits_in(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(value), &exponent);
  const auto whole = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
  return {exponent - 1, exponent - 53 + __builtin_ctzll(whole)};
}
bool has_bits(double value) {
  return std::isfinite(value) && value != 0;
}

std::string lost_text(double lost) {
  if (lost == 0) return "nothing";
  return std::isfinite(lost) ? fmt::format("{:.3g}", lost) : "not a number";
}

}  // namespace

void ProductPainter::draw_number(const Box& room) {
  scene_.begin("number");
  const sim::ElementTrace& t = s_.traces[v_.at];
  heading(room, fmt::format("How D[{}, {}] came about in this product", s_.row, s_.column),
          fmt::format("{} -> {} ({})", number_text(t.before_value), number_text(t.after_value),
                      pattern_text(p_, t.after)));
  std::string rule = std::string(t.rule);
  if (!t.source.empty()) rule += fmt::format(". Source: {}", t.source);
  if (!t.agrees)
    rule = "These steps do not end in what the machine wrote: they are not its. " + rule;
  double y = room.y + 26;
  for (const std::string& text : wrapped(rule + ".", room.width, 2)) {
    scene_.add(words({room.x, y}, text, t.agrees ? Role::quiet : Role::wrong));
    y += row;
  }
  const double left = room.width > 760 ? std::min(330.0, room.width * 0.3) : 0;
  if (left > 0) draw_sums({room.x, y, left - 24, room.bottom() - y});
  Box right{room.x + left, y, room.width - left, room.bottom() - y};
  // One scale for all steps, so that what is above what can be seen.
  highest_ = std::numeric_limits<int>::min();
  lowest_ = std::numeric_limits<int>::max();
  for (const sim::TracedStep& step : t.steps) {
    const auto take = [&](double value) {
      if (!has_bits(value)) return;
      highest_ = std::max(highest_, bits_in(value).high);
      lowest_ = std::min(lowest_, bits_in(value).low);
    };
    for (const sim::TracedTerm& term : step.terms) take(term.a * term.b);
    take(step.accumulator);
    take(step.after_value);
    if (step.aligned) lowest_ = std::min(lowest_, step.unit - 4);
  }
  lowest_ = std::max(lowest_, highest_ - 60);
  if (t.steps.empty()) {
    line({right.x, right.y + 8}, "Its steps are not told: before and after alone are known.",
         right.width, Role::quiet);
  }
  // Where not all have room, each step gets its share.
  double needed = 0;
  for (const sim::TracedStep& step : t.steps) needed += needed_for(step);
  for (std::size_t i = 0; i < t.steps.size(); ++i) {
    const double its = needed_for(t.steps[i]);
    const double height = std::max(least_step, right.height * std::min(1.0, its / needed));
    if (right.height < least_step) {
      line({right.x, right.y + 4},
           fmt::format("No room for {} more step{} of it.", t.steps.size() - i,
                       t.steps.size() - i == 1 ? "" : "s"),
           right.width, Role::quiet);
      break;
    }
    const double used =
        draw_step(t.steps[i], {right.x, right.y, right.width, std::min(height, right.height)});
    needed -= its;
    right.y += used;
    right.height -= used;
  }
  scene_.end();
}

double ProductPainter::needed_for(const sim::TracedStep& step) {
  const std::size_t rows = step.terms.size() + (step.special ? 2 : 3);
  return 8 + row + static_cast<double>(rows) * (row - 3) + 6;
}

double ProductPainter::needed_for_number() const {
  double out = 26 + 2 * row;
  for (const sim::TracedStep& step : s_.traces[v_.at].steps) out += needed_for(step);
  return out;
}

// Of every product of the sum.
void ProductPainter::draw_sums(const Box& room) {
  scene_.begin("sums");
  const double x[] = {room.x, room.x + 44, room.x + 44 + (room.width - 44) * 0.4,
                      room.x + 44 + (room.width - 44) * 0.8};
  const auto cells = [&](double y, const std::array<std::string, 4>& text, const Ink& ink) {
    for (std::size_t i = 0; i < 4; ++i) {
      const double end = i < 3 ? x[i + 1] - 6 : room.right() + 18;
      line({x[i], y}, text[i], end - x[i], ink, i == 0 ? Family::sans : Family::mono);
    }
  };
  cells(room.y + 8, {"step", "before", "after", "lost"}, Role::quiet);
  const auto fit = static_cast<std::size_t>(std::max(1.0, (room.height - 20) / row));
  const std::size_t count = s_.traces.size(), shown = std::min(fit, count);
  const std::size_t first = std::min(v_.at > shown / 2 ? v_.at - shown / 2 : 0, count - shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t which = first + i;
    const sim::ElementTrace& t = s_.traces[which];
    const double y = room.y + 8 + row * static_cast<double>(i + 1);
    if (which == v_.at) {
      scene_.add(
          Rectangle{{room.x - 4, y - 8, room.width + 20, 16}, Ink(Role::accent, 0.16), {}, 2});
    }
    double lost = 0;
    for (const sim::TracedStep& step : t.steps) lost += step.lost();
    cells(y,
          {fmt::format("{}", which), number_text(t.before_value), number_text(t.after_value),
           t.state == sim::TraceState::exact ? fmt::format("{:.2g}", lost) : "-"},
          Role::text);
    if (v_.numbers[which] < v_.count) {
      scene_.targets.push_back({{room.x, y - 8, room.width, 16},
                                fmt::format("product {}", v_.numbers[which]),
                                "opens this product"});
    }
  }
  scene_.end();
}

// From its first bit to its last; what is below the unit is cut off.
void ProductPainter::draw_term(const Box& bar, double value, int unit, bool aligned,
                               const Ink& ink) {
  if (!has_bits(value) || highest_ < lowest_) return;
  const Bits bits = bits_in(value);
  const double each = bar.width / (highest_ - lowest_ + 1);
  const auto x_of = [&](int exponent) { return bar.x + each * (highest_ - exponent); };
  const int cut = aligned ? std::max(unit, bits.low) : bits.low;
  if (bits.high >= cut) {
    scene_.add(
        Rectangle{{x_of(bits.high), bar.y, each * (bits.high - cut + 1), bar.height}, ink, {}, 1});
  }
  const int high = std::min(bits.high, cut - 1), low = std::max(bits.low, lowest_);
  if (high >= low && aligned) {
    const Box gone{x_of(high), bar.y, each * (high - low + 1), bar.height};
    scene_.add(Rectangle{gone, {}, {Role::wrong, 1, false}, 1});
    hatch(scene_, gone, Ink(Role::wrong, 0.7), 4);
  }
}

double ProductPainter::draw_step(const sim::TracedStep& step, const Box& room) {
  scene_.begin(step.what);
  const double x_text = room.x,
               text = std::min(std::max(room.width * 0.56, std::min(room.width, 390.0)), 470.0);
  const Box bars{room.x + text + 12, 0, room.width - text - 16, 9};
  double y = room.y + 8;
  std::string what = step.what;
  if (step.aligned) {
    what += fmt::format(": aligned at 2^{}, cut off below 2^{}", step.largest, step.unit);
  }
  if (step.special) what += ": infinities or NaN among them";
  if (!step.special) what += fmt::format("; lost: {}", lost_text(step.lost()));
  scene_.add(words({x_text, y},
                   fitted(what, room.width, small_text, Family::sans, FontWeight::bold),
                   FontWeight::bold));
  y += row;
  // Where the room is too low for all terms, those are shown first that lost bits, then the
  // largest.
  std::vector<const sim::TracedTerm*> terms;
  for (const sim::TracedTerm& t : step.terms) terms.push_back(&t);
  const auto is_cut = [&](const sim::TracedTerm* t) {
    return step.aligned && t->kept != t->a * t->b;
  };
  std::size_t hidden = 0, hidden_cut = 0;
  if (room.height + 0.5 < needed_for(step)) {
    const double others = 8 + row + (step.special ? 3 : 4) * (row - 3) + 6;
    const auto fit =
        static_cast<std::size_t>(std::max(1.0, std::floor((room.height - others) / (row - 3))));
    std::stable_sort(terms.begin(), terms.end(), [&](const auto* a, const auto* b) {
      if (is_cut(a) != is_cut(b)) return is_cut(a);
      return std::fabs(a->a * a->b) > std::fabs(b->a * b->b);
    });
    for (std::size_t i = fit; i < terms.size(); ++i) {
      ++hidden;
      hidden_cut += is_cut(terms[i]) ? 1 : 0;
    }
    terms.resize(std::min(fit, terms.size()));
    std::stable_sort(terms.begin(), terms.end(),
                     [](const auto* a, const auto* b) { return a->k < b->k; });
  }
  const double at[] = {0, 40, 140, 260};
  const auto put = [&](std::string k, std::string a, std::string b, std::string product,
                       double value, const Ink& ink, const Ink& bar, std::optional<int> last = {}) {
    line({x_text, y}, k, at[1] - 4, Role::quiet, Family::mono);
    line({x_text + at[1], y}, a, at[2] - at[1] - 4, ink, Family::mono);
    line({x_text + at[2], y}, b, at[3] - at[2] - 4, ink, Family::mono);
    line({x_text + at[3], y}, product, text - at[3], ink, Family::mono);
    draw_term({bars.x, y - 4.5, bars.width, 9}, value, last.value_or(step.unit), step.aligned, bar);
    y += row - 3;
  };
  const Rgba others = category(4, s_.theme.dark);
  for (const sim::TracedTerm* t : terms) {
    put(fmt::format("k {}", t->k), number_text(t->a), "x " + number_text(t->b),
        "= " + number_text(t->a * t->b), t->a * t->b, Role::text, Ink(others));
  }
  if (hidden) {
    std::string more = fmt::format("and {} more", hidden);
    if (hidden_cut) more += fmt::format(", {} of them cut", hidden_cut);
    if (!hidden_cut && step.aligned) more += ", not cut";
    line({x_text, y}, more, text, Role::quiet);
    y += row - 3;
  }
  put("", "accumulator", "", "  " + number_text(step.accumulator), step.accumulator, Role::text,
      Ink(category(2, s_.theme.dark)));
  if (!step.special) {
    // Of the sum those bits are lost that the accumulator has no room for.
    const int last = has_bits(step.after_value) && step.bits
                         ? bits_in(step.after_value).high - step.bits + 1
                         : step.unit;
    put("", "sum of these", "", "= " + fmt::format("{:.12g}", step.sum), step.sum, Role::quiet,
        Ink(Role::quiet), last);
  }
  put("", "after", "", "= " + number_text(step.after_value), step.after_value, Role::text,
      Ink(Role::accent));
  if (step.aligned && highest_ >= lowest_) {
    const double each = bars.width / (highest_ - lowest_ + 1);
    const double x = bars.x + each * (highest_ - step.unit + 1);
    scene_.add(Line{{{x, room.y + 18}, {x, y - 8}}, {Role::wrong, 1, true}, false});
  }
  scene_.end();
  return y - room.y + 6;
}

}  // namespace tilescope
