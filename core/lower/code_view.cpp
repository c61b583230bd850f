#include "core/lower/code_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::lowering {
namespace {

// What is known of a block's extents; 0 where nothing is.
std::array<std::uint32_t, 3> known_threads(const Code& code) {
  if (code.threads[0]) return code.threads;
  const ptx::Function& f = code.program->entry;
  if (f.required_block[0]) return f.required_block;
  std::uint32_t most = f.maximum_block[0];
  for (const std::uint32_t n : {f.maximum_block[1], f.maximum_block[2]}) most *= std::max(n, 1u);
  return {most, most, most};
}

// Of a layout that is partitioned; 0: it is not.
std::uint32_t threads_of(const Lowering& l) {
  if (!l.copy) return 0;
  const Result<std::int64_t> threads = size(Layout(l.copy->layout_tv.modes.mode(0)));
  return threads ? static_cast<std::uint32_t>(std::clamp<std::int64_t>(*threads, 1, 1024)) : 0;
}

std::array<std::uint32_t, 3> tried_threads(const Code& code, const Lowering& l) {
  constexpr std::uint32_t usual = 128;
  const ptx::Function& f = code.program->entry;
  std::array<std::uint32_t, 3> out = code.threads;
  if (!out[0]) out = f.required_block;
  if (!out[0]) out = {threads_of(l), 1, 1};
  if (!out[0]) out = f.maximum_block;
  if (!out[0]) out = {usual, 1, 1};
  for (std::uint32_t& n : out) n = std::clamp(n, 1u, 1024u);
  return out;
}

constexpr std::uint64_t first_base = 0x1000'0000'0000, apart = 0x10'0000'0000;

}  // namespace

int unknown_numbers(const Lowering& l) {
  if (l.levels.empty()) return 0;
  int out = 0;
  for (int i = 0; i < l.tensor.layout.leaves(); ++i) {
    const Mode& m = l.tensor.layout.modes.leaf[i];
    out += !m.shape.known();
    out += !m.stride.known();
  }
  return out;
}

bool comparable(const Lowering& l) {
  const bool part = std::any_of(l.steps.begin(), l.steps.end(), [](const Step& s) {
    return s.kind == Step::Kind::slice || s.kind == Step::Kind::partition;
  });
  return part && !l.levels.empty() && l.outcome.kind == Type::Kind::memref;
}

CodeView::CodeView(const Lowering& lowering, const Code& given)
    : l(lowering), code(given), addresses(given.program, known_threads(given)) {
  threads = tried_threads(given, lowering);
  partitioned = threads_of(lowering);
  find_rounds();
  element = std::max(1, bits_of(lowering.tensor.type) / 8);
  fillings = given.fillings;
  if (!fillings.empty()) return;
  const std::vector<std::uint64_t> bases = pointers();
  // Unknown numbers are where the struct of the levels above has them: behind the pointer.
  const int unknown = unknown_numbers(lowering);
  const Layout& layout = lowering.tensor.layout;
  for (std::uint64_t choice = 0; choice < 3; ++choice) {
    Filling filling;
    filling.blocks = {64, 4, 2};
    std::vector<std::int64_t> divisors;
    for (const bool stride : {false, true}) {
      for (int i = 0; i < layout.leaves() && !lowering.levels.empty(); ++i) {
        const Int& n = stride ? layout.modes.leaf[i].stride : layout.modes.leaf[i].shape;
        if (n.known()) continue;
        const auto most = static_cast<std::int64_t>(stride ? 400 + 60 * choice : 5 + 2 * choice);
        const auto index = static_cast<std::int64_t>(filling.unknowns.size());
        filling.unknowns.push_back((most + 7 * index) / n.value * n.value + n.value);
      }
    }
    for (const ptx::Parameter& p : given.program->entry.parameters) {
      for (std::uint32_t at = p.offset; at + 4 <= p.offset + p.bytes; at += 4) {
        filling.parameters[at] = 256 + 128 * ((at / 4 + choice) % 5);
      }
    }
    for (const std::uint64_t pointer : bases) {
      for (int i = 0; i < unknown; ++i) {
        const std::uint64_t at = pointer + 8 + 4 * static_cast<std::uint64_t>(i);
        if (addresses.parameter_at(at).first == addresses.parameter_at(pointer).first) {
          filling.parameters[at] =
              static_cast<std::uint32_t>(filling.unknowns[static_cast<std::size_t>(i)]);
        }
      }
    }
    fillings.push_back(std::move(filling));
    // Nothing but pointers: there is nothing to choose.
    const bool numbers = std::any_of(
        given.program->entry.parameters.begin(), given.program->entry.parameters.end(),
        [&](const ptx::Parameter& p) {
          return p.bytes != 8 || std::find(bases.begin(), bases.end(), p.offset) == bases.end();
        });
    if (!numbers) break;
  }
}

void CodeView::find_rounds() {
  const auto look = [&](const ptx::Sum& sum) {
    addresses.sums().any(sum, [&](const ptx::Atom& a) {
      if (a.kind == ptx::Atom::Kind::round) rounds.push_back(a.number);
      return false;
    });
  };
  for (const ptx::Access& a : addresses.accesses()) {
    look(a.address);
    for (const ptx::Sum& c : a.coordinates) look(c);
  }
  std::sort(rounds.begin(), rounds.end());
  rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
}

std::string CodeView::parameter(std::uint64_t offset) const {
  const auto [p, inside] = addresses.parameter_at(offset);
  std::string out =
      p < code.names.size() && !code.names[p].empty() ? code.names[p] : fmt::format("param_{}", p);
  if (inside) out += fmt::format("+{}", inside);
  return out;
}

std::string CodeView::name(const ptx::Atom& atom) const {
  using Kind = ptx::Atom::Kind;
  switch (atom.kind) {
    case Kind::parameter:
    case Kind::place: {
      const std::string own = parameter(atom.number);
      return own.find('+') == std::string::npos ? own : "[" + own + "]";
    }
    case Kind::round: {
      if (rounds.size() < 2) return "round";
      const auto at = std::find(rounds.begin(), rounds.end(), atom.number) - rounds.begin();
      return fmt::format("round{}", at + 1);
    }
    case Kind::merge:
      return program().name_of_register(
          addresses.definitions().merge(static_cast<std::uint32_t>(atom.number)).reg);
    default: {
      const ptx::Defined value = addresses.value_of(atom);
      if (value.kind != ptx::Defined::Kind::instruction) return "?";
      return program().name_of_register(value.reg);
    }
  }
}

std::string CodeView::sum(const ptx::Sum& sum) const {
  return ptx::text(addresses.sums(), sum, [&](const ptx::Atom& a) { return name(a); });
}

std::string CodeView::address(const ptx::Sum& whole, std::uint32_t bytes) const {
  ptx::Sum rest;
  std::string base;
  bool even = true;
  for (const ptx::Term& t : whole.terms) {
    const bool one = t.factor == 1 && t.atoms.size() == 1 && base.empty();
    const ptx::Atom* a = one ? &addresses.sums().atom(t.atoms[0]) : nullptr;
    if (a && ((a->kind == ptx::Atom::Kind::parameter && a->bytes == 8) ||
              a->kind == ptx::Atom::Kind::place)) {
      base = name(*a);
      continue;
    }
    rest.terms.push_back(t);
    even = even && t.factor % static_cast<std::int64_t>(std::max(bytes, 1u)) == 0;
  }
  if (rest.zero() && !base.empty()) return base;
  std::string out = base.empty() ? "" : base + " + ";
  if (even && bytes > 1) {
    for (ptx::Term& t : rest.terms) t.factor /= static_cast<std::int64_t>(bytes);
    const bool alone = rest.terms.size() == 1;
    return fmt::format("{}{}{}{} * {} bytes", out, alone ? "" : "(", sum(rest), alone ? "" : ")",
                       bytes);
  }
  return out + sum(rest) + " bytes";
}

std::string CodeView::place(const ptx::Instruction& i) const {
  const bool called = i.caller_line > 0;
  const std::string_view file = called ? program().caller_file(i) : program().source_file(i);
  const std::uint32_t line = called ? i.caller_line : i.source_line;
  if (line == 0 || file.empty()) return "";
  const std::size_t slash = file.rfind('/');
  return fmt::format("{}:{}", slash == std::string_view::npos ? file : file.substr(slash + 1),
                     line);
}

std::string CodeView::words(const ptx::Instruction& i) const {
  std::string out;
  for (const char c : i.text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  // A parameter's name begins with that of its kernel, which may be long.
  const std::string prefix = std::string(program().entry.name) + "_";
  for (std::size_t at = out.find(prefix); at != std::string::npos; at = out.find(prefix, at)) {
    out.erase(at, prefix.size());
  }
  return out;
}

std::vector<std::uint64_t> CodeView::pointers() const {
  std::vector<std::uint64_t> out;
  for (const ptx::Access& a : addresses.accesses()) {
    if (a.pointer && a.kind != ptx::Access::Kind::tensor) out.push_back(*a.pointer);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::uint64_t CodeView::base(std::uint64_t pointer) const {
  return first_base + apart * (pointer / 4);
}

std::uint64_t CodeView::thread_count() const {
  return std::min<std::uint64_t>(std::uint64_t{threads[0]} * threads[1] * threads[2], 1024);
}

ptx::ThreadNumbers CodeView::numbers(const Filling& filling, std::uint64_t thread,
                                     std::uint64_t block, std::uint32_t round,
                                     std::uint64_t seed) const {
  ptx::ThreadNumbers out;
  out.threads = threads;
  out.blocks = filling.blocks;
  const auto split = [](std::uint64_t n, const std::array<std::uint32_t, 3>& of) {
    return std::array<std::uint32_t, 3>{static_cast<std::uint32_t>(n % of[0]),
                                        static_cast<std::uint32_t>(n / of[0] % of[1]),
                                        static_cast<std::uint32_t>(n / of[0] / of[1])};
  };
  out.thread = split(thread, threads);
  out.block = split(block, filling.blocks);
  out.parameters = filling.parameters;
  for (const std::uint64_t p : pointers()) out.parameters[p] = base(p);
  for (std::uint32_t b = 0; round > 0 && b < program().blocks.size(); ++b) out.rounds[b] = round;
  out.seed = seed;
  return out;
}

}  // namespace tilescope::lowering
