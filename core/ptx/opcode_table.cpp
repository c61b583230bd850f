// The rows of the opcode table, in the order of the enumeration Op. To teach the decoder a form,
// add it here; to teach the simulator, add its handler in core/sim/lanes.
#include "core/ptx/opcodes.h"

namespace tilescope::ptx {
namespace {

// Words that many forms share.
#define I16_64 "type:u16|u32|u64|s16|s32|s64"
#define I32_64 "type:u32|u64|s32|s64"
#define S16_64 "type:s16|s32|s64"
#define B16_64 "type:b16|b32|b64"
#define ROUND "round:rn|rz|rm|rp"
#define COMPARE "compare:eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan"
#define LOGIC "logic:and|or|xor"
#define COMPARED "type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"
#define LOADED "type:b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"
#define SPACES "space:const|global|local|param|param::entry|shared|shared::cta?"
#define ORDER "order:relaxed|acquire|release|acq_rel"
#define SCOPE "scope:cta|cluster|gpu|sys"
#define CACHE "cache:ca|cg|cs|lu|cv|wb|wt?"
#define EVICT \
  "evict:L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate?"
#define PREFETCH "prefetch:L2::64B|L2::128B|L2::256B?"
#define VECTOR "vector:v2|v4|v8?"
#define INTEGERS "u8|u16|u32|u64|s8|s16|s32|s64"
#define ATOMIC_SPACE "space:global|shared|shared::cta?"

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> table() {
  using U = Unit;
  return {
      {Op::add, "add", U::integer,
       {{I16_64, "d a b"},
        {"sat type:s32", "d a b"},
        {ROUND "? ftz? sat? type:f32", "d a b"},
        {"round:rn? type:f64", "d a b"}},
       "d = a + b", "9.7.1.1, 9.7.3.3"},
      {Op::sub, "sub", U::integer,
       {{I16_64, "d a b"},
        {"sat type:s32", "d a b"},
        {ROUND "? ftz? sat? type:f32", "d a b"},
        {"round:rn? type:f64", "d a b"}},
       "d = a - b", "9.7.1.2, 9.7.3.4"},
      {Op::mul, "mul", U::integer,
       {{"half:lo|hi " I16_64, "d a b"},
        {"half:wide type:u16|u32|s16|s32", "d:w a b"},
        {ROUND "? ftz? sat? type:f32", "d a b"},
        {"round:rn? type:f64", "d a b"}},
       "d = a * b; of integers the low half, the high half, or the whole in twice the width",
       "9.7.1.3, 9.7.3.5"},
      {Op::mad, "mad", U::integer,
       {{"half:lo|hi " I16_64, "d a b c"},
        {"half:hi sat type:s32", "d a b c"},
        {"half:wide type:u16|u32|s16|s32", "d:w a b c:w"},
        {ROUND " ftz? sat? type:f32", "d a b c"},
        {"round:rn type:f64", "d a b c"}},
       "d = a * b + c; of floats the same as fma", "9.7.1.4, 9.7.3.7"},
      {Op::div, "div", U::integer,
       {{I16_64, "d a b"},
        {ROUND " ftz? type:f32", "d a b"},
        {"approx:approx|full ftz? type:f32", "d a b"},
        {"round:rn type:f64", "d a b"}},
       "d = a / b; of integers truncated towards zero", "9.7.1.8, 9.7.3.8"},
      {Op::rem, "rem", U::integer, {{I16_64, "d a b"}},
       "the remainder of a / b, with the sign of a", "9.7.1.9"},
      {Op::abs, "abs", U::integer,
       {{S16_64, "d a"}, {"ftz? type:f32", "d a"}, {"type:f64", "d a"}},
       "d = |a|", "9.7.1.10, 9.7.3.9"},
      {Op::neg, "neg", U::integer,
       {{S16_64, "d a"}, {"ftz? type:f32", "d a"}, {"type:f64", "d a"}},
       "d = -a", "9.7.1.11, 9.7.3.10"},
      {Op::min, "min", U::integer,
       {{I16_64, "d a b"}, {"ftz? sat? type:f32", "d a b"}, {"type:f64", "d a b"}},
       "the smaller; of floats the number, where one is NaN", "9.7.1.12, 9.7.3.11"},
      {Op::max, "max", U::integer,
       {{I16_64, "d a b"}, {"ftz? sat? type:f32", "d a b"}, {"type:f64", "d a b"}},
       "the larger; of floats the number, where one is NaN", "9.7.1.13, 9.7.3.12"},
      {Op::popc, "popc", U::integer, {{"type:b32|b64", "d:u32 a"}},
       "the number of one bits", "9.7.1.14"},
      {Op::clz, "clz", U::integer, {{"type:b32|b64", "d:u32 a"}},
       "the number of leading zero bits", "9.7.1.15"},
      {Op::brev, "brev", U::integer, {{"type:b32|b64", "d a"}}, "the bits in reverse order",
       "9.7.1.18"},
      {Op::bfind, "bfind", U::integer, {{"shiftamt? " I32_64, "d:u32 a"}},
       "the position of the highest bit that is not sign", "9.7.1.16"},
      {Op::bfe, "bfe", U::integer, {{I32_64, "d a b:u32 c:u32"}},
       "c bits of a from position b, extended", "9.7.1.19"},
      {Op::bfi, "bfi", U::integer, {{"type:b32|b64", "d a b c:u32 e:u32"}},
       "b with e bits from position c replaced by a", "9.7.1.20"},
      {Op::and_, "and", U::integer, {{B16_64, "d a b"}, {"type:pred", "p q q"}}, "d = a & b",
       "9.7.8.1"},
      {Op::or_, "or", U::integer, {{B16_64, "d a b"}, {"type:pred", "p q q"}}, "d = a | b",
       "9.7.8.2"},
      {Op::xor_, "xor", U::integer, {{B16_64, "d a b"}, {"type:pred", "p q q"}}, "d = a ^ b",
       "9.7.8.3"},
      {Op::not_, "not", U::integer, {{B16_64, "d a"}, {"type:pred", "p q"}}, "d = ~a", "9.7.8.4"},
      {Op::shl, "shl", U::integer, {{B16_64, "d a b:u32"}},
       "a << b; b above the width is the width", "9.7.8.8"},
      {Op::shr, "shr", U::integer,
       {{"type:b16|b32|b64|u16|u32|u64|s16|s32|s64", "d a b:u32"}},
       "a >> b, filled with the sign for s types; b above the width is the width", "9.7.8.9"},
      {Op::shf, "shf", U::integer, {{"funnel:l|r amount:clamp|wrap type:b32", "d a b c:u32"}},
       "32 bits of the pair b:a, shifted by c; .wrap takes c modulo 32", "9.7.8.7"},
      {Op::lop3, "lop3", U::integer, {{"type:b32", "d a b c n"}},
       "any function of three bits, bit by bit: its table is the last operand", "9.7.8.6"},
      {Op::prmt, "prmt", U::integer, {{"type:b32", "d a b c:u32"}},
       "four bytes of the pair b:a, chosen by the nibbles of c", "9.7.9.7"},
      {Op::setp, "setp", U::integer,
       {{COMPARE " ftz? " COMPARED, "p|p a b"}, {COMPARE " " LOGIC " ftz? " COMPARED, "p|p a b q"}},
       "a predicate (and its complement) from a comparison, combined with a third", "9.7.6.2"},
      {Op::selp, "selp", U::move,
       {{"type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "d a b q"}}, "a if q, else b",
       "9.7.6.3"},

      {Op::fma, "fma", U::floating,
       {{ROUND " ftz? sat? type:f32", "d a b c"}, {"round:rn type:f64", "d a b c"}},
       "d = a * b + c, rounded once", "9.7.3.6"},
      {Op::rcp, "rcp", U::floating,
       {{"approx:approx ftz? type:f32", "d a"}, {ROUND " ftz? type:f32", "d a"}},
       "1 / a", "9.7.3.13"},
      {Op::sqrt, "sqrt", U::floating,
       {{"approx:approx ftz? type:f32", "d a"}, {ROUND " ftz? type:f32", "d a"}},
       "the square root", "9.7.3.15"},
      {Op::rsqrt, "rsqrt", U::floating, {{"approx:approx ftz? type:f32", "d a"}},
       "1 / the square root", "9.7.3.16"},
      {Op::ex2, "ex2", U::floating, {{"approx:approx ftz? type:f32", "d a"}}, "2 to the power of a",
       "9.7.3.21"},
      {Op::lg2, "lg2", U::floating, {{"approx:approx ftz? type:f32", "d a"}},
       "the logarithm to base 2", "9.7.3.20"},
      {Op::sin, "sin", U::floating, {{"approx:approx ftz? type:f32", "d a"}}, "the sine",
       "9.7.3.18"},
      {Op::cos, "cos", U::floating, {{"approx:approx ftz? type:f32", "d a"}}, "the cosine",
       "9.7.3.19"},
      {Op::copysign, "copysign", U::floating, {{"type:f32", "d a b"}},
       "b with the sign of a", "9.7.3.2"},

      {Op::mov, "mov", U::move,
       {{"type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "{d} {a}"}, {"type:pred", "p q"}},
       "d = a: a register, constant, special register or address; packs and unpacks {..}",
       "9.7.9.3, 9.7.9.4"},
      {Op::cvt, "cvt", U::convert,
       {{"sat? type:" INTEGERS " type2:" INTEGERS, "d:type a:type2"},
        {ROUND " sat? type:f32 type2:" INTEGERS, "d:type a:type2"},
        {"round:rn type:f64 type2:" INTEGERS, "d:type a:type2"},
        {"integral:rni|rzi|rmi|rpi ftz? sat? type:" INTEGERS " type2:f32|f64", "d:type a:type2"},
        {"integral:rni|rzi|rmi|rpi? ftz? sat? type:f32 type2:f32", "d:type a:type2"},
        {"integral:rni|rzi|rmi|rpi? type:f64 type2:f64", "d:type a:type2"},
        {ROUND " ftz? sat? type:f32 type2:f64", "d:type a:type2"},
        {"ftz? type:f64 type2:f32", "d:type a:type2"}},
       "a converted from its type to d's", "9.7.9.21"},
      {Op::cvta, "cvta", U::move,
       {{"to space:const|global|local|param|shared|shared::cta type:u64", "d a"},
        {"space:const|global|local|param|shared|shared::cta type:u64", "d a"}},
       "a generic address from an address in a space, or back with .to", "9.7.9.20"},

      {Op::ld, "ld", U::memory,
       {{"weak? " SPACES " " CACHE " " EVICT " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"},
        {"order:volatile " SPACES " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"},
        {"order:relaxed|acquire " SCOPE " " SPACES " " EVICT " " PREFETCH " " VECTOR " " LOADED,
         "{d} [a]"},
        {"space:global " CACHE " nc " EVICT " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"}},
       "d from memory", "9.7.9.8, 9.7.9.9"},
      {Op::ldu, "ldu", U::memory, {{SPACES " " VECTOR " " LOADED, "{d} [a]"}},
       "d from memory that is the same for the whole warp", "9.7.9.10"},
      {Op::st, "st", U::memory,
       {{"weak? " SPACES " " CACHE " " EVICT " " VECTOR " " LOADED, "[a] {b}"},
        {"order:volatile " SPACES " " VECTOR " " LOADED, "[a] {b}"},
        {"order:relaxed|release " SCOPE " " SPACES " " EVICT " " VECTOR " " LOADED, "[a] {b}"}},
       "b to memory", "9.7.9.11"},
      {Op::atom, "atom", U::memory,
       {{ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:add type:u32|s32|u64|f32|f64", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:min|max type:u32|s32|u64|s64", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:inc|dec type:u32", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:and|or|xor|exch type:b32|b64", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:cas type:b32|b64", "d [a] b c"}},
       "d = memory, and memory = operation(memory, b), as one", "9.7.13.5"},
      {Op::red, "red", U::memory,
       {{ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:add type:u32|s32|u64|f32|f64", "[a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:min|max type:u32|s32|u64|s64", "[a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:inc|dec type:u32", "[a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:and|or|xor type:b32|b64", "[a] b"}},
       "memory = operation(memory, b), as one", "9.7.13.7"},

      {Op::bra, "bra", U::control, {{"uni?", "label"}}, "goes on at a label", "9.7.12.3"},
      {Op::ret, "ret", U::control, {{"uni?", ""}}, "leaves the function; in an entry the same as exit",
       "9.7.12.6"},
      {Op::exit, "exit", U::control, {{"", ""}}, "ends the thread", "9.7.12.7"},
      {Op::trap, "trap", U::control, {{"", ""}}, "stops the whole launch with an error", "9.7.19.5"},
      {Op::nanosleep, "nanosleep", U::control, {{"type:u32", "a"}}, "lets others go on for a while",
       "9.7.19.2"},

      {Op::bar, "bar", U::barrier,
       {{"cta? operation:sync", "n b:u32?"},
        {"cta? operation:arrive", "n b:u32"},
        {"warp operation:sync", "a:u32"}},
       "waits at (or arrives at) one of 16 barriers of the block; whole warps; or, with .warp, waits "
       "for the lanes of a mask", "9.7.13.1, 9.7.13.2"},
      {Op::barrier, "barrier", U::barrier,
       {{"cta? operation:sync aligned?", "n b:u32?"}, {"cta? operation:arrive aligned?", "n b:u32"}},
       "as bar; without .aligned each thread by itself", "9.7.13.1"},
      {Op::membar, "membar", U::barrier, {{"operation:gl|cta|sys", ""}},
       "orders this thread's accesses before and after it", "9.7.13.4"},
      {Op::fence, "fence", U::barrier, {{"order:sc|acq_rel|acquire|release? " SCOPE, ""}},
       "orders this thread's accesses before and after it", "9.7.13.4"},

      {Op::shfl, "shfl", U::warp,
       {{"sync operation:up|down|bfly|idx type:b32", "d|p a b:u32 c:u32 e:u32"}},
       "a of another lane", "9.7.9.6"},
      {Op::vote, "vote", U::warp,
       {{"sync operation:all|any|uni type:pred", "p q a:u32"},
        {"sync operation:ballot type:b32", "d q a:u32"}},
       "all, any, equal, or which lanes", "9.7.13.10"},
      {Op::activemask, "activemask", U::warp, {{"type:b32", "d"}}, "the lanes that execute this",
       "9.7.13.12"},
  };
}
// clang-format on

}  // namespace

const std::vector<Opcode>& opcodes() {
  static const std::vector<Opcode> rows = table();
  return rows;
}

}  // namespace tilescope::ptx
