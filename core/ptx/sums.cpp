#include "core/ptx/sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ptx/program.h"

namespace tilescope::ptx {
namespace {

using Wide = __int128;

std::int64_t near(Wide n) {
  return static_cast<std::int64_t>(std::clamp<Wide>(n, -Bounds::far, Bounds::far));
}

// Trailing zeros: 2^that divides the number.
int power_in(std::int64_t n) {
  return n == 0 ? 63 : __builtin_ctzll(static_cast<std::uint64_t>(n));
}

std::int64_t power(int k) {
  return std::int64_t{1} << k;
}

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

int power_in(const Sum& sum) {
  int out = 63;
  for (const Term& t : sum.terms) out = std::min(out, power_in(t.factor));
  return out;
}

Sum divided(Sum sum, std::int64_t by) {
  for (Term& t : sum.terms) t.factor /= by;
  return sum;
}

// The terms whose factor 2^k divides, and the others.
std::pair<Sum, Sum> parted(const Sum& sum, int k) {
  std::pair<Sum, Sum> out;
  for (const Term& t : sum.terms) {
    (power_in(t.factor) >= k ? out.first : out.second).terms.push_back(t);
  }
  return out;
}

bool inside(const Bounds& b, int bits) {
  return b.low >= 0 && b.high < power(bits);
}

std::optional<int> exponent(const Sum& sum) {
  const auto n = sum.number();
  if (!n || *n <= 0 || (*n & (*n - 1)) != 0) return std::nullopt;
  return power_in(*n);
}

}  // namespace

Sum Sums::of(Atom atom) {
  std::uint32_t number = 0;
  for (; number < atoms_.size(); ++number) {
    const Atom& a = atoms_[number];
    if (a.kind == atom.kind && a.number == atom.number && a.of == atom.of) break;
  }
  if (number == atoms_.size()) atoms_.push_back(std::move(atom));
  Sum out;
  out.terms.push_back({1, {number}});
  return out;
}

std::optional<Sum> Sums::scaled(const Sum& a, std::int64_t by) const {
  Sum out;
  for (const Term& t : a.terms) {
    const auto factor = product(t.factor, by);
    if (!factor) return std::nullopt;
    if (*factor) out.terms.push_back({*factor, t.atoms});
  }
  return out;
}

std::optional<Sum> Sums::add(const Sum& a, const Sum& b, std::int64_t times) {
  Sum out;
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->atoms < y->atoms)) {
      out.terms.push_back(*x++);
      continue;
    }
    const auto factor = product(y->factor, times);
    if (!factor) return std::nullopt;
    Term term{*factor, y->atoms};
    if (x != a.terms.end() && x->atoms == y->atoms) {
      if (__builtin_add_overflow(term.factor, x->factor, &term.factor)) return std::nullopt;
      ++x;
    }
    ++y;
    if (term.factor) out.terms.push_back(std::move(term));
  }
  if (out.terms.size() > most_terms) return std::nullopt;
  return with_remainders(std::move(out));
}

std::optional<Sum> Sums::multiply(const Sum& a, const Sum& b) {
  if (a.terms.size() * b.terms.size() > most_terms) return std::nullopt;
  Sum out;
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      const auto factor = product(x.factor, y.factor);
      if (!factor || x.atoms.size() + y.atoms.size() > most_factors) return std::nullopt;
      Term term{*factor, x.atoms};
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end());
      Sum one;
      one.terms.push_back(std::move(term));
      const auto sum = add(out, one);
      if (!sum) return std::nullopt;
      out = *sum;
    }
  }
  return out;
}

// x - (x / y) * y is x mod y: found wherever a sum holds f * x and -f * (x / y) * y.
Sum Sums::with_remainders(Sum sum) {
  if (looks_) return sum;
  looks_ = true;
  for (std::size_t i = 0; i < sum.terms.size(); ++i) {
    for (std::size_t f = 0; f < sum.terms[i].atoms.size(); ++f) {
      const Atom q = atoms_[sum.terms[i].atoms[f]];
      if (q.kind != Atom::Kind::quotient) continue;
      const auto back = multiply(of(q), q.of[1]);
      if (!back || back->zero()) continue;
      const auto begin = std::find_if(sum.terms.begin(), sum.terms.end(), [&](const Term& t) {
        return t.atoms == back->terms[0].atoms;
      });
      if (begin == sum.terms.end() || begin->factor % back->terms[0].factor != 0) continue;
      const std::int64_t times = -(begin->factor / back->terms[0].factor);
      const auto left = remainder(q.of[0], q.of[1]);
      if (!left) continue;
      // sum - times * (x - back) + times * left
      auto next = add(sum, q.of[0], -times);
      if (next) next = add(*next, *back, times);
      if (next) next = add(*next, *left, times);
      if (!next || next->terms.size() >= sum.terms.size()) continue;
      sum = *next;
      i = static_cast<std::size_t>(-1);  // from the beginning, with fewer terms
      break;
    }
  }
  looks_ = false;
  return sum;
}

Bounds Sums::bounds_of(const Term& term) const {
  Bounds out = {near(term.factor), near(term.factor)};
  for (const std::uint32_t a : term.atoms) {
    const Bounds& b = atoms_[a].bounds;
    const Wide corners[] = {Wide{out.low} * b.low, Wide{out.low} * b.high, Wide{out.high} * b.low,
                            Wide{out.high} * b.high};
    out = {near(*std::min_element(corners, corners + 4)),
           near(*std::max_element(corners, corners + 4))};
  }
  return out;
}

Bounds Sums::bounds(const Sum& sum) const {
  Wide low = 0, high = 0;
  for (const Term& t : sum.terms) {
    const Bounds b = bounds_of(t);
    low += b.low;
    high += b.high;
  }
  return {near(low), near(high)};
}

bool Sums::apart(const Sum& a, const Sum& b) const {
  const auto below = [&](const Sum& low, const Sum& high) {
    const int k = std::min(power_in(high), 61);
    return inside(bounds(low), k) && bounds(high).low >= 0;
  };
  return below(a, b) || below(b, a);
}

std::optional<Sum> Sums::divide(const Sum& a, const Sum& b) {
  const auto by = b.number();
  if (by && *by == 0) return std::nullopt;
  if (by && *by == 1) return a;
  const Bounds range = bounds(a);
  if (const auto k = exponent(b); k && range.low >= 0) return shift_right(a, *k);
  if (by && *by > 0 && range.low >= 0 && range.high < *by) return Sum(0);
  const auto x = a.number();
  if (x && by) return Sum(*x / *by);
  if (atoms_.size() >= most_atoms) return std::nullopt;
  Atom q{Atom::Kind::quotient, 0, 0, {a, b}, range};
  if (by && *by > 0) {
    q.bounds = {range.low / *by, range.high / *by};
  } else if (range.low >= 0 && bounds(b).low > 0) {
    q.bounds = {0, range.high};
  } else {
    const std::int64_t most =
        std::max(range.high, range.low == -Bounds::far ? Bounds::far : -range.low);
    q.bounds = {-most, most};
  }
  return of(std::move(q));
}

std::optional<Sum> Sums::remainder(const Sum& a, const Sum& b) {
  const auto by = b.number();
  if (by && *by == 0) return std::nullopt;
  const Bounds range = bounds(a);
  if (const auto k = exponent(b); k && range.low >= 0) return low_bits(a, *k);
  if (by && *by > 0 && range.low >= 0 && range.high < *by) return a;
  const auto x = a.number();
  if (x && by) return Sum(*x % *by);
  if (atoms_.size() >= most_atoms) return std::nullopt;
  Atom r{Atom::Kind::remainder, 0, 0, {a, b}, range};
  const std::int64_t most = by ? (*by < 0 ? -*by : *by) - 1 : Bounds::far;
  r.bounds = {range.low >= 0 ? 0 : -most, std::min(most, std::max<std::int64_t>(range.high, 0))};
  return of(std::move(r));
}

std::optional<Sum> Sums::shift_right(const Sum& a, int by) {
  if (by <= 0) return a;
  if (by > 61) return std::nullopt;
  // x plus what rounds its quotient towards zero.
  for (const Term& t : a.terms) {
    if (t.factor != 1 || t.atoms.size() != 1) continue;
    const Atom bias = atoms_[t.atoms[0]];
    if (bias.kind != Atom::Kind::bias || bias.number != static_cast<std::uint64_t>(by)) continue;
    Sum one;
    one.terms.push_back(t);
    const auto x = add(a, one, -1);
    if (x && *x == bias.of[0]) return divide(*x, Sum(power(by)));
  }
  auto [whole, rest] = parted(a, by);
  const Sum out = divided(whole, power(by));
  const Bounds range = bounds(rest);
  if (rest.zero() || inside(range, by)) return out;
  // Lower terms that never reach the next bit fall away, the highest bits first.
  for (int k = by - 1; k > 0; --k) {
    const auto [high, low] = parted(rest, k);
    if (high.zero() || (low.zero() && power_in(rest) < k)) continue;
    if (!low.zero() && !inside(bounds(low), k)) continue;
    const auto part = shift_right(divided(high, power(k)), by - k);
    if (!part) return std::nullopt;
    return add(out, *part);
  }
  Sum quotient;
  const bool natural = range.low >= 0;
  if (rest.terms.size() == 1 && rest.terms[0].atoms.size() == 1) {
    const Atom inner = atoms_[rest.terms[0].atoms[0]];
    const std::int64_t factor = rest.terms[0].factor;
    // (x / y) / 2^k
    if (factor == 1 && natural && inner.kind == Atom::Kind::quotient) {
      if (const auto y = inner.of[1].number(); y && *y > 0 && *y < power(61 - by)) {
        const auto part = divide(inner.of[0], Sum(*y * power(by)));
        if (!part) return std::nullopt;
        return add(out, *part);
      }
    }
    // x * c / 2^k is x / d for all x that there are, where c is 2^k / d rounded up enough
    // (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994).
    if (factor > 2 && natural && by >= 16) {
      const std::int64_t d = (power(by) + factor - 1) / factor;
      const Wide over = Wide{factor} * d - power(by);
      if (d > 2 && over >= 0 && over * inner.bounds.high < power(by)) {
        Sum x;
        x.terms.push_back({1, rest.terms[0].atoms});
        const auto part = divide(x, Sum(d));
        if (!part) return std::nullopt;
        return add(out, *part);
      }
    }
  }
  if (atoms_.size() >= most_atoms) return std::nullopt;
  Atom atom{natural ? Atom::Kind::quotient : Atom::Kind::shifted,
            natural ? 0 : static_cast<std::uint64_t>(by),
            0,
            {rest},
            {range.low >> by, range.high >> by}};
  if (natural) atom.of.push_back(Sum(power(by)));
  return add(out, of(std::move(atom)));
}

std::optional<Sum> Sums::low_bits(const Sum& a, int bits) {
  if (bits <= 0) return Sum(0);
  if (bits > 61) return a;
  Sum rest;
  for (const Term& t : a.terms) {
    if (power_in(t.factor) >= bits) continue;
    Term term = t;
    if (t.atoms.empty()) term.factor = t.factor & (power(bits) - 1);
    rest.terms.push_back(std::move(term));
  }
  const Bounds range = bounds(rest);
  if (inside(range, bits)) return rest;
  for (int k = bits - 1; k > 0; --k) {
    const auto [high, low] = parted(rest, k);
    if (high.zero() || (low.zero() && power_in(rest) < k)) continue;
    if (!low.zero() && !inside(bounds(low), k)) continue;
    const auto part = low_bits(divided(high, power(k)), bits - k);
    if (!part) return std::nullopt;
    return add(low, *part, power(k));
  }
  if (atoms_.size() >= most_atoms) return std::nullopt;
  const bool natural = range.low >= 0;
  Atom atom{natural ? Atom::Kind::remainder : Atom::Kind::masked,
            natural ? 0 : static_cast<std::uint64_t>(bits),
            0,
            {rest},
            {0, power(bits) - 1}};
  if (natural) atom.of.push_back(Sum(power(bits)));
  return of(std::move(atom));
}

// Each run of ones takes its bits out and leaves them where they are.
std::optional<Sum> Sums::mask(const Sum& a, std::uint64_t bits, int width) {
  constexpr int most_runs = 4;
  Sum out;
  int runs = 0;
  for (int k = 0; k < width;) {
    if (!(bits >> k & 1)) {
      ++k;
      continue;
    }
    int end = k;
    while (end < width && (bits >> end & 1)) ++end;
    if (++runs > most_runs || k > 61) return std::nullopt;
    auto part = shift_right(a, k);
    // A number that is not negative has no sign to cut off.
    const bool top = end >= width || (end == width - 1 && bounds(a).low >= 0);
    if (part && !top) part = low_bits(*part, end - k);
    if (part) part = add(out, *part, power(k));
    if (!part) return std::nullopt;
    out = *part;
    k = end;
  }
  return out;
}

bool is_thread(const Atom& a) {
  if (a.kind != Atom::Kind::special) return false;
  const auto s = static_cast<Special>(a.number);
  return s <= Special::tid_z || s == Special::laneid || s == Special::warpid;
}

bool Sums::any(const Sum& sum, const std::function<bool(const Atom&)>& wanted) const {
  std::vector<const Sum*> open{&sum};
  std::vector<bool> seen(atoms_.size());
  while (!open.empty()) {
    const Sum& now = *open.back();
    open.pop_back();
    for (const Term& t : now.terms) {
      for (const std::uint32_t a : t.atoms) {
        if (seen[a]) continue;
        seen[a] = true;
        if (wanted(atoms_[a])) return true;
        for (const Sum& inner : atoms_[a].of) open.push_back(&inner);
      }
    }
  }
  return false;
}

std::optional<Sum> Sums::rebuilt(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::quotient:
      return divide(atom.of[0], atom.of[1]);
    case Atom::Kind::remainder:
      return remainder(atom.of[0], atom.of[1]);
    case Atom::Kind::shifted:
      return shift_right(atom.of[0], static_cast<int>(atom.number));
    case Atom::Kind::masked:
      return low_bits(atom.of[0], static_cast<int>(atom.number));
    default:
      if (atoms_.size() >= most_atoms) return std::nullopt;
      return of(atom);
  }
}

std::optional<Sum> Sums::with(const Sum& sum,
                              const std::function<std::optional<Sum>(const Atom&)>& instead) {
  constexpr int deepest = 60;
  if (depth_ > deepest) return std::nullopt;
  ++depth_;
  const auto out = replaced(sum, instead);
  --depth_;
  return out;
}

std::optional<Sum> Sums::replaced(const Sum& sum,
                                  const std::function<std::optional<Sum>(const Atom&)>& instead) {
  Sum out;
  for (const Term& t : sum.terms) {
    Sum product(t.factor);
    for (const std::uint32_t number : t.atoms) {
      Atom atom = atoms_[number];
      std::optional<Sum> part = instead(atom);
      if (!part) {
        Sum itself;
        itself.terms.push_back({1, {number}});
        part = itself;
        bool changed = false;
        for (Sum& inner : atom.of) {
          const auto other = with(inner, instead);
          if (!other) return std::nullopt;
          changed = changed || !(*other == inner);
          inner = *other;
        }
        if (changed) part = rebuilt(atom);
      }
      if (part) part = multiply(product, *part);
      if (!part) return std::nullopt;
      product = *part;
    }
    const auto next = add(out, product);
    if (!next) return std::nullopt;
    out = *next;
  }
  return out;
}

// --- text -------------------------------------------------------------------------------------

namespace {

class Writer {
 public:
  Writer(const Sums& sums, const std::function<std::string(const Atom&)>& name)
      : sums_(sums), name_(name) {}

  std::string sum(const Sum& s) {
    if (s.zero()) return "0";
    if (++depth_ > 40) return --depth_, "...";
    std::vector<const Term*> all;
    for (const Term& t : s.terms) all.push_back(&t);
    std::stable_sort(all.begin(), all.end(),
                     [&](const Term* x, const Term* y) { return place_of(*x) < place_of(*y); });
    std::string out;
    for (const Term* t : all) {
      const bool minus = t->factor < 0;
      if (out.empty()) {
        out = (minus ? "-" : "") + term(*t);
      } else {
        out += (minus ? " - " : " + ") + term(*t);
      }
    }
    --depth_;
    return out;
  }

 private:
  // Threads, blocks, rounds, what stays the same, a number last.
  int place_of(const Term& t) const {
    if (t.atoms.empty()) return 9;
    Sum one;
    one.terms.push_back(t);
    const auto has = [&](const auto& wanted) { return sums_.any(one, wanted); };
    if (has([](const Atom& a) { return is_thread(a); })) return 0;
    if (has([](const Atom& a) { return a.kind == Atom::Kind::special; })) return 1;
    return has([](const Atom& a) { return a.kind == Atom::Kind::round; }) ? 2 : 3;
  }

  // Without its sign. Threads and blocks before parameters, the number last.
  std::string term(const Term& t) {
    const std::uint64_t factor = t.factor < 0 ? 0 - static_cast<std::uint64_t>(t.factor)
                                              : static_cast<std::uint64_t>(t.factor);
    if (t.atoms.empty()) return fmt::format("{}", factor);
    std::string out;
    for (const bool sizes : {false, true}) {
      for (const std::uint32_t a : t.atoms) {
        const Atom& atom = sums_.atom(a);
        if ((atom.kind == Atom::Kind::parameter) != sizes) continue;
        out += (out.empty() ? "" : " * ") + text(atom, t.atoms.size() > 1 || factor != 1);
      }
    }
    return factor == 1 ? out : fmt::format("{} * {}", out, factor);
  }

  // In parentheses where something stands beside it.
  std::string text(const Atom& a, bool beside) {
    const auto wrap = [&](std::string s) { return beside ? "(" + s + ")" : s; };
    const auto part = [&](std::size_t i) {
      const Sum& s = a.of[i];
      const bool alone = s.number().has_value() || (s.atom() && sums_.atom(*s.atom()).of.empty());
      return alone ? sum(s) : "(" + sum(s) + ")";
    };
    switch (a.kind) {
      case Atom::Kind::special: {
        std::string name(name_of(static_cast<Special>(a.number)));
        name.erase(0, 1);
        const bool x = name.size() > 2 && name.compare(name.size() - 2, 2, ".x") == 0;
        return x ? name.substr(0, name.size() - 2) : name;
      }
      case Atom::Kind::quotient:
        return wrap(part(0) + " / " + part(1));
      case Atom::Kind::remainder:
        return wrap(part(0) + " mod " + part(1));
      case Atom::Kind::shifted:
        return wrap(fmt::format("{} / {} rounded down", part(0), std::uint64_t{1} << a.number));
      case Atom::Kind::masked:
        return wrap(fmt::format("{} mod {}", part(0), std::uint64_t{1} << a.number));
      case Atom::Kind::bias:
        return wrap(fmt::format("{} where {} < 0", (std::uint64_t{1} << a.number) - 1, part(0)));
      case Atom::Kind::choice:
        return fmt::format("({} if {} {} {}, else {})", sum(a.of[0]), sum(a.of[2]),
                           words(static_cast<Compare>(a.number)), sum(a.of[3]), sum(a.of[1]));
      case Atom::Kind::smaller:
        return fmt::format("min({}, {})", sum(a.of[0]), sum(a.of[1]));
      case Atom::Kind::greater:
        return fmt::format("max({}, {})", sum(a.of[0]), sum(a.of[1]));
      case Atom::Kind::both:
        return wrap(part(0) + " and " + part(1));
      case Atom::Kind::either:
        return wrap(part(0) + " or " + part(1));
      case Atom::Kind::differing:
        return wrap(part(0) + " xor " + part(1));
      default:
        return name_(a);
    }
  }

  static std::string_view words(Compare c) {
    switch (c) {
      case Compare::eq:
        return "=";
      case Compare::ne:
        return "is not";
      case Compare::lt:
      case Compare::lo:
        return "<";
      case Compare::le:
      case Compare::ls:
        return "<=";
      case Compare::gt:
      case Compare::hi:
        return ">";
      default:
        return ">=";
    }
  }

  const Sums& sums_;
  const std::function<std::string(const Atom&)>& name_;
  int depth_ = 0;
};

}  // namespace

std::string text(const Sums& sums, const Sum& sum,
                 const std::function<std::string(const Atom&)>& name) {
  return Writer(sums, name).sum(sum);
}

}  // namespace tilescope::ptx
