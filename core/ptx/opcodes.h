// The table of opcodes: one row an opcode, from which decoding, printing, tracing and the
// documentation (`tilescope list`, help texts) all come.
//
// A row has a name, the unit that executes it, its forms, one line about it with its section of the
// PTX ISA, and which chips have which of its forms. A form is two strings: its modifiers in order,
// and its operands.
//
//   {"round:rn|rz|rm|rp? ftz? sat? type:f32", "d a b"}      add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32
//
// Modifiers: `field:word|word`, a `?` after what may be left out; a lone word is a flag of the
// field with that name. A modifier in the text that no form takes is an error at load.
// Operands, in order; what is read or written, and its type (default: the instruction's):
//   d        register written            a b c    register or constant read
//   p        predicate written           q        predicate read; may be negated
//   d|p p|p  the second may be absent    [a]      address
//   [b]      an address in the second space   s   a number of bytes, or a predicate
//   [m]      the address of an mbarrier, in shared memory
//   [t]|{x}  [map, {coordinates}] of a tensor copy: a generic address, and as many coordinates as
//            the dim and mode modifiers say; of a texture or surface its handle
//   {o}      offsets of an im2col copy, as many in braces as the tensor has dimensions, less two;
//            of .im2col::w and .im2col::w::128 two
//   {d} {a}  a register, or as many in braces as the vector modifier says
//   {d}4     as many in braces as the number says; {d}N/2: as many as half of the columns of a
//            warpgroup's product (wgmma)
//   label    a label of this function    n        an integer constant, known at load
//   n=0/1    the same, one of these
//   targets  a list of labels            call     what is called, with its parameters
//   :type    its type; :w twice the width of the instruction's type; :type2 its second type
//   ?        may be left out
//   cf cf=   the carry flag, read or written: a predicate that the text does not show
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/types.h"

namespace tilescope::ptx {

enum class Unit : std::uint8_t {
  integer,    // integer and logic
  floating,   // floating point
  convert,    // between types
  move,       // mov, cvta, selp
  memory,     // ld, st, atom, red: the load/store unit
  control,    // branches, exit
  barrier,    // bar, membar
  warp,       // shuffles, votes: across the lanes
  matrix,     // mma, and the moves of its fragments
  tensor,     // tcgen05: TMEM, and products in it
  warpgroup,  // wgmma: products of four warps
  async,      // mbarriers, tensor maps
};
std::string_view name_of(Unit unit);

// clang-format off
enum class Op : std::uint8_t {
  // integer
  add, sub, mul, mad, div, rem, abs, neg, min, max, popc, clz, brev, bfind, bfe, bfi,
  and_, or_, xor_, not_, shl, shr, shf, lop3, prmt, setp, selp,
  addc, subc, madc, mul24, mad24, sad, cnot, szext, bmsk, fns, dp4a, dp2a, vabsdiff2, vabsdiff4, set, slct,
  // floating only
  fma, testp, rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh, copysign,
  // moves
  mov, cvt, cvta,
  // memory
  ld, ldu, st, tex, txq, suld, sust, prefetch, prefetchu, applypriority, discard, createpolicy, isspacep, atom, red, cp, mapa, getctarank,
  // control
  bra, brx, call, ret, exit, trap, brkpt, nanosleep, pmevent, griddepcontrol,
  alloca_, stacksave, stackrestore,
  // barriers and fences
  bar, barrier, membar, fence, mbarrier, setmaxnreg, tensormap, clusterlaunchcontrol,
  // across lanes
  shfl, vote, match, redux, elect, activemask,
  // matrices of a warp
  mma, wmma, ldmatrix, stmatrix, movmatrix,
  // TMEM
  tcgen05,
  // matrices of a warpgroup
  wgmma,
  count_
};
// clang-format on

// What a modifier says. A field of an instruction is 0 when it is absent, else 1 + the number of
// its word in words_of(field).
// clang-format off
enum class Field : std::uint8_t {
  type, type2, round, integral, ftz, sat, relu, satfinite, nan, xorsign, abs, property, cc, permute, pack, packed, approx, compare, logic, half, shiftamt,
  funnel, amount, space, space2, to, weak, order, scope, cache, evict, prefetch, vector, nc,
  operation, reduce, uni, sync, aligned, cta, warp, mask, async, noftz,
  evict2, hint, level, level2, mmio, proxy, proxies,
  shape, a_layout, b_layout, type3, type4, matrices, trans, part,
  step, on_mbarrier, noinc, no_complete, expects, parity, mbarrier_init, restriction,
  bulk, tensor, dim, completion, mode, cp_mask, multicast, read, reduction, prefetching, registers, tensormap,
  replace, map_field, map_bits, cp_fenceproxy,
  tensor_step, cta_group, cluster, kind, ws, collector, cells, times, packing, arrival,
  copied, warps, to_format, from_format, down, launch_step, answer, multicast_all,
  group_step, group_shape, sparse, block_scale, scale_vectors, mma_kind, scaled, scale_vector,
  type5, scale_factor, oob, ashift, red, unformatted, outside, query,
  count_
};
// clang-format on
constexpr std::size_t field_count = static_cast<std::size_t>(Field::count_);
const std::vector<std::string_view>& words_of(Field field);
std::string_view name_of(Field field);

enum class Round : std::uint8_t { none, rn, rz, rm, rp, rna, rs };
// clang-format off
enum class Compare : std::uint8_t {
  none, eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan
};
// clang-format on
enum class Property : std::uint8_t {
  none,
  finite,
  infinite,
  number,
  notanumber,
  normal,
  subnormal
};
enum class Logic : std::uint8_t { none, and_, or_, xor_ };
enum class Half : std::uint8_t { none, lo, hi, wide };
enum class Funnel : std::uint8_t { none, l, r };
enum class Approx : std::uint8_t { none, approx, full };
// clang-format off
enum class Operation : std::uint8_t {
  none, add, inc, dec, min, max, and_, or_, xor_, exch, cas,  // atom, red
  sync, arrive,                                               // bar, barrier
  up, down, bfly, idx,                                        // shfl
  all, any, uni, ballot,                                      // vote
  gl, cta, sys,                                               // membar
  red,                                                        // bar, barrier
  launch_dependents, wait,                                    // griddepcontrol
  commit_group, wait_group, wait_all,                         // cp.async
  fractional, range, cvt,                                     // createpolicy
  load, store, mma,                                           // wmma
};
enum class Reduce : std::uint8_t { none, popc, and_, or_ };  // what bar.red does
// clang-format on

enum class Shape : std::uint8_t {
  none,
  m8n8,
  m8n8k4,
  m8n8k16,
  m8n8k32,
  m8n8k128,
  m16n8k4,
  m16n8k8,
  m16n8k16,
  m16n8k32,
  m16n8k64,
  m16n8k128,
  m16n8k256,
  m8n16,  // of ldmatrix and stmatrix
  m16n8,
  m16n16,
  m16n16k8,  // from here on only of wmma
  m16n16k16,
  m8n32k16,
  m32n8k16
};
enum class Part : std::uint8_t { none, a, b, c, d };  // what wmma loads or stores
// What a tcgen05 instruction does (9.7.16).
enum class TensorStep : std::uint8_t {
  none,
  alloc,
  dealloc,
  relinquish_alloc_permit,
  mma,
  ld,
  st,
  wait_ld,
  wait_st,
  commit,
  before_thread_sync,
  after_thread_sync,
  cp,
  shift
};
// What an instruction does to an mbarrier (9.7.13.15).
enum class Step : std::uint8_t {
  none,
  init,
  inval,
  expect_tx,
  complete_tx,
  arrive,
  arrive_drop,
  test_wait,
  try_wait,
  pending_count
};

// What a wgmma instruction does (9.7.15).
enum class GroupStep : std::uint8_t { none, mma_async, fence, commit_group, wait_group };
// The shape of its product, m64nNkK; 0, 0: none.
struct GroupShape {
  std::uint32_t n = 0, k = 0;
};

// What clusterlaunchcontrol does (9.7.13.17, 9.7.13.18).
enum class LaunchStep : std::uint8_t { none, try_cancel, query_cancel };

// How a tensor copy goes through the tensor (9.7.9.25.5.2), and what .tile of tensormap.replace is.
enum class TensorMode : std::uint8_t {
  none,
  tile,
  im2col,
  im2col_w,
  im2col_w_128,
  im2col_no_offs,
  gather4,
  scatter4
};

// The modifiers of one instruction.
class Modifiers {
 public:
  std::uint8_t operator[](Field f) const { return values_[static_cast<std::size_t>(f)]; }
  void set(Field f, std::uint8_t value) { values_[static_cast<std::size_t>(f)] = value; }
  bool has(Field f) const { return (*this)[f] != 0; }
  Type type() const { return static_cast<Type>((*this)[Field::type]); }
  Type type2() const { return static_cast<Type>((*this)[Field::type2]); }
  Type type3() const { return static_cast<Type>((*this)[Field::type3]); }
  Type type4() const { return static_cast<Type>((*this)[Field::type4]); }
  Type type5() const { return static_cast<Type>((*this)[Field::type5]); }
  Part part() const { return static_cast<Part>((*this)[Field::part]); }
  Shape shape() const { return static_cast<Shape>((*this)[Field::shape]); }
  Round round() const { return static_cast<Round>((*this)[Field::round]); }
  Round integral() const { return static_cast<Round>((*this)[Field::integral]); }
  Compare compare() const { return static_cast<Compare>((*this)[Field::compare]); }
  Logic logic() const { return static_cast<Logic>((*this)[Field::logic]); }
  Property property() const { return static_cast<Property>((*this)[Field::property]); }
  Half half() const { return static_cast<Half>((*this)[Field::half]); }
  Funnel funnel() const { return static_cast<Funnel>((*this)[Field::funnel]); }
  Approx approx() const { return static_cast<Approx>((*this)[Field::approx]); }
  Operation operation() const { return static_cast<Operation>((*this)[Field::operation]); }
  Reduce reduce() const { return static_cast<Reduce>((*this)[Field::reduce]); }
  Step step() const { return static_cast<Step>((*this)[Field::step]); }
  TensorMode tensor_mode() const { return static_cast<TensorMode>((*this)[Field::mode]); }
  TensorStep tensor_step() const { return static_cast<TensorStep>((*this)[Field::tensor_step]); }
  GroupStep group_step() const { return static_cast<GroupStep>((*this)[Field::group_step]); }
  GroupShape group_shape() const;
  LaunchStep launch_step() const { return static_cast<LaunchStep>((*this)[Field::launch_step]); }
  Space space() const;   // generic where none is said
  Space space2() const;  // of a second address
  // The first address may be in other blocks' shared memory: .shared::cluster, or generic.
  bool reaches_cluster() const;
  int vector() const;  // 1, 2, 4, 8

 private:
  std::array<std::uint8_t, field_count> values_{};
};

// Into how many chunks of K a row of A has its scale factors, or how many elements share one, of a
// tcgen05.mma with .block_scale (9.7.16.10.7.1, table 56).
enum class ScaleVectors : std::uint8_t { none, x1, x2, x4, block16, block32 };

struct Form {
  std::string_view modifiers;
  std::string_view operands;
};

// What not every chip has of an opcode, by its "Target ISA Notes": of chips from sm_53 on, as all
// that came before every chip has that anybody still has. (fence.acquire and .release, which the
// text keeps for sm_90, ptxas 13 takes for any.)
struct TargetRule {
  std::string_view forms;    // conditions on modifiers, as in a form; all forms where empty
  std::string_view needs;    // "sm_90": that or later; else one of these: "sm_90a sm_100f"
  std::string_view version;  // of the PTX ISA that introduced it, or empty
  std::string_view section;
  std::size_t operands = 0;  // only with as many, or more
};

struct Opcode {
  Op op;
  std::string_view name;
  Unit unit;
  std::vector<Form> forms;
  std::string_view about;                // one line
  std::string_view section;              // of the PTX ISA
  std::vector<TargetRule> targets = {};  // one a note; the first that a file does not meet is told
};

// A form's operand, taken apart.
struct OperandRule {
  enum class Kind : std::uint8_t {
    write,
    write_predicate,
    read,
    read_predicate,
    address,
    second_address,
    mbarrier_address,
    tensor_map,
    coordinates,  // are in the brackets of the tensor map before them
    offsets,
    size,
    write_vector,
    read_vector,
    label,
    targets,
    call,
    constant,
    read_carry,
    write_carry
  };
  Kind kind = Kind::read;
  Type type = Type::none;  // none: by `from`
  enum class From : std::uint8_t { said, type, type2, wide } from = From::type;
  bool optional = false;
  std::uint8_t count = 0;            // of a vector's registers; 0: as the vector modifier says
  std::uint8_t columns = 0;          // or of a wgmma's: so many columns of its product have one
  std::vector<std::int32_t> values;  // of a constant: what it may be; empty: anything
  bool partner = false;              // written after a '|' of the operand before it
};

// Registers of a vector; 0: as the vector modifier says.
inline std::uint32_t count_of(const OperandRule& rule, const Modifiers& m) {
  return rule.columns ? m.group_shape().n / rule.columns : rule.count;
}

// Not in the text: the carry flag.
inline bool is_hidden(const OperandRule& rule) {
  return rule.kind == OperandRule::Kind::read_carry || rule.kind == OperandRule::Kind::write_carry;
}

const std::vector<Opcode>& opcodes();
const Opcode& opcode(Op op);
const Opcode* opcode_named(std::string_view name);

// Fits the modifiers to the forms of an opcode, in a form's order or, where none takes them so, in
// their own: the number of the first form that takes all of them and operands that look like these;
// where none does, of the first that takes so many; then of the first that takes the modifiers; or
// -1. `looks` has a letter for each operand: '[' an address, '{' a vector, 'e' an element of an
// array or its address, '.' anything else.
int match(const Opcode& opcode, const std::vector<std::string_view>& modifiers,
          std::string_view looks, Modifiers& out);
const std::vector<OperandRule>& operands_of(const Opcode& opcode, int form);

// Why the shape among a wgmma's modifiers is none, or none of its type; empty where it is not that.
std::string wrong_group_shape(const std::vector<std::string_view>& modifiers);

// "add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32 d, a, b": what a form looks like, for messages and help.
std::string syntax(const Opcode& opcode, int form);

}  // namespace tilescope::ptx
