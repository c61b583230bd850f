#include "core/lower/code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/lower/code_view.h"

namespace tilescope::lowering {
namespace {

using ptx::Access;

// What differs from thread to thread, block to block and round to round, with the pointer; and what
// is added to that, the same for all. Accesses that differ in the second alone stand together.
std::pair<ptx::Sum, ptx::Sum> parted(const CodeView& view, const ptx::Sum& sum) {
  std::pair<ptx::Sum, ptx::Sum> out;
  for (const ptx::Term& t : sum.terms) {
    ptx::Sum one;
    one.terms.push_back(t);
    const bool pointer =
        t.factor == 1 && t.atoms.size() == 1 && view.addresses.sums().atom(t.atoms[0]).bytes == 8;
    const bool varies = view.addresses.sums().any(one, [](const ptx::Atom& a) {
      return a.of.empty() && a.kind != ptx::Atom::Kind::parameter;
    });
    (pointer || varies ? out.first : out.second).terms.push_back(t);
  }
  return out;
}

std::string_view word_of(Access::Kind kind, bool writes) {
  switch (kind) {
    case Access::Kind::load:
      return "load";
    case Access::Kind::store:
      return "store";
    case Access::Kind::atomic:
      return "atomic";
    case Access::Kind::copy:
      return "cp.async";
    case Access::Kind::bulk:
      return writes ? "bulk store" : "bulk load";
    case Access::Kind::tensor:
      return writes ? "TMA store" : "TMA load";
  }
  return "";
}

std::string counted(std::size_t n, std::string_view word) {
  const bool plural = n != 1 && word != "cp.async";
  return fmt::format("{} {}{}", n, word, plural ? "s" : "");
}

void add_once(std::vector<std::string>& all, std::string one) {
  if (!one.empty() && std::find(all.begin(), all.end(), one) == all.end()) {
    all.push_back(std::move(one));
  }
}

// --- what is told beside the level --------------------------------------------------------------

std::string coordinates_text(const CodeView& view, const Access& a) {
  std::vector<std::string> all;
  for (const ptx::Sum& c : a.coordinates) all.push_back(view.sum(c));
  return fmt::format("{} at ({})", view.address(a.address, 0), fmt::join(all, ", "));
}

std::string base_of(const CodeView& view, const Access& a) {
  if (a.pointer) return view.parameter(*a.pointer);
  for (const ptx::Term& t : a.address.terms) {
    if (t.atoms.size() != 1) continue;
    const ptx::Atom& atom = view.addresses.sums().atom(t.atoms[0]);
    if (atom.kind == ptx::Atom::Kind::place) return view.parameter(atom.number);
  }
  return "";
}

void list_addresses(const CodeView& view, Lowered& out) {
  struct Group {
    ptx::Sum sum;
    std::vector<ptx::Sum> coordinates;
    std::vector<const Access*> all;
    std::vector<std::string> more;
  };
  std::vector<Group> groups;
  for (const Access& a : view.addresses.accesses()) {
    const bool tensor = a.kind == Access::Kind::tensor;
    const auto [sum, same] = parted(view, a.address);
    const ptx::Sum& own = sum;
    std::vector<ptx::Sum> coordinates;
    if (tensor) coordinates = a.coordinates;
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.sum == own && g.coordinates == coordinates && g.all[0]->kind == a.kind &&
             g.all[0]->writes == a.writes;
    });
    if (at == groups.end()) at = groups.insert(at, {own, coordinates, {}, {}});
    at->all.push_back(&a);
    add_once(at->more, view.sum(same));
  }
  for (const Group& g : groups) {
    const Access& first = *g.all[0];
    CodeAddress one;
    one.base = base_of(view, first);
    std::set<std::uint32_t> bytes;
    for (const Access* a : g.all) {
      bytes.insert(a->bytes);
      add_once(one.lines, view.place(view.program().code[a->at]));
    }
    one.what = counted(g.all.size(), word_of(first.kind, first.writes));
    if (*bytes.begin() > 0) one.what += fmt::format(" of {} bytes", fmt::join(bytes, " or "));
    if (first.kind == Access::Kind::tensor) {
      one.sum = coordinates_text(view, first);
    } else {
      one.sum = view.address(g.sum, first.element);
      one.more = g.more;
    }
    out.addresses.push_back(std::move(one));
  }
}

// What a value hangs on.
struct Hangs {
  bool thread = false, block = false, pointer = false, round = false, other = false;
};

Hangs hangs(const CodeView& view, const ptx::Sum& sum) {
  Hangs out;
  view.addresses.sums().any(sum, [&](const ptx::Atom& a) {
    if (ptx::is_thread(a)) {
      out.thread = true;
    } else if (a.kind == ptx::Atom::Kind::special) {
      out.block = true;
    } else if (a.kind == ptx::Atom::Kind::round || a.kind == ptx::Atom::Kind::merge) {
      out.round = true;
    } else if (a.kind == ptx::Atom::Kind::place) {
      out.pointer = true;
    } else if (a.kind == ptx::Atom::Kind::value) {
      out.other = true;
    }
    return false;
  });
  for (const ptx::Term& t : sum.terms) {
    if (t.factor != 1 || t.atoms.size() != 1) continue;
    const ptx::Atom& a = view.addresses.sums().atom(t.atoms[0]);
    out.pointer = out.pointer || (a.kind == ptx::Atom::Kind::parameter && a.bytes == 8);
  }
  return out;
}

std::string_view part_of(const Hangs& h) {
  if (h.pointer && !h.thread && !h.block && !h.round) return "the base pointer";
  if (h.pointer) return "the address";
  if (h.other) return "from memory or other lanes";
  if (h.round) return "what goes round a loop";
  if (h.thread && h.block) return "thread and block together";
  if (h.thread) return "the thread's offset";
  if (h.block) return "the block's tile";
  return "sizes and numbers";
}

void list_parts(CodeView& view, const std::vector<std::uint32_t>& slice, Lowered& out) {
  constexpr std::string_view order[] = {"the thread's offset",        "the block's tile",
                                        "thread and block together",  "what goes round a loop",
                                        "from memory or other lanes", "sizes and numbers",
                                        "the base pointer",           "the address"};
  std::map<std::string_view, CodePart> parts;
  for (const std::uint32_t at : slice) {
    const auto sum = view.addresses.value(at);
    if (!sum) continue;
    CodePart& part = parts[part_of(hangs(view, *sum))];
    const ptx::Instruction& i = view.program().code[at];
    const std::string place = view.place(i);
    add_once(part.lines, place.empty() ? fmt::format("PTX line {}", i.line) : place);
    ++part.instructions;
  }
  for (const std::string_view name : order) {
    const auto at = parts.find(name);
    if (at == parts.end()) continue;
    at->second.name = name;
    out.parts.push_back(at->second);
  }
}

void list_loops(const CodeView& view, Lowered& out) {
  for (const ptx::Carried& c : view.addresses.carried()) {
    const std::string name =
        view.program().name_of_register(view.addresses.definitions().merge(c.merge).reg);
    std::string where = "a guarded instruction";
    if (c.block != ptx::Merge::no_block) {
      const ptx::Instruction& top = view.program().code[view.program().blocks[c.block].first];
      where = view.place(top);
      where = where.empty() ? fmt::format("PTX line {}", top.line)
                            : fmt::format("{} (PTX line {})", where, top.line);
    }
    const auto join = [&](const std::vector<ptx::Sum>& all) {
      std::vector<std::string> texts;
      for (const ptx::Sum& s : all) texts.push_back(view.sum(s));
      return fmt::format("{}", fmt::join(texts, " or "));
    };
    if (c.even) {
      if (std::find(view.rounds.begin(), view.rounds.end(), c.block) == view.rounds.end()) continue;
      out.loops.push_back(fmt::format("{} goes round the loop at {}: {} first, + {} each round",
                                      name, where, view.sum(c.start), view.sum(c.step)));
    } else if (c.nexts.empty()) {
      out.loops.push_back(fmt::format("{} is, by the way to {}, {}", name, where, join(c.starts)));
    } else {
      out.loops.push_back(fmt::format("{} goes round the loop at {}: {} first, then {}", name,
                                      where, join(c.starts), join(c.nexts)));
    }
  }
}

// --- the level ----------------------------------------------------------------------------------

// Whose addresses the level has: those of the tensor above, or all where there is none.
std::vector<const Access*> shown_accesses(const CodeView& view) {
  const std::vector<std::uint64_t> pointers = view.pointers();
  std::vector<const Access*> out;
  for (const Access& a : view.addresses.accesses()) {
    if (comparable(view.l) && !pointers.empty() && a.pointer != pointers[0]) continue;
    out.push_back(&a);
  }
  return out;
}

class LevelWriter {
 public:
  explicit LevelWriter(CodeView& view) : view_(view), shown_(shown_accesses(view)) {
    std::set<std::uint32_t> slice;
    for (const Access* a : shown_) slice.insert(a->slice.begin(), a->slice.end());
    slice_.assign(slice.begin(), slice.end());
    kinship_ = kinship(view, slice_);
  }
  const std::vector<std::uint32_t>& slice() const { return slice_; }

  Level write(const Lowered& found) {
    Level level;
    level.title = "PTX";
    level.says =
        "The kernel's own instructions that compute addresses, under the lines of its "
        "source; behind a colon what each comes to.";
    level.instructions = true;
    group();
    std::vector<std::uint32_t> all = slice_;
    for (const auto& [at, group] : groups_) all.push_back(at);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::string place = "?";
    std::size_t heading = 0;
    for (const std::uint32_t at : all) {
      const ptx::Instruction& i = view_.program().code[at];
      if (const std::string here = view_.place(i); here != place) {
        place = here;
        heading = level.statements.size();
        if (!here.empty()) level.statements.push_back(line_of(i, here));
      }
      Statement s;
      s.op = Op::instruction;
      s.words = words(at);
      s.from = from(at, found);
      if (!place.empty()) {
        std::vector<int>& above = level.statements[heading].from;
        above.insert(above.end(), s.from.begin(), s.from.end());
        std::sort(above.begin(), above.end());
        above.erase(std::unique(above.begin(), above.end()), above.end());
      }
      level.statements.push_back(std::move(s));
    }
    return level;
  }

 private:
  // One row for accesses of one source line with the same register and opcode.
  void group() {
    for (const Access* a : shown_) {
      const std::string op = opcode(*a), place = view_.place(view_.program().code[a->at]);
      const auto same = std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) {
        const Access& first = *g.second[0];
        return first.base == a->base && a->kind != Access::Kind::tensor && opcode(first) == op &&
               view_.place(view_.program().code[first.at]) == place;
      });
      if (same == groups_.end()) {
        groups_.push_back({a->at, {a}});
      } else {
        same->second.push_back(a);
      }
    }
  }
  std::string opcode(const Access& a) const {
    const std::string words = view_.words(view_.program().code[a.at]);
    return words.substr(0, words.find(' '));
  }

  Statement line_of(const ptx::Instruction& i, const std::string& place) const {
    Statement s;
    s.op = Op::source_line;
    const bool called = i.caller_line > 0;
    std::string text;
    if (view_.code.source) {
      text = view_.code.source(
          called ? view_.program().caller_file(i) : view_.program().source_file(i),
          called ? i.caller_line : i.source_line);
      text.erase(0, text.find_first_not_of(" \t"));
    }
    s.words = text.empty() ? place : fmt::format("{}  {}", place, text);
    return s;
  }

  std::string words(std::uint32_t at) {
    std::string out = view_.words(view_.program().code[at]);
    const auto group =
        std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g.first == at; });
    if (group == groups_.end()) {
      if (const auto sum = view_.addresses.value(at)) out += " : " + view_.sum(*sum);
      return out;
    }
    const Access& a = *group->second[0];
    if (group->second.size() > 1) {
      out += fmt::format("   and {} more", group->second.size() - 1);
    }
    return fmt::format("{} : {}", out,
                       a.kind == Access::Kind::tensor ? coordinates_text(view_, a)
                                                      : view_.address(a.address, a.element));
  }

  std::vector<int> from(std::uint32_t at, const Lowered& found) const {
    if (const auto known = kinship_.from.find(at); known != kinship_.from.end()) {
      return known->second;
    }
    const auto group =
        std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g.first == at; });
    if (group == groups_.end()) return {};
    // An access is of what its address is of; where all of the layout's bytes are found, of the
    // address that the levels above end in.
    const Access& a = *group->second[0];
    if (a.base != ptx::no_register) {
      const ptx::Defined value =
          view_.addresses.definitions().found(view_.addresses.before(a.at, a.base));
      const auto base = kinship_.from.find(value.at);
      if (value.kind == ptx::Defined::Kind::instruction && base != kinship_.from.end()) {
        return base->second;
      }
    }
    const std::size_t levels = view_.l.levels.size();
    if (!found.compared || !found.agrees || levels == 0) return {};
    return {view_.l.levels[levels - 1].outcome.front().statement};
  }

  CodeView& view_;
  std::vector<const Access*> shown_;
  std::vector<std::uint32_t> slice_;
  Kinship kinship_;
  std::vector<std::pair<std::uint32_t, std::vector<const Access*>>> groups_;
};

}  // namespace

Outcome<Lowered> lower_to(Lowering& lowering, const Code& code) {
  CodeView view(lowering, code);
  Lowered out;
  if (view.addresses.accesses().empty()) {
    return Error{ErrorKind::unsupported,
                 fmt::format("{} has no access to global memory, so no address to follow.",
                             code.program->entry.name),
                 ""};
  }
  compare_layout(view, out);
  compare_sums(view, out);
  list_addresses(view, out);
  list_loops(view, out);
  LevelWriter writer(view);
  list_parts(view, writer.slice(), out);
  Level level = writer.write(out);
  lowering.levels.push_back(std::move(level));
  lowering.notes = out.found;
  if (!out.addresses.empty()) lowering.notes.insert(lowering.notes.begin(), out.addresses[0].sum);
  if (!out.sums_agree) lowering.notes.push_back(out.sums);
  return out;
}

std::string page(const Lowered& lowered) {
  std::string out = "Addresses of global memory\n";
  for (const CodeAddress& a : lowered.addresses) {
    out += fmt::format("  {}\n      {}{}\n", a.sum, a.what,
                       a.lines.empty() ? "" : fmt::format("; {}", fmt::join(a.lines, ", ")));
    if (a.more.size() > 1 || (a.more.size() == 1 && a.more[0] != "0")) {
      constexpr std::size_t most = 16;
      const std::vector<std::string> first(
          a.more.begin(),
          a.more.begin() + static_cast<std::ptrdiff_t>(std::min(most, a.more.size())));
      out += fmt::format(
          "      + {}{} bytes\n", fmt::join(first, ", "),
          a.more.size() > most ? fmt::format(", and {} more,", a.more.size() - most) : "");
    }
  }
  if (!lowered.loops.empty()) out += "Loops\n";
  for (const std::string& loop : lowered.loops) out += fmt::format("  {}\n", loop);
  if (!lowered.parts.empty()) out += "Where it is computed\n";
  for (const CodePart& part : lowered.parts) {
    out += fmt::format("  {}: {} instruction{}; {}\n", part.name, part.instructions,
                       part.instructions == 1 ? "" : "s", fmt::join(part.lines, ", "));
  }
  if (!lowered.found.empty()) out += "Beside the layout\n";
  for (const std::string& found : lowered.found) out += fmt::format("  {}\n", found);
  if (!lowered.sums.empty()) out += lowered.sums + "\n";
  return out;
}

}  // namespace tilescope::lowering
