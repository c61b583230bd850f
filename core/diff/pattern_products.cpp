// Products whose loop over K went wrong: a stage that is missing, comes twice, or was another's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/diff/pattern_search.h"

namespace tilescope::patterns {
namespace {

struct Element {
  Place at;
  double want = 0;   // the sum of a b, before it was rounded
  double scale = 0;  // of |a b|, for rounding on the way
  std::vector<double> a, b;
};

// The sum over stage s of a with stage t of b.
double stage_sum(const Element& e, std::size_t stage, std::size_t s, std::size_t t) {
  double sum = 0;
  const std::size_t end = std::min({stage, e.a.size() - s * stage, e.b.size() - t * stage});
  for (std::size_t k = 0; k < end; ++k) sum += e.a[s * stage + k] * e.b[t * stage + k];
  return sum;
}

struct Mistake {
  std::string name, what;
  std::size_t stage = 0, in_place = 0, used_a = 0, used_b = 0;
  double times = 1;   // the stage's own sum is taken away so often
  bool adds = false;  // and that of the stages used is added
};

double predicted(const Element& e, const Mistake& m) {
  double out = e.want - m.times * stage_sum(e, m.stage, m.in_place, m.in_place);
  if (m.adds) out += stage_sum(e, m.stage, m.used_a, m.used_b);
  return out;
}

// The elements looked at, where the operands explain what was wanted.
std::vector<Element> elements_of(const Search& search, const PatternHints& hints) {
  constexpr std::size_t most = 24;
  std::vector<Element> out;
  const std::size_t stride = std::max<std::size_t>(1, search.sample().size() / most);
  for (std::size_t i = 0; i < search.sample().size(); i += stride) {
    Element e;
    e.at = search.sample()[i];
    if (!hints.operands(e.at.row, e.at.column, e.a, e.b)) return {};
    if (e.a.size() != e.b.size()) return {};
    double sum = 0;
    for (std::size_t k = 0; k < e.a.size(); ++k) {
      sum += e.a[k] * e.b[k];
      e.scale += std::fabs(e.a[k] * e.b[k]);
    }
    e.want = sum;
    const double slack = search.tolerance().atol + 4 * search.tolerance().rtol * std::fabs(sum);
    if (!(std::fabs(sum - search.want(e.at)) <= slack + 1e-5 * e.scale)) return {};
    out.push_back(std::move(e));
  }
  return out;
}

bool is_explained(const Search& search, const Element& e, const Mistake& m) {
  const double value = predicted(e, m);
  const double slack =
      search.tolerance().atol + 2 * search.tolerance().rtol * std::fabs(value) + 2e-6 * e.scale;
  return std::fabs(search.got(e.at) - value) <= slack;
}

// Every mistake that a pipeline of stages can make at one of them; the next tried if it answers
// false.
template <class Try>
bool each_mistake(std::size_t stage, std::size_t stages, const Try& holds_for_all) {
  constexpr std::size_t deepest = 8;  // stages that a ring may have
  for (std::size_t s = 0; s < stages; ++s) {
    const auto named = [&](std::string name, std::string what) {
      Mistake m;
      m.name = std::move(name);
      m.what = std::move(what);
      m.stage = stage;
      m.in_place = s;
      return m;
    };
    const std::string range = fmt::format("k = {}..{}", s * stage, (s + 1) * stage - 1);
    if (holds_for_all(named("a missing stage of K", fmt::format("want without {}", range)))) {
      return true;
    }
    Mistake twice = named("a stage of K twice", fmt::format("want with {} twice", range));
    twice.times = -1;
    if (holds_for_all(twice)) return true;
    for (std::size_t back = 1; back <= std::min(deepest, stages - 1); ++back) {
      for (const bool later : {false, true}) {
        if (later ? s + back >= stages : s < back) continue;
        const std::size_t other = later ? s + back : s - back;
        for (const int who : {3, 1, 2}) {  // both operands, A, B
          const std::string_view whose = who == 3 ? "A and B" : who == 1 ? "A" : "B";
          // How long the kernel's own stages are is not known: several that follow one another may
          // have gone wrong together.
          Mistake m = named(fmt::format("{} {} by {} of K", later ? "early" : "stale",
                                        who == 3 ? "operands" : whose, back * stage),
                            fmt::format("want with {} of k = {}..{} in place of those of {}", whose,
                                        other * stage, (other + 1) * stage - 1, range));
          m.adds = true;
          m.used_a = who & 1 ? other : s;
          m.used_b = who & 2 ? other : s;
          if (holds_for_all(m)) return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

void find_stages(const Search& search, const PatternHints& hints, std::vector<Pattern>& out) {
  if (!hints.operands) return;
  for (const Pattern& p : out) {
    if (p.kind == Pattern::Kind::moved || p.kind == Pattern::Kind::value) return;
  }
  const std::vector<Element> elements = elements_of(search, hints);
  if (elements.size() < fewest) return;
  const std::size_t k = elements.front().a.size();
  const auto try_one = [&](const Mistake& m) {
    std::size_t held = 0, failed = 0;
    for (const Element& e : elements) {
      is_explained(search, e, m) ? ++held : ++failed;
      if (static_cast<double>(failed) > (1 - holds) * static_cast<double>(elements.size())) {
        return false;
      }
    }
    out.push_back(search.pattern(Pattern::Kind::stage, m.name,
                                 fmt::format("got is {} in {}.", m.what,
                                             share_text(held, elements.size(), search.wrong()))));
    return true;
  };
  for (const std::size_t stage : {64, 32, 128, 16, 8, 256}) {
    if (k % stage != 0 || k / stage < 2 || k / stage > 256) continue;
    if (each_mistake(stage, k / stage, try_one)) return;
  }
}

}  // namespace tilescope::patterns
