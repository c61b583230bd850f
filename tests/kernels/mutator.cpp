#include "tests/kernels/mutator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <utility>

#include "tests/kernels/change_writer.h"
#include "tests/kernels/instructions.h"

namespace tilescope::test {

const std::vector<std::string> mutated_instructions = {"wgmma.fence",
                                                       "wgmma.commit_group",
                                                       "wgmma.wait_group",
                                                       "wgmma.mma_async",
                                                       "mbarrier.init",
                                                       "mbarrier.arrive.expect_tx",
                                                       "mbarrier.arrive",
                                                       "mbarrier.expect_tx",
                                                       "mbarrier.try_wait",
                                                       "mbarrier.test_wait",
                                                       "fence.proxy.async",
                                                       "fence.mbarrier_init",
                                                       "bar.sync",
                                                       "barrier.sync",
                                                       "bar.arrive",
                                                       "barrier.cluster.arrive",
                                                       "barrier.cluster.wait",
                                                       "setmaxnreg.inc",
                                                       "setmaxnreg.dec",
                                                       "cp.async.bulk.commit_group",
                                                       "cp.async.bulk.wait_group",
                                                       "cp.async.bulk",
                                                       "cp.async.commit_group",
                                                       "cp.async.wait_group",
                                                       "cp.async.wait_all",
                                                       "cp.async",
                                                       "st.shared",
                                                       "st.async",
                                                       "stmatrix"};

namespace {

class Changes : private ChangeWriter {
 public:
  Changes(const std::vector<std::string>& lines, const std::string& entry,
          std::vector<Mutation>& out)
      : ChangeWriter(out), lines_(lines) {
    EntryText text = read_entry(lines, entry, mutated_instructions);
    all_ = std::move(text.instructions);
    begin_ = text.begin, end_ = text.end;
  }

  void find() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Instruction& x = all_[i];
      if (x.name != "wgmma.mma_async") drop(x), twice(x);
      if (i + 1 < all_.size()) behind_the_next(x, all_[i + 1]);
      counts(x);
      places(x);
      words(x);
      ranks(x);
    }
    flips();
    turns();
  }

 private:
  void drop(const Instruction& x) {
    Mutation& m = add("drop " + x.name, x, "dropped");
    put(m, x.at, "\t// dropped");
    if (!x.back) return;
    put(m, x.back, "\t// dropped");
    Mutation& once = add("once " + x.name, x, "asked once, and not waited for");
    put(once, x.back, "\t// dropped");
  }

  void twice(const Instruction& x) {
    if (x.back) return;
    Mutation& m = add("twice " + x.name, x, "executed twice");
    const std::string text = x.guard + x.opcode + " " + x.rest;
    put(m, x.at, "\t" + text + " " + text);
  }

  // It and the next one change places; what stands between them comes before both.
  void behind_the_next(const Instruction& x, const Instruction& next) {
    if (x.straight != next.straight || x.first == next.first || x.back || next.back) return;
    if (x.name == "wgmma.mma_async" && next.name == "wgmma.mma_async") return;  // sums commute
    if (x.name == next.name && (x.rest == next.rest || x.name == "mbarrier.init")) return;
    if (x.name == next.name && (x.name == "st.shared" || x.name == "cp.async.bulk" ||
                                x.name == "stmatrix" || x.name == "cp.async"))
      return;  // neither knows of the other
    Mutation& m = add("move " + x.name + " behind " + next.name, x,
                      fmt::format("moved behind {} of line {}", next.name, next.at + 1));
    m.also = static_cast<std::uint32_t>(next.at + 1);
    // On the last line of the next one, so that no line comes or goes.
    std::string moved;
    for (std::size_t at = x.first; at <= x.last; ++at) {
      moved += " " + trimmed(lines_[at]);
      put(m, at, "\t// moved");
    }
    put(m, next.last, lines_[next.last] + moved);
  }

  // ---- counts ----
  // Its last operand, which may be a register.
  void last(const std::string& kind, const Instruction& x, const std::string& type,
            const std::string& op, const std::string& what) {
    std::string before;
    const std::string operand = last_operand(x.rest, before);
    other(kind, x, before + "other;", what,
          fmt::format(".reg .{} other; {} other, {}, {};", type, op.substr(0, op.find(' ')),
                      operand, op.substr(op.find(' ') + 1)));
  }
  void number(const std::string& kind, const Instruction& x, int by, const std::string& unit) {
    std::string before;
    const std::string operand = last_operand(x.rest, before);
    if (operand.empty() || operand.find_first_not_of("0123456789") != std::string::npos) return;
    const int is = std::stoi(operand) + by;
    if (is >= 0) other(kind, x, fmt::format("{}{};", before, is), fmt::format("{} {}", unit, is));
  }

  void counts(const Instruction& x) {
    if (has(x.name, "wait_group")) {
      number("more", x, 1, "made to leave");
      number("less", x, -1, "made to leave");
    }
    if (begins(x.name, "setmaxnreg")) {
      number("more", x, 8, "made to take");
      number("less", x, -8, "made to take");
    }
    if (x.name == "bar.sync") number("other", x, has(x.rest, ",") ? 32 : 3, "made");
    if (x.name == "mbarrier.init") {
      last("more", x, "b32", "add.u32 1", "given a count of one more");
      last("less", x, "b32", "sub.u32 1", "given a count of one less");
    }
    if (has(x.name, "expect_tx")) {
      last("more", x, "b32", "add.u32 16", "given 16 bytes more");
      last("less", x, "b32", "sub.u32 16", "given 16 bytes less");
      last("half", x, "b32", "shr.u32 1", "given half the bytes");
    }
    if (has(x.name, "_wait") && has(x.opcode, "parity"))
      last("flip", x, "b32", "xor.b32 1", "given the other parity");
    if (has(x.opcode, "multicast")) {
      last("outside", x, "b16", "or.b16 8", "given a mask with a CTA that is not there");
      last("only one", x, "b16", "and.b16 1", "given a mask of the first CTA alone");
      last("not first", x, "b16", "and.b16 2", "given a mask of the second CTA alone");
    }
  }

  // ---- places ----
  void displace(const std::string& kind, const Instruction& x, std::size_t bracket, int by,
                const std::string& what) {
    const std::string rest = displaced(x.rest, bracket, by);
    if (!rest.empty()) other(kind, x, rest, what);
  }

  void places(const Instruction& x) {
    if (begins(x.name, "mbarrier")) {
      displace("next barrier of", x, 0, 8, "made for the 8 bytes behind its mbarrier");
      displace("last barrier of", x, 0, -8, "made for the 8 bytes before its mbarrier");
    }
    if (x.name == "st.shared") displace("elsewhere", x, 0, 1024, "made 1024 bytes further");
    if (x.name == "cp.async") displace("elsewhere", x, 0, 1024, "made 1024 bytes further");
    if (x.name == "stmatrix") displace("elsewhere", x, 0, 1024, "made 1024 bytes further");
    if (x.name == "cp.async.bulk") {
      const std::size_t brackets =
          static_cast<std::size_t>(std::count(x.rest.begin(), x.rest.end(), '['));
      const bool load = has(x.opcode, "mbarrier");
      const std::size_t shared = load ? 0 : brackets - 1;
      displace("next row of", x, shared, 1024, "made for shared memory 1024 bytes further");
      displace("next stage of", x, shared, 8192, "made for shared memory 8192 bytes further");
      if (load) displace("barrier of", x, brackets - 1, 8, "made to tell the next mbarrier");
      coordinates(x);
    }
    if (x.name == "wgmma.mma_async") descriptors(x);
  }

  // "[%rd52, {%r814, %r63}]"
  void coordinates(const Instruction& x) {
    const std::size_t open = x.rest.find('{'), comma = x.rest.find(',', open);
    const std::size_t close = x.rest.find_first_of(",}", comma + 1);
    if (open == std::string::npos || comma == std::string::npos || x.rest.find('}', open) < comma)
      return;
    for (const auto& [kind, from, to, by] :
         {std::tuple{"column of", open + 1, comma, 64}, std::tuple{"row of", comma + 1, close, 64},
          std::tuple{"few columns of", open + 1, comma, 8}}) {
      const std::string operand = trimmed(x.rest.substr(from, to - from));
      other(kind, x, x.rest.substr(0, from) + " other" + x.rest.substr(to),
            fmt::format("given a {} {} further", has(kind, "row") ? "row" : "column", by),
            fmt::format(".reg .b32 other; add.s32 other, {}, {};", operand, by));
    }
  }

  // "{%f1, ..., %f4}, %rd1, %rd2, p, 1, 1, 0, 0;": B's, and A's where it has one.
  void descriptors(const Instruction& x) {
    const std::size_t end = x.rest.find('}');
    if (end == std::string::npos || x.rest[end + 1] != ',') return;
    std::size_t from = end + 2;
    if (trimmed(x.rest.substr(from))[0] == '{') return;  // A in registers
    for (const char* of : {"A", "B"}) {
      const std::size_t to = x.rest.find(',', from);
      const std::string operand = trimmed(x.rest.substr(from, to - from));
      for (const auto& [kind, bit, what] :
           {std::tuple{"16 bytes", 0, "with another 16 bytes in its start"},
            std::tuple{"32 bytes", 1, "with another 32 bytes in its start"},
            std::tuple{"1024 bytes", 6, "with another 1024 bytes in its start"},
            std::tuple{"8192 bytes", 9, "with another 8192 bytes in its start"},
            std::tuple{"leading", 20, "with another leading byte offset"},
            std::tuple{"stride", 38, "with another stride byte offset"},
            std::tuple{"base", 49, "with another base offset"},
            std::tuple{"swizzle", 62, "with another swizzle"}}) {
        other(fmt::format("{} of {}'s descriptor of", kind, of), x,
              x.rest.substr(0, from) + " other" + x.rest.substr(to),
              fmt::format("given a descriptor of {} {}", of, what),
              fmt::format(".reg .b64 other; xor.b64 other, {}, {};", operand,
                          std::uint64_t{1} << bit));
      }
      from = to + 1;
    }
  }

  // ---- words of the opcode ----
  void words(const Instruction& x) {
    for (const auto& [is, becomes] :
         {std::pair{".release.cta", ".relaxed.cta"}, std::pair{".acquire.cta", ".relaxed.cta"},
          std::pair{".acquire.cluster", ".acquire.cta"},
          std::pair{".release.cluster", ".release.cta"},
          std::pair{"cluster.arrive.release", "cluster.arrive.relaxed"},
          std::pair{"async.shared::cta", "async.global"}, std::pair{".multicast::cluster", ""}}) {
      const std::size_t at = x.opcode.find(is);
      if (at == std::string::npos || x.name == "fence.mbarrier_init") continue;
      // A multicast's mask goes with its word.
      std::string rest = x.rest;
      if (!*becomes) last_operand(x.rest, rest), rest = rest.substr(0, rest.size() - 2) + ";";
      Instruction y = x;
      y.opcode.replace(at, std::string(is).size(), becomes);
      Mutation& m = add(
          fmt::format("{} for {} in {}", *becomes ? becomes : "nothing", is, x.name), x,
          *becomes ? fmt::format("with {} for {}", becomes, is) : fmt::format("without {}", is));
      put(m, x.at, "\t" + y.guard + y.opcode + " " + rest);
    }
  }

  // "xor.b32 %r1, %r2, 1;" and "xor.b32 %r1, %r2, %r3;" where a parity follows from it.
  void flips() {
    std::vector<std::string> parities;
    std::string before;
    for (const Instruction& x : all_) {
      if (has(x.name, "_wait") && has(x.opcode, "parity"))
        parities.push_back(last_operand(x.rest, before));
    }
    for (std::size_t at = begin_; at < end_; ++at) {
      const std::string line = trimmed(lines_[at]);
      if (!begins(line, "xor.b32") && !begins(line, "selp.b32")) continue;
      const bool parity = begins(line, "xor");
      Instruction x;
      x.at = at;
      x.name = parity ? "xor.b32" : "selp.b32";
      const std::size_t end = line.find_first_of(" \t");
      x.rest = trimmed(line.substr(end));
      std::vector<std::string> parts;
      std::istringstream words(x.rest);
      for (std::string word; std::getline(words, word, ',');) parts.push_back(trimmed(word));
      if (parts.size() < 3) continue;
      if (parity && std::find(parities.begin(), parities.end(), parts[0]) == parities.end())
        continue;
      x.rest.clear();
      if (parity) {
        Mutation& m = add("no flip", x, "made to keep the parity");
        put(m, at, fmt::format("\tmov.b32 {}, {};", parts[0], parts[1]));
      } else if (parts[1] == "0") {
        Mutation& m = add("no first stage", x, "made to pass by the first stage");
        parts[1] = "1";
        put(m, at, fmt::format("\tselp.b32 {}, 1, {}, {}", parts[0], parts[2], parts[3]));
      }
    }
  }

  // "xor.b32 %r1, %r1, 1;": which of two is next.
  void turns() {
    for (std::size_t at = begin_; at < end_; ++at) {
      const std::string line = trimmed(lines_[at]);
      const std::size_t from = line.find_first_of(" \t"), comma = line.find(',');
      if (!begins(line, "xor.b32") || comma == std::string::npos) continue;
      const std::string turn = trimmed(line.substr(from, comma - from));
      if (trimmed(line.substr(comma)) != fmt::format(", {}, 1;", turn)) continue;
      Instruction x;
      x.at = at;
      x.name = "xor.b32";
      Mutation& m = add("no turn", x, "dropped");
      m.drawn = false;
      put(m, at, "\t// dropped");
      begun(turn, at);
    }
  }

  // Where the turn is read first, before it is passed on in line `end`: with the first of the two,
  // whoever had it last.
  void begun(const std::string& turn, std::size_t end) {
    for (std::size_t at = begin_; at < end; ++at) {
      const std::string line = trimmed(lines_[at]);
      if (!has(line, ", " + turn + ",") && !has(line, ", " + turn + ";")) continue;
      Instruction x;
      x.at = at;
      x.name = line.substr(0, line.find_first_of(" \t"));
      Mutation& m = add("turn not kept", x, "made to begin with the first");
      m.drawn = false;
      put(m, at, fmt::format("\tmov.b32 {}, 0; {}", turn, line));
      return;
    }
  }

  // "mapa.shared::cluster.u32 there, %r1, %r2;", then the arrival: at whose barrier.
  void ranks(const Instruction& x) {
    const std::string before = x.at ? trimmed(lines_[x.at - 1]) : "";
    if (x.name != "mbarrier.arrive" || !begins(before, "mapa")) return;
    std::string place;
    const std::string rank = last_operand(before, place);
    Mutation& own = add("own only of mbarrier.arrive", x, "made at the own CTA's mbarrier only");
    own.drawn = false;
    put(own, x.at,
        fmt::format("\t{{ .reg .pred own; .reg .b32 rank; mov.u32 rank, %cluster_ctarank; "
                    "setp.eq.u32 own, rank, {}; @own {} {} }}",
                    rank, x.opcode, x.rest));
    Mutation& first = add("first of mbarrier.arrive", x, "made at the first CTA's mbarrier");
    first.drawn = false;
    put(first, x.at - 1, "\t" + place + "0;");
  }

  const std::vector<std::string>& lines_;
  std::vector<Instruction> all_;
  std::size_t begin_ = 0, end_ = 0;  // of the entry: lines
};

}  // namespace

Mutator::Mutator(const std::string& ptx, const std::string& entry) {
  lines_ = lines_of(ptx);
  Changes(lines_, entry, all_).find();
  std::stable_sort(all_.begin(), all_.end(),
                   [](const Mutation& a, const Mutation& b) { return a.line < b.line; });
  std::map<std::string, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].drawn) kinds[all_[i].kind].push_back(i);
  }
  for (auto& [kind, indices] : kinds) kinds_.push_back(std::move(indices));
}

const Mutation& Mutator::of_seed(std::uint64_t seed) const {
  std::mt19937_64 random(seed);
  const auto& kind = kinds_[random() % kinds_.size()];
  return all_[kind[random() % kind.size()]];
}

const Mutation* Mutator::of(const std::string& kind, std::size_t n) const {
  for (const Mutation& m : all_) {
    if (m.kind == kind && n-- == 0) return &m;
  }
  return nullptr;
}

Mutation Mutator::together(const std::string& kinds, std::size_t n) const {
  Mutation out;
  out.kind = kinds;
  const auto take = [&](const Mutation* m) {
    if (!out.line) out.line = m->line;
    if (m->line != out.line) out.also = m->line;
    if (m->also) out.also = m->also;
    out.sentence += (out.sentence.empty() ? "" : ", ") + m->sentence;
    out.edits.insert(out.edits.end(), m->edits.begin(), m->edits.end());
  };
  for (std::size_t at = 0; at < kinds.size();) {
    const std::size_t end = std::min(kinds.find(" & ", at), kinds.size());
    const std::string part = kinds.substr(at, end - at);
    at = end + 3;
    const std::size_t mark = std::min(part.find(" #"), part.size());
    const std::string kind = part.substr(0, mark);
    std::vector<std::size_t> which;
    std::istringstream numbers(mark < part.size() ? part.substr(mark + 2) : fmt::to_string(n));
    for (std::string number; std::getline(numbers, number, ',');) {
      if (number != "*") which.push_back(std::stoul(number));
      for (std::size_t i = 0; number == "*" && of(kind, i); ++i) which.push_back(i);
    }
    if (which.empty()) return {};
    for (const std::size_t i : which) {
      if (!of(kind, i)) return {};
      take(of(kind, i));
    }
  }
  return out;
}

std::string Mutator::apply(const Mutation& mutation) const {
  std::string out;
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    const std::string* line = &lines_[at];
    for (const auto& [where, text] : mutation.edits) {
      if (where == at) line = &text;
    }
    out += *line + "\n";
  }
  return out;
}

}  // namespace tilescope::test
