#include "core/ptx/debug_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/ptx/debug_section.h"

namespace tilescope::ptx {
namespace {

using u64 = std::uint64_t;
using Place = DebugVariable::Place;
using Kind = DebugVariable::Kind;

// Numbers of the DWARF standard (version 4, 7.5), those that are looked at.
// clang-format off
enum Tag : u64 { array_type = 0x01, class_type = 0x02, enumeration_type = 0x04, parameter = 0x05,
  pointer_type = 0x0f, reference_type = 0x10, structure_type = 0x13, subrange = 0x21, type_definition = 0x16,
  union_type = 0x17, base_type = 0x24, const_type = 0x26, subprogram = 0x2e, variable = 0x34,
  volatile_type = 0x35, lexical_block = 0x0b, inlined = 0x1d };
enum Attribute : u64 { location = 0x02, name = 0x03, byte_size = 0x0b, low_pc = 0x11, high_pc = 0x12,
  abstract_origin = 0x31, decl_line = 0x3b, encoding = 0x3e, upper_bound = 0x2f, count_of = 0x37, specification = 0x47, type_of = 0x49,
  linkage_name = 0x6e, mips_linkage_name = 0x2007 };
enum Form : u64 { form_addr = 0x01, form_block2 = 0x03, form_block4 = 0x04, form_data2 = 0x05,
  form_data4 = 0x06, form_data8 = 0x07, form_string = 0x08, form_block = 0x09, form_block1 = 0x0a,
  form_data1 = 0x0b, form_flag = 0x0c, form_sdata = 0x0d, form_strp = 0x0e, form_udata = 0x0f,
  form_ref_addr = 0x10, form_ref1 = 0x11, form_ref2 = 0x12, form_ref4 = 0x13, form_ref8 = 0x14,
  form_ref_udata = 0x15, form_sec_offset = 0x17, form_exprloc = 0x18, form_flag_present = 0x19 };
enum Operation : u64 { op_addr = 0x03, op_plus_uconst = 0x23, op_reg0 = 0x50, op_regx = 0x90,
  op_fbreg = 0x91 };
// clang-format on

constexpr std::size_t most_variables = 1 << 16, most_places = 1 << 18, most_inside = 64,
                      longest_name = 4096;
constexpr std::size_t most_abbreviations = 1 << 18;

struct Abbreviation {
  u64 tag = 0;
  bool children = false;
  std::vector<std::pair<u64, u64>> attributes;  // and their forms
};

struct Attributes {
  std::string name, linkage;
  u64 bytes = 0, encoding = 0, line = 0, elements = 0;
  std::optional<u64> type, origin;  // bytes of .debug_info
  std::string_view low, high;
  u64 high_offset = 0;
  // A location: an expression [begin, end) of .debug_info, or a list in .debug_loc.
  std::size_t begin = 0, end = 0;
  std::optional<u64> list;
};

struct Entry {
  u64 tag = 0;
  Attributes of;
};

class DebugParser {
 public:
  DebugParser(const DebugSections& sections, const Module& module, DebugNames& out)
      : sections_(sections),
        module_(module),
        info_(sections.find(".debug_info")),
        abbreviations_(sections.find(".debug_abbrev")),
        lists_(sections.find(".debug_loc")),
        strings_(sections.find(".debug_str")),
        out_(out) {}

  void parse() {
    if (!info_ || !abbreviations_) return;
    for (std::size_t at = 0; at < info_->bytes.size() && out_.wrong.empty();) at = unit(at);
    for (auto& [variable, type] : wanted_types_) {
      out_.variables[variable].type = type_text(type, 0, out_.variables[variable]);
    }
  }

 private:
  void fail(std::size_t at, std::string_view what) {
    if (out_.wrong.empty()) {
      out_.wrong = fmt::format(".debug_info, byte {}: {}", at, what);
    }
  }

  // A unit's entries, with the scopes that they are in. Where the next one begins.
  std::size_t unit(std::size_t begin) {
    DebugReader in(*info_, begin, info_->bytes.size());
    const u64 length = in.fixed(4);
    const std::size_t end =
        length > in.left() ? info_->bytes.size() : in.at() + static_cast<std::size_t>(length);
    const u64 version = in.fixed(2);
    const u64 table = in.fixed(4);
    address_ = in.fixed(1);
    unit_ = begin;
    if (in.failed()) {
      fail(begin, "a unit's head is cut off");
      return info_->bytes.size();
    }
    if (version < 2 || version > 4 || (address_ != 8 && address_ != 4)) {
      fail(begin, fmt::format("a unit of DWARF {} with addresses of {} bytes; 2 to 4 are "
                              "understood, and 8 or 4",
                              version, address_));
      return end;
    }
    if (!read_table(table)) return end;
    entries(DebugReader(*info_, in.at(), end), version);
    return std::max(end, begin + 1);
  }

  bool read_table(u64 offset) {
    table_.clear();
    if (offset > abbreviations_->bytes.size()) {
      fail(unit_, "its abbreviations are not there");
      return false;
    }
    DebugReader in(*abbreviations_, static_cast<std::size_t>(offset), abbreviations_->bytes.size());
    while (in.left()) {
      const u64 code = in.uleb();
      if (code == 0) break;
      Abbreviation a;
      a.tag = in.uleb();
      a.children = in.fixed(1) != 0;
      while (!in.failed()) {
        const u64 attribute = in.uleb(), form = in.uleb();
        if (attribute == 0 && form == 0) break;
        a.attributes.emplace_back(attribute, form);
      }
      if (++read_abbreviations_ > most_abbreviations) {
        fail(unit_, "more abbreviations than any compiler writes");
        return false;
      }
      table_.emplace(code, std::move(a));
    }
    if (in.failed()) fail(unit_, "its abbreviations are cut off");
    return !in.failed();
  }

  struct Scope {
    std::string function;
    std::uint32_t from = 0, to = ~std::uint32_t{0};
    std::size_t entry = 0;  // whose children these are
  };

  void entries(DebugReader in, u64 version) {
    std::vector<Scope> scopes(1);
    while (in.left() && out_.wrong.empty()) {
      const std::size_t at = in.at();
      const u64 code = in.uleb();
      if (code == 0) {
        if (scopes.size() > 1) scopes.pop_back();
        continue;
      }
      const auto known = table_.find(code);
      if (known == table_.end()) return fail(at, "an entry without an abbreviation");
      const Abbreviation& a = known->second;
      Entry entry;
      entry.tag = a.tag;
      for (const auto& [attribute, form] : a.attributes) {
        if (!value(in, attribute, form, version, entry.of)) {
          return fail(
              at, fmt::format("an attribute of form 0x{:x} is not understood or cut off", form));
        }
      }
      Scope scope = scopes.back();
      if (entry.tag == subprogram) {
        scope.function = entry.of.linkage.empty() ? entry.of.name : entry.of.linkage;
      }
      if (!entry.of.low.empty()) {
        scope.from = line_of(entry.of.low, 0);
        scope.to = line_of(entry.of.high, ~std::uint32_t{0});
      }
      if ((entry.tag == variable || entry.tag == parameter) &&
          out_.variables.size() < most_variables) {
        add(entry, scopes.back());
      }
      if (entry.tag == subrange && entry.of.elements) {
        const auto array = entries_.find(scopes.back().entry);
        if (array != entries_.end()) {
          u64& elements = array->second.of.elements;
          elements = std::max<u64>(1, elements) * std::min<u64>(entry.of.elements, 1 << 20);
        }
      }
      scope.entry = at;
      entries_.emplace(at, std::move(entry));
      if (!a.children) continue;
      if (scopes.size() == most_inside) return fail(at, "entries inside each other, too deep");
      scopes.push_back(std::move(scope));
    }
    if (in.failed()) fail(in.at(), "an entry is cut off");
  }

  // One attribute's value; false: its form is not known, or it is cut off.
  bool value(DebugReader& in, u64 attribute, u64 form, u64 version, Attributes& of) {
    std::string text;
    std::string_view symbol;
    u64 number = 0;
    bool block = false;
    std::size_t begin = 0;
    const auto take_block = [&](u64 bytes) {
      block = true;
      begin = in.at();
      in.skip(bytes);
    };
    switch (form) {
      case form_addr:
        number = in.fixed(static_cast<std::size_t>(address_), symbol);
        break;
      case form_data1:
      case form_flag:
        number = in.fixed(1);
        break;
      case form_ref1:
        number = unit_ + in.fixed(1);
        break;
      case form_data2:
        number = in.fixed(2);
        break;
      case form_ref2:
        number = unit_ + in.fixed(2);
        break;
      case form_data4:
      case form_sec_offset:
        number = in.fixed(4, symbol);
        break;
      case form_ref4:
        number = unit_ + in.fixed(4, symbol);
        break;
      case form_data8:
        number = in.fixed(8, symbol);
        break;
      case form_ref8:
        number = unit_ + in.fixed(8);
        break;
      case form_ref_addr:
        number = in.fixed(version == 2 ? static_cast<std::size_t>(address_) : 4, symbol);
        break;
      case form_udata:
        number = in.uleb();
        break;
      case form_ref_udata:
        number = unit_ + in.uleb();
        break;
      case form_sdata:
        number = static_cast<u64>(in.sleb());
        break;
      case form_flag_present:
        number = 1;
        break;
      case form_string:
        text = in.text();
        break;
      case form_strp: {
        const u64 at = in.fixed(4, symbol);
        if (strings_ && at < strings_->bytes.size()) {
          const auto from = static_cast<std::size_t>(at);
          text = DebugReader(*strings_, from, from + longest_name).text();
        }
        break;
      }
      case form_block1:
        take_block(in.fixed(1));
        break;
      case form_block2:
        take_block(in.fixed(2));
        break;
      case form_block4:
        take_block(in.fixed(4));
        break;
      case form_block:
      case form_exprloc:
        take_block(in.uleb());
        break;
      default:
        return false;
    }
    if (in.failed()) return false;
    switch (attribute) {
      case name:
        of.name = std::move(text);
        break;
      case linkage_name:
      case mips_linkage_name:
        of.linkage = std::move(text);
        break;
      case byte_size:
        of.bytes = number;
        break;
      case encoding:
        of.encoding = number;
        break;
      case decl_line:
        of.line = number;
        break;
      case upper_bound:
        of.elements = number + 1;
        break;
      case count_of:
        of.elements = number;
        break;
      case type_of:
        of.type = number;
        break;
      case abstract_origin:
      case specification:
        of.origin = number;
        break;
      case low_pc:
        of.low = symbol;
        break;
      case high_pc:
        of.high = symbol;
        break;
      case location:
        if (block) {
          of.begin = begin;
          of.end = in.at();
        } else {
          of.list = number;
        }
        break;
      default:
        break;
    }
    return true;
  }

  std::uint32_t line_of(std::string_view label, std::uint32_t otherwise) const {
    const auto known = sections_.lines.find(label);
    return known == sections_.lines.end() ? otherwise : known->second;
  }

  void add(const Entry& entry, const Scope& scope) {
    DebugVariable v;
    Attributes of = entry.of;
    // Of an inlined function: its name and type stand where the function is described.
    if (of.origin) {
      const auto origin = entries_.find(*of.origin);
      if (origin != entries_.end()) {
        const Attributes& there = origin->second.of;
        if (of.name.empty()) of.name = there.name;
        if (!of.type) of.type = there.type;
        if (!of.line) of.line = there.line;
      }
    }
    if (of.name.empty()) return;
    v.name = of.name;
    v.line = static_cast<std::uint32_t>(of.line);
    v.function = scope.function;
    v.from = scope.from;
    v.to = scope.to;
    if (of.end > of.begin) {
      Place place;
      if (expression(*info_, of.begin, of.end, place)) v.places.push_back(std::move(place));
    } else if (of.list && lists_) {
      read_list(*of.list, v.places);
    }
    if (v.places.empty()) return;
    if (of.type) wanted_types_.emplace_back(out_.variables.size(), *of.type);
    out_.variables.push_back(std::move(v));
  }

  // Pairs of labels with a length and an expression each, up to a pair of zeros (DWARF 4, 2.6.2).
  void read_list(u64 offset, std::vector<Place>& places) {
    if (offset >= lists_->bytes.size()) return;
    DebugReader in(*lists_, static_cast<std::size_t>(offset), lists_->bytes.size());
    while (!in.failed() && places_ < most_places) {
      std::string_view from, to;
      const auto width = static_cast<std::size_t>(address_);
      const u64 low = in.fixed(width, from), high = in.fixed(width, to);
      if (low == 0 && high == 0 && from.empty() && to.empty()) return;
      const u64 bytes = in.fixed(2);
      const std::size_t begin = in.at();
      in.skip(bytes);
      if (in.failed()) return;
      Place place;
      place.from = line_of(from, 0);
      place.to = line_of(to, ~std::uint32_t{0});
      ++places_;
      if (!from.empty() && expression(*lists_, begin, in.at(), place)) {
        places.push_back(std::move(place));
      }
    }
  }

  // False: it is no place that is understood.
  bool expression(const DebugSection& section, std::size_t begin, std::size_t end, Place& place) {
    DebugReader in(section, begin, end);
    const u64 op = in.fixed(1);
    std::string_view symbol;
    switch (op) {
      case op_regx: {
        place.of = Place::Of::reg;
        place.name = register_name(in);
        break;
      }
      case op_addr: {
        in.fixed(static_cast<std::size_t>(address_), symbol);
        if (symbol.empty()) return false;
        place.name = symbol;
        place.of = is_parameter(symbol) ? Place::Of::parameter : Place::Of::local;
        if (place.of == Place::Of::local && symbol.find("depot") == std::string_view::npos) {
          return false;  // of a module: nothing of a thread
        }
        if (in.left() && in.fixed(1) == op_plus_uconst) place.offset = in.uleb();
        break;
      }
      case op_fbreg:
        place.of = Place::Of::local;
        place.offset = static_cast<u64>(in.sleb());
        break;
      default:
        return false;
    }
    return !in.failed() && (place.of == Place::Of::local || !place.name.empty());
  }

  // Letters as one number, seven bits of it in a byte; the first letter is the highest byte.
  static std::string register_name(DebugReader& in) {
    constexpr std::size_t longest = 16;
    std::uint8_t bytes[longest + 1] = {};
    for (std::size_t bit = 0; !in.failed(); bit += 7) {
      const u64 byte = in.fixed(1);
      for (std::size_t b = 0; b < 7; ++b) {
        if (!(byte >> b & 1)) continue;
        if ((bit + b) / 8 >= longest) return {};
        bytes[(bit + b) / 8] |= static_cast<std::uint8_t>(1u << (bit + b) % 8);
      }
      if (byte < 128) break;
    }
    std::string out;
    for (std::size_t i = longest; i-- > 0;) {
      if (bytes[i] == 0 && out.empty()) continue;
      if (bytes[i] <= ' ' || bytes[i] >= 127) return {};
      out += static_cast<char>(bytes[i]);
    }
    return out;
  }

  bool is_parameter(std::string_view symbol) const {
    return std::any_of(module_.functions.begin(), module_.functions.end(), [&](const Function& f) {
      return std::any_of(f.parameters.begin(), f.parameters.end(),
                         [&](const Parameter& p) { return p.name == symbol; });
    });
  }

  std::string type_text(u64 at, std::size_t depth, DebugVariable& v) {
    const auto known = entries_.find(static_cast<std::size_t>(at));
    if (known == entries_.end() || depth > 8) return {};
    const Attributes& of = known->second.of;
    const auto inner = [&] {
      return of.type ? type_text(*of.type, depth + 1, v) : std::string("void");
    };
    switch (known->second.tag) {
      case pointer_type:
      case reference_type: {
        const char sign = known->second.tag == pointer_type ? '*' : '&';
        std::string out = inner();
        v.bytes = address_;
        v.kind = Kind::pointer;
        return out.empty() ? std::string() : out + sign;
      }
      case const_type: {
        std::string out = inner();
        return out.empty() ? out : "const " + out;
      }
      case volatile_type:
        return inner();
      case type_definition:
        inner();
        return of.name;
      case array_type: {
        std::string out = inner();
        v.elements *= std::max<u64>(1, of.elements);
        v.bytes *= std::max<u64>(1, of.elements);
        return out.empty() ? out : out + "[]";
      }
      default:
        break;
    }
    v.bytes = of.bytes;
    v.kind = Kind::other;
    if (known->second.tag == enumeration_type) v.kind = Kind::integer;
    if (known->second.tag == base_type) {  // DWARF 4, 7.8: how it is encoded
      const u64 e = of.encoding;
      v.kind = e == 2             ? Kind::boolean
               : e == 4           ? Kind::floating
               : e == 5 || e == 6 ? Kind::integer
               : e == 7 || e == 8 ? Kind::natural
                                  : Kind::other;
    }
    return of.name;
  }

  const DebugSections& sections_;
  const Module& module_;
  const DebugSection *info_, *abbreviations_, *lists_, *strings_;
  DebugNames& out_;
  u64 address_ = 8;
  std::size_t unit_ = 0, places_ = 0, read_abbreviations_ = 0;
  std::unordered_map<u64, Abbreviation> table_;
  std::unordered_map<std::size_t, Entry> entries_;  // by their bytes
  std::vector<std::pair<std::size_t, u64>> wanted_types_;
};

}  // namespace

const Place* DebugVariable::at(std::uint32_t ptx_line) const {
  if (ptx_line < from || ptx_line >= to) return nullptr;
  for (const Place& place : places) {
    if (place.from <= ptx_line && ptx_line < place.to) return &place;
  }
  return nullptr;
}

DebugNames debug_names(const Module& module) {
  DebugNames out;
  for (std::uint32_t part = 0; part < module.parts.size() && out.wrong.empty(); ++part) {
    const DebugSections sections = debug_sections(module, part);
    out.wrong = sections.wrong;
    if (out.wrong.empty()) DebugParser(sections, module, out).parse();
  }
  return out;
}

}  // namespace tilescope::ptx
