#include "core/sim/checks/undefined.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/ptx/definitions.h"
#include "core/sim/checks/around.h"
#include "core/sim/checks/origin.h"
#include "core/sim/checks/shadows.h"
#include "core/sim/checks/undecided.h"
#include "core/sim/checks/undefined_bits.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/wgmma/handlers.h"

namespace tilescope::sim {
namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Unit;

int register_width(const ptx::Program& program, const Operand& o) {
  const bool has = o.kind == Operand::Kind::reg ||
                   (o.kind == Operand::Kind::address && o.index != ptx::no_register);
  const ptx::Type type = has ? program.registers[o.index].type : o.type;
  return std::max(2, ptx::bytes_of(type));
}

Reference place(const ptx::Program& program, const Operand& o) {
  const bool has = o.kind == Operand::Kind::reg ||
                   (o.kind == Operand::Kind::address && o.index != ptx::no_register);
  return has ? program.registers[o.index].place : nothing;
}

std::uint32_t predicate_place(const ptx::Program& program, const Operand& o) {
  return o.kind == Operand::Kind::predicate && o.index != ptx::no_register
             ? program.registers[o.index].place
             : 0;
}

Mask undefined_lanes(const Core& x, Reference r, int width) {
  if (!in_file(r) || !has_undefined(x, r, width)) return 0;
  const std::uint8_t* bytes = x.block->undefined.data() + register_base(x) + r;
  Mask out = 0;
  for (int l = 0; l < lanes; ++l) {
    for (int k = 0; k < width; ++k) {
      if (bytes[l * width + k]) out |= 1u << l;
    }
  }
  return out;
}

Mask undefined_predicate(const Core& x, std::uint32_t p) {
  if (p == 0 || x.block->undefined_predicates.empty()) return 0;
  const std::size_t base = static_cast<std::size_t>(x.predicates - x.block->predicates.data());
  return x.block->undefined_predicates[base + p];
}

// The shadow of what a lane reads from `r`; zeros for constants.
std::uint64_t shadow_of_lane(const Core& x, Reference r, int width, int lane) {
  std::uint64_t out = 0;
  if (!in_file(r) || x.block->undefined.empty()) return 0;
  std::memcpy(&out, x.block->undefined.data() + register_base(x) + r + lane * width,
              static_cast<std::size_t>(std::min(width, 8)));
  return out;
}

std::uint64_t value_of_lane(const Core& x, Reference r, int width, int lane) {
  std::uint64_t out = 0;
  std::memcpy(&out, x.bank[r >> 31] + (r & ~constant_bit) + lane * width,
              static_cast<std::size_t>(std::min(width, 8)));
  return out;
}

void set_lane(Core& x, Reference r, int width, int lane, std::uint64_t bytes) {
  std::memcpy(shadow(x, r) + lane * width, &bytes, static_cast<std::size_t>(std::min(width, 8)));
}

// What one instruction reads and writes, when some of it is undefined.
class Careful {
 public:
  Careful(Core& x, const Code& c, Mask all, Mask m)
      : x_(x),
        c_(c),
        program_(x.machine->program()),
        i_(program_.code[x.pc]),
        o_(program_.operands_of(i_)),
        all_(all),
        m_(m) {}

  Flow run() {
    const Flow flow = run_guarded();
    note_sums();
    return flow;
  }

 private:
  Flow run_guarded() {
    if (!x_.warp->undecided.empty()) {
      meet_undecided(x_, all_);
    } else {
      x_.unsure = 0;
    }
    const Mask bad = undefined_predicate(x_, c_.guard) & all_;
    either_ = bad;
    if (!bad) return let_through();
    if (!decide(x_, bad)) return Flow::fault;
    if (i_.op == Op::bra) return m_ ? c_.run(x_, c_, m_) : Flow::next;
    x_.unsure |= bad;
    const Flow flow = let_through();
    if (flow == Flow::next) undefine_written(x_, choice_at(x_), bad);
    return flow;
  }

  // What is undefined of what has been written is of no sum that is known, but for sums_.
  void note_sums() {
    UndefinedSums& known = x_.warp->undefined_sums;
    // A function's registers are others', in part.
    const bool leaves = i_.op == Op::call || i_.op == Op::ret;
    if (leaves || !x_.warp->undefined_registers) return known.clear();
    if (!known.empty()) {
      ptx::each_written(program_, i_, [&](std::uint32_t reg) {
        known.forget(program_.registers[reg].place, m_);
      });
    }
    for (auto& [lane, sum] : sums_) {
      if (!(either_ >> lane & 1)) known.set(c_.d, lane, std::move(sum));
    }
  }

  // Of which undefined values is the operand in a lane the sum?
  UndefinedSums::Sum sum_of(const Operand& o, int lane) {
    return of(o, lane) ? x_.warp->undefined_sums.of(place(program_, o), lane)
                       : UndefinedSums::Sum{};
  }

  bool sums_up() const {
    const ptx::Type type = i_.modifiers.type();
    const bool integer = type == ptx::Type::u32 || type == ptx::Type::s32 ||
                         type == ptx::Type::u64 || type == ptx::Type::s64;
    return (i_.op == Op::add || i_.op == Op::sub) && integer &&
           !i_.modifiers.has(ptx::Field::sat) && !i_.modifiers.has(ptx::Field::cc);
  }

  // What the guard lets through.
  Flow let_through() {
    if (!m_) return Flow::next;
    if (i_.unit == Unit::memory) return memory();
    if (i_.unit == Unit::warp || i_.unit == Unit::barrier || i_.unit == Unit::async) {
      if (!operands_decide()) return Flow::fault;
      if (i_.op == Op::redux) return reduce();
      if (is_ballot()) return ballot();
      // A barrier's answer comes when all are there, which the warp may wait for.
      if (i_.unit == Unit::barrier) define_results();
      if (i_.op != Op::shfl) return plain();
      return shuffle();
    }
    if (i_.unit == Unit::matrix) return run_matrix_carefully(x_, c_, m_);
    if (i_.unit == Unit::tensor) return tensor();
    if (i_.unit == Unit::warpgroup) return operands_decide() ? c_.run(x_, c_, m_) : Flow::fault;
    if (i_.unit == Unit::control) {
      if (decides_by_operand() && !operands_decide()) return Flow::fault;
      const Flow flow = c_.run(x_, c_, m_);
      if (flow == Flow::next && (i_.op == Op::alloca_ || i_.op == Op::stacksave)) define_results();
      return flow;
    }
    if (!reads_undefined()) return plain();
    note_origin();
    return i_.op == Op::mov && !c_.p ? move() : compute();
  }

  Flow fault(Mask bad, std::string kind, std::string sentence, std::string expected,
             std::string_view what) {
    return x_.reports->fault(x_, __builtin_ctz(bad), std::move(kind), std::move(sentence),
                             std::move(expected), fmt::format("{}{}", what, origin_text(x_)));
  }

  bool reads_undefined() const {
    for (std::uint32_t k = 0; k < i_.count; ++k) {
      if (undefined_in(o_[k])) return true;
    }
    return false;
  }

  // The first that is read of a register that nobody had written, as far as no memory is known that
  // an undefined value came from.
  void note_origin() {
    if (x_.warp->origin.known || i_.unit == Unit::warp) return;
    for (std::uint32_t k = 0; k < i_.count; ++k) {
      const Operand& o = first_undefined(o_[k]);
      if (o.written || o.kind != Operand::Kind::reg || !undefined_in(o)) continue;
      note_origin_of(o, undefined_lanes(x_, place(program_, o), register_width(program_, o)) & m_);
      return;
    }
  }
  void note_origin_of(const Operand& o, Mask bad) {
    Origin& origin = x_.warp->origin;
    if (origin.known) return;
    origin = {true, x_.pc, static_cast<std::uint32_t>(__builtin_ctz(bad)), o.index};
    origin.region = of_register;
    if (const auto before = last_before(*x_.warp, x_.pc)) origin.offset |= come_from(*before);
  }

  bool undefined_in(const Operand& o) const {
    if (o.kind == Operand::Kind::vector) {
      for (std::uint32_t e = 0; e < o.count; ++e) {
        if (undefined_in(program_.elements[o.index + e])) return true;
      }
      return false;
    }
    if (o.written) return false;
    if (o.kind == Operand::Kind::predicate) {
      return undefined_predicate(x_, predicate_place(program_, o)) & m_;
    }
    return undefined_lanes(x_, place(program_, o), register_width(program_, o)) & m_;
  }

  // Of a vector the element that is undefined.
  const Operand& first_undefined(const Operand& o) const {
    for (std::uint32_t e = 0; o.kind == Operand::Kind::vector && e < o.count; ++e) {
      const Operand& part = program_.elements[o.index + e];
      if (undefined_in(part)) return part;
    }
    return o;
  }

  // Runs it with what it reads defined, so what it writes is.
  Flow plain() {
    x_.strays = 0;
    const Flow flow = c_.run(x_, c_, m_);
    if (flow != Flow::next) return flow;
    define_results();
    if (x_.strays) undefine(x_, c_.d, 4, x_.strays);
    return flow;
  }

  void define_results() {
    for (std::uint32_t k = 0; k < i_.count; ++k) define_result(o_[k]);
  }
  void define_result(const Operand& o) {
    if (o.kind == Operand::Kind::vector) {
      for (std::uint32_t e = 0; e < o.count; ++e) define_result(program_.elements[o.index + e]);
    } else if (o.written && o.kind == Operand::Kind::reg) {
      define(x_, place(program_, o), register_width(program_, o), m_);
    } else if (o.written && o.kind == Operand::Kind::predicate) {
      undefine_predicate(x_, predicate_place(program_, o), 0, m_);
    }
  }

  // An address that is undefined decides where memory is touched. Of a load that matters as far as
  // what it reads does, where there is something to read: its result is undefined.
  Flow memory() {
    for (std::uint32_t k = 0; k < i_.count; ++k) {
      if (o_[k].kind != Operand::Kind::address) continue;
      const Mask bad =
          undefined_lanes(x_, place(program_, o_[k]), register_width(program_, o_[k])) & m_;
      if (!bad) continue;
      if (only_reads() && reads_inside(o_[k], bad)) return load_anything(o_[k], bad);
      return fault(bad, "undefined_address", "the address of this access is undefined",
                   "a defined address", program_.name_of_register(o_[k].index));
    }
    const bool sized = i_.op == Op::cp || i_.op == Op::tex || i_.op == Op::suld ||
                       i_.op == Op::sust || i_.modifiers.has(ptx::Field::bulk);
    if (sized && !operands_decide()) return Flow::fault;
    // Loads say afterwards which bytes they got that are undefined. Atomics look at what they add
    // before they do so.
    if (i_.op != Op::atom) define_results();
    return c_.run(x_, c_, m_);
  }

  // A load that tells no order.
  bool only_reads() const {
    return i_.op == Op::ld && !i_.modifiers.has(ptx::Field::order) &&
           !i_.modifiers.has(ptx::Field::mmio);
  }
  bool reads_inside(const Operand& o, Mask bad) const {
    const std::uint32_t bytes = static_cast<std::uint32_t>(c_.width) * c_.count;
    const int width = register_width(program_, o);
    for (Mask rest = bad; rest; rest &= rest - 1) {
      std::uint64_t at = value_of_lane(x_, c_.a, width, __builtin_ctz(rest)) + c_.immediate;
      if (c_.narrow_address) at = static_cast<std::uint32_t>(at);
      if (at % bytes || !is_memory(x_, c_.space, at, bytes)) return false;
    }
    return true;
  }
  // Where such a lane reads is chance: nobody is accused of it.
  Flow load_anything(const Operand& from, Mask bad) {
    note_origin_of(from, bad);
    x_.reports->note(x_, __builtin_ctz(bad), "undefined_load", x_.pc, [&] {
      Report r;
      r.sentence =
          "the address of this load is undefined; what it reads is as well, and used by nobody yet";
      r.expected = "a defined address";
      r.found = program_.name_of_register(from.index) + origin_text(x_);
      return r;
    });
    const Mask sure = m_ & ~bad;
    if (sure) {
      define_results();
      const Flow flow = c_.run(x_, c_, sure);
      if (flow != Flow::next) return flow;
    }
    ptx::each_written(program_, i_, [&](std::uint32_t reg) {
      const ptx::Register& r = program_.registers[reg];
      undefine(x_, r.place, std::max(2, ptx::bytes_of(r.type)), bad);
    });
    return Flow::next;
  }

  // A tcgen05.ld says afterwards which bytes it got that are undefined.
  Flow tensor() {
    if (!operands_decide()) return Flow::fault;
    define_results();
    return c_.run(x_, c_, m_);
  }

  // Where a branch goes, what is called, what a stack is made. Values that are passed to a function
  // decide nothing yet.
  bool decides_by_operand() const {
    return i_.op == Op::brx || i_.op == Op::call || i_.op == Op::alloca_ ||
           i_.op == Op::stackrestore;
  }

  // The operand that is only handed on.
  bool is_payload(std::uint32_t k) const {
    if (i_.op == Op::shfl) return k == 2;
    if (i_.op == Op::redux || is_ballot()) return k == 1;
    if (i_.op == Op::sust) return k == 2;
    if (i_.op == Op::wgmma) return o_[k].kind == Operand::Kind::vector;  // D, A
    if (i_.modifiers.tensor_step() == ptx::TensorStep::st) return k + 1 == i_.count;
    if (i_.op == Op::call) {
      const ptx::Call& call = program_.calls[o_[0].index];
      return call.routine != ptx::Call::indirect || k != call.target;
    }
    return false;
  }

  // Of warp-wide instructions, barriers and branches everything else decides something.
  bool operands_decide() {
    for (std::uint32_t k = 0; k < i_.count; ++k) {
      if (is_payload(k)) continue;
      if (!undefined_in(o_[k])) continue;
      const Operand& o = first_undefined(o_[k]);
      const Mask bad =
          o.kind == Operand::Kind::predicate
              ? undefined_predicate(x_, predicate_place(program_, o)) & m_
              : undefined_lanes(x_, place(program_, o), register_width(program_, o)) & m_;
      fault(bad, "undefined_operand",
            fmt::format(
                "an operand of {} that decides which lanes or what they agree on is undefined",
                ptx::opcode(i_.op).name),
            "a defined operand",
            o.index == ptx::no_register ? "" : program_.name_of_register(o.index));
      return false;
    }
    return true;
  }

  // Shuffles the shadow with the value.
  Flow shuffle() {
    const Reference a = place(program_, o_[2]);
    if (!in_file(a) || !has_undefined(x_, a, 4)) return plain();
    int from[lanes];
    std::uint32_t kept[lanes];
    sources_of_shuffle(x_, c_, i_.modifiers.operation(), from);
    std::memcpy(kept, shadow(x_, a), sizeof kept);
    x_.strays = 0;
    const Flow flow = c_.run(x_, c_, m_);
    if (flow != Flow::next) return flow;
    define_results();
    for (int l = 0; l < lanes; ++l) {
      if (!(m_ >> l & 1)) continue;
      set_lane(x_, c_.d, 4, l, kept[from[l]]);
      if (kept[from[l]]) sums_.push_back({l, x_.warp->undefined_sums.of(a, from[l])});
    }
    recount(x_, c_.d, 4);
    either_ |= x_.strays;
    if (x_.strays) undefine(x_, c_.d, 4, x_.strays);
    return Flow::next;
  }

  bool is_ballot() const {
    return i_.op == Op::vote && i_.modifiers.operation() == ptx::Operation::ballot;
  }
  // A bit for each lane: of those it is undefined whose predicate is.
  Flow ballot() {
    const Mask bad = o_[1].kind == Operand::Kind::predicate
                         ? undefined_predicate(x_, predicate_place(program_, o_[1])) & m_
                         : 0;
    std::uint64_t members[lanes];
    for (int l = 0; l < lanes; ++l) members[l] = value_of_lane(x_, c_.a, 4, l);
    const Flow flow = plain();
    if (flow != Flow::next || !bad) return flow;
    for (int l = 0; l < lanes; ++l) {
      if (m_ >> l & 1) set_lane(x_, c_.d, 4, l, bad & members[l]);
    }
    recount(x_, c_.d, 4);
    return flow;
  }

  // Every lane's result depends on every lane's value.
  Flow reduce() {
    const Mask bad = undefined_lanes(x_, place(program_, o_[1]), 4) & m_;
    const Flow flow = plain();
    if (flow == Flow::next && bad) undefine(x_, c_.d, 4, m_);
    return flow;
  }

  // Lane by lane: what of the result depends on something undefined?
  Flow compute() {
    std::uint64_t result[lanes] = {};
    Mask predicate = 0;
    const bool sums = sums_up();
    for (int l = 0; l < lanes; ++l) {
      if (!(m_ >> l & 1)) continue;
      result[l] = depends(l);
      if (sums && result[l]) {
        UndefinedSums::Sum sum =
            UndefinedSums::add(sum_of(o_[1], l), sum_of(o_[2], l), i_.op == Op::sub,
                               ptx::bits_of(i_.modifiers.type()));
        if (sum.empty()) {
          result[l] = 0;
        } else {
          sums_.push_back({l, std::move(sum)});
        }
      }
      if (result[l]) predicate |= 1u << l;
    }
    const Flow flow = c_.run(x_, c_, m_);
    define_results();
    if (c_.p) undefine_predicate(x_, c_.p, predicate, m_);
    if (c_.q) undefine_predicate(x_, c_.q, predicate, m_);
    if (o_[0].kind == Operand::Kind::reg) {
      const int width = register_width(program_, o_[0]);
      for (int l = 0; l < lanes; ++l) {
        if (m_ >> l & 1) set_lane(x_, place(program_, o_[0]), width, l, result[l]);
      }
      recount(x_, place(program_, o_[0]), width);
    }
    return flow;
  }

  // mov keeps bytes apart: the shadow's bytes go where the value's go, of up to 128 bits.
  Flow move() {
    std::uint8_t bytes[lanes][16] = {};
    if (o_[0].kind == Operand::Kind::reg && o_[1].kind == Operand::Kind::reg &&
        register_width(program_, o_[0]) == register_width(program_, o_[1])) {
      for (int l = 0; l < lanes; ++l) {
        if ((m_ >> l & 1) && of(o_[1], l)) sums_.push_back({l, sum_of(o_[1], l)});
      }
    }
    for_parts(o_[1], [&](const Operand& part, int at, int width) {
      const Reference r = place(program_, part);
      if (!in_file(r) || x_.block->undefined.empty()) return;
      const std::uint8_t* from = shadow(x_, r);
      const int stride = register_width(program_, part);
      for (int l = 0; l < lanes; ++l) {
        std::memcpy(bytes[l] + at, from + l * stride, static_cast<std::size_t>(width));
      }
    });
    const Flow flow = c_.run(x_, c_, m_);
    define_results();
    for_parts(o_[0], [&](const Operand& part, int at, int width) {
      const Reference r = place(program_, part);
      if (r == nothing) return;
      std::uint8_t* to = shadow(x_, r);
      const int stride = register_width(program_, part);
      for (int l = 0; l < lanes; ++l) {
        if (m_ >> l & 1) {
          std::memcpy(to + l * stride, bytes[l] + at, static_cast<std::size_t>(width));
        }
      }
      recount(x_, r, stride);
    });
    return flow;
  }

  // A vector's elements, or the operand itself: which bytes of the whole each one is.
  template <class F>
  void for_parts(const Operand& o, F f) {
    if (o.kind != Operand::Kind::vector) return f(o, 0, ptx::bytes_of(o.type));
    for (std::uint32_t e = 0; e < o.count; ++e) {
      const Operand& part = program_.elements[o.index + e];
      const int width = ptx::bytes_of(part.type);
      f(part, static_cast<int>(e) * width, width);
    }
  }

  // The shadow of one lane's result: bit by bit where the instruction keeps bits apart, from the
  // lowest one on where it carries upwards, else all of it if any byte that it reads is undefined.
  std::uint64_t depends(int lane) const {
    const std::uint64_t all = ~std::uint64_t{0};
    switch (i_.op) {
      case Op::selp: {
        if (any(o_[3], lane)) return all;
        const bool chosen = (x_.predicates[c_.r] ^ c_.flip) >> lane & 1;
        return of(o_[chosen ? 1 : 2], lane);
      }
      case Op::and_:
      case Op::or_:
        if (c_.p) return predicates(lane) ? all : 0;
        return i_.op == Op::and_ ? hidden_by_and(partly(1, lane), partly(2, lane))
                                 : hidden_by_or(partly(1, lane), partly(2, lane));
      case Op::xor_:
        if (c_.p) break;
        return of(o_[1], lane) | of(o_[2], lane);
      case Op::not_:
        if (c_.p) break;
        return of(o_[1], lane);
      case Op::shl:
      case Op::shr:
        return shifted(lane);
      case Op::cvt:
        return converted(lane);
      case Op::prmt:
        if (i_.modifiers.has(ptx::Field::permute)) break;
        if (any(o_[3], lane)) return all;
        return hidden_by_permutation((of(o_[1], lane) & 0xffffffffu) | of(o_[2], lane) << 32,
                                     value_of_lane(x_, c_.c, 4, lane));
      case Op::lop3:
        if (c_.p) break;
        return hidden_by_lop3({partly(1, lane), partly(2, lane), partly(3, lane)},
                              static_cast<std::uint32_t>(value_of_lane(x_, c_.e, 4, 0)));
      case Op::brev:
        return hidden_by_reversal(of(o_[1], lane), ptx::bits_of(i_.modifiers.type()));
      case Op::bfe:
        if (any(o_[2], lane) || any(o_[3], lane)) return all;
        return hidden_by_field(of(o_[1], lane), place_of_field(c_.b, lane),
                               place_of_field(c_.c, lane), ptx::bits_of(i_.modifiers.type()),
                               is_signed());
      case Op::add:
      case Op::sub:
      case Op::neg:
        if (!carries_upwards()) break;
        return hidden_by_sum(of(o_[1], lane) | (i_.op == Op::neg ? 0 : of(o_[2], lane)));
      case Op::mul:
      case Op::mad: {
        if (!carries_upwards() || i_.modifiers.half() != ptx::Half::lo) break;
        const std::uint64_t product = hidden_by_product(partly(1, lane), partly(2, lane));
        return i_.op == Op::mul ? product : hidden_by_sum(product | of(o_[3], lane));
      }
      default:
        break;
    }
    const int half = bits_of_halves();
    if (half && !c_.p && !i_.modifiers.has(ptx::Field::logic)) {
      std::uint64_t hidden = 0;
      for (std::uint32_t k = 1; k < i_.count; ++k) hidden |= of(o_[k], lane);
      return hidden_by_halves(hidden, half);
    }
    for (std::uint32_t k = 0; k < i_.count; ++k) {
      if (any(o_[k], lane)) return all;
    }
    return 0;
  }

  std::uint64_t of(const Operand& o, int lane) const {
    return shadow_of_lane(x_, place(program_, o), register_width(program_, o), lane);
  }
  bool any(const Operand& o, int lane) const {
    if (o.written) return false;
    if (o.kind == Operand::Kind::predicate) {
      return undefined_predicate(x_, predicate_place(program_, o)) >> lane & 1;
    }
    return of(o, lane) != 0;
  }
  // Operand k, of the first three that are read.
  Partly partly(std::uint32_t k, int lane) const {
    const Reference refs[] = {c_.a, c_.b, c_.c};
    return {value_of_lane(x_, refs[k - 1], register_width(program_, o_[k]), lane), of(o_[k], lane)};
  }
  // Position and length of a field, as bfe takes them (core/sim/lanes/bits.cpp).
  int place_of_field(Reference r, int lane) const {
    const auto value = static_cast<std::uint32_t>(value_of_lane(x_, r, 4, lane));
    const bool wide = ptx::bits_of(i_.modifiers.type()) == 64;
    return static_cast<int>(wide ? std::min(value, 255u) : value & 0xff);
  }
  bool is_signed() const {
    return ptx::class_of(i_.modifiers.type()) == ptx::Class::signed_integer;
  }
  int bits_of_halves() const {
    switch (i_.modifiers.type()) {
      case ptx::Type::f16x2:
      case ptx::Type::bf16x2:
      case ptx::Type::u16x2:
      case ptx::Type::s16x2:
        return 16;
      case ptx::Type::f32x2:
        return 32;
      default:
        return 0;
    }
  }
  bool predicates(int lane) const {
    const bool ua = any(o_[1], lane), ub = any(o_[2], lane);
    const bool a = (x_.predicates[c_.r] ^ c_.flip) >> lane & 1;
    const bool b = (x_.predicates[c_.a] ^ c_.b) >> lane & 1;
    const bool decisive = i_.op == Op::or_;  // true decides or, false decides and
    if (!ua && a == decisive) return false;
    if (!ub && b == decisive) return false;
    return ua || ub;
  }
  std::uint64_t shifted(int lane) const {
    const std::uint64_t a = of(o_[1], lane);
    const std::uint64_t all = ~std::uint64_t{0};
    if (any(o_[2], lane)) return all;
    const std::uint64_t by = value_of_lane(x_, c_.b, 4, lane) & 0xffffffffu;
    const bool sign = i_.op == Op::shr && is_signed();
    if (sign && (a >> (8 * register_width(program_, o_[1]) - 1) & 1)) return all;
    if (by >= 64) return 0;
    return i_.op == Op::shl ? a << by : a >> by;
  }
  // Integers: of sums and the lower halves of products a bit depends on none above it.
  bool carries_upwards() const {
    return (is_signed() || ptx::class_of(i_.modifiers.type()) == ptx::Class::unsigned_integer) &&
           bits_of_halves() == 0 && !i_.modifiers.has(ptx::Field::sat) &&
           !i_.modifiers.has(ptx::Field::cc);
  }
  // Of a type of two numbers, each one's bits.
  static int bits_of_pair(ptx::Type type) {
    switch (type) {
      case ptx::Type::f16x2:
      case ptx::Type::bf16x2:
        return 16;
      case ptx::Type::e4m3x2:
      case ptx::Type::e5m2x2:
      case ptx::Type::e2m3x2:
      case ptx::Type::e3m2x2:
      case ptx::Type::ue8m0x2:
      case ptx::Type::s2f6x2:
        return 8;
      case ptx::Type::e2m1x2:
        return 4;
      default:
        return 0;
    }
  }
  // Between integers, cutting loses bytes; everything else mixes them.
  std::uint64_t converted(int lane) const {
    const std::uint64_t all = ~std::uint64_t{0};
    const auto is_integer = [](ptx::Type t) { return ptx::class_of(t) != ptx::Class::floating; };
    const ptx::Type to = i_.modifiers.type(), from = i_.modifiers.type2();
    if (const int half = bits_of_pair(to)) {  // each of two numbers from its own
      const std::uint64_t lower = (std::uint64_t{1} << half) - 1, upper = lower << half;
      if (i_.count == 3 && from == ptx::Type::f32) {
        return (any(o_[1], lane) ? upper : 0) | (any(o_[2], lane) ? lower : 0);
      }
      if (const int other = bits_of_pair(from); other && i_.count == 2) {
        const std::uint64_t a = of(o_[1], lane), below = (std::uint64_t{1} << other) - 1;
        return (a & below << other ? upper : 0) | (a & below ? lower : 0);
      }
    }
    if (i_.count > 2) {  // two numbers, or what is packed on top of others
      for (std::uint32_t k = 1; k < i_.count; ++k) {
        if (any(o_[k], lane)) return all;
      }
      return 0;
    }
    std::uint64_t a = of(o_[1], lane);
    if (ptx::bits_of(from) < 64) a &= (std::uint64_t{1} << ptx::bits_of(from)) - 1;
    if (!is_integer(to) || !is_integer(from) || i_.modifiers.has(ptx::Field::sat))
      return a ? all : 0;
    if (ptx::bits_of(to) < 64) a &= (std::uint64_t{1} << ptx::bits_of(to)) - 1;
    const bool sign = ptx::class_of(from) == ptx::Class::signed_integer ||
                      ptx::class_of(to) == ptx::Class::signed_integer;
    const int top = std::min(ptx::bits_of(from), ptx::bits_of(to)) - 1;
    if (sign && (a >> top & 1)) a |= ~((std::uint64_t{2} << top) - 1);
    return a;
  }

  Core& x_;
  const Code& c_;
  const ptx::Program& program_;
  const Instruction& i_;
  const Operand* o_;
  Mask all_, m_;
  Mask either_ = 0;  // lanes in which it may have been executed, or not
  std::vector<std::pair<int, UndefinedSums::Sum>> sums_;  // by lane, of what is written
};

}  // namespace

Flow run_carefully(Core& x, const Code& c, Mask all, Mask m) {
  if (c.run == touch_group_registers) x.block->registers.settle(x.warp->index / 4);
  return Careful(x, c, all, m).run();
}

}  // namespace tilescope::sim
