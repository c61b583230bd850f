#include "core/sim/time/costs.h"

#include <algorithm>

#include "core/sim/tcgen05/instruction_descriptor.h"

namespace tilescope::sim {
namespace {

using ptx::Field;
using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Operation;
using ptx::TensorStep;
using ptx::Type;
using ptx::Unit;

// Instructions of a chip, on which lanes.
struct Made {
  float slots = 1;
  Lanes lanes = Lanes::integer;
  float steps = 1;  // latencies, one after the other
};

bool is_double(Type t) {
  return t == Type::f64;
}
bool is_half(Type t) {
  return t == Type::f16 || t == Type::bf16 || t == Type::f16x2 || t == Type::bf16x2;
}
bool is_float(Type t) {
  return ptx::class_of(t) == ptx::Class::floating;
}

// Of integers: 64 bits take an instruction for each half, products of them a few more.
Made integers(const Instruction& i, bool wide) {
  switch (i.op) {
    case Op::mul:
    case Op::mad:
      if (i.modifiers.half() == ptx::Half::wide) return {1};
      return wide ? Made{4, Lanes::integer, 2} : Made{1};
    case Op::div:
    case Op::rem:
      return wide ? Made{80, Lanes::integer, 25} : Made{20, Lanes::integer, 9};
    case Op::popc:
    case Op::bfind:
    case Op::clz:
    case Op::brev:
      return wide ? Made{3, Lanes::special} : Made{1, Lanes::special};
    default:
      return wide ? Made{2} : Made{1};
  }
}

Made floats(const Instruction& i, Type t) {
  const Lanes lanes = is_double(t) ? Lanes::wide : is_half(t) ? Lanes::half : Lanes::floating;
  const bool approx = i.modifiers.has(Field::approx);
  switch (i.op) {
    case Op::div:
      return approx ? Made{3, Lanes::special, 3} : Made{10, lanes, 8};
    case Op::rcp:
    case Op::sqrt:
    case Op::rsqrt:
      return approx ? Made{1, Lanes::special} : Made{8, lanes, 6};
    case Op::ex2:
    case Op::lg2:
    case Op::sin:
    case Op::cos:
    case Op::tanh:
      return {2, Lanes::special};
    default:
      return {1, lanes};
  }
}

Made conversions(const Instruction& i) {
  const Type to = i.modifiers.type(), from = i.modifiers.type2();
  if (is_double(to) || is_double(from)) return {1, Lanes::wide};
  if (is_float(to) || is_float(from)) return {1, Lanes::conversion};
  // Between integers: a wider register, or a part of one; a sign is one more instruction.
  const bool extends = ptx::bits_of(from) < ptx::bits_of(to);
  if (!extends || ptx::class_of(from) != ptx::Class::signed_integer) return {0, Lanes::none, 0};
  return {1};
}

Made made_of(const Instruction& i) {
  const Type t = i.modifiers.type();
  const bool wide = ptx::bits_of(t) == 64;
  switch (i.op) {
    case Op::mov:
    case Op::cvta:
      return {0, Lanes::none, 0};
    case Op::cvt:
      return conversions(i);
    case Op::bra:
    case Op::brx:
    case Op::call:
    case Op::ret:
    case Op::exit:
      return {1, Lanes::none, 0};
    case Op::mapa:
    case Op::getctarank:
    case Op::isspacep:
      return {2};
    case Op::shfl:
    case Op::redux:
    case Op::match:
      return {1, Lanes::none};
    default:
      break;
  }
  if (i.unit == Unit::integer || i.unit == Unit::floating || i.unit == Unit::move) {
    return is_float(t) ? floats(i, t) : integers(i, wide);
  }
  return {1, Lanes::none, 0};
}

const PipeTimes& pipe_of(const DeviceTimes& times, Lanes lanes) {
  static const PipeTimes none;
  switch (lanes) {
    case Lanes::integer:
      return times.integer;
    case Lanes::floating:
      return times.floating;
    case Lanes::half:
      return times.half;
    case Lanes::wide:
      return times.wide;
    case Lanes::special:
      return times.special;
    case Lanes::conversion:
      return times.conversion;
    default:
      return none;
  }
}

// .x1, .x2 or .x4
std::uint8_t matrices_of(const Instruction& i) {
  const std::uint8_t word = i.modifiers[Field::matrices];
  if (word == 0) return 4;
  const std::string_view times = ptx::words_of(Field::matrices)[word - 1u];
  return times == "x1" ? 1 : times == "x2" ? 2 : 4;
}

bool meets_others(const Instruction& i) {
  switch (i.unit) {
    case Unit::barrier:
    case Unit::async:
    case Unit::warpgroup:
      return true;
    case Unit::tensor: {
      const TensorStep s = i.modifiers.tensor_step();
      return s != TensorStep::wait_ld && s != TensorStep::wait_st;
    }
    default:
      return i.op == Op::atom || i.op == Op::red || i.op == Op::cp || i.op == Op::exit ||
             i.modifiers.has(Field::order) || i.modifiers.has(Field::async);
  }
}

// Does it concern its own warp only?
bool is_alone(const Instruction& i) {
  switch (i.unit) {
    case Unit::integer:
    case Unit::floating:
    case Unit::convert:
    case Unit::move:
    case Unit::memory:
    case Unit::matrix:
      return !meets_others(i);
    case Unit::control:
      return i.op == Op::bra;
    default:
      return false;
  }
}

bool is_relaxed(const Instruction& i) {
  const std::uint8_t word = i.modifiers[Field::order];
  return word && ptx::words_of(Field::order)[word - 1u] == "relaxed";
}

// Multiply-adds of one mma of a warp.
double products_of(ptx::Shape shape) {
  using ptx::Shape;
  switch (shape) {
    case Shape::m8n8k4:
      return 8 * 8 * 4;
    case Shape::m8n8k16:
      return 8 * 8 * 16;
    case Shape::m8n8k32:
      return 8 * 8 * 32;
    case Shape::m8n8k128:
      return 8 * 8 * 128;
    case Shape::m16n8k4:
      return 16 * 8 * 4;
    case Shape::m16n8k8:
      return 16 * 8 * 8;
    case Shape::m16n8k16:
      return 16 * 8 * 16;
    case Shape::m16n8k32:
      return 16 * 8 * 32;
    case Shape::m16n8k64:
      return 16 * 8 * 64;
    case Shape::m16n8k128:
      return 16 * 8 * 128;
    case Shape::m16n8k256:
      return 16 * 8 * 256;
    case Shape::m16n16k8:
      return 16 * 16 * 8;
    case Shape::m16n16k16:
    case Shape::m8n32k16:
    case Shape::m32n8k16:
      return 16 * 16 * 16;
    default:
      return 0;
  }
}

ProductType product_of_type(Type type) {
  switch (type) {
    case Type::f64:
      return ProductType::f64;
    case Type::tf32:
      return ProductType::tf32;
    case Type::none:  // of wmma: f16 where none is said
    case Type::f16:
    case Type::bf16:
      return ProductType::f16;
    case Type::e4m3:
    case Type::e5m2:
    case Type::e3m2:
    case Type::e2m3:
    case Type::e2m1:
      return ProductType::f8;
    case Type::s8:
    case Type::u8:
      return ProductType::i8;
    default:
      return ProductType::none;
  }
}

ProductType product_of_kind(MmaKind kind) {
  switch (kind) {
    case MmaKind::f16:
      return ProductType::f16;
    case MmaKind::tf32:
      return ProductType::tf32;
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4:
      return ProductType::f8;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4:
      return ProductType::f4;
    case MmaKind::i8:
      return ProductType::i8;
    default:
      return ProductType::none;
  }
}

class Coster {
 public:
  Coster(const ptx::Program& program, const DeviceTimes& times)
      : p_(program), t_(times), predicates_(p_.register_bytes / grain + 4) {
    slot_of_.assign(predicates_ + p_.predicate_count, unused);
  }

  Costs run() {
    for (std::uint32_t pc = 0; pc < p_.code.size(); ++pc) {
      const Instruction& i = p_.code[pc];
      Cost c = cost(i);
      c.ends = p_.ends_block[pc] || c.meets;
      slots(i, c);
      out_.of.push_back(c);
    }
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t grain = 64;  // bytes of the register file
  static constexpr std::uint16_t unused = 0xffff;

  Cost cost(const Instruction& i) const {
    Cost c;
    c.meets = meets_others(i) || reads_clock(i);
    c.alone = is_alone(i);
    const Made made = made_of(i);
    const PipeTimes& pipe = pipe_of(t_, made.lanes);
    c.lanes = made.lanes;
    c.slots = reads_clock(i) ? 1 : made.slots;
    c.latency = static_cast<float>(made.steps * pipe.latency);
    if (pipe.lanes > 0 && t_.schedulers > 0) {
      c.busy = static_cast<float>(made.slots * 32 * t_.schedulers / pipe.lanes);
    }
    special(i, c);
    return c;
  }

  // What asks for the time has waited for all before it.
  bool reads_clock(const Instruction& i) const {
    const Operand* o = p_.operands_of(i);
    return std::any_of(o, o + i.count,
                       [](const Operand& one) { return one.kind == Operand::Kind::special; });
  }

  void special(const Instruction& i, Cost& c) const {
    const bool parameter = i.modifiers.space() == ptx::Space::param;
    switch (i.op) {
      case Op::ld:
      case Op::ldu:
      case Op::st:
      case Op::atom:
      case Op::red:
        if (i.modifiers.has(Field::async) || i.modifiers.has(Field::bulk)) break;
        c.kind = parameter ? Cost::Kind::plain : Cost::Kind::access;
        if (parameter) c.slots = 0;
        c.bytes = static_cast<std::uint8_t>(ptx::bytes_of(i.modifiers.type()) *
                                            std::max(1, i.modifiers.vector()));
        c.stall = i.modifiers.space() == ptx::Space::shared ? Stall::shared : Stall::global;
        c.atomic = i.op == Op::atom || i.op == Op::red;
        c.writes_memory = i.op == Op::st || i.op == Op::red;
        c.adds_floats = c.atomic && is_float(i.modifiers.type());
        c.past_l1 = c.atomic || i.modifiers.has(Field::order);
        break;
      case Op::ldmatrix:
      case Op::stmatrix:
        c.kind = Cost::Kind::fragments;
        c.stall = Stall::shared;
        c.bytes = matrices_of(i);
        break;
      case Op::shfl:
      case Op::redux:
      case Op::match:
        c.latency = static_cast<float>(t_.shuffle.latency);
        c.shuffles = i.op == Op::shfl;
        break;
      case Op::vote:
      case Op::elect:
      case Op::activemask:
      case Op::movmatrix:
        c.latency = static_cast<float>(t_.integer.latency);
        break;
      case Op::mma:
        matrix(i, c);
        break;
      case Op::wmma:
        if (i.modifiers.operation() == ptx::Operation::mma) {
          matrix(i, c);
        } else {
          c.kind = Cost::Kind::matrix;
          c.writes_memory = i.modifiers.operation() == ptx::Operation::store;
          c.stall = i.modifiers.space() == ptx::Space::shared ? Stall::shared : Stall::global;
        }
        break;
      case Op::cp:
        copies(i, c);
        break;
      case Op::barrier:
        // barrier.cluster.arrive releases what was written, unless it is relaxed.
        if (i.modifiers.has(Field::cluster) && i.modifiers.operation() == ptx::Operation::arrive &&
            !is_relaxed(i)) {
          c.kind = Cost::Kind::fence;
        }
        break;
      case Op::membar:
      case Op::fence:
        c.kind = Cost::Kind::fence;
        break;
      case Op::nanosleep:
        c.kind = Cost::Kind::sleep;
        c.meets = true;
        break;
      case Op::tcgen05:
        tensor(i, c);
        break;
      default:
        break;
    }
  }

  void matrix(const Instruction& i, Cost& c) const {
    const double rate = rate_of(t_, product_of(i));
    c.lanes = Lanes::matrix;
    c.latency = static_cast<float>(t_.mma_latency);
    if (rate > 0) {
      const double stored = i.modifiers.has(Field::sparse) ? 0.5 : 1;
      c.busy = static_cast<float>(stored * products_of(i.modifiers.shape()) * t_.schedulers /
                                  (rate * t_.mma_share));
    }
  }

  // cp.async [to], [from], 4|8|16
  std::uint8_t copied(const Instruction& i) const {
    if (i.count < 3) return 16;
    const Operand& size = p_.operands_of(i)[2];
    return size.kind == Operand::Kind::constant ? static_cast<std::uint8_t>(size.value) : 16;
  }

  void copies(const Instruction& i, Cost& c) const {
    if (i.modifiers.has(Field::bulk) || i.modifiers.has(Field::on_mbarrier)) return;
    switch (i.modifiers.operation()) {
      case ptx::Operation::commit_group:
        c.kind = Cost::Kind::copies_commit;
        return;
      case ptx::Operation::wait_group:
      case ptx::Operation::wait_all:
        c.kind = Cost::Kind::copies_wait;
        return;
      default:
        c.kind = Cost::Kind::copy;
        c.bytes = copied(i);
    }
  }

  static void tensor(const Instruction& i, Cost& c) {
    switch (i.modifiers.tensor_step()) {
      case TensorStep::ld:
        c.kind = Cost::Kind::tensor_load;
        c.stall = Stall::tmem;
        break;
      case TensorStep::st:
        c.kind = Cost::Kind::tensor_store;
        break;
      case TensorStep::wait_ld:
        c.kind = Cost::Kind::load_wait;
        break;
      case TensorStep::wait_st:
        c.kind = Cost::Kind::store_wait;
        break;
      default:
        break;
    }
  }

  // ---- registers ----

  void add(std::uint32_t reg, bool predicate, std::vector<std::uint16_t>& to) {
    if (reg == ptx::no_register) return;
    const std::uint32_t place = p_.registers[reg].place;
    if (place == ptx::no_register) return;
    // Only those that something uses have a slot: so few lines of memory hold a warp's.
    std::uint16_t& slot = slot_of_[predicate ? predicates_ + place : place / grain];
    if (slot == unused) {
      slot = static_cast<std::uint16_t>(std::min<std::uint32_t>(out_.scoreboard, unused - 1));
      out_.scoreboard = slot + 1u;
    }
    to.push_back(slot);
  }

  void add(const Operand& o, std::vector<std::uint16_t>& reads,
           std::vector<std::uint16_t>& writes) {
    std::vector<std::uint16_t>& to = o.written ? writes : reads;
    switch (o.kind) {
      case Operand::Kind::reg:
        return add(o.index, p_.registers[o.index].type == Type::pred, to);
      case Operand::Kind::predicate:
        return add(o.index, true, to);
      case Operand::Kind::address:
        return add(o.index, false, reads);
      case Operand::Kind::vector:
        for (std::uint32_t k = 0; k < o.count; ++k) {
          add(p_.elements[o.index + k], reads, writes);
        }
        return;
      default:
        return;
    }
  }

  void slots(const Instruction& i, Cost& c) {
    std::vector<std::uint16_t> reads, writes;
    if (i.guarded) add(i.guard, true, reads);
    for (std::uint32_t k = 0; k < i.count; ++k) add(p_.operands[i.first + k], reads, writes);
    constexpr std::size_t most = 255;
    if (reads.size() > most) reads.resize(most);
    c.first = static_cast<std::uint32_t>(out_.slots.size());
    c.reads = static_cast<std::uint8_t>(reads.size());
    c.writes = static_cast<std::uint16_t>(writes.size());
    out_.slots.insert(out_.slots.end(), reads.begin(), reads.end());
    out_.slots.insert(out_.slots.end(), writes.begin(), writes.end());
  }

  const ptx::Program& p_;
  const DeviceTimes& t_;
  std::uint32_t predicates_ = 0;        // where they begin among the places
  std::vector<std::uint16_t> slot_of_;  // of the scoreboard, by place
  Costs out_;
};

}  // namespace

ProductType product_of(const Instruction& i) {
  switch (i.op) {
    case Op::mma:  // .shape.alayout.blayout.dtype.atype.btype.ctype
      // .kind::mxf4 and .kind::mxf4nvf4 hold e2m1 in 4 bits, the others in a byte.
      if (i.modifiers[Field::mma_kind] > 2) return ProductType::f4;
      return product_of_type(i.modifiers.type2());
    case Op::wmma:
      return i.modifiers.operation() == Operation::mma ? product_of_type(i.modifiers.type2())
                                                       : ProductType::none;
    case Op::tcgen05:
      return i.modifiers.tensor_step() == TensorStep::mma
                 ? product_of_kind(static_cast<MmaKind>(i.modifiers[Field::kind]))
                 : ProductType::none;
    case Op::wgmma:
      return i.modifiers.group_step() == ptx::GroupStep::mma_async
                 ? product_of_type(i.modifiers.type2())
                 : ProductType::none;
    default:
      return ProductType::none;
  }
}

Costs costs_of(const ptx::Program& program, const DeviceTimes& times) {
  return Coster(program, times).run();
}

namespace {

constexpr std::uint32_t bytes_of_register = 4 * ptx::lanes, least_registers = 16,
                        most_registers = 255;

// That a thread can have in a block of so many.
std::uint32_t room_of_thread(std::uint32_t threads) {
  return std::clamp(65536 / std::max(threads, 1u), least_registers, most_registers);
}

}  // namespace

std::uint32_t registers_of(const ptx::Program& program, std::uint32_t threads) {
  constexpr std::uint32_t step = 8;
  const std::uint32_t registers = std::clamp(program.register_bytes / bytes_of_register,
                                             least_registers, room_of_thread(threads));
  return (registers + step - 1) / step * step;
}

std::uint32_t spare_registers(const ptx::Program& program, std::uint32_t threads) {
  const std::uint32_t alive = program.register_bytes / bytes_of_register;
  return room_of_thread(threads) - std::min(alive, room_of_thread(threads));
}

}  // namespace tilescope::sim
