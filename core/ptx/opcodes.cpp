#include "core/ptx/opcodes.h"

#include <unordered_map>

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
#define LOADED "type:b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"
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

std::vector<Opcode> table() {
  using U = Unit;
  return {
      {Op::add,
       "add",
       U::integer,
       {{I16_64, "d a b"},
        {"sat type:s32", "d a b"},
        {ROUND "? ftz? sat? type:f32", "d a b"},
        {"round:rn? type:f64", "d a b"}},
       "d = a + b",
       "9.7.1.1, 9.7.3.3"},
      {Op::sub,
       "sub",
       U::integer,
       {{I16_64, "d a b"},
        {"sat type:s32", "d a b"},
        {ROUND "? ftz? sat? type:f32", "d a b"},
        {"round:rn? type:f64", "d a b"}},
       "d = a - b",
       "9.7.1.2, 9.7.3.4"},
      {Op::mul,
       "mul",
       U::integer,
       {{"half:lo|hi " I16_64, "d a b"},
        {"half:wide type:u16|u32|s16|s32", "d:w a b"},
        {ROUND "? ftz? sat? type:f32", "d a b"},
        {"round:rn? type:f64", "d a b"}},
       "d = a * b; of integers the low half, the high half, or the whole in twice the width",
       "9.7.1.3, 9.7.3.5"},
      {Op::mad,
       "mad",
       U::integer,
       {{"half:lo|hi " I16_64, "d a b c"},
        {"half:hi sat type:s32", "d a b c"},
        {"half:wide type:u16|u32|s16|s32", "d:w a b c:w"},
        {ROUND " ftz? sat? type:f32", "d a b c"},
        {"round:rn type:f64", "d a b c"}},
       "d = a * b + c; of floats the same as fma",
       "9.7.1.4, 9.7.3.7"},
      {Op::div,
       "div",
       U::integer,
       {{I16_64, "d a b"},
        {ROUND " ftz? type:f32", "d a b"},
        {"approx:approx|full ftz? type:f32", "d a b"},
        {"round:rn type:f64", "d a b"}},
       "d = a / b; of integers truncated towards zero",
       "9.7.1.8, 9.7.3.8"},
      {Op::rem,
       "rem",
       U::integer,
       {{I16_64, "d a b"}},
       "the remainder of a / b, with the sign of a",
       "9.7.1.9"},
      {Op::abs,
       "abs",
       U::integer,
       {{S16_64, "d a"}, {"ftz? type:f32", "d a"}, {"type:f64", "d a"}},
       "d = |a|",
       "9.7.1.10, 9.7.3.9"},
      {Op::neg,
       "neg",
       U::integer,
       {{S16_64, "d a"}, {"ftz? type:f32", "d a"}, {"type:f64", "d a"}},
       "d = -a",
       "9.7.1.11, 9.7.3.10"},
      {Op::min,
       "min",
       U::integer,
       {{I16_64, "d a b"}, {"ftz? sat? type:f32", "d a b"}, {"type:f64", "d a b"}},
       "the smaller; of floats the number, where one is NaN",
       "9.7.1.12, 9.7.3.11"},
      {Op::max,
       "max",
       U::integer,
       {{I16_64, "d a b"}, {"ftz? sat? type:f32", "d a b"}, {"type:f64", "d a b"}},
       "the larger; of floats the number, where one is NaN",
       "9.7.1.13, 9.7.3.12"},
      {Op::popc,
       "popc",
       U::integer,
       {{"type:b32|b64", "d:u32 a"}},
       "the number of one bits",
       "9.7.1.14"},
      {Op::clz,
       "clz",
       U::integer,
       {{"type:b32|b64", "d:u32 a"}},
       "the number of leading zero bits",
       "9.7.1.15"},
      {Op::brev,
       "brev",
       U::integer,
       {{"type:b32|b64", "d a"}},
       "the bits in reverse order",
       "9.7.1.18"},
      {Op::bfind,
       "bfind",
       U::integer,
       {{"shiftamt? " I32_64, "d:u32 a"}},
       "the position of the highest bit that is not sign",
       "9.7.1.16"},
      {Op::bfe,
       "bfe",
       U::integer,
       {{I32_64, "d a b:u32 c:u32"}},
       "c bits of a from position b, extended",
       "9.7.1.19"},
      {Op::bfi,
       "bfi",
       U::integer,
       {{"type:b32|b64", "d a b c:u32 e:u32"}},
       "b with e bits from position c replaced by a",
       "9.7.1.20"},
      {Op::and_,
       "and",
       U::integer,
       {{B16_64, "d a b"}, {"type:pred", "p q q"}},
       "d = a & b",
       "9.7.8.1"},
      {Op::or_,
       "or",
       U::integer,
       {{B16_64, "d a b"}, {"type:pred", "p q q"}},
       "d = a | b",
       "9.7.8.2"},
      {Op::xor_,
       "xor",
       U::integer,
       {{B16_64, "d a b"}, {"type:pred", "p q q"}},
       "d = a ^ b",
       "9.7.8.3"},
      {Op::not_, "not", U::integer, {{B16_64, "d a"}, {"type:pred", "p q"}}, "d = ~a", "9.7.8.4"},
      {Op::shl,
       "shl",
       U::integer,
       {{B16_64, "d a b:u32"}},
       "a << b; b above the width is the width",
       "9.7.8.8"},
      {Op::shr,
       "shr",
       U::integer,
       {{"type:b16|b32|b64|u16|u32|u64|s16|s32|s64", "d a b:u32"}},
       "a >> b, filled with the sign for s types; b above the width is the width",
       "9.7.8.9"},
      {Op::setp,
       "setp",
       U::integer,
       {{COMPARE " ftz? " COMPARED, "p|p a b"}, {COMPARE " " LOGIC " ftz? " COMPARED, "p|p a b q"}},
       "a predicate (and its complement) from a comparison, combined with a third",
       "9.7.6.2"},
      {Op::selp,
       "selp",
       U::move,
       {{"type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "d a b q"}},
       "a if q, else b",
       "9.7.6.3"},

      {Op::fma,
       "fma",
       U::floating,
       {{ROUND " ftz? sat? type:f32", "d a b c"}, {"round:rn type:f64", "d a b c"}},
       "d = a * b + c, rounded once",
       "9.7.3.6"},
      {Op::rcp,
       "rcp",
       U::floating,
       {{"approx:approx ftz? type:f32", "d a"}, {ROUND " ftz? type:f32", "d a"}},
       "1 / a",
       "9.7.3.13"},
      {Op::sqrt,
       "sqrt",
       U::floating,
       {{"approx:approx ftz? type:f32", "d a"}, {ROUND " ftz? type:f32", "d a"}},
       "the square root",
       "9.7.3.15"},
      {Op::rsqrt,
       "rsqrt",
       U::floating,
       {{"approx:approx ftz? type:f32", "d a"}},
       "1 / the square root",
       "9.7.3.16"},
      {Op::ex2,
       "ex2",
       U::floating,
       {{"approx:approx ftz? type:f32", "d a"}},
       "2 to the power of a",
       "9.7.3.21"},
      {Op::lg2,
       "lg2",
       U::floating,
       {{"approx:approx ftz? type:f32", "d a"}},
       "the logarithm to base 2",
       "9.7.3.20"},
      {Op::sin,
       "sin",
       U::floating,
       {{"approx:approx ftz? type:f32", "d a"}},
       "the sine",
       "9.7.3.18"},
      {Op::cos,
       "cos",
       U::floating,
       {{"approx:approx ftz? type:f32", "d a"}},
       "the cosine",
       "9.7.3.19"},

      {Op::mov,
       "mov",
       U::move,
       {{"type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "{d} {a}"}, {"type:pred", "p q"}},
       "d = a: a register, constant, special register or address; packs and unpacks {..}",
       "9.7.9.3, 9.7.9.4"},
      {Op::cvt,
       "cvt",
       U::convert,
       {{"sat? type:" INTEGERS " type2:" INTEGERS, "d:type a:type2"},
        {ROUND " sat? type:f32 type2:" INTEGERS, "d:type a:type2"},
        {"round:rn type:f64 type2:" INTEGERS, "d:type a:type2"},
        {"integral:rni|rzi|rmi|rpi ftz? sat? type:" INTEGERS " type2:f32|f64", "d:type a:type2"},
        {"integral:rni|rzi|rmi|rpi? ftz? sat? type:f32 type2:f32", "d:type a:type2"},
        {"integral:rni|rzi|rmi|rpi? type:f64 type2:f64", "d:type a:type2"},
        {ROUND " ftz? sat? type:f32 type2:f64", "d:type a:type2"},
        {"ftz? type:f64 type2:f32", "d:type a:type2"}},
       "a converted from its type to d's",
       "9.7.9.21"},
      {Op::cvta,
       "cvta",
       U::move,
       {{"to space:const|global|local|param|shared|shared::cta type:u64", "d a"},
        {"space:const|global|local|param|shared|shared::cta type:u64", "d a"}},
       "a generic address from an address in a space, or back with .to",
       "9.7.9.20"},

      {Op::ld,
       "ld",
       U::memory,
       {{"weak? " SPACES " " CACHE " " EVICT " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"},
        {"order:volatile " SPACES " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"},
        {"order:relaxed|acquire " SCOPE " " SPACES " " EVICT " " PREFETCH " " VECTOR " " LOADED,
         "{d} [a]"},
        {"space:global " CACHE " nc " EVICT " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"}},
       "d from memory",
       "9.7.9.8, 9.7.9.9"},
      {Op::ldu,
       "ldu",
       U::memory,
       {{SPACES " " VECTOR " " LOADED, "{d} [a]"}},
       "d from memory that is the same for the whole warp",
       "9.7.9.10"},
      {Op::st,
       "st",
       U::memory,
       {{"weak? " SPACES " " CACHE " " EVICT " " VECTOR " " LOADED, "[a] {b}"},
        {"order:volatile " SPACES " " VECTOR " " LOADED, "[a] {b}"},
        {"order:relaxed|release " SCOPE " " SPACES " " EVICT " " VECTOR " " LOADED, "[a] {b}"}},
       "b to memory",
       "9.7.9.11"},
      {Op::atom,
       "atom",
       U::memory,
       {{ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:add type:u32|s32|u64|f32|f64", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:min|max type:u32|s32|u64|s64", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:inc|dec type:u32", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:and|or|xor|exch type:b32|b64", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:cas type:b32|b64", "d [a] b c"}},
       "d = memory, and memory = operation(memory, b), as one",
       "9.7.13.5"},
      {Op::red,
       "red",
       U::memory,
       {{ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:add type:u32|s32|u64|f32|f64", "[a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:min|max type:u32|s32|u64|s64", "[a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:inc|dec type:u32", "[a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:and|or|xor type:b32|b64", "[a] b"}},
       "memory = operation(memory, b), as one",
       "9.7.13.7"},

      {Op::bra, "bra", U::control, {{"uni?", "label"}}, "goes on at a label", "9.7.12.3"},
      {Op::ret,
       "ret",
       U::control,
       {{"uni?", ""}},
       "leaves the function; in an entry the same as exit",
       "9.7.12.6"},
      {Op::exit, "exit", U::control, {{"", ""}}, "ends the thread", "9.7.12.7"},
      {Op::trap,
       "trap",
       U::control,
       {{"", ""}},
       "stops the whole launch with an error",
       "9.7.19.5"},

      {Op::bar,
       "bar",
       U::barrier,
       {{"cta? operation:sync", "n b:u32?"}, {"cta? operation:arrive", "n b:u32"}},
       "waits at (or arrives at) one of 16 barriers of the block; whole warps",
       "9.7.13.1"},
      {Op::barrier,
       "barrier",
       U::barrier,
       {{"cta? operation:sync aligned?", "n b:u32?"},
        {"cta? operation:arrive aligned?", "n b:u32"}},
       "as bar; without .aligned each thread by itself",
       "9.7.13.1"},
      {Op::membar,
       "membar",
       U::barrier,
       {{"operation:gl|cta|sys", ""}},
       "orders this thread's accesses before and after it",
       "9.7.13.4"},
      {Op::fence,
       "fence",
       U::barrier,
       {{"order:sc|acq_rel|acquire|release? " SCOPE, ""}},
       "orders this thread's accesses before and after it",
       "9.7.13.4"},

      {Op::shfl,
       "shfl",
       U::warp,
       {{"sync operation:up|down|bfly|idx type:b32", "d|p a b:u32 c:u32 e:u32"}},
       "a of another lane",
       "9.7.9.6"},
      {Op::vote,
       "vote",
       U::warp,
       {{"sync operation:all|any|uni type:pred", "p q a:u32"},
        {"sync operation:ballot type:b32", "d q a:u32"}},
       "all, any, equal, or which lanes",
       "9.7.13.10"},
      {Op::activemask,
       "activemask",
       U::warp,
       {{"type:b32", "d"}},
       "the lanes that execute this",
       "9.7.13.12"},
  };
}

struct FieldWords {
  std::string_view name;
  std::vector<std::string_view> words;
};

// The words of a field in the order of its enumeration above.
std::vector<FieldWords> fields() {
  std::vector<FieldWords> out(field_count);
  auto set = [&](Field f, std::string_view name, std::vector<std::string_view> words) {
    out[static_cast<std::size_t>(f)] = {name, std::move(words)};
  };
  std::vector<std::string_view> types;
  for (int i = 1; i <= static_cast<int>(Type::e5m2x2); ++i) {
    types.push_back(name_of(static_cast<Type>(i)));
  }
  set(Field::type, "type", types);
  set(Field::type2, "type2", types);
  set(Field::round, "round", {"rn", "rz", "rm", "rp"});
  set(Field::integral, "integral", {"rni", "rzi", "rmi", "rpi"});
  set(Field::compare, "compare",
      {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu",
       "gtu", "geu", "num", "nan"});
  set(Field::logic, "logic", {"and", "or", "xor"});
  set(Field::half, "half", {"lo", "hi", "wide"});
  set(Field::approx, "approx", {"approx", "full"});
  const std::vector<std::string_view> spaces = {"const",  "global",       "local",      "param",
                                                "shared", "param::entry", "shared::cta"};
  set(Field::space, "space", spaces);
  set(Field::space2, "space2", spaces);
  set(Field::order, "order", {"volatile", "relaxed", "acquire", "release", "acq_rel", "sc"});
  set(Field::scope, "scope", {"cta", "cluster", "gpu", "sys"});
  set(Field::cache, "cache", {"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  set(Field::evict, "evict",
      {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
       "L1::no_allocate"});
  set(Field::prefetch, "prefetch", {"L2::64B", "L2::128B", "L2::256B"});
  set(Field::vector, "vector", {"v2", "v4", "v8"});
  set(Field::operation, "operation",
      {"add", "inc",  "dec",  "min", "max", "and", "or",  "xor",    "exch", "cas", "sync", "arrive",
       "up",  "down", "bfly", "idx", "all", "any", "uni", "ballot", "gl",   "cta", "sys"});
  for (auto [field, name] : {std::pair<Field, std::string_view>{Field::ftz, "ftz"},
                             {Field::sat, "sat"},
                             {Field::shiftamt, "shiftamt"},
                             {Field::to, "to"},
                             {Field::weak, "weak"},
                             {Field::nc, "nc"},
                             {Field::uni, "uni"},
                             {Field::sync, "sync"},
                             {Field::aligned, "aligned"},
                             {Field::cta, "cta"}}) {
    set(field, name, {name});
  }
  return out;
}

const std::vector<FieldWords>& field_words() {
  static const std::vector<FieldWords> all = fields();
  return all;
}

std::vector<std::string_view> split(std::string_view s, char at) {
  std::vector<std::string_view> out;
  while (!s.empty()) {
    const std::size_t cut = s.find(at);
    if (cut != 0) out.push_back(s.substr(0, cut));
    s.remove_prefix(cut == std::string_view::npos ? s.size() : cut + 1);
  }
  return out;
}

struct ModifierRule {
  Field field = Field::type;
  std::vector<std::uint8_t> values;  // allowed, as words of the field, from 1
  bool optional = false;
};

struct CompiledForm {
  std::vector<ModifierRule> modifiers;
  std::vector<OperandRule> operands;
};

Field field_named(std::string_view name) {
  const auto& all = field_words();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return static_cast<Field>(i);
  }
  return Field::count_;
}

std::uint8_t value_of(Field field, std::string_view word) {
  const auto& words = words_of(field);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<std::uint8_t>(i + 1);
  }
  return 0;
}

ModifierRule compile_modifier(std::string_view item) {
  ModifierRule rule;
  if (item.back() == '?') {
    rule.optional = true;
    item.remove_suffix(1);
  }
  const std::size_t colon = item.find(':');
  const bool flag = colon == std::string_view::npos;
  rule.field = field_named(flag ? item : item.substr(0, colon));
  for (std::string_view word : split(flag ? item : item.substr(colon + 1), '|')) {
    rule.values.push_back(value_of(rule.field, word));
  }
  return rule;
}

OperandRule compile_operand(std::string_view item, bool partner) {
  using Kind = OperandRule::Kind;
  OperandRule rule;
  rule.partner = partner;
  rule.optional = partner;
  if (item.back() == '?') {
    rule.optional = true;
    item.remove_suffix(1);
  }
  const std::size_t colon = item.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view type = item.substr(colon + 1);
    item = item.substr(0, colon);
    rule.type = type_named(type);
    rule.from = type == "w"       ? OperandRule::From::wide
                : type == "type"  ? OperandRule::From::type
                : type == "type2" ? OperandRule::From::type2
                                  : OperandRule::From::said;
  }
  rule.kind = item == "d"       ? Kind::write
              : item == "p"     ? Kind::write_predicate
              : item == "q"     ? Kind::read_predicate
              : item == "[a]"   ? Kind::address
              : item == "{d}"   ? Kind::write_vector
              : item[0] == '{'  ? Kind::read_vector
              : item == "label" ? Kind::label
              : item == "n"     ? Kind::constant
                                : Kind::read;
  if (rule.kind == Kind::write_predicate || rule.kind == Kind::read_predicate) {
    rule.from = OperandRule::From::said;
    rule.type = Type::pred;
  }
  if (rule.kind == Kind::constant) {
    rule.from = OperandRule::From::said;
    rule.type = Type::u32;
  }
  return rule;
}

CompiledForm compile(const Form& form) {
  CompiledForm out;
  for (std::string_view item : split(form.modifiers, ' ')) {
    out.modifiers.push_back(compile_modifier(item));
  }
  for (std::string_view item : split(form.operands, ' ')) {
    bool partner = false;
    for (std::string_view part : split(item, '|')) {
      out.operands.push_back(compile_operand(part, partner));
      partner = true;
    }
  }
  return out;
}

// forms[op][form]
const std::vector<std::vector<CompiledForm>>& compiled() {
  static const std::vector<std::vector<CompiledForm>> all = [] {
    std::vector<std::vector<CompiledForm>> out;
    for (const Opcode& row : opcodes()) {
      auto& forms = out.emplace_back();
      for (const Form& form : row.forms) forms.push_back(compile(form));
    }
    return out;
  }();
  return all;
}

bool fits(const CompiledForm& form, const std::vector<std::string_view>& modifiers,
          Modifiers& out) {
  out = {};
  std::size_t next = 0;
  for (const ModifierRule& rule : form.modifiers) {
    const std::uint8_t value =
        next < modifiers.size() ? value_of(rule.field, modifiers[next]) : std::uint8_t{0};
    bool taken = false;
    for (std::uint8_t allowed : rule.values) taken = taken || (value != 0 && value == allowed);
    if (taken) {
      out.set(rule.field, value);
      ++next;
    } else if (!rule.optional) {
      return false;
    }
  }
  return next == modifiers.size();
}

}  // namespace

std::string_view name_of(Unit unit) {
  constexpr std::string_view names[] = {"integer", "floating", "convert", "move",
                                        "memory",  "control",  "barrier", "warp"};
  return names[static_cast<std::size_t>(unit)];
}

const std::vector<std::string_view>& words_of(Field field) {
  return field_words()[static_cast<std::size_t>(field)].words;
}

std::string_view name_of(Field field) {
  return field_words()[static_cast<std::size_t>(field)].name;
}

Space Modifiers::space() const {
  constexpr Space spaces[] = {Space::generic, Space::constant, Space::global, Space::local,
                              Space::param,   Space::shared,   Space::param,  Space::shared};
  return spaces[(*this)[Field::space]];
}

int Modifiers::vector() const {
  constexpr int widths[] = {1, 2, 4, 8};
  return widths[(*this)[Field::vector]];
}

const std::vector<Opcode>& opcodes() {
  static const std::vector<Opcode> rows = table();
  return rows;
}

const Opcode& opcode(Op op) {
  return opcodes()[static_cast<std::size_t>(op)];
}

const Opcode* opcode_named(std::string_view name) {
  static const std::unordered_map<std::string_view, const Opcode*> by_name = [] {
    std::unordered_map<std::string_view, const Opcode*> out;
    for (const Opcode& row : opcodes()) out[row.name] = &row;
    return out;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

int match(const Opcode& opcode, const std::vector<std::string_view>& modifiers, Modifiers& out) {
  const auto& forms = compiled()[static_cast<std::size_t>(opcode.op)];
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (fits(forms[i], modifiers, out)) return static_cast<int>(i);
  }
  return -1;
}

const std::vector<OperandRule>& operands_of(const Opcode& opcode, int form) {
  return compiled()[static_cast<std::size_t>(opcode.op)][static_cast<std::size_t>(form)].operands;
}

std::string syntax(const Opcode& opcode, int form) {
  std::string out(opcode.name);
  const Form& written = opcode.forms[static_cast<std::size_t>(form)];
  const CompiledForm& rules =
      compiled()[static_cast<std::size_t>(opcode.op)][static_cast<std::size_t>(form)];
  for (const ModifierRule& rule : rules.modifiers) {
    const bool braces = rule.optional || rule.values.size() > 1;
    if (braces) out += '{';
    for (std::size_t i = 0; i < rule.values.size(); ++i) {
      out += (i ? "|." : ".");
      out += words_of(rule.field)[rule.values[i] - 1u];
    }
    if (braces) out += rule.optional ? "}?" : "}";
  }
  bool first = true;
  for (std::string_view item : split(written.operands, ' ')) {
    const std::size_t colon = item.find(':');
    out += first ? " " : ", ";
    out += item.substr(0, colon);
    if (item.back() == '?' && colon != std::string_view::npos) out += '?';
    first = false;
  }
  return out;
}

}  // namespace tilescope::ptx
