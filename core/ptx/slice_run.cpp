#include "core/ptx/slice_run.h"

#include <algorithm>

namespace tilescope::ptx {
namespace {

constexpr int deepest_run = 1000;

std::uint64_t cut(std::uint64_t value, int bits) {
  return bits >= 64 || bits <= 0 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::int64_t spread(std::uint64_t value, int bits) {
  if (bits >= 64 || bits <= 0) return static_cast<std::int64_t>(value);
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return static_cast<std::int64_t>((cut(value, bits) ^ sign) - sign);
}

bool signed_type(Type type) {
  return class_of(type) == Class::signed_integer;
}

bool holds(Compare compare, std::uint64_t a, std::uint64_t b, int bits, bool is_signed) {
  const std::int64_t x = spread(a, bits), y = spread(b, bits);
  const bool less = is_signed ? x < y : cut(a, bits) < cut(b, bits);
  const bool same = cut(a, bits) == cut(b, bits);
  switch (compare) {
    case Compare::eq:
      return same;
    case Compare::ne:
      return !same;
    case Compare::lt:
    case Compare::lo:
      return less;
    case Compare::le:
    case Compare::ls:
      return less || same;
    case Compare::gt:
    case Compare::hi:
      return !less && !same;
    default:
      return !less;
  }
}

}  // namespace

SliceRun::SliceRun(Addresses& addresses, ThreadNumbers numbers)
    : addresses_(addresses), numbers_(std::move(numbers)) {
  constexpr int most_rounds = 2000;
  left_ = std::make_shared<int>(most_rounds);
  for (const auto& [special, reg] : addresses.program().specials) special_of_[reg] = special;
}

std::uint64_t SliceRun::made_up(std::uint64_t a, std::uint64_t b) const {
  std::uint64_t x = numbers_.seed * 0x9e37'79b9'7f4a'7c15 + a * 0xbf58'476d'1ce4'e5b9 + b + 1;
  x ^= x >> 31;
  x *= 0x94d0'49bb'1331'11eb;
  return (x >> 40) & 0xff;
}

std::uint64_t SliceRun::special(Special s) const {
  const auto at = [&](const std::array<std::uint32_t, 3>& all, Special first) {
    return std::uint64_t{all[static_cast<std::size_t>(s) - static_cast<std::size_t>(first)]};
  };
  if (s >= Special::tid_x && s <= Special::tid_z) return at(numbers_.thread, Special::tid_x);
  if (s >= Special::ntid_x && s <= Special::ntid_z) return at(numbers_.threads, Special::ntid_x);
  if (s >= Special::ctaid_x && s <= Special::ctaid_z) return at(numbers_.block, Special::ctaid_x);
  if (s >= Special::nctaid_x && s <= Special::nctaid_z) {
    return at(numbers_.blocks, Special::nctaid_x);
  }
  const std::uint64_t linear =
      numbers_.thread[0] +
      std::uint64_t{numbers_.threads[0]} *
          (numbers_.thread[1] + std::uint64_t{numbers_.threads[1]} * numbers_.thread[2]);
  if (s == Special::laneid) return linear % lanes;
  if (s == Special::warpid) return linear / lanes;
  if (s == Special::warpsize) return lanes;
  // Where it lies in its cluster and so on: small, and the same for both ways.
  return made_up(static_cast<std::uint64_t>(s), 99) % 2;
}

std::uint64_t SliceRun::reg(std::uint32_t at, std::uint32_t number) {
  if (const auto s = special_of_.find(number); s != special_of_.end()) return special(s->second);
  return of(addresses_.before(at, number));
}

std::uint64_t SliceRun::of(Defined value) {
  value = addresses_.definitions().found(value);
  if (value.kind == Defined::Kind::merge) return of_merge(value.at);
  if (value.kind == Defined::Kind::instruction) return computed(value.at, value.reg);
  return made_up(value.at, value.reg);
}

// Of a loop: what it begins with, or what the round before left.
std::uint64_t SliceRun::of_merge(std::uint32_t number) {
  const auto [known, added] = merges_.try_emplace(number, made_up(number, 7));
  if (!added || depth_ > deepest_run) return known->second;
  const Merge merge = addresses_.definitions().merge(number);
  std::vector<Defined> in, round;
  for (std::size_t k = 0; k < merge.inputs.size(); ++k) {
    (addresses_.definitions().comes_round(merge, k) ? round : in).push_back(merge.inputs[k]);
  }
  const auto rounds = numbers_.rounds.find(merge.block);
  const bool again = merge.loops && rounds != numbers_.rounds.end() && rounds->second > 0;
  const std::vector<Defined>& from = again ? round : in;
  if (from.empty()) return known->second;
  const Defined pick = from[made_up(number, 3) % from.size()];
  std::uint64_t out = 0;
  if (again && --*left_ < 0) return known->second;
  ++depth_;
  if (again) {
    // A round earlier all is as it was then.
    ThreadNumbers earlier = numbers_;
    --earlier.rounds[merge.block];
    SliceRun before(addresses_, std::move(earlier));
    before.depth_ = depth_;
    before.left_ = left_;
    out = before.of(pick);
  } else {
    out = of(pick);
  }
  --depth_;
  merges_[number] = out;
  return out;
}

std::uint64_t SliceRun::computed(std::uint32_t at, std::uint32_t number) {
  if (const auto known = known_.find({at, number}); known != known_.end()) return known->second;
  if (depth_ > deepest_run) return made_up(at, number);
  ++depth_;
  const std::uint64_t out = executed(addresses_.program().code[at], at, number);
  --depth_;
  known_[{at, number}] = out;
  return out;
}

std::uint64_t SliceRun::written(std::uint32_t at) {
  std::optional<std::uint32_t> only;
  each_written(addresses_.program(), addresses_.program().code[at], [&](std::uint32_t number) {
    if (!only) only = number;
  });
  return only ? computed(at, *only) : 0;
}

std::uint64_t SliceRun::address(const Access& access) {
  const std::uint64_t base = access.base == no_register ? 0 : reg(access.at, access.base);
  return base + static_cast<std::uint64_t>(access.offset);
}

std::uint64_t SliceRun::coordinate(const Access& access, std::size_t which) {
  const Operand& o = access.numbers[which];
  if (o.kind == Operand::Kind::constant) {
    return static_cast<std::uint64_t>(spread(o.value, bits_of(o.type)));
  }
  return o.kind == Operand::Kind::reg
             ? static_cast<std::uint64_t>(spread(reg(access.at, o.index), 32))
             : 0;
}

std::uint64_t SliceRun::read(std::uint32_t at, std::uint32_t k) {
  const Program& program = addresses_.program();
  const Operand& o = program.operands_of(program.code[at])[k];
  switch (o.kind) {
    case Operand::Kind::constant:
      return o.value;
    case Operand::Kind::reg:
      return reg(at, o.index);
    case Operand::Kind::predicate: {
      const std::uint64_t value = o.index == no_register ? 1 : reg(at, o.index) & 1;
      return o.negated ? value ^ 1 : value;
    }
    case Operand::Kind::special:
      return special(static_cast<Special>(o.index));
    default:
      return made_up(at, k);
  }
}

std::uint64_t SliceRun::executed(const Instruction& i, std::uint32_t at, std::uint32_t number) {
  const Modifiers& m = i.modifiers;
  const Operand* o = addresses_.program().operands_of(i);
  const Type type = m.type();
  const int bits = bits_of(type);
  const auto unknown = [&] { return made_up(at, number); };
  if (i.op == Op::ld) {
    const auto from = addresses_.parameter_read(at);
    if (!from || class_of(type) == Class::floating) return unknown();
    std::uint64_t offset = *from;
    if (o[0].kind == Operand::Kind::vector) {
      for (std::uint32_t e = 0; e < o[0].count; ++e) {
        const Operand& x = addresses_.program().elements[o[0].index + e];
        if (x.index == number) offset += std::uint64_t{e} * static_cast<std::uint64_t>(bits / 8);
      }
    }
    const auto value = numbers_.parameters.find(offset);
    return value == numbers_.parameters.end() ? 0 : cut(value->second, bits);
  }
  if (i.count < 2 || (o[0].kind != Operand::Kind::reg && o[0].kind != Operand::Kind::predicate)) {
    return unknown();
  }
  if (i.op == Op::mov || i.op == Op::cvta) {
    if (o[1].kind == Operand::Kind::vector || o[1].kind == Operand::Kind::frame) return unknown();
    return read(at, 1);
  }
  if (class_of(type) == Class::floating || class_of(type) == Class::none || bits > 64) {
    return unknown();
  }
  if (i.op == Op::cvt) {
    const Type from = m.type2();
    if (class_of(from) == Class::floating || m.has(Field::sat)) return unknown();
    const std::uint64_t a = read(at, 1);
    return cut(signed_type(from) ? static_cast<std::uint64_t>(spread(a, bits_of(from)))
                                 : cut(a, bits_of(from)),
               bits);
  }
  return integer(i, at, number);
}

std::uint64_t SliceRun::integer(const Instruction& i, std::uint32_t at, std::uint32_t number) {
  using U = std::uint64_t;
  const Modifiers& m = i.modifiers;
  const int bits = bits_of(m.type());
  const bool is_signed = signed_type(m.type());
  const auto unknown = [&] { return made_up(at, number); };
  if (m.has(Field::cc) || m.has(Field::sat) || m.has(Field::relu)) return unknown();
  const auto in = [&](std::uint32_t k) { return k < i.count ? read(at, k) : U{0}; };
  const auto s = [&](std::uint32_t k) { return spread(in(k), bits); };
  const auto u = [&](std::uint32_t k) { return cut(in(k), bits); };
  const auto product = [&](int wanted) {
    if (m.half() == Half::lo || m.half() == Half::none) return cut(in(1) * in(2), wanted);
    const auto wide = is_signed ? static_cast<unsigned __int128>(static_cast<__int128>(s(1)) * s(2))
                                : static_cast<unsigned __int128>(u(1)) * u(2);
    if (m.half() == Half::wide) return cut(static_cast<U>(wide), 2 * bits);
    return cut(static_cast<U>(wide >> bits), wanted);
  };
  const int wide = m.half() == Half::wide ? 2 * bits : bits;
  switch (i.op) {
    case Op::add:
      return cut(in(1) + in(2), bits);
    case Op::sub:
      return cut(in(1) - in(2), bits);
    case Op::neg:
      return cut(0 - in(1), bits);
    case Op::not_:
      return cut(~in(1), bits);
    case Op::mul:
      return product(bits);
    case Op::mad:
      return cut(product(bits) + in(3), wide);
    case Op::div:
    case Op::rem: {
      if (u(2) == 0) return unknown();
      const bool divides = i.op == Op::div;
      if (!is_signed) return divides ? u(1) / u(2) : u(1) % u(2);
      if (s(2) == -1) return divides ? cut(0 - in(1), bits) : 0;
      return cut(static_cast<U>(divides ? s(1) / s(2) : s(1) % s(2)), bits);
    }
    case Op::min:
    case Op::max: {
      const bool first = (is_signed ? s(1) < s(2) : u(1) < u(2)) == (i.op == Op::min);
      return first ? u(1) : u(2);
    }
    case Op::and_:
      return cut(in(1) & in(2), bits);
    case Op::or_:
      return cut(in(1) | in(2), bits);
    case Op::xor_:
      return cut(in(1) ^ in(2), bits);
    case Op::shl: {
      const U by = cut(in(2), 32);
      return by >= static_cast<U>(bits) ? 0 : cut(in(1) << by, bits);
    }
    case Op::shr: {
      const U by = std::min<U>(cut(in(2), 32), 63);
      if (is_signed) return cut(static_cast<U>(s(1) >> by), bits);
      return by >= static_cast<U>(bits) ? 0 : u(1) >> by;
    }
    case Op::bfe: {
      const U from = in(2) & 0xff, count = in(3) & 0xff;
      if (is_signed) return unknown();
      return from >= static_cast<U>(bits)
                 ? 0
                 : cut(u(1) >> from, static_cast<int>(count ? count : 1)) & (count ? ~U{0} : 0);
    }
    case Op::selp:
      return in(3) & 1 ? u(1) : u(2);
    case Op::setp: {
      const Compare compare = m.compare();
      const bool plain =
          i.count == 4 && !m.has(Field::logic) && compare >= Compare::eq && compare <= Compare::hs;
      return plain ? holds(compare, in(2), in(3), bits, is_signed) : unknown() & 1;
    }
    default:
      return unknown();
  }
}

std::uint64_t SliceRun::value(const Sum& sum) {
  std::uint64_t out = 0;
  for (const Term& t : sum.terms) {
    auto product = static_cast<std::uint64_t>(t.factor);
    for (const std::uint32_t a : t.atoms) product *= atom(addresses_.sums().atom(a));
    out += product;
  }
  return out;
}

// With its sign: sums have no width.
std::int64_t SliceRun::in_register(std::uint64_t value, std::uint32_t number) const {
  return spread(value, bits_of(addresses_.program().registers[number].type));
}

std::uint64_t SliceRun::atom(const Atom& a) {
  const auto of_signed = [&](std::size_t k) { return static_cast<std::int64_t>(value(a.of[k])); };
  const auto back = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  switch (a.kind) {
    case Atom::Kind::special:
      return special(static_cast<Special>(a.number));
    case Atom::Kind::parameter: {
      const auto value = numbers_.parameters.find(a.number);
      if (value == numbers_.parameters.end()) return 0;
      return back(spread(value->second, static_cast<int>(a.bytes) * 8));
    }
    case Atom::Kind::place:
      return a.number;
    case Atom::Kind::round: {
      const auto rounds = numbers_.rounds.find(a.number);
      return rounds == numbers_.rounds.end() ? 0 : rounds->second;
    }
    case Atom::Kind::quotient: {
      const std::int64_t by = of_signed(1);
      return by == 0 || by == -1 ? 0 - value(a.of[0]) * (by != 0) : back(of_signed(0) / by);
    }
    case Atom::Kind::remainder: {
      const std::int64_t by = of_signed(1);
      return by == 0 || by == -1 ? 0 : back(of_signed(0) % by);
    }
    case Atom::Kind::shifted:
      return back(of_signed(0) >> a.number);
    case Atom::Kind::masked:
      return cut(value(a.of[0]), static_cast<int>(a.number));
    case Atom::Kind::bias:
      return of_signed(0) < 0 ? (std::uint64_t{1} << a.number) - 1 : 0;
    case Atom::Kind::choice:
      return holds(static_cast<Compare>(a.number), value(a.of[2]), value(a.of[3]), 64, true)
                 ? value(a.of[0])
                 : value(a.of[1]);
    case Atom::Kind::smaller:
      return back(std::min(of_signed(0), of_signed(1)));
    case Atom::Kind::greater:
      return back(std::max(of_signed(0), of_signed(1)));
    case Atom::Kind::both:
      return value(a.of[0]) & value(a.of[1]);
    case Atom::Kind::either:
      return value(a.of[0]) | value(a.of[1]);
    case Atom::Kind::differing:
      return value(a.of[0]) ^ value(a.of[1]);
    case Atom::Kind::value: {
      const Defined value = addresses_.value_of(a);
      return value.kind == Defined::Kind::instruction ? back(in_register(of(value), value.reg))
                                                      : of(value);
    }
    case Atom::Kind::merge: {
      const auto number = static_cast<std::uint32_t>(a.number);
      return back(in_register(of({Defined::Kind::merge, number, 0}),
                              addresses_.definitions().merge(number).reg));
    }
  }
  return 0;
}

}  // namespace tilescope::ptx
