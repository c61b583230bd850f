#include "core/ptx/opcodes.h"

#include <algorithm>
#include <unordered_map>

#include "core/ptx/modifiers.h"

namespace tilescope::ptx {
namespace {

struct FieldWords {
  std::string_view name;
  std::vector<std::string_view> words;
};

// Shapes of wgmma: N 8 to 256 by eights, each K of the list (9.7.15.2).
constexpr std::uint32_t group_columns = 32;
constexpr std::array<std::uint32_t, 5> group_depths = {8, 16, 32, 64, 256};
constexpr std::uint8_t group_shapes = group_columns * group_depths.size();

const std::vector<std::string>& group_shape_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const std::uint32_t k : group_depths) {
      for (std::uint32_t n = 1; n <= group_columns; ++n) {
        out.push_back("m64n" + std::to_string(8 * n) + "k" + std::to_string(k));
      }
    }
    return out;
  }();
  return names;
}

GroupShape group_shape_of(std::uint8_t word) {
  if (word == 0) return {};
  return {8 * ((word - 1u) % group_columns + 1), group_depths[(word - 1u) / group_columns]};
}

// The words of a field in the order of its enumeration above.
std::vector<FieldWords> fields() {
  std::vector<FieldWords> out(field_count);
  auto set = [&](Field f, std::string_view name, std::vector<std::string_view> words) {
    out[static_cast<std::size_t>(f)] = {name, std::move(words)};
  };
  std::vector<std::string_view> types;
  for (int i = 1; i <= static_cast<int>(last_type); ++i) {
    types.push_back(name_of(static_cast<Type>(i)));
  }
  set(Field::type, "type", types);
  set(Field::type2, "type2", types);
  set(Field::round, "round", {"rn", "rz", "rm", "rp", "rna", "rs"});
  set(Field::type3, "type3", types);
  set(Field::type4, "type4", types);
  set(Field::type5, "type5", types);
  set(Field::shape, "shape",
      {"m8n8", "m8n8k4", "m8n8k16", "m8n8k32", "m8n8k128", "m16n8k4", "m16n8k8", "m16n8k16",
       "m16n8k32", "m16n8k64", "m16n8k128", "m16n8k256", "m8n16", "m16n8", "m16n16", "m16n16k8",
       "m16n16k16", "m8n32k16", "m32n8k16"});
  set(Field::a_layout, "a_layout", {"row", "col"});
  set(Field::b_layout, "b_layout", {"row", "col"});
  set(Field::part, "part", {"a", "b", "c", "d"});
  set(Field::matrices, "matrices", {"x1", "x2", "x4"});
  set(Field::tensor_step, "tensor_step",
      {"alloc", "dealloc", "relinquish_alloc_permit", "mma", "ld", "st", "wait::ld", "wait::st",
       "commit", "fence::before_thread_sync", "fence::after_thread_sync", "cp", "shift"});
  set(Field::group_step, "group_step", {"mma_async", "fence", "commit_group", "wait_group"});
  set(Field::group_shape, "group_shape", {group_shape_names().begin(), group_shape_names().end()});
  set(Field::cta_group, "cta_group", {"cta_group::1", "cta_group::2"});
  set(Field::kind, "kind",
      {"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8", "kind::mxf8f6f4", "kind::mxf4",
       "kind::mxf4nvf4"});
  set(Field::block_scale, "block_scale", {"block_scale"});
  set(Field::scale_vectors, "scale_vectors",
      {"scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"});
  set(Field::collector, "collector",
      {"collector::a::fill",     "collector::a::use",      "collector::a::lastuse",
       "collector::a::discard",  "collector::b0::fill",    "collector::b0::use",
       "collector::b0::lastuse", "collector::b0::discard", "collector::b1::fill",
       "collector::b1::use",     "collector::b1::lastuse", "collector::b1::discard",
       "collector::b2::fill",    "collector::b2::use",     "collector::b2::lastuse",
       "collector::b2::discard", "collector::b3::fill",    "collector::b3::use",
       "collector::b3::lastuse", "collector::b3::discard"});
  set(Field::cells, "cells", {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
  set(Field::times, "times", {"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
  set(Field::packing, "packing", {"pack::16b", "unpack::16b"});
  set(Field::arrival, "arrival", {"mbarrier::arrive::one"});
  set(Field::copied, "copied", {"128x256b", "4x256b", "128x128b", "64x128b", "32x128b"});
  set(Field::warps, "warps", {"warpx2::02_13", "warpx2::01_23", "warpx4"});
  set(Field::to_format, "to_format", {"b8x16"});
  set(Field::from_format, "from_format", {"b6x16_p32", "b4x16_p64"});
  // Of mma.sync; tcgen05's are in Field::kind.
  set(Field::mma_kind, "mma_kind",
      {"kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
  set(Field::scaled, "scaled", {"block_scale"});
  set(Field::scale_vector, "scale_vector", {"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
  set(Field::scale_factor, "scale_factor", {"scaled::n2::ue8m0"});
  set(Field::sparse, "sparse", {"sp", "sp::ordered_metadata"});
  set(Field::launch_step, "launch_step", {"try_cancel", "query_cancel"});
  set(Field::answer, "answer",
      {"is_canceled", "get_first_ctaid", "get_first_ctaid::x", "get_first_ctaid::y",
       "get_first_ctaid::z"});
  set(Field::multicast_all, "multicast_all", {"multicast::cluster::all"});
  set(Field::integral, "integral", {"rni", "rzi", "rmi", "rpi"});
  set(Field::compare, "compare",
      {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu",
       "gtu", "geu", "num", "nan"});
  set(Field::property, "property",
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  set(Field::logic, "logic", {"and", "or", "xor"});
  set(Field::half, "half", {"lo", "hi", "wide"});
  set(Field::funnel, "funnel", {"l", "r"});
  set(Field::permute, "permute", {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  set(Field::packed, "packed", {"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  set(Field::amount, "amount", {"clamp", "wrap"});
  set(Field::approx, "approx", {"approx", "full"});
  const std::vector<std::string_view> spaces = {"const",       "global",      "local",
                                                "param",       "shared",      "param::entry",
                                                "shared::cta", "param::func", "shared::cluster"};
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
      {"add",   "inc",          "dec",        "min",      "max",
       "and",   "or",           "xor",        "exch",     "cas",
       "sync",  "arrive",       "up",         "down",     "bfly",
       "idx",   "all",          "any",        "uni",      "ballot",
       "gl",    "cta",          "sys",        "red",      "launch_dependents",
       "wait",  "commit_group", "wait_group", "wait_all", "fractional",
       "range", "cvt",          "load",       "store",    "mma"});
  set(Field::evict2, "evict2", {"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  const std::vector<std::string_view> levels = {
      "L1", "L2", "L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"};
  set(Field::level, "level", levels);
  set(Field::level2, "level2", levels);
  set(Field::hint, "hint", {"L2::cache_hint"});
  set(Field::proxies, "proxies", {"alias", "async", "tensormap::generic", "async::generic"});
  set(Field::restriction, "restriction",
      {"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  set(Field::step, "step",
      {"init", "inval", "expect_tx", "complete_tx", "arrive", "arrive_drop", "test_wait",
       "try_wait", "pending_count"});
  set(Field::dim, "dim", {"1d", "2d", "3d", "4d", "5d", "a1d", "a2d", "cube", "acube"});
  set(Field::completion, "completion", {"mbarrier::complete_tx::bytes", "bulk_group"});
  set(Field::mode, "mode",
      {"tile", "im2col", "im2col::w", "im2col::w::128", "im2col_no_offs", "tile::gather4",
       "tile::scatter4"});
  set(Field::registers, "registers", {"inc", "dec"});
  set(Field::map_field, "map_field",
      {"global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride",
       "elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode"});
  set(Field::map_bits, "map_bits", {"b1024"});
  // Flags that some form also has as a word of another field.
  set(Field::on_mbarrier, "on_mbarrier", {"mbarrier"});
  set(Field::no_complete, "no_complete", {"noComplete"});
  set(Field::expects, "expects", {"expect_tx"});
  set(Field::multicast, "multicast", {"multicast::cluster"});
  set(Field::cluster, "cluster", {"cluster"});
  set(Field::unformatted, "unformatted", {"b"});
  set(Field::outside, "outside", {"trap", "clamp", "zero"});
  set(Field::query, "query", {"width", "height", "depth"});
  set(Field::reduction, "reduction", {"reduce"});
  set(Field::prefetching, "prefetching", {"prefetch"});
  set(Field::reduce, "reduce", {"popc", "and", "or"});
  for (auto [field, name] : {std::pair<Field, std::string_view>{Field::ftz, "ftz"},
                             {Field::sat, "sat"},
                             {Field::cc, "cc"},
                             {Field::pack, "pack"},
                             {Field::relu, "relu"},
                             {Field::satfinite, "satfinite"},
                             {Field::nan, "NaN"},
                             {Field::xorsign, "xorsign"},
                             {Field::abs, "abs"},
                             {Field::shiftamt, "shiftamt"},
                             {Field::to, "to"},
                             {Field::weak, "weak"},
                             {Field::nc, "nc"},
                             {Field::uni, "uni"},
                             {Field::sync, "sync"},
                             {Field::aligned, "aligned"},
                             {Field::cta, "cta"},
                             {Field::warp, "warp"},
                             {Field::mask, "mask"},
                             {Field::async, "async"},
                             {Field::noftz, "noftz"},
                             {Field::mmio, "mmio"},
                             {Field::proxy, "proxy"},
                             {Field::ws, "ws"},
                             {Field::trans, "trans"},
                             {Field::noinc, "noinc"},
                             {Field::parity, "parity"},
                             {Field::mbarrier_init, "mbarrier_init"},
                             {Field::bulk, "bulk"},
                             {Field::tensor, "tensor"},
                             {Field::read, "read"},
                             {Field::cp_mask, "cp_mask"},
                             {Field::tensormap, "tensormap"},
                             {Field::replace, "replace"},
                             {Field::down, "down"},
                             {Field::oob, "oob"},
                             {Field::ashift, "ashift"},
                             {Field::red, "red"},
                             {Field::cp_fenceproxy, "cp_fenceproxy"}}) {
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

// Of wgmma's shapes those of one depth: "k16"; "k32/16": where N beyond 32 comes in sixteens.
std::vector<std::uint8_t> group_shape_values(std::string_view depth) {
  const bool sixteens = depth.ends_with("/16");
  if (sixteens) depth.remove_suffix(3);
  std::vector<std::uint8_t> out;
  for (std::uint8_t word = 1; word <= group_shapes; ++word) {
    const GroupShape shape = group_shape_of(word);
    if ("k" + std::to_string(shape.k) != depth) continue;
    if (!sixteens || shape.n <= 32 || shape.n % 16 == 0) out.push_back(word);
  }
  return out;
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
  if (flag) {  // the field's only word
    rule.values.push_back(1);
    return rule;
  }
  if (rule.field == Field::group_shape) {
    rule.values = group_shape_values(item.substr(colon + 1));
    return rule;
  }
  for (std::string_view word : split(item.substr(colon + 1), '|')) {
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
  if (item[0] == '{' && item.back() != '}') {
    const std::size_t brace = item.find('}');
    if (item.substr(brace + 1, 2) == "N/") {
      rule.columns = static_cast<std::uint8_t>(item.back() - '0');
      item = item.substr(0, brace + 1);
    }
    for (char digit : item.substr(brace + 1)) {
      rule.count = static_cast<std::uint8_t>(rule.count * 10 + (digit - '0'));
    }
    item = item.substr(0, brace + 1);
  }
  if (item.starts_with("n=")) {
    for (std::string_view value : split(item.substr(2), '/')) {
      rule.values.push_back(value[0] == '-' ? -(value[1] - '0') : value[0] - '0');
    }
    item = "n";
  }
  rule.kind = item == "cf"        ? Kind::read_carry
              : item == "cf="     ? Kind::write_carry
              : item == "d"       ? Kind::write
              : item == "p"       ? Kind::write_predicate
              : item == "q"       ? Kind::read_predicate
              : item == "[a]"     ? Kind::address
              : item == "[b]"     ? Kind::second_address
              : item == "[m]"     ? Kind::mbarrier_address
              : item == "[t]"     ? Kind::tensor_map
              : item == "{x}"     ? Kind::coordinates
              : item == "{o}"     ? Kind::offsets
              : item == "s"       ? Kind::size
              : item == "{d}"     ? Kind::write_vector
              : item[0] == '{'    ? Kind::read_vector
              : item == "label"   ? Kind::label
              : item == "targets" ? Kind::targets
              : item == "call"    ? Kind::call
              : item == "n"       ? Kind::constant
                                  : Kind::read;
  if (rule.kind == Kind::write_predicate || rule.kind == Kind::read_predicate) {
    rule.from = OperandRule::From::said;
    rule.type = Type::pred;
  }
  if (is_hidden(rule)) rule.optional = true;
  if (rule.kind == Kind::constant) {
    rule.from = OperandRule::From::said;
    rule.type = Type::u32;
  }
  return rule;
}

CompiledForm compile(const Form& form) {
  CompiledForm out;
  out.modifiers = modifier_rules(form.modifiers);
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

bool takes(const CompiledForm& form, std::size_t operands) {
  std::size_t least = 0, most = 0;
  for (const OperandRule& rule : form.operands) {
    if (rule.partner || is_hidden(rule)) continue;
    ++most;
    if (!rule.optional) ++least;
  }
  return least <= operands && operands <= most;
}

bool is_address(const OperandRule& rule) {
  using Kind = OperandRule::Kind;
  return rule.kind == Kind::address || rule.kind == Kind::second_address ||
         rule.kind == Kind::mbarrier_address || rule.kind == Kind::tensor_map;
}

// Do the operands look like what the form wants, taken as Decoder::operands takes them?
bool suits(const CompiledForm& form, std::string_view looks) {
  std::size_t wanted = 0, next = 0;
  for (const OperandRule& rule : form.operands) wanted += !rule.optional;
  for (const OperandRule& rule : form.operands) {
    if (rule.partner || is_hidden(rule)) continue;
    if (rule.optional && looks.size() - next <= wanted) continue;
    wanted -= !rule.optional;
    const char look = looks[next++];
    const bool offsets = rule.kind == OperandRule::Kind::offsets;
    const bool vector = rule.kind == OperandRule::Kind::read_vector ||
                        rule.kind == OperandRule::Kind::write_vector || offsets;
    if (look != 'e' && is_address(rule) != (look == '[')) return false;
    if (look == '{' && !vector) return false;
    if (vector && (rule.count || rule.columns || offsets) && look != '{') return false;
  }
  return next == looks.size();
}

// Groups of one family have the same words: which of them a word is for, their order says. 0: of
// none.
std::size_t family_of(Field field) {
  constexpr std::string_view families[] = {"type", "space", "level", "layout"};
  const std::string_view name = name_of(field);
  for (std::size_t f = 0; f < std::size(families); ++f) {
    const bool first = name.substr(0, families[f].size()) == families[f];
    if (first || (f == 3 && name.ends_with(families[f]))) return f + 1;
  }
  return 0;
}

// The same with the modifiers in any order, which ptxas takes too and some libraries write
// (atom.add.acq_rel.gpu.s32): each goes to the first group that has it and is still free. Only
// types, layouts, spaces and levels keep their order among themselves, which says what each is of:
// cvt.rn.f16.s16 is not cvt.rn.s16.f16.
bool fits_anyhow(const CompiledForm& form, const std::vector<std::string_view>& modifiers,
                 Modifiers& out) {
  out = {};
  const ModifierRule* last[5] = {};  // taken, of each family
  for (std::string_view modifier : modifiers) {
    const ModifierRule* taker = nullptr;
    std::uint8_t value = 0;
    for (const ModifierRule& rule : form.modifiers) {
      value = value_of(rule.field, modifier);
      const bool allowed = value != 0 && std::find(rule.values.begin(), rule.values.end(), value) !=
                                             rule.values.end();
      if (!allowed || out.has(rule.field)) continue;
      const std::size_t family = family_of(rule.field);
      if (family && last[family] && &rule < last[family]) continue;
      taker = &rule;
      break;
    }
    if (!taker) return false;
    last[family_of(taker->field)] = taker;
    out.set(taker->field, value);
  }
  return std::all_of(form.modifiers.begin(), form.modifiers.end(), [&](const ModifierRule& rule) {
    return rule.optional || out.has(rule.field);
  });
}

}  // namespace

std::string_view name_of(Unit unit) {
  constexpr std::string_view names[] = {"integer", "floating", "convert",   "move",
                                        "memory",  "control",  "barrier",   "warp",
                                        "matrix",  "tensor",   "warpgroup", "async"};
  return names[static_cast<std::size_t>(unit)];
}

const std::vector<std::string_view>& words_of(Field field) {
  return field_words()[static_cast<std::size_t>(field)].words;
}

std::string_view name_of(Field field) {
  return field_words()[static_cast<std::size_t>(field)].name;
}

namespace {
constexpr Space spaces[] = {Space::generic, Space::constant, Space::global, Space::local,
                            Space::param,   Space::shared,   Space::param,  Space::shared,
                            Space::param,   Space::shared};
}

Space Modifiers::space() const {
  return spaces[(*this)[Field::space]];
}

Space Modifiers::space2() const {
  return spaces[(*this)[Field::space2]];
}

bool Modifiers::reaches_cluster() const {
  const std::uint8_t said = (*this)[Field::space];
  return said == 0 || words_of(Field::space)[said - 1u] == "shared::cluster";
}

GroupShape Modifiers::group_shape() const {
  return group_shape_of((*this)[Field::group_shape]);
}

int Modifiers::vector() const {
  constexpr int widths[] = {1, 2, 4, 8};
  return widths[(*this)[Field::vector]];
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

int match(const Opcode& opcode, const std::vector<std::string_view>& modifiers,
          std::string_view looks, Modifiers& out) {
  const auto& forms = compiled()[static_cast<std::size_t>(opcode.op)];
  int first = -1, counted = -1;
  Modifiers taken, of_counted;
  for (auto fit : {fits, fits_anyhow}) {
    for (std::size_t i = 0; i < forms.size(); ++i) {
      if (!fit(forms[i], modifiers, taken)) continue;
      const bool count_fits = takes(forms[i], looks.size());
      if (first < 0) out = taken, first = static_cast<int>(i);
      if (count_fits && counted < 0) of_counted = taken, counted = static_cast<int>(i);
      if (count_fits && suits(forms[i], looks)) return out = taken, static_cast<int>(i);
    }
    if (counted >= 0) return out = of_counted, counted;
    if (first >= 0) break;
  }
  return first;
}

std::vector<ModifierRule> modifier_rules(std::string_view text) {
  std::vector<ModifierRule> out;
  for (std::string_view item : split(text, ' ')) out.push_back(compile_modifier(item));
  return out;
}

const std::vector<ModifierRule>& modifiers_of(const Opcode& opcode, int form) {
  return compiled()[static_cast<std::size_t>(opcode.op)][static_cast<std::size_t>(form)].modifiers;
}

const std::vector<OperandRule>& operands_of(const Opcode& opcode, int form) {
  return compiled()[static_cast<std::size_t>(opcode.op)][static_cast<std::size_t>(form)].operands;
}

std::string wrong_group_shape(const std::vector<std::string_view>& modifiers) {
  const auto shape = std::find_if(modifiers.begin(), modifiers.end(),
                                  [](std::string_view m) { return m.starts_with("m64n"); });
  if (shape == modifiers.end()) return "";
  const auto has = [&](std::string_view word) {
    return std::find(modifiers.begin(), modifiers.end(), word) != modifiers.end();
  };
  const bool sixteens = has("s32");
  const std::uint8_t known = value_of(Field::group_shape, *shape);
  const std::uint32_t n = group_shape_of(known).n;
  if (known && (!sixteens || n <= 32 || n % 16 == 0)) return "";
  return std::string(*shape) + " is no shape of a wgmma" +
         (sixteens ? " of integers or bits: N is 8, 16, 24, 32, 48 and so on in steps of 16 to 256"
                   : ": N is 8 to 256 in steps of 8") +
         ", and K 32 bytes of A, 64 of .sp (PTX ISA 9.7.15.2)";
}

std::string syntax(const Opcode& opcode, int form) {
  std::string out(opcode.name);
  const Form& written = opcode.forms[static_cast<std::size_t>(form)];
  const CompiledForm& rules =
      compiled()[static_cast<std::size_t>(opcode.op)][static_cast<std::size_t>(form)];
  for (const ModifierRule& rule : rules.modifiers) {
    if (rule.field == Field::group_shape) {
      out += ".m64nNk" + std::to_string(group_shape_of(rule.values[0]).k);
      continue;
    }
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
    if (item == "cf" || item == "cf=") continue;
    const std::size_t colon = item.find(':');
    out += first ? " " : ", ";
    const bool handle = opcode.op == Op::tex || opcode.op == Op::suld || opcode.op == Op::sust;
    out += item == "[t]|{x}"        ? handle ? "[handle, {coordinates}]" : "[map, {coordinates}]"
           : item == "{o}"          ? "{offsets}"
           : item.starts_with("n=") ? item.substr(2)
                                    : item.substr(0, colon);
    if (item.back() == '?' && colon != std::string_view::npos) out += '?';
    first = false;
  }
  return out;
}

}  // namespace tilescope::ptx
