#include "core/ptx/addresses.h"

#include <algorithm>
#include <set>

namespace tilescope::ptx {
namespace {

constexpr int deepest = 300;
constexpr std::size_t most_accesses = 4096;

bool is_integer(Type type) {
  const Class c = class_of(type);
  return c == Class::bits || c == Class::signed_integer || c == Class::unsigned_integer;
}

bool has_sign(Type type) {
  return class_of(type) == Class::signed_integer;
}

std::int64_t extended(std::uint64_t value, int bits) {
  if (bits >= 64 || bits <= 0) return static_cast<std::int64_t>(value);
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  value &= (std::uint64_t{1} << bits) - 1;
  return static_cast<std::int64_t>((value ^ sign) - sign);
}

}  // namespace

Addresses::Addresses(std::shared_ptr<const Program> program, std::array<std::uint32_t, 3> threads)
    : program_(std::move(program)), threads_(threads), definitions_(*program_) {
  for (const auto& [special, reg] : program_->specials) {
    special_of_[reg] = static_cast<std::uint32_t>(special);
  }
  const std::size_t end = program_->routines.size() > 1 && program_->routines[1].first > 0
                              ? program_->routines[1].first
                              : program_->code.size();
  for (std::uint32_t at = 0; at < std::min(end, program_->code.size()); ++at) look(at);
  carry();
}

// --- accesses -----------------------------------------------------------------------------------

void Addresses::look(std::uint32_t at) {
  if (accesses_.size() >= most_accesses) return;
  const Instruction& i = program_->code[at];
  const Operand* o = program_->operands_of(i);
  const Modifiers& m = i.modifiers;
  Access access;
  access.at = at;
  std::uint32_t k = 0;
  const auto element = [&] { return std::max(1, bytes_of(m.type())); };
  switch (i.op) {
    case Op::ld:
    case Op::ldu:
      k = 1;
      access.kind = Access::Kind::load;
      break;
    case Op::st:
      if (m.has(Field::bulk)) return;
      access.kind = Access::Kind::store;
      access.writes = true;
      break;
    case Op::atom:
      k = 1;
      [[fallthrough]];
    case Op::red:
      access.kind = Access::Kind::atomic;
      access.writes = true;
      break;
    case Op::cp: {
      if (m.has(Field::on_mbarrier) || i.count < 2 || m.has(Field::prefetching)) return;
      const bool to_shared = m.space() == Space::shared;
      access.writes = !to_shared;
      if (m.has(Field::tensor)) {
        access.kind = Access::Kind::tensor;
        k = to_shared ? 1 : 0;
        if (k + 1 >= i.count || o[k + 1].kind != Operand::Kind::vector) return;
        for (std::uint32_t e = 0; e < o[k + 1].count; ++e) {
          access.numbers.push_back(program_->elements[o[k + 1].index + e]);
        }
        break;
      }
      access.kind = m.has(Field::bulk) ? Access::Kind::bulk : Access::Kind::copy;
      if (to_shared && m.space2() != Space::global) return;
      k = to_shared ? 1 : 0;
      if (i.count > 2 && o[2].kind == Operand::Kind::constant) {
        access.bytes = static_cast<std::uint32_t>(o[2].value);
      }
      break;
    }
    default:
      return;
  }
  if (k >= i.count || o[k].kind != Operand::Kind::address || o[k].in_shared) return;
  const bool plain = access.kind == Access::Kind::load || access.kind == Access::Kind::store ||
                     access.kind == Access::Kind::atomic;
  if (plain) {
    const Space space = m.space();
    if (space != Space::global && space != Space::generic) return;
    access.element = static_cast<std::uint32_t>(element());
    access.bytes = access.element * static_cast<std::uint32_t>(std::max(1, m.vector()));
  }
  access.base = o[k].index;
  access.offset = static_cast<std::int64_t>(o[k].value);
  const Sum base = access.base == no_register ? Sum(0) : reg(at, access.base);
  const auto address = sums_.add(base, Sum(access.offset));
  access.address = address ? *address : base;
  for (const Operand& n : access.numbers) {
    if (n.kind == Operand::Kind::constant) {
      access.coordinates.emplace_back(extended(n.value, bits_of(n.type)));
    } else if (n.kind == Operand::Kind::reg) {
      access.coordinates.push_back(reg(at, n.index));
    } else {
      access.coordinates.emplace_back();
    }
  }
  // A generic address is one of global memory where it comes from a pointer.
  if (plain && m.space() == Space::generic) {
    const bool pointer = sums_.any(access.address, [&](const Atom& a) {
      return a.kind == Atom::Kind::parameter && a.bytes == 8;
    });
    const bool merged =
        sums_.any(access.address, [](const Atom& a) { return a.kind == Atom::Kind::merge; });
    if (!pointer && !merged) return;
  }
  walk(access);
  accesses_.push_back(std::move(access));
}

// The instructions that the address and the coordinates hang on. What memory gives ends the walk.
void Addresses::walk(Access& access) {
  std::set<std::uint32_t> slice, merges;
  std::vector<Defined> open;
  const auto start = [&](std::uint32_t number) {
    if (number != no_register) open.push_back(definitions_.before(access.at, number));
  };
  start(access.base);
  for (const Operand& n : access.numbers) {
    if (n.kind == Operand::Kind::reg) start(n.index);
  }
  while (!open.empty()) {
    const Defined value = definitions_.found(open.back());
    open.pop_back();
    if (value.kind == Defined::Kind::merge) {
      if (!merges.insert(value.at).second) continue;
      const Merge& merge = definitions_.merge(value.at);
      open.insert(open.end(), merge.inputs.begin(), merge.inputs.end());
      continue;
    }
    if (value.kind != Defined::Kind::instruction || !slice.insert(value.at).second) continue;
    const Instruction& i = program_->code[value.at];
    const bool memory = (i.op == Op::ld && !parameter_read(value.at)) || i.op == Op::atom ||
                        i.op == Op::tcgen05 || i.op == Op::call;
    if (memory) continue;
    std::vector<std::uint32_t> reads;
    each_read(*program_, i, [&](std::uint32_t number) {
      if (!i.guarded || number != i.guard) reads.push_back(number);
    });
    for (const std::uint32_t number : reads) {
      open.push_back(definitions_.before(value.at, number));
    }
  }
  access.slice.assign(slice.begin(), slice.end());
}

std::vector<std::uint32_t> Addresses::slice() const {
  std::set<std::uint32_t> all;
  for (const Access& a : accesses_) all.insert(a.slice.begin(), a.slice.end());
  return {all.begin(), all.end()};
}

std::pair<std::uint32_t, std::uint32_t> Addresses::parameter_at(std::uint64_t offset) const {
  const std::vector<Parameter>& all = program_->entry.parameters;
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (offset >= all[p].offset && offset < std::uint64_t{all[p].offset} + all[p].bytes) {
      return {static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(offset) - all[p].offset};
    }
  }
  return {static_cast<std::uint32_t>(all.size()), static_cast<std::uint32_t>(offset)};
}

std::optional<std::uint64_t> Addresses::parameter_read(std::uint32_t at) {
  const Instruction& i = program_->code[at];
  if (i.op != Op::ld || i.modifiers.space() != Space::param || i.count < 2) return std::nullopt;
  const Operand& from = program_->operands_of(i)[1];
  if (from.kind != Operand::Kind::address) return std::nullopt;
  if (from.index == no_register) return from.value;
  const Sum base = reg(at, from.index);
  std::int64_t offset = static_cast<std::int64_t>(from.value);
  bool place = false;
  for (const Term& t : base.terms) {
    if (t.atoms.empty()) {
      offset += t.factor;
    } else if (t.factor == 1 && t.atoms.size() == 1 &&
               sums_.atom(t.atoms[0]).kind == Atom::Kind::place && !place) {
      place = true;
      offset += static_cast<std::int64_t>(sums_.atom(t.atoms[0]).number);
    } else {
      return std::nullopt;
    }
  }
  if (!place || offset < 0) return std::nullopt;
  return static_cast<std::uint64_t>(offset);
}

std::optional<Sum> Addresses::value(std::uint32_t at) {
  std::optional<std::uint32_t> only;
  const Instruction& i = program_->code[at];
  each_written(*program_, i, [&](std::uint32_t number) {
    if (!only) only = number;
  });
  if (!only || program_->registers[*only].type == Type::pred) return std::nullopt;
  const Sum sum = settled(computed(at, *only));
  if (const auto a = sum.atom(); a && sums_.atom(*a).kind == Atom::Kind::value) return {};
  return sum;
}

// --- sums ---------------------------------------------------------------------------------------

Bounds Addresses::bounds_of(Special special) const {
  const auto side = [&](int d, std::int64_t most) {
    const std::uint32_t n = threads_[static_cast<std::size_t>(d)];
    return n > 0 ? std::int64_t{n} : most;
  };
  switch (special) {
    case Special::tid_x:
      return {0, side(0, 1024) - 1};
    case Special::tid_y:
      return {0, side(1, 1024) - 1};
    case Special::tid_z:
      return {0, side(2, 64) - 1};
    case Special::ntid_x:
    case Special::ntid_y:
    case Special::ntid_z:
      return {1, 1024};
    case Special::laneid:
      return {0, 31};
    case Special::ctaid_x:
    case Special::clusterid_x:
      return {0, 0x7fff'fffe};
    case Special::ctaid_y:
    case Special::ctaid_z:
    case Special::clusterid_y:
    case Special::clusterid_z:
      return {0, 0xfffe};
    case Special::nctaid_x:
      return {1, 0x7fff'ffff};
    case Special::nctaid_y:
    case Special::nctaid_z:
      return {1, 0xffff};
    case Special::cluster_ctaid_x:
    case Special::cluster_ctaid_y:
    case Special::cluster_ctaid_z:
    case Special::cluster_ctarank:
      return {0, 15};
    case Special::cluster_nctaid_x:
    case Special::cluster_nctaid_y:
    case Special::cluster_nctaid_z:
    case Special::cluster_nctarank:
      return {1, 16};
    default:
      return {0, 0xffff'ffff};
  }
}

Sum Addresses::itself(Defined value) {
  std::size_t number = 0;
  while (number < values_.size() && !(values_[number] == value)) ++number;
  if (number == values_.size()) values_.push_back(value);
  return sums_.of({Atom::Kind::value, number, 0, {}, {}});
}

Sum Addresses::reg(std::uint32_t at, std::uint32_t number) {
  if (const auto special = special_of_.find(number); special != special_of_.end()) {
    const auto s = static_cast<Special>(special->second);
    const Bounds b = bounds_of(s);
    if (b.low == b.high) return Sum(b.low);
    return sums_.of({Atom::Kind::special, special->second, 0, {}, b});
  }
  return sum_of(definitions_.before(at, number));
}

Sum Addresses::sum_of(Defined value) {
  value = definitions_.found(value);
  if (value.kind == Defined::Kind::instruction) return computed(value.at, value.reg);
  if (value.kind == Defined::Kind::unknown) return itself(value);
  const Sum own = sums_.of({Atom::Kind::merge, value.at, 0, {}, {}});
  if (merges_.try_emplace(value.at).second && depth_ < deepest) {
    ++depth_;
    const std::vector<Defined> inputs = definitions_.merge(value.at).inputs;
    for (const Defined& input : inputs) (void)sum_of(input);
    --depth_;
  }
  return own;
}

Sum Addresses::computed(std::uint32_t at, std::uint32_t number) {
  const auto known = known_.find({at, number});
  if (known != known_.end()) return known->second;
  const Defined value{Defined::Kind::instruction, at, number};
  if (depth_ >= deepest || sums_.atoms() >= Sums::most_atoms) return itself(value);
  ++depth_;
  const std::optional<Sum> sum = followed(at, number);
  --depth_;
  const Sum out = sum ? *sum : itself(value);
  known_[{at, number}] = out;
  return out;
}

Sum Addresses::operand(std::uint32_t at, std::uint32_t k, bool is_signed) {
  const Operand& o = program_->operands_of(program_->code[at])[k];
  switch (o.kind) {
    case Operand::Kind::constant:
      return Sum(is_signed ? extended(o.value, bits_of(o.type))
                           : static_cast<std::int64_t>(o.value));
    case Operand::Kind::reg:
      return reg(at, o.index);
    case Operand::Kind::special: {
      const auto s = static_cast<Special>(o.index);
      return sums_.of({Atom::Kind::special, o.index, 0, {}, bounds_of(s)});
    }
    default:
      return itself({Defined::Kind::unknown, at, k});
  }
}

std::optional<Sum> Addresses::followed(std::uint32_t at, std::uint32_t number) {
  const Instruction& i = program_->code[at];
  const Modifiers& m = i.modifiers;
  const Type type = m.type();
  if (i.op == Op::ld) return loaded(i, at, number);
  if (i.op == Op::mov || i.op == Op::cvt || i.op == Op::cvta) return moved(i, at);
  if (!is_integer(type) || i.count < 2) return std::nullopt;
  if (program_->operands_of(i)[0].kind != Operand::Kind::reg) return std::nullopt;
  const bool is_signed = has_sign(type);
  const auto in = [&](std::uint32_t k) { return operand(at, k); };
  const auto times = [&]() -> std::optional<Sum> {
    const bool wide = m.half() == Half::wide || m.half() == Half::hi;
    const Sum a = operand(at, 1, !wide || is_signed), b = operand(at, 2, !wide || is_signed);
    const auto whole = sums_.multiply(a, b);
    if (!whole || m.half() != Half::hi) return whole;
    return sums_.shift_right(*whole, bits_of(type));
  };
  if (m.has(Field::cc) || m.has(Field::sat) || m.has(Field::relu)) return std::nullopt;
  switch (i.op) {
    case Op::add:
    case Op::sub: {
      // One after the other: a sum's terms stand in the order in which they were found.
      const Sum b = in(2), a = in(1);
      return sums_.add(a, b, i.op == Op::add ? 1 : -1);
    }
    case Op::neg:
      return sums_.add(Sum(0), in(1), -1);
    case Op::mul:
      return times();
    case Op::mad: {
      const auto product = times();
      return product ? sums_.add(*product, in(3)) : std::nullopt;
    }
    case Op::div:
    case Op::rem: {
      const Sum b = operand(at, 2, is_signed), a = operand(at, 1, is_signed);
      return i.op == Op::div ? sums_.divide(a, b) : sums_.remainder(a, b);
    }
    case Op::min:
    case Op::max: {
      const Sum a = operand(at, 1, is_signed), b = operand(at, 2, is_signed);
      const Bounds x = sums_.bounds(a), y = sums_.bounds(b);
      const bool least = i.op == Op::min;
      if (least ? x.high <= y.low : x.low >= y.high) return a;
      if (least ? y.high <= x.low : y.low >= x.high) return b;
      const Bounds both = least ? Bounds{std::min(x.low, y.low), std::min(x.high, y.high)}
                                : Bounds{std::max(x.low, y.low), std::max(x.high, y.high)};
      return sums_.of({least ? Atom::Kind::smaller : Atom::Kind::greater, 0, 0, {a, b}, both});
    }
    case Op::selp:
      return chosen(i, at);
    default:
      return bitwise(i, at);
  }
}

std::optional<Sum> Addresses::bitwise(const Instruction& i, std::uint32_t at) {
  const Operand* o = program_->operands_of(i);
  const int width = bits_of(i.modifiers.type());
  const auto constant = [&](std::uint32_t k) -> std::optional<std::int64_t> {
    return k < i.count ? operand(at, k, false).number() : std::nullopt;
  };
  switch (i.op) {
    case Op::shl: {
      const auto by = constant(2);
      if (!by || *by < 0 || *by > 61) return std::nullopt;
      return sums_.multiply(operand(at, 1), Sum(std::int64_t{1} << *by));
    }
    case Op::shr: {
      const auto by = constant(2);
      if (!by || *by < 0 || *by >= width) return std::nullopt;
      const Sum a = operand(at, 1);
      if (has_sign(i.modifiers.type()) || sums_.bounds(a).low >= 0) {
        return sums_.shift_right(a, static_cast<int>(*by));
      }
      // The sign of x, spread out and cut: what rounds x / 2^k towards zero.
      const auto atom = a.atom();
      if (!atom || sums_.atom(*atom).kind != Atom::Kind::shifted) return std::nullopt;
      const Atom sign = sums_.atom(*atom);
      if (sign.number != static_cast<std::uint64_t>(width - 1)) return std::nullopt;
      const int k = width - static_cast<int>(*by);
      if (k > 61) return std::nullopt;
      return sums_.of({Atom::Kind::bias,
                       static_cast<std::uint64_t>(k),
                       0,
                       {sign.of[0]},
                       {0, (std::int64_t{1} << k) - 1}});
    }
    case Op::bfe: {
      const auto from = constant(2), count = constant(3);
      if (!from || !count || *from < 0 || *count < 0 || *from > 61 || *count > 61) return {};
      if (has_sign(i.modifiers.type())) return std::nullopt;
      const auto part = sums_.shift_right(operand(at, 1), static_cast<int>(*from));
      return part ? sums_.low_bits(*part, static_cast<int>(*count)) : std::nullopt;
    }
    case Op::and_:
    case Op::or_:
    case Op::xor_: {
      for (const std::uint32_t k : {1u, 2u}) {
        if (i.op != Op::and_ || o[k].kind != Operand::Kind::constant) continue;
        return sums_.mask(operand(at, 3 - k), o[k].value, width);
      }
      const Sum a = operand(at, 1), b = operand(at, 2);
      const bool apart = sums_.apart(a, b);
      if (i.op == Op::and_) {
        if (apart) return Sum(0);
        return sums_.of({Atom::Kind::both, 0, 0, {a, b}, {}});
      }
      if (apart) return sums_.add(a, b);
      return sums_.of(
          {i.op == Op::or_ ? Atom::Kind::either : Atom::Kind::differing, 0, 0, {a, b}, {}});
    }
    default:
      return std::nullopt;
  }
}

std::optional<Sum> Addresses::moved(const Instruction& i, std::uint32_t at) {
  const Operand* o = program_->operands_of(i);
  if (i.count < 2 || o[0].kind != Operand::Kind::reg || o[1].kind == Operand::Kind::vector) {
    return std::nullopt;
  }
  const Type type = i.modifiers.type();
  if (!is_integer(type) && i.op != Op::cvta) return std::nullopt;
  if (i.op == Op::cvt) {
    const Type from = i.modifiers.type2();
    if (!is_integer(from) || i.modifiers.has(Field::sat)) return std::nullopt;
    const Sum a = operand(at, 1, has_sign(from));
    const int to = bits_of(type);
    // Fewer bits are the lower ones, unless they are all.
    const Bounds b = sums_.bounds(a);
    if (to < bits_of(from) && to < 32 && !(b.low >= 0 && b.high < std::int64_t{1} << to)) {
      return has_sign(type) ? std::nullopt : sums_.low_bits(a, to);
    }
    return a;
  }
  if (i.op == Op::mov && o[1].kind == Operand::Kind::constant && !o[1].in_shared) {
    // The address of a parameter is the constant that its offset is.
    for (const Parameter& p : program_->entry.parameters) {
      const std::size_t found = i.text.rfind(p.name);
      const bool whole =
          found != std::string_view::npos && found > 0 && found + p.name.size() == i.text.size() &&
          (i.text[found - 1] == ' ' || i.text[found - 1] == '\t' || i.text[found - 1] == ',');
      if (whole) return sums_.of({Atom::Kind::place, o[1].value, 0, {}, {0, Bounds::far}});
    }
  }
  if (o[1].kind != Operand::Kind::constant && o[1].kind != Operand::Kind::reg &&
      o[1].kind != Operand::Kind::special) {
    return std::nullopt;
  }
  return operand(at, 1);
}

std::optional<Sum> Addresses::chosen(const Instruction& i, std::uint32_t at) {
  const Operand* o = program_->operands_of(i);
  if (i.count < 4 || o[3].kind != Operand::Kind::predicate || o[3].index == no_register) return {};
  const Sum a = operand(at, 1), b = operand(at, 2);
  if (a == b) return a;
  const Defined guard = definitions_.found(definitions_.before(at, o[3].index));
  if (guard.kind != Defined::Kind::instruction) return std::nullopt;
  const Instruction& test = program_->code[guard.at];
  const Operand* t = program_->operands_of(test);
  if (test.op != Op::setp || test.count != 4 || t[1].kind != Operand::Kind::none ||
      !is_integer(test.modifiers.type()) || test.modifiers.has(Field::logic)) {
    return std::nullopt;
  }
  const Compare compare = test.modifiers.compare();
  if (compare < Compare::eq || compare > Compare::hs) return std::nullopt;
  const bool is_signed = has_sign(test.modifiers.type());
  const Sum left = operand(guard.at, 2, is_signed), right = operand(guard.at, 3, is_signed);
  const Bounds x = sums_.bounds(a), y = sums_.bounds(b);
  Atom out{Atom::Kind::choice,
           static_cast<std::uint64_t>(compare),
           0,
           {a, b, left, right},
           {std::min(x.low, y.low), std::max(x.high, y.high)}};
  if (o[3].negated) std::swap(out.of[0], out.of[1]);
  return sums_.of(std::move(out));
}

std::optional<Sum> Addresses::loaded(const Instruction& i, std::uint32_t at, std::uint32_t number) {
  const auto from = parameter_read(at);
  if (!from || !is_integer(i.modifiers.type())) return std::nullopt;
  const auto bytes = static_cast<std::uint32_t>(bytes_of(i.modifiers.type()));
  const Operand& d = program_->operands_of(i)[0];
  std::uint64_t offset = *from;
  if (d.kind == Operand::Kind::vector) {
    for (std::uint32_t e = 0; e < d.count; ++e) {
      if (program_->elements[d.index + e].index == number) offset += std::uint64_t{e} * bytes;
    }
  }
  Bounds b;
  if (bytes < 8) b = {-(std::int64_t{1} << (bytes * 8 - 1)), (std::int64_t{1} << (bytes * 8)) - 1};
  return sums_.of({Atom::Kind::parameter, offset, bytes, {}, b});
}

// --- what goes round ----------------------------------------------------------------------------

// The same each time that the loop at `block` comes round.
bool Addresses::stays(const Sum& sum, std::uint32_t block) const {
  const std::uint32_t top = program_->blocks[block].rank;
  return !sums_.any(sum, [&](const Atom& a) {
    switch (a.kind) {
      case Atom::Kind::merge: {
        const Merge& merge = definitions_.merge(static_cast<std::uint32_t>(a.number));
        return merge.block == Merge::no_block || program_->blocks[merge.block].rank >= top;
      }
      case Atom::Kind::round:
        return program_->blocks[a.number].rank >= top;
      case Atom::Kind::value: {
        const Defined value = values_[a.number];
        return value.kind != Defined::Kind::instruction || program_->rank[value.at] >= top;
      }
      default:
        return false;
    }
  });
}

// A sum with every merge that is known for what it is.
Sum Addresses::settled(const Sum& sum) {
  constexpr int times = 4;  // what a merge came to may hold one that was settled after it
  Sum now = sum;
  for (int i = 0; i < times; ++i) {
    const auto next = sums_.with(now, [&](const Atom& a) -> std::optional<Sum> {
      if (a.kind != Atom::Kind::merge) return std::nullopt;
      const auto known = merges_.find(static_cast<std::uint32_t>(a.number));
      return known == merges_.end() ? std::nullopt : known->second;
    });
    if (!next || *next == now) break;
    now = *next;
  }
  return now;
}

// Whether a merge could be told as a sum without itself.
bool Addresses::settle(std::uint32_t number) {
  const Merge& merge = definitions_.merge(number);
  const Sum own = sums_.of({Atom::Kind::merge, number, 0, {}, {}});
  const auto holds_itself = [&](const Sum& sum) {
    return sums_.any(
        sum, [&](const Atom& a) { return a.kind == Atom::Kind::merge && a.number == number; });
  };
  std::optional<Sum> start, step;
  bool even = true;
  for (std::size_t k = 0; k < merge.inputs.size() && even; ++k) {
    const Sum input = settled(sum_of(merge.inputs[k]));
    if (input == own) continue;
    const auto more = sums_.add(input, own, -1);
    if (merge.loops && definitions_.comes_round(merge, k) && more && !holds_itself(*more)) {
      even = !step || *step == *more;
      step = *more;
    } else {
      even = !holds_itself(input) && (!start || *start == input);
      start = input;
    }
  }
  if (!even || !start) return false;
  if (!step) {
    merges_[number] = *start;
    return true;
  }
  // A way round that leaves the value as it is makes the step uneven.
  for (std::size_t k = 0; k < merge.inputs.size(); ++k) {
    if (definitions_.comes_round(merge, k) && settled(sum_of(merge.inputs[k])) == own) return false;
  }
  if (!stays(*step, merge.block)) return false;
  const Sum round = sums_.of({Atom::Kind::round, merge.block, 0, {}, {0, 0x7fff'ffff}});
  const auto grown = sums_.multiply(round, *step);
  const auto all = grown ? sums_.add(*start, *grown) : std::nullopt;
  if (!all) return false;
  merges_[number] = *all;
  carried_.push_back({number, merge.block, {*start}, {}, true, *start, *step});
  return true;
}

void Addresses::carry() {
  constexpr int most_passes = 8;
  bool more = true;
  for (int pass = 0; more && pass < most_passes; ++pass) {
    more = false;
    std::vector<std::uint32_t> open;
    for (const auto& [number, sum] : merges_) {
      if (!sum) open.push_back(number);
    }
    for (const std::uint32_t number : open) more = settle(number) || more;
  }
  const auto pointer_of = [&](const Sum& sum) -> std::optional<std::uint32_t> {
    for (const Term& t : sum.terms) {
      if (t.factor != 1 || t.atoms.size() != 1) continue;
      const Atom& a = sums_.atom(t.atoms[0]);
      if (a.kind == Atom::Kind::parameter && a.bytes == 8) {
        return static_cast<std::uint32_t>(a.number);
      }
    }
    return std::nullopt;
  };
  std::set<std::uint32_t> left;
  for (Access& a : accesses_) {
    a.address = settled(a.address);
    a.pointer = pointer_of(a.address);
    for (Sum& c : a.coordinates) c = settled(c);
    const auto keep = [&](const Sum& sum) {
      sums_.any(sum, [&](const Atom& atom) {
        if (atom.kind == Atom::Kind::merge) left.insert(static_cast<std::uint32_t>(atom.number));
        return false;
      });
    };
    keep(a.address);
    for (const Sum& c : a.coordinates) keep(c);
  }
  for (const std::uint32_t number : left) {
    const Merge& merge = definitions_.merge(number);
    Carried out{number, merge.block, {}, {}, false, {}, {}};
    for (std::size_t k = 0; k < merge.inputs.size(); ++k) {
      const Sum input = settled(sum_of(merge.inputs[k]));
      std::vector<Sum>& to = definitions_.comes_round(merge, k) ? out.nexts : out.starts;
      if (std::find(to.begin(), to.end(), input) == to.end()) to.push_back(input);
    }
    carried_.push_back(std::move(out));
  }
}

}  // namespace tilescope::ptx
