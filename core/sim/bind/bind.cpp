// From decoded instructions to handlers and references.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/checks/signallers.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/code.h"
#include "core/sim/tcgen05/handlers.h"
#include "core/sim/wgmma/handlers.h"

namespace tilescope::sim {
namespace {

using ptx::Field;
using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::Unit;

bool has_avx2() {
#ifdef TILESCOPE_HAS_AVX2
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// Does it order, wait for or issue something (core/sim/checks/around.h)? Not each of many small
// copies.
bool leaves_trail(const Instruction& i) {
  switch (i.op) {
    case Op::bar:
    case Op::barrier:
    case Op::membar:
    case Op::fence:
    case Op::mbarrier:
    case Op::tcgen05:
    case Op::wgmma:
      return true;
    case Op::cp:
      return i.modifiers.has(Field::bulk) || i.modifiers.has(Field::on_mbarrier) ||
             i.modifiers.operation() != ptx::Operation::none;
    default:
      return false;
  }
}

class Binder {
 public:
  Binder(const ptx::Program& program, Bound& out, bool fast, std::uint32_t window)
      : program_(program), out_(out), fast_(fast), window_(window) {
    out_.constants = program.constants;
    for (const auto& [place, bytes] : program.shared_addresses) move_constant(place, bytes);
  }

  bool run(Error& error) {
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      const Instruction& i = program_.code[pc];
      Code c;
      c.run = handler(i);
      if (!c.run) {
        error = {ErrorKind::unsupported,
                 fmt::format("the simulator has no way to execute this form of '{}': {}",
                             ptx::opcode(i.op).name, i.text),
                 program_.module->place(i.line)};
        return false;
      }
      c.ends_block = program_.ends_block[pc];
      c.synchronises = i.modifiers.has(Field::order) || i.op == Op::atom || i.op == Op::red;
      c.notes_lanes = brings_others_on(program_, pc) || c.synchronises || leaves_trail(i);
      if (i.guarded) {
        c.guard = program_.registers[i.guard].place;
        c.guard_flip = i.guard_negated ? ~Mask{0} : 0;
      }
      c.plain = !i.guarded && !c.ends_block && !c.notes_lanes;
      operands(i, c);
      out_.code.push_back(c);
    }
    find_touches(program_, out_);
    find_loaded(program_, out_);
    return true;
  }

 private:
  Handler handler(const Instruction& i) const {
    switch (i.unit) {
      case Unit::control:
        return control_handler(i);
      case Unit::barrier:
        return barrier_handler(i);
      case Unit::warp:
        return warp_handler(i);
      case Unit::matrix:
        return matrix_handler(i);
      case Unit::tensor:
        return tensor_handler(i);
      case Unit::warpgroup:
        return warpgroup_handler(i);
      case Unit::async:
        return async_handler(i);
      default:
        break;
    }
    const bool stores = i.op == Op::st || i.op == Op::red;
    if (stores && i.modifiers.has(Field::async)) return async_store_handler(i);
    if (stores && i.modifiers.has(Field::bulk)) return bulk_store_handler();
    if (i.op == Op::atom || i.op == Op::red) return atomic_handler(i);
    if (i.op == Op::cp) return copy_handler(i);
    if (i.op == Op::mapa || i.op == Op::getctarank) return rank_handler(i);
    if (Handler texture = texture_handler(i)) return texture;
    if (Handler hint = hint_handler(i)) return hint;
#ifdef TILESCOPE_HAS_AVX2
    if (fast_)
      return lane_handler<avx2::integer_handler, avx2::floating_handler, avx2::convert_handler,
                          avx2::move_handler, avx2::memory_handler>(i);
#endif
    return lane_handler<base::integer_handler, base::floating_handler, base::convert_handler,
                        base::move_handler, base::memory_handler>(i);
  }

  template <auto integer, auto floating, auto convert, auto move, auto memory>
  Handler lane_handler(const Instruction& i) const {
    switch (i.unit) {
      case Unit::integer:
        return integer(i);
      case Unit::floating:
        return floating(i);
      case Unit::convert:
        return convert(program_, i);
      case Unit::move:
        return move(program_, i);
      case Unit::memory:
        return memory(program_, i);
      default:
        return nullptr;
    }
  }

  // An address of shared memory, in all lanes, into the block's window.
  void move_constant(std::uint32_t place, std::uint32_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, &out_.constants[place], bytes);
    value += window_;
    for (std::uint32_t l = 0; l < lanes; ++l) {
      std::memcpy(&out_.constants[place + l * bytes], &value, bytes);
    }
  }

  std::uint64_t offset_in(const Operand& address) const {
    return address.value + (address.in_shared ? window_ : 0);
  }

  // A value that 32 lanes of 64 bits read.
  Reference broadcast(std::uint64_t value) {
    const std::size_t at = (out_.constants.size() + 63) / 64 * 64;
    out_.constants.resize(at + sizeof value * lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      std::memcpy(&out_.constants[at + l * sizeof value], &value, sizeof value);
    }
    return static_cast<Reference>(at) | constant_bit;
  }

  Reference value(const Operand& o) const {
    switch (o.kind) {
      case Operand::Kind::reg:
        return program_.registers[o.index].place;
      case Operand::Kind::constant:
        return o.index | constant_bit;
      // Forgotten results go to a place behind the registers.
      case Operand::Kind::sink:
        return program_.register_bytes;
      default:
        return nothing;
    }
  }

  std::uint32_t predicate(const Operand& o) const {
    return o.kind == Operand::Kind::predicate && o.index != ptx::no_register
               ? program_.registers[o.index].place
               : 0;
  }

  void read_predicate(const Operand& o, Code& c) const {
    c.r = predicate(o);
    c.flip = o.negated ? ~Mask{0} : 0;
  }

  void vector(const Operand& o, Code& c) {
    c.target = static_cast<std::uint32_t>(out_.elements.size());
    c.count = o.count;
    for (std::uint32_t e = 0; e < o.count; ++e) {
      const Operand& part = program_.elements[o.index + e];
      out_.elements.push_back(part.kind == Operand::Kind::sink ? nothing : value(part));
    }
  }

  // The registers of all operands of an mma, one after the other.
  void fragments(const Instruction& i, const Operand* o, Code& c) {
    c.target = static_cast<std::uint32_t>(out_.elements.size());
    c.immediate = mma_form(i);
    constexpr std::uint32_t matrices = 4;
    for (std::uint32_t k = 0; k < i.count; ++k) {
      for (std::uint32_t e = 0; e < o[k].count; ++e) {
        const Operand& part = program_.elements[o[k].index + e];
        out_.elements.push_back(part.kind == Operand::Kind::sink ? nothing : value(part));
      }
    }
    // mma.sp: metadata and which lanes have them; .block_scale: the scale factors of A and of B.
    std::uint32_t next = matrices;
    if (i.modifiers.has(Field::sparse)) {
      c.e = value(o[next]);
      c.width = static_cast<std::uint8_t>(o[next + 1].value);
      next += 2;
    }
    if (i.modifiers.has(Field::scaled)) {
      c.a = value(o[next]);
      c.b = value(o[next + 2]);
    }
  }

  void wmma(const Instruction& i, const Operand* o, Code& c) {
    const ptx::Operation does = i.modifiers.operation();
    if (does == ptx::Operation::mma) return fragments(i, o, c);
    const bool stores = does == ptx::Operation::store;
    address(i, o[stores ? 0 : 1], c);
    vector(o[stores ? 1 : 0], c);
    if (i.count > 2) c.b = value(o[2]);
    c.e = matrix_access(i);
  }

  void address(const Instruction& i, const Operand& o, Code& c) const {
    c.space = i.modifiers.space();
    c.immediate = offset_in(o);
    c.width = static_cast<std::uint8_t>(ptx::bytes_of(i.modifiers.type()));
    if (o.index == ptx::no_register) return;
    c.a = program_.registers[o.index].place;
    c.narrow_address = ptx::bits_of(o.type) == 32;
  }

  // tcgen05: see core/sim/tcgen05 for what is where.
  void tensor(const Instruction& i, const Operand* o, Code& c) {
    switch (i.modifiers.tensor_step()) {
      case ptx::TensorStep::alloc:
        address(i, o[0], c);
        c.b = value(o[1]);
        return;
      case ptx::TensorStep::dealloc:
        c.a = value(o[0]);
        c.b = value(o[1]);
        return;
      case ptx::TensorStep::cp:
      case ptx::TensorStep::shift:
      case ptx::TensorStep::commit:
        address(i, o[0], c);
        if (i.count > 1) c.b = value(o[1]);
        return;
      case ptx::TensorStep::ld:
        vector(o[0], c);
        if (i.modifiers.has(Field::red)) c.d = value(o++[1]);
        address(i, o[1], c);
        if (o + 2 < program_.operands_of(i) + i.count) c.b = value(o[2]);
        return;
      case ptx::TensorStep::st:
        address(i, o[0], c);
        vector(o[i.count - 1], c);
        if (i.count > 2) c.b = value(o[1]);
        return;
      case ptx::TensorStep::mma:
        tensor_product(i, o, c);
        return;
      default:
        return;
    }
  }

  void tensor_product(const Instruction& i, const Operand* o, Code& c) {
    address(i, o[0], c);
    const bool in_memory = o[1].kind == Operand::Kind::address;
    const bool has_register = !in_memory || o[1].index != ptx::no_register;
    c.b = in_memory ? has_register ? program_.registers[o[1].index].place : nothing : value(o[1]);
    c.c = value(o[2]);
    const Operand* const end = o + i.count;
    const Operand* metadata = i.modifiers.has(Field::sparse) ? o + 3 : nullptr;
    const Operand& a = o[1];
    if (metadata) ++o;  // what follows stands one further on
    c.e = value(o[3]);
    const bool masks = o[4].kind == Operand::Kind::vector;
    const bool scaled = i.modifiers.has(Field::block_scale);
    const Operand* rest = o + (scaled ? 6 : masks ? 5 : 4);
    read_predicate(rest[0], c);
    const bool more = rest + 1 < end, ws = i.modifiers.has(Field::ws);
    if (more && ws) c.d = value(rest[1]);  // zero columns
    const bool scales = more && !ws && rest[1].kind == Operand::Kind::constant;
    c.width = scales ? static_cast<std::uint8_t>(rest[1].value) : std::uint8_t{0};
    c.target = static_cast<std::uint32_t>(out_.elements.size());
    out_.elements.push_back(in_memory);
    out_.elements.push_back(static_cast<Reference>(in_memory ? a.value : 0));
    for (std::uint32_t e = 0; e < 8; ++e) {
      const bool given = masks && e < o[4].count;
      out_.elements.push_back(given ? value(program_.elements[o[4].index + e]) : nothing);
    }
    const auto place = [&](const Operand& at) {
      const bool based = at.index != ptx::no_register;
      out_.elements.push_back(based ? program_.registers[at.index].place : nothing);
      out_.elements.push_back(static_cast<Reference>(at.value));
    };
    for (std::uint32_t k = 4; scaled && k < 6; ++k) place(o[k]);
    if (metadata) place(*metadata);
  }

  // wgmma: see core/sim/wgmma/handlers.h for what is where.
  void warpgroup(const Instruction& i, const Operand* o, Code& c) {
    if (i.modifiers.group_step() == ptx::GroupStep::wait_group) c.immediate = o[0].value;
    if (i.modifiers.group_step() != ptx::GroupStep::mma_async) return;
    vector(o[0], c);
    const std::uint32_t first = c.target;
    if (o[1].kind == Operand::Kind::vector) {
      vector(o[1], c);
      c.target = first;
    } else {
      c.b = value(o[1]);
    }
    c.c = value(o[2]);
    const bool sparse = i.modifiers.has(Field::sparse);
    if (sparse) c.e = value(o[3]);
    read_predicate(o[sparse ? 5 : 3], c);
  }

  // The elements that get the old values, or nothing, and behind them those that go in.
  void two_vectors(const Operand& d, const Operand& b, Code& c) {
    if (d.kind == Operand::Kind::vector) {
      vector(d, c);
    } else {
      c.target = static_cast<std::uint32_t>(out_.elements.size());
      out_.elements.insert(out_.elements.end(), b.count, nothing);
    }
    const std::uint32_t first = c.target;
    vector(b, c);
    c.target = first;
  }

  // mbarrier.*: the state or the predicate, the address, a count or parity.
  void mbarrier(const Instruction& i, const Operand* o, Code& c) {
    if (o[0].kind != Operand::Kind::address) {
      c.d = value(o[0]);
      c.p = predicate(o[0]);
      ++o;
    }
    if (i.modifiers.step() == ptx::Step::pending_count) {
      c.b = value(o[0]);
      return;
    }
    address(i, o[0], c);
    const std::uint32_t given = o == program_.operands_of(i) ? i.count - 1 : i.count - 2;
    if (given > 0) c.b = value(o[1]);
  }

  void launch(const Instruction& i, const Operand* o, Code& c) {
    if (i.modifiers.launch_step() == ptx::LaunchStep::try_cancel) return bulk(i, o, c);
    c.b = value(o[1]);
    if (o[0].kind == Operand::Kind::vector) return vector(o[0], c);
    c.d = value(o[0]);
    c.p = predicate(o[0]);
  }

  // The value as elements, and behind it an address as bulk() puts it down.
  void async_store(const Instruction& i, const Operand* o, Code& c) {
    address(i, o[0], c);
    vector(o[1], c);
    if (i.count > 2) address_elements(o[2]);
  }

  void address_elements(const Operand& o) {
    out_.elements.push_back(o.index == ptx::no_register ? nothing
                                                        : program_.registers[o.index].place);
    out_.elements.push_back(ptx::bits_of(o.type) == 32);
    out_.elements.push_back(static_cast<Reference>(offset_in(o)));
    out_.elements.push_back(static_cast<Reference>(offset_in(o) >> 32));
  }

  // All operands of a bulk copy as elements, in order: of an address its register, whether that has
  // 32 bits, and the two halves of its offset; of a vector its registers.
  void bulk(const Instruction& i, const Operand* o, Code& c) {
    c.target = static_cast<std::uint32_t>(out_.elements.size());
    for (std::uint32_t k = 0; k < i.count; ++k) {
      if (o[k].kind == Operand::Kind::address) {
        address_elements(o[k]);
      } else if (o[k].kind == Operand::Kind::vector) {
        for (std::uint32_t e = 0; e < o[k].count; ++e) {
          out_.elements.push_back(value(program_.elements[o[k].index + e]));
        }
      } else {
        out_.elements.push_back(value(o[k]));
      }
    }
  }

  // cp.async: see core/sim/handlers/copy.cpp for what is where.
  void copy(const Instruction& i, const Operand* o, Code& c) {
    if (i.modifiers.has(Field::on_mbarrier)) return address(i, o[0], c);
    if (i.modifiers.has(Field::bulk) && !i.modifiers.has(Field::operation)) return bulk(i, o, c);
    if (i.modifiers.has(Field::reduction)) return bulk(i, o, c);
    if (i.modifiers.has(Field::operation)) {
      if (i.count > 0) c.a = value(o[0]);
      return;
    }
    address(i, o[1], c);
    c.space = i.modifiers.space2();
    c.width = static_cast<std::uint8_t>(o[2].value);
    c.b = o[0].index == ptx::no_register ? nothing : program_.registers[o[0].index].place;
    c.target = static_cast<std::uint32_t>(out_.elements.size());
    out_.elements.push_back(ptx::bits_of(o[0].type) == 32);
    out_.elements.push_back(static_cast<Reference>(offset_in(o[0])));
    if (o[3].kind == Operand::Kind::predicate) {
      read_predicate(o[3], c);
      if (c.r == 0 && c.flip) return;  // "!true": nothing is ignored
    } else {
      c.c = value(o[3]);
    }
  }

  // cvta adds the distance of a space's window from 0 (core/ptx/program.h), or takes it away.
  void convert_address(const Instruction& i, const Operand* o, Code& c) {
    std::uint64_t distance = 0;
    switch (i.modifiers.space()) {
      case Space::shared:
        distance = ptx::shared_base;
        break;
      case Space::local:
        distance = ptx::local_base;
        break;
      case Space::param:
        distance = ptx::parameters_base;
        break;
      default:
        break;
    }
    c.d = value(o[0]);
    c.a = value(o[1]);
    c.b = broadcast(i.modifiers.has(Field::to) ? 0 - distance : distance);
  }

  void convert(const Instruction& i, const Operand* o, Code& c) const {
    const auto width = [&](const Operand& operand) {
      const ptx::Type type = operand.kind == Operand::Kind::reg
                                 ? program_.registers[operand.index].type
                                 : operand.type;
      return static_cast<std::uint8_t>(std::max(2, ptx::bytes_of(type)));
    };
    const ptx::Round integral = i.modifiers.integral();
    Conversion how{};
    how.from_register = width(o[1]);
    how.to_register = width(o[0]);
    how.from = i.modifiers.type2();
    how.to = i.modifiers.type();
    how.round = integral == ptx::Round::none ? i.modifiers.round() : integral;
    how.ftz = i.modifiers.has(Field::ftz);
    how.sat = i.modifiers.has(Field::sat);
    how.relu = i.modifiers.has(Field::relu);
    how.satfinite = i.modifiers.has(Field::satfinite);
    static_assert(sizeof how <= sizeof c.immediate);
    std::memcpy(&c.immediate, &how, sizeof how);
    c.d = value(o[0]);
    c.a = value(o[1]);
    if (i.count > 2) c.b = value(o[2]);
    if (i.count > 3) c.c = value(o[3]);
  }

  void compare(const Instruction& i, Code& c) const {
    Comparison how{};
    how.from = i.modifiers.has(Field::type2) ? i.modifiers.type2() : i.modifiers.type();
    how.to = i.modifiers.type();
    how.compare = i.modifiers.compare();
    how.logic = i.modifiers.logic();
    how.ftz = i.modifiers.has(Field::ftz);
    static_assert(sizeof how <= sizeof c.immediate);
    std::memcpy(&c.immediate, &how, sizeof how);
  }

  // setp of one f16 or bf16 writes only one (9.7.7.2).
  static bool has_second_predicate(const Instruction& i) {
    return i.modifiers.type() != ptx::Type::f16 && i.modifiers.type() != ptx::Type::bf16;
  }

  // The carry flag going in and out of an addition (9.7.2).
  void carry(const Instruction& i, const Operand* o, Code& c) const {
    for (std::uint32_t k = 0; k < i.count; ++k) {
      if (o[k].kind != Operand::Kind::predicate) continue;
      (o[k].written ? c.p : c.r) = predicate(o[k]);
    }
  }

  void operands(const Instruction& i, Code& c) {
    const Operand* o = program_.operands_of(i);
    switch (i.op) {
      case Op::set:
      case Op::slct:
        compare(i, c);
        c.d = value(o[0]);
        c.a = value(o[1]);
        c.b = value(o[2]);
        if (i.op == Op::slct) c.c = value(o[3]);
        if (i.op == Op::set && i.count > 3) read_predicate(o[3], c);
        return;
      case Op::lop3:
        if (!i.modifiers.has(Field::logic)) break;
        c.d = value(o[0]);
        c.p = predicate(o[1]);
        c.a = value(o[2]);
        c.b = value(o[3]);
        c.c = value(o[4]);
        c.e = value(o[5]);
        read_predicate(o[6], c);
        return;
      case Op::setp:
        compare(i, c);
        c.p = predicate(o[0]);
        if (has_second_predicate(i)) c.q = predicate(*++o);
        c.a = value(o[1]);
        c.b = value(o[2]);
        if (i.modifiers.has(Field::logic)) read_predicate(o[3], c);
        return;
      case Op::testp:
        c.p = predicate(o[0]);
        c.a = value(o[1]);
        return;
      case Op::selp:
        c.d = value(o[0]);
        c.a = value(o[1]);
        c.b = value(o[2]);
        read_predicate(o[3], c);
        return;
      case Op::mma:
        fragments(i, o, c);
        return;
      case Op::wmma:
        wmma(i, o, c);
        return;
      case Op::tcgen05:
        tensor(i, o, c);
        return;
      case Op::wgmma:
        warpgroup(i, o, c);
        return;
      case Op::txq:
        c.d = value(o[0]);
        address(i, o[1], c);
        return;
      case Op::tex:
      case Op::suld: {  // the registers, and behind them the coordinates
        vector(o[0], c);
        const std::uint32_t first = c.target, count = c.count;
        vector(o[2], c);
        address(i, o[1], c);
        c.target = first;
        c.count = static_cast<decltype(c.count)>(count);
        return;
      }
      case Op::sust: {  // the coordinates, and behind them the registers
        vector(o[1], c);
        const std::uint32_t first = c.target;
        vector(o[2], c);
        address(i, o[0], c);
        c.target = first;
        return;
      }
      case Op::ld:
      case Op::ldu:
      case Op::ldmatrix:
        vector(o[0], c);
        address(i, o[1], c);
        return;
      case Op::st:
        if (i.modifiers.has(Field::async)) return async_store(i, o, c);
        address(i, o[0], c);
        if (i.modifiers.has(Field::bulk)) {
          const bool narrow = o[1].kind == Operand::Kind::reg &&
                              ptx::bits_of(program_.registers[o[1].index].type) == 32;
          c.b = value(o[1]);
          c.width = narrow ? 4 : 8;
          return;
        }
        vector(o[1], c);
        return;
      case Op::stmatrix:
        address(i, o[0], c);
        vector(o[1], c);
        return;
      case Op::atom:
        address(i, o[1], c);
        if (i.modifiers.vector() > 1) {
          two_vectors(o[0], o[2], c);
          return;
        }
        c.d = value(o[0]);
        c.b = value(o[2]);
        if (i.modifiers.operation() == ptx::Operation::cas) c.c = value(o[3]);
        return;
      case Op::red:
        if (i.modifiers.has(Field::async)) return async_store(i, o, c);
        address(i, o[0], c);
        if (i.modifiers.vector() > 1) {
          two_vectors({}, o[1], c);
        } else {
          c.b = value(o[1]);
        }
        return;
      case Op::prefetch:
      case Op::prefetchu:
      case Op::applypriority:
      case Op::discard:
        address(i, o[0], c);
        return;
      case Op::isspacep:
        c.p = predicate(o[0]);
        c.a = value(o[1]);
        return;
      case Op::createpolicy:
        c.d = value(o[0]);
        c.a = broadcast(0);
        return;
      case Op::cp:
        copy(i, o, c);
        return;
      case Op::mbarrier:
        mbarrier(i, o, c);
        return;
      case Op::clusterlaunchcontrol:
        launch(i, o, c);
        return;
      case Op::tensormap:
        if (!i.modifiers.has(Field::map_field)) return bulk(i, o, c);
        address(i, o[0], c);
        c.b = value(o[i.count - 1]);
        if (i.count > 2) c.c = value(o[1]);
        return;
      case Op::fence:
        if (i.count) address(i, o[0], c);  // of the tensor map that is asked for
        return;
      case Op::bra:
        c.target = o[0].index;
        return;
      case Op::brx:
        c.a = value(o[0]);
        c.target = static_cast<std::uint32_t>(out_.elements.size());
        c.immediate = o[1].value;
        for (std::uint32_t k = 0; k < o[1].value; ++k) {
          out_.elements.push_back(program_.elements[o[1].index + k].index);
        }
        return;
      case Op::alloca_:
        c.d = value(o[0]);
        c.a = value(o[1]);
        c.immediate = o[2].value;
        return;
      case Op::stacksave:
        c.d = value(o[0]);
        return;
      case Op::stackrestore:
        c.a = value(o[0]);
        return;
      case Op::call:
        c.target = o[0].index;
        if (const ptx::Call& call = program_.calls[o[0].index];
            call.routine == ptx::Call::indirect) {
          c.a = value(o[call.target]);
        }
        return;
      case Op::bar:
      case Op::barrier:
        if (i.modifiers.has(Field::cluster)) return;
        if (i.modifiers.operation() == ptx::Operation::red) {  // d|p, barrier, threads, predicate
          c.d = value(o[0]);
          c.p = predicate(o[0]);
          c.a = value(o[1]);
          c.b = value(o[2]);
          read_predicate(o[3], c);
          return;
        }
        c.a = value(o[0]);
        if (i.count > 1) c.b = value(o[1]);
        return;
      case Op::match:
        c.d = value(o[0]);
        if (i.count > 3) c.p = predicate(o[1]);
        c.a = value(o[i.count - 2]);
        c.e = value(o[i.count - 1]);
        return;
      case Op::redux:
        c.d = value(o[0]);
        c.a = value(o[1]);
        c.e = value(o[2]);
        return;
      case Op::elect:
        c.d = value(o[0]);
        c.p = predicate(o[1]);
        c.e = value(o[2]);
        return;
      case Op::shfl:
        c.d = value(o[0]);
        c.p = predicate(o[1]);
        c.a = value(o[2]);
        c.b = value(o[3]);
        c.c = value(o[4]);
        c.e = value(o[5]);
        return;
      case Op::vote:
        c.p = predicate(o[0]);
        c.d = value(o[0]);
        read_predicate(o[1], c);
        c.a = value(o[2]);
        return;
      case Op::cvta:
        convert_address(i, o, c);
        return;
      case Op::cvt:
        convert(i, o, c);
        return;
      case Op::mov:
        c.width = static_cast<std::uint8_t>(ptx::bytes_of(i.modifiers.type()));
        break;
      default:
        break;
    }
    if (i.modifiers.type() == ptx::Type::pred) {  // and, or, xor, not, mov
      c.p = predicate(o[0]);
      read_predicate(o[1], c);
      c.a = i.count > 2 ? predicate(o[2]) : 0;
      c.b = i.count > 2 && o[2].negated ? ~Mask{0} : 0;
      return;
    }
    if (i.op == Op::mov && o[1].kind == Operand::Kind::special) c.target = o[1].index;
    if (i.op == Op::mov && o[0].kind == Operand::Kind::vector) vector(o[0], c);
    if (i.op == Op::mov && o[1].kind == Operand::Kind::vector) vector(o[1], c);
    if (i.unit == Unit::integer) carry(i, o, c);
    Reference* const places[] = {&c.d, &c.a, &c.b, &c.c, &c.e};
    for (std::uint32_t k = 0; k < i.count && k < std::size(places); ++k) *places[k] = value(o[k]);
  }

  const ptx::Program& program_;
  Bound& out_;
  bool fast_;
  std::uint32_t window_;
};

}  // namespace

Outcome<Bound> bind(const ptx::Program& program, bool plain, std::uint32_t window) {
  Bound bound;
  Error error;
  if (!Binder(program, bound, !plain && has_avx2(), window).run(error)) return error;
  return bound;
}

}  // namespace tilescope::sim
