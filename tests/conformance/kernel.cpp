#include "tests/conformance/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "tests/conformance/address_kernel.h"
#include "tests/conformance/barrier_kernel.h"
#include "tests/conformance/copy_kernel.h"
#include "tests/conformance/flow_kernel.h"
#include "tests/conformance/group_kernel.h"
#include "tests/conformance/kernel_text.h"
#include "tests/conformance/matrix_kernel.h"

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::OperandRule;
using ptx::Space;
using ptx::Type;
using Kind = OperandRule::Kind;

// What an opcode's operands are for, in their order, where their types do not say it. An opcode
// that acts on more than its lane's own operands is tried only where it stands here.
struct Manner {
  std::vector<Use> uses;
};

const std::map<std::string_view, Manner>& manners() {
  using U = Use;
  static const std::map<std::string_view, Manner> known = {
      {"shl", {{U::number, U::amount}}},
      {"shr", {{U::number, U::amount}}},
      {"shf", {{U::number, U::number, U::amount}}},
      {"bfe", {{U::number, U::amount, U::amount}}},
      {"bfi", {{U::number, U::number, U::amount, U::amount}}},
      {"bmsk", {{U::amount, U::amount}}},
      {"szext", {{U::number, U::amount}}},
      {"fns", {{U::number, U::amount, U::amount}}},
      {"shfl", {{U::number, U::lane, U::clamp, U::whole_warp}}},
      {"vote", {{U::truth, U::whole_warp}}},
      {"match", {{U::few, U::whole_warp}}},
      {"redux", {{U::number, U::whole_warp}}},
      {"elect", {{U::whole_warp}}},
      {"mma", {{}}},
      {"ldmatrix", {{}}},
      {"stmatrix", {{}}},
      {"movmatrix", {{}}},
      {"bar", {{}}},
      {"barrier", {{}}},
      {"activemask", {{}}},
      {"ld", {{}}},
      {"ldu", {{}}},
      {"st", {{}}},
      {"atom", {{}}},
      {"red", {{}}},
  };
  return known;
}

Type type_of(const OperandRule& rule, const ptx::Modifiers& m) {
  switch (rule.from) {
    case OperandRule::From::said:
      return rule.type;
    case OperandRule::From::type2:
      return m.type2();
    case OperandRule::From::wide:
      return ptx::widened(m.type());
    case OperandRule::From::type:
      break;
  }
  return m.type();
}

// Registers are untyped, so that they go with every instruction, and hold at least 16 bits.
int register_bits(Type type) {
  return std::max(16, ptx::bits_of(type));
}

class Writer {
 public:
  explicit Writer(const Spelling& s) : s_(s) { kernel_.key = s.key(); }

  std::optional<Kernel> write() {
    if (!tried()) return std::nullopt;
    for (const OperandRule& rule : ptx::operands_of(*s_.opcode, s_.form)) {
      if (!operand(rule)) return std::nullopt;
    }
    carry();
    kernel_.ptx = text();
    return std::move(kernel_);
  }

 private:
  // Arithmetic and moves of a lane's own registers, and what manners() knows.
  bool tried() const {
    if (s_.modifiers.has(Field::hint) || s_.modifiers.type() == Type::b128) {
      if (!on_this_chip(s_, 0) || !assembled()) return false;
    }
    switch (s_.opcode->unit) {
      case ptx::Unit::integer:
      case ptx::Unit::floating:
      case ptx::Unit::convert:
        return true;
      case ptx::Unit::move:
        return true;
      default:
        return manners().count(s_.opcode->name) != 0;
    }
  }

  bool operand(const OperandRule& rule) {
    if (rule.optional && !rule.partner) {
      if (s_.modifiers.has(Field::hint)) return add(policy(), false);
      return true;  // left out: the whole block
    }
    const Type type = type_of(rule, s_.modifiers);
    if (ptx::bits_of(type) > 64 && !is_wide()) return false;
    switch (rule.kind) {
      case Kind::write:
        return add(write(type), rule.partner);
      case Kind::write_predicate:
        return add(write(Type::pred), rule.partner);
      case Kind::read:
        return add(read(type), false);
      case Kind::read_predicate:
        return add(read(Type::pred), false);
      case Kind::constant:
        return add(fmt::format("{}", s_.constant.value_or(0)), false);
      case Kind::write_vector:
      case Kind::read_vector:
        return vector(rule, type);
      case Kind::address:
        return add(address(type), false);
      default:
        return false;  // where to go on: nothing of the lane's own
    }
  }

  bool add(const std::string& operand, bool partner) {
    if (partner) {
      operands_.back() += "|" + operand;
    } else {
      operands_.push_back(operand);
    }
    return true;
  }

  // Of b128 a register alone, which is made of two operands, or gives two results.
  bool is_wide() const {
    return s_.modifiers.type() == Type::b128 && !s_.modifiers.has(Field::vector);
  }

  // Whether ptxas 13 takes the space and the cache operation, which the table does not hold apart
  // for each instruction.
  bool assembled() const {
    const ptx::Modifiers& m = s_.modifiers;
    const ptx::Op op = s_.opcode->op;
    const auto word = [&](Field field) {
      return m.has(field) ? ptx::words_of(field)[m[field] - 1u] : std::string_view();
    };
    const std::string_view cache = word(Field::cache), space = word(Field::space);
    if (op == ptx::Op::ld && (cache == "wb" || cache == "wt")) return false;
    if (op == ptx::Op::st && cache == "lu") return false;
    if (m.has(Field::nc) && (cache == "cv" || cache == "lu")) return false;
    if (op == ptx::Op::ldu) return space.empty() || space == "global";
    const bool parameter = m.space() == Space::param, constant = m.space() == Space::constant;
    if (op == ptx::Op::st && (parameter || constant)) return false;
    const bool own = parameter || constant || m.space() == Space::local;
    return !(m.has(Field::order) && own);
  }

  // What a cache hint is given: its bits are the chip's own, and no value depends on it.
  std::string policy() {
    constexpr const char* kept[] = {"evict_last", "evict_normal", "evict_first", "evict_unchanged"};
    declared_ += "  .reg .b64 %policy;\n";
    before_ += fmt::format("  createpolicy.fractional.L2::{}.b64 %policy, 0.5;\n",
                           kept[hash_of(s_.key()) % 4]);
    return "%policy";
  }

  // A register of the type, declared.
  std::string fresh(Type type) {
    const std::string name = fmt::format("%x{}", registers_++);
    declared_ += type == Type::pred ? fmt::format("  .reg .pred {};\n", name)
                                    : fmt::format("  .reg .b{} {};\n", register_bits(type), name);
    return name;
  }

  std::string write(Type type) {
    const std::string name = fresh(type);
    if (type == Type::b128) {
      const std::string low = write(Type::b64), high = write(Type::b64);
      after_ = fmt::format("  mov.b128 {{{}, {}}}, {};\n", low, high, name) + after_;
      return name;
    }
    const std::uint32_t at = static_cast<std::uint32_t>(kernel_.results.size()) * lanes * 8;
    if (type == Type::pred) {
      after_ +=
          fmt::format("  selp.u32 %word, 1, 0, {};\n  st.global.u32 [%out+{}], %word;\n", name, at);
    } else {
      after_ += fmt::format("  st.global.b{} [%out+{}], {};\n", register_bits(type), at, name);
    }
    kernel_.results.push_back(type);
    return name;
  }

  std::string read(Type type) {
    const std::string name = fresh(type);
    if (type == Type::b128) {
      const std::string low = read(Type::b64), high = read(Type::b64);
      before_ += fmt::format("  mov.b128 {}, {{{}, {}}};\n", name, low, high);
      return name;
    }
    const std::size_t index = kernel_.operands.size();
    const std::uint32_t at = static_cast<std::uint32_t>(index) * lanes * 8;
    if (type == Type::pred) {
      before_ +=
          fmt::format("  ld.global.u32 %word, [%in+{}];\n  setp.ne.u32 {}, %word, 0;\n", at, name);
    } else {
      before_ += fmt::format("  ld.global.b{} {}, [%in+{}];\n", register_bits(type), name, at);
    }
    kernel_.operands.push_back({type, use(index, type)});
    return name;
  }

  Use use(std::size_t index, Type type) const {
    const auto known = manners().find(s_.opcode->name);
    if (known != manners().end() && index < known->second.uses.size()) {
      return known->second.uses[index];
    }
    // Which NaN of several a sum of f64 is, one shape alone asks (vectors/exceptions.txt).
    const bool sums = s_.opcode->op == ptx::Op::mma && s_.modifiers.type() == Type::f64;
    if (sums && s_.modifiers.shape() != ptx::Shape::m16n8k8) return Use::finite;
    return type == Type::pred ? Use::truth : Use::number;
  }

  bool vector(const OperandRule& rule, Type type) {
    int count = rule.count ? rule.count : s_.modifiers.vector();
    if (s_.opcode->name == "mma" && rule.kind == Kind::read_vector) type = fragment_type(type);
    const bool written = rule.kind == Kind::write_vector;
    if (s_.constant && written == (*s_.constant < 16)) {  // mov: the side with the parts
      count = static_cast<int>(*s_.constant % 16);
      type = ptx::bits_type(ptx::bits_of(type) / count);
    }
    const bool in_memory = s_.opcode->unit == ptx::Unit::memory;
    if (in_memory && count * ptx::bits_of(type) > 8 * static_cast<int>(slot_bytes)) return false;
    std::string list;
    for (int i = 0; i < count; ++i) {
      list += (i ? ", " : "") + (written ? write(type) : read(type));
    }
    // A fragment stands in braces also where it is one register; of ld, st and mov it does not.
    return add(count == 1 && !rule.count ? list : "{" + list + "}", false);
  }

  // What a register of mma's next operand (A, B, C) holds, so that it gets values of that type.
  Type fragment_type(Type type) {
    constexpr Field fields[] = {Field::type2, Field::type3, Field::type4};
    switch (static_cast<Type>(s_.modifiers[fields[fragments_++ % 3]])) {
      case Type::f16:
        return Type::f16x2;
      case Type::bf16:
        return Type::bf16x2;
      case Type::tf32:
        return Type::tf32;
      default:
        return type;
    }
  }

  // The lane's slot, in the space of the instruction: the one in global memory itself, or one that
  // is copied from there before and to there after.
  std::string address(Type type) {
    const int count = s_.modifiers.vector();
    kernel_.memory.assign(static_cast<std::size_t>(count), type);
    if (type == Type::b128) kernel_.memory.assign(2, Type::b64);
    if (s_.opcode->unit == ptx::Unit::matrix) return row_address();
    switch (s_.modifiers.space()) {
      case Space::shared:
        shared_ = true;
        before_ +=
            "  mov.u32 %word, slots;\n  mad.lo.u32 %word, %thread, 32, %word;\n"
            "  cvt.u64.u32 %slot, %word;\n";
        copied("shared");
        return "[%slot]";
      case Space::local:
        local_ = true;
        before_ += "  mov.u64 %slot, slots;\n";
        copied("local");
        return "[%slot]";
      case Space::constant:
        constant_ = true;
        before_ += "  mov.u64 %slot, slots;\n  mad.wide.u32 %slot, %thread, 32, %slot;\n";
        kernel_.memory.clear();
        return "[%slot]";
      case Space::param:
        parameter_ = true;
        kernel_.memory.clear();
        return "[slots]";
      default:
        return "[%memory]";
    }
  }

  // ldmatrix, stmatrix: a row of eight elements in shared memory, also by a generic address.
  std::string row_address() {
    kernel_.memory.assign(8, Type::b16);
    shared_ = true;
    before_ +=
        "  mov.u32 %word, slots;\n  mad.lo.u32 %word, %thread, 32, %word;\n"
        "  cvt.u64.u32 %slot, %word;\n  cvta.shared.u64 %generic, %slot;\n";
    copied("shared");
    before_ += "  bar.warp.sync 0xffffffff;\n";
    after_ = "  bar.warp.sync 0xffffffff;\n" + after_;
    return s_.modifiers.space() == Space::shared ? "[%slot]" : "[%generic]";
  }

  void copied(const char* space) {
    for (std::uint32_t at = 0; at < slot_bytes; at += 8) {
      before_ += fmt::format(
          "  ld.global.b64 %long, [%memory+{0}];\n  st.{1}.b64 [%slot+{0}], "
          "%long;\n",
          at, space);
      after_ += fmt::format(
          "  ld.{1}.b64 %long, [%slot+{0}];\n  st.global.b64 [%memory+{0}], "
          "%long;\n",
          at, space);
    }
  }

  // The carry flag (PTX ISA 9.7.2): set before an instruction that reads it, stored after one that
  // writes it.
  void carry() {
    const std::string_view name = s_.opcode->name;
    if (name == "addc" || name == "subc" || name == "madc") {
      before_ += fmt::format("  add.cc.u32 %word, {}, -1;\n", read(Type::u32));
      kernel_.operands.back().use = Use::truth;
    }
    if (s_.text.find(".cc") != std::string::npos) {
      const std::string flag = write(Type::u32);
      // Before the stores of what else was written, which do not touch the flag.
      after_ = fmt::format("  addc.u32 {}, 0, 0;\n", flag) + after_;
    }
  }

  std::string text() const {
    std::string out = ".version 9.0\n.target sm_90a\n.address_size 64\n";
    if (constant_) out += constant_slots();
    out += ".visible .entry conform(.param .u64 in, .param .u64 out, .param .u64 memory";
    if (parameter_) out += ", .param .align 16 .b8 slots[32]";
    out += ")\n{\n  .reg .b32 %thread, %lane, %word, %dim;\n";
    out += "  .reg .b64 %in, %out, %memory, %slot, %generic, %long;\n" + declared_;
    if (shared_) out += "  .shared .align 32 .b8 slots[4096];\n";
    if (local_) out += "  .local .align 32 .b8 slots[32];\n";
    out +=
        "  mov.u32 %thread, %tid.x;\n  mov.u32 %lane, %ctaid.x;\n  mov.u32 %dim, %ntid.x;\n"
        "  mad.lo.u32 %lane, %lane, %dim, %thread;\n"
        "  ld.param.u64 %in, [in];\n  mad.wide.u32 %in, %lane, 8, %in;\n"
        "  ld.param.u64 %out, [out];\n  mad.wide.u32 %out, %lane, 8, %out;\n"
        "  ld.param.u64 %memory, [memory];\n  mad.wide.u32 %memory, %lane, 32, %memory;\n";
    out += before_ + "  " + s_.text;
    for (std::size_t i = 0; i < operands_.size(); ++i) out += (i ? ", " : " ") + operands_[i];
    return out + ";\n" + after_ + "  ret;\n}\n";
  }

  // 128 slots of bytes that a lane can be told by.
  static std::string constant_slots() {
    std::string out = ".const .align 32 .b8 slots[4096] = {";
    for (std::uint32_t i = 0; i < 4096; ++i) {
      out += fmt::format("{}{}", i ? "," : "", mix(i) & 0xFF);
    }
    return out + "};\n";
  }

  const Spelling& s_;
  Kernel kernel_;
  std::vector<std::string> operands_;
  std::string declared_, before_, after_;
  int registers_ = 0, fragments_ = 0;
  bool shared_ = false, local_ = false, constant_ = false, parameter_ = false;
};

Buffer words(std::string name, std::size_t count) {
  Buffer b;
  b.name = std::move(name);
  b.dtype = DType::u64;
  b.shape = {static_cast<std::int64_t>(std::max<std::size_t>(count, 1))};
  b.bytes.resize(std::max<std::size_t>(count, 1) * 8);
  return b;
}

void put(Buffer& buffer, std::size_t at, std::uint64_t value, int bytes = 8) {
  std::memcpy(buffer.bytes.data() + at, &value, static_cast<std::size_t>(bytes));
}

// .proxy.async, of any memory.
bool is_async_fence(const ptx::Modifiers& m) {
  return m.has(Field::proxies) && ptx::words_of(Field::proxies)[m[Field::proxies] - 1u] == "async";
}

// Bytes in memory; a predicate is told as one.
int stored(Type type) {
  return std::max(1, ptx::bits_of(type) / 8);
}

}  // namespace

Job Kernel::job() const {
  Job job;
  job.program = {key, ptx};
  job.launch.entry = "conform";
  job.launch.grid.x = lanes / 128;
  job.launch.block.x = 128;
  Buffer in = words("in", operands.size() * lanes);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      put(in, (i * lanes + lane) * 8, operand(key, operands, i, lane));
    }
  }
  Buffer slots = words("memory", std::size_t{lanes} * slot_bytes / 8);
  std::vector<Source> held(memory.size());
  for (std::size_t e = 0; e < memory.size(); ++e) held[e].type = memory[e];
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (std::size_t e = 0; e < memory.size(); ++e) {
      const auto width = static_cast<std::size_t>(stored(memory[e]));
      // Other specials than those of the operands in the same lane.
      const std::uint32_t other =
          lane < special_lanes ? (lane * 13 + lane / 32) % special_lanes : lane;
      put(slots, lane * slot_bytes + e * width, operand(key + " memory", held, e, other),
          stored(memory[e]));
    }
  }
  job.buffers = {std::move(in), words("out", results.size() * lanes), std::move(slots)};
  for (std::uint32_t b = 0; b < 3; ++b) job.arguments.push_back(Argument::pointer(b));
  if (ptx.find("slots[32])") != std::string::npos) {
    Argument bytes;
    for (std::uint32_t i = 0; i < slot_bytes; ++i) {
      bytes.bytes.push_back(static_cast<std::byte>(mix(i) & 0xFF));
    }
    job.arguments.push_back(std::move(bytes));
  }
  return job;
}

std::vector<std::uint64_t> Kernel::values(const std::vector<Buffer>& buffers,
                                          std::uint32_t lane) const {
  std::vector<std::uint64_t> out;
  const auto get = [&](const Buffer& b, std::size_t at, int bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, b.bytes.data() + at, static_cast<std::size_t>(bytes));
    out.push_back(value);
  };
  for (std::size_t r = 0; r < results.size(); ++r) get(buffers[1], (r * lanes + lane) * 8, 8);
  for (std::size_t e = 0; e < memory.size(); ++e) {
    const int width = stored(memory[e]);
    get(buffers[2], lane * slot_bytes + e * static_cast<std::size_t>(width), width);
  }
  return out;
}

std::vector<int> Kernel::widths() const {
  std::vector<int> out;
  for (const Type type : results) {
    out.push_back(type == Type::pred ? 1 : std::max(2, stored(type)));
  }
  for (const Type type : memory) out.push_back(stored(type));
  return out;
}

// Forms that no chip is asked about yet: programs in tests/sim/programs hold them.
static bool is_asked_by_programs(const ptx::Modifiers& m) {
  using ptx::Field;
  using ptx::Shape;
  using ptx::Type;
  const Shape shape = m.shape();
  const bool bytes = shape == Shape::m8n16 || shape == Shape::m16n16 || shape == Shape::m16n8;
  const bool four = shape == Shape::m8n8k4 && m.type() != Type::f64;
  const bool narrow = m.type() == Type::s4 || m.type() == Type::u4 || m.type() == Type::b1 ||
                      m.type2() == Type::s4 || m.type2() == Type::u4 || m.type2() == Type::b1 ||
                      shape == Shape::m8n8k32 || shape == Shape::m8n8k128;
  const bool mixed = m.has(Field::type4) && m.type() != m.type4();
  return bytes || four || narrow || mixed || m.has(Field::mma_kind) || m.has(Field::sparse) ||
         m.has(Field::round);
}

std::optional<Kernel> kernel_for(const Spelling& spelling) {
  const ptx::Op op = spelling.opcode->op;
  const bool matrix = op == ptx::Op::mma || op == ptx::Op::wmma || op == ptx::Op::ldmatrix ||
                      op == ptx::Op::stmatrix;
  if (matrix && is_asked_by_programs(spelling.modifiers)) return std::nullopt;
  using ptx::Op;
  const ptx::Modifiers& m = spelling.modifiers;
  const bool told = m.has(Field::completion);  // st.async, red.async
  switch (spelling.opcode->op) {
    case Op::wgmma:
      return group_kernel_for(spelling);
    case Op::wmma:
      return matrix_kernel_for(spelling);
    case Op::cvta:
    case Op::mapa:
    case Op::getctarank:
      return address_kernel_for(spelling);
    case Op::prefetch:
    case Op::prefetchu:
    case Op::applypriority:
    case Op::discard:
    case Op::createpolicy:
      return cache_kernel_for(spelling);
    case Op::cp:
      return copy_kernel_for(spelling);
    case Op::st:
    case Op::red:
      return told ? copy_kernel_for(spelling) : Writer(spelling).write();
    case Op::bra:
    case Op::brx:
    case Op::call:
    case Op::ret:
    case Op::exit:
    case Op::nanosleep:
    case Op::pmevent:
    case Op::griddepcontrol:
    case Op::setmaxnreg:
      return flow_kernel_for(spelling);
    case Op::membar:
    case Op::fence: {
      const bool by_copies = m.has(Field::mbarrier_init) || is_async_fence(m);
      return by_copies ? copy_kernel_for(spelling) : barrier_kernel_for(spelling);
    }
    case Op::bar:
    case Op::barrier:
      if (m.operation() == ptx::Operation::red) return Writer(spelling).write();
      return barrier_kernel_for(spelling);
    case Op::mbarrier:
      return barrier_kernel_for(spelling);
    default:
      return Writer(spelling).write();
  }
}

}  // namespace tilescope::conformance
