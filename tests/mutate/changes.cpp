#include "tests/mutate/changes.h"
#include "tests/kernels/change_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace tilescope::test {
namespace {

const std::vector<std::string> more = {"tcgen05.alloc",
                                       "tcgen05.relinquish_alloc_permit",
                                       "tcgen05.dealloc",
                                       "tcgen05.commit",
                                       "tcgen05.fence::before_thread_sync",
                                       "tcgen05.fence::after_thread_sync",
                                       "tcgen05.wait::ld",
                                       "tcgen05.wait::st",
                                       "tcgen05.mma",
                                       "tcgen05.cp",
                                       "tcgen05.ld",
                                       "tcgen05.st",
                                       "cp.async.mbarrier.arrive",
                                       "cp.reduce.async.bulk",
                                       "mbarrier.inval",
                                       "ldmatrix",
                                       "ld.shared",
                                       "ld.global",
                                       "st.global",
                                       "elect.sync",
                                       "fence.acq_rel"};

// What only reads: once more, it reads the same.
bool only_reads(const std::string& name) {
  return begins(name, "ld") || name == "tcgen05.ld" || name == "elect.sync";
}

class More : private ChangeWriter {
 public:
  More(const std::vector<std::string>& lines, const std::string& entry, std::vector<Mutation>& out)
      : ChangeWriter(out), lines_(lines), text_(read_entry(lines, entry, changed_instructions())) {}

  void find() {
    const std::vector<Instruction>& all = text_.instructions;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Instruction& x = all[i];
      if (is_new(x)) drop(x), places(x);
      if (is_new(x) && !only_reads(x.name)) twice(x);
      if (i + 1 < all.size() && (is_new(x) || is_new(all[i + 1]))) behind_the_next(x, all[i + 1]);
      guards(x);
      counts(x);
      words(x);
      others(x);
      if (has(x.name, "mma")) sums(x);
      if (x.name == "tcgen05.mma") descriptors(x);
    }
    rings();
  }

 private:
  static bool is_new(const Instruction& x) {
    return std::find(more.begin(), more.end(), x.name) != more.end();
  }

  // With other words, `what`, in place of its opcode, and these operands.
  void instead(const std::string& kind, const Instruction& x, const std::string& opcode,
               const std::string& rest) {
    Mutation& m = add(kind, x, "made " + opcode);
    put(m, x.at, "\t" + x.guard + opcode + " " + rest);
  }

  void drop(const Instruction& x) {
    put(add("drop " + x.name, x, "dropped"), x.at, "\t// dropped");
  }
  void twice(const Instruction& x) {
    const std::string text = x.guard + x.opcode + " " + x.rest;
    put(add("twice " + x.name, x, "executed twice"), x.at, "\t" + text + " " + text);
  }

  // It and the next one change places; what stands between them comes before both.
  void behind_the_next(const Instruction& x, const Instruction& next) {
    if (x.straight != next.straight || x.first == next.first || x.back || next.back) return;
    if (x.name == next.name) return;  // of two loads, stores or products neither knows of the other
    // What it reads is used, or chosen by it.
    if (begins(x.name, "ld") || x.name == "elect.sync" || next.name == "elect.sync") return;
    if (has(x.name, "global") && has(next.name, "global")) return;
    Mutation& m = add("move " + x.name + " behind " + next.name, x,
                      fmt::format("moved behind {} of line {}", next.name, next.at + 1));
    m.also = static_cast<std::uint32_t>(next.at + 1);
    std::string moved;
    for (std::size_t at = x.first; at <= x.last; ++at) {
      moved += " " + trimmed(lines_[at]);
      put(m, at, "\t// moved");
    }
    put(m, next.last, lines_[next.last] + moved);
  }

  // Whom it is for.
  void guards(const Instruction& x) {
    if (x.guard.empty() || x.back) return;
    put(add("no guard of " + x.name, x, "executed by all"), x.at, "\t" + x.opcode + " " + x.rest);
    const bool negated = x.guard[1] == '!';
    put(add("other guard of " + x.name, x, "executed by the others"), x.at,
        (negated ? "\t@" + x.guard.substr(2) : "\t@!" + x.guard.substr(1)) + x.opcode + " " +
            x.rest);
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

  void counts(const Instruction& x) {
    if (x.name == "tcgen05.alloc" || x.name == "tcgen05.dealloc") {
      last("half the columns of", x, "b32", "shr.u32 1", "given half the columns");
      last("twice the columns of", x, "b32", "shl.b32 1", "given twice the columns");
      last("odd columns of", x, "b32", "add.u32 8", "given 8 columns more");
    }
    if (x.name == "tcgen05.commit" && has(x.opcode, "multicast")) {
      last("outside", x, "b16", "or.b16 8", "given a mask with a CTA that is not there");
      last("only one", x, "b16", "and.b16 1", "given a mask of the first CTA alone");
      last("not first", x, "b16", "and.b16 2", "given a mask of the second CTA alone");
    }
    if (x.name == "bar.sync" && has(x.rest, ",")) {
      const std::size_t comma = x.rest.find(',');
      other("other number of", x, "other" + x.rest.substr(comma), "made for the next barrier",
            fmt::format(".reg .b32 other; add.u32 other, {}, 1;", x.rest.substr(0, comma)));
    }
    // "[ %r1 + 0 ], [ %rd1 + 0 ], 0x10, %r2;"
    if (x.name == "cp.async" && std::count(x.rest.begin(), x.rest.end(), ',') == 3)
      last("half of", x, "b32", "shr.u32 1", "made to read half of its bytes");
    if (x.name == "mbarrier.arrive" && x.rest.size() > 2 && x.rest[x.rest.size() - 2] == ']')
      other("two of", x, x.rest.substr(0, x.rest.size() - 1) + ", 2;", "made to arrive twice");
  }

  // ---- places ----
  void displace(const std::string& kind, const Instruction& x, int by, const std::string& what) {
    const std::string rest = displaced(x.rest, 0, by);
    if (!rest.empty()) other(kind, x, rest, what);
  }
  void places(const Instruction& x) {
    if (x.name == "tcgen05.commit" || begins(x.name, "mbarrier") ||
        x.name == "cp.async.mbarrier.arrive") {
      displace("next barrier of", x, 8, "made for the 8 bytes behind its mbarrier");
      displace("last barrier of", x, -8, "made for the 8 bytes before its mbarrier");
    }
    if (x.name == "tcgen05.ld" || x.name == "tcgen05.st" || x.name == "tcgen05.mma" ||
        x.name == "tcgen05.cp") {
      displace("columns of", x, 8, "made 8 columns further");
      displace("lanes of", x, 32 << 16, "made 32 lanes further");
    }
    if (x.name == "ld.shared" || x.name == "ldmatrix")
      displace("elsewhere", x, 1024, "made 1024 bytes further");
    if (x.name == "ld.global" || x.name == "st.global")
      displace("elsewhere", x, 64, "made 64 bytes further");
  }

  // ---- words of the opcode ----
  void words(const Instruction& x) {
    for (const auto& [is, becomes] :
         {std::pair{".acquire.cluster", ".relaxed.cluster"},
          std::pair{".release.cluster", ".relaxed.cluster"},
          std::pair{"::before_thread_sync", "::after_thread_sync"},
          std::pair{"::after_thread_sync", "::before_thread_sync"},
          std::pair{"wait::ld", "wait::st"}, std::pair{"wait::st", "wait::ld"},
          std::pair{".cta_group::2", ".cta_group::1"}}) {
      const std::size_t at = x.opcode.find(is);
      if (at == std::string::npos || x.name == "fence.mbarrier_init") continue;
      if (begins(x.name, "barrier.cluster")) continue;
      std::string opcode = x.opcode;
      opcode.replace(at, std::string(is).size(), becomes);
      instead(fmt::format("{} for {} in {}", becomes, is, x.name), x, opcode, x.rest);
    }
    if (x.name == "cp.async.bulk.wait_group") {
      const std::size_t read = x.opcode.find(".read");
      if (read == std::string::npos) {
        instead("only .read in " + x.name, x, x.opcode + ".read", x.rest);
      } else {
        instead("nothing for .read in " + x.name, x, x.opcode.substr(0, read), x.rest);
      }
    }
  }

  // Another instruction in its place.
  void others(const Instruction& x) {
    if (begins(x.name, "fence.proxy.async"))
      instead("fence.acq_rel for " + x.name, x, "fence.acq_rel.cta", ";");
    if (x.name == "mbarrier.arrive.expect_tx" && begins(x.rest, "_, ")) {
      instead("mbarrier.expect_tx for " + x.name, x,
              "mbarrier.expect_tx.relaxed.cta.shared::cta.b64", x.rest.substr(3));
      std::string before;
      last_operand(x.rest, before);
      instead("mbarrier.arrive for " + x.name, x, "mbarrier.arrive.release.cta.shared::cta.b64",
              before.substr(0, before.size() - 2) + ";");
    }
    if (x.name == "tcgen05.commit") {
      const std::string place = x.rest.substr(0, x.rest.find(']') + 1);
      const bool shared = has(x.opcode, ".shared::cluster");
      instead("mbarrier.arrive for " + x.name, x,
              shared ? "mbarrier.arrive.release.cta.shared::cta.b64" : "mbarrier.arrive.b64",
              "_, " + place + ";");
    }
    if (x.name == "elect.sync") {
      const std::size_t bar = x.rest.find('|'), comma = x.rest.find(',');
      if (bar < comma)
        instead("every lane for elect.sync", x, "mov.pred",
                x.rest.substr(bar + 1, comma - bar - 1) + ", -1;");
    }
  }

  // ---- products ----
  // "setp.ne.b32 p, %r1, 0;" before it in its block, or a predicate of its own: whether it begins a
  // sum or adds to one.
  void sums(const Instruction& x) {
    for (std::size_t at = x.first; at < x.at; ++at) {
      const std::string line = trimmed(lines_[at]);
      if (!begins(line, "setp.ne.")) continue;
      Mutation& m =
          add("other sum of " + x.name, x, "made to begin a sum, or to add to what is there");
      put(m, at, "\tsetp.eq." + line.substr(8));
      return;
    }
    std::string before;
    const std::string operand = last_operand(x.rest, before);
    if (x.name == "tcgen05.mma" && begins(operand, "%p"))
      other("other sum of", x, before + "other;", "made to begin a sum, or to add to what is there",
            fmt::format(".reg .pred other; not.pred other, {};", operand));
  }

  // "[%r1], %rd1, %rd2, %r2, p;": PTX ISA, "Tensorcore shared memory descriptor" and "Instruction
  // descriptor" of tcgen05.
  void descriptors(const Instruction& x) {
    std::size_t from = x.rest.find(']') + 1;
    if (!begins(trimmed(x.rest.substr(from)), ",")) return;
    ++from;
    const auto changed = [&](const std::string& kind, const std::string& what, int width,
                             std::uint64_t bits) {
      const std::size_t to = x.rest.find(',', from);
      const std::string operand = trimmed(x.rest.substr(from, to - from));
      if (begins(operand, "[")) return;  // A in TMEM
      other(kind, x, x.rest.substr(0, from) + " other" + x.rest.substr(to), what,
            fmt::format(".reg .b{} other; xor.b{} other, {}, {};", width, width, operand, bits));
    };
    for (const char* of : {"A", "B"}) {
      for (const auto& [kind, bit, what] :
           {std::tuple{"16 bytes", 0, "with another 16 bytes in its start"},
            std::tuple{"32 bytes", 1, "with another 32 bytes in its start"},
            std::tuple{"1024 bytes", 6, "with another 1024 bytes in its start"},
            std::tuple{"8192 bytes", 9, "with another 8192 bytes in its start"},
            std::tuple{"leading", 20, "with another leading byte offset"},
            std::tuple{"stride", 38, "with another stride byte offset"},
            std::tuple{"base", 49, "with another base offset"},
            std::tuple{"swizzle", 62, "with another swizzle"}}) {
        changed(fmt::format("{} of {}'s descriptor of", kind, of),
                fmt::format("given a descriptor of {} {}", of, what), 64, std::uint64_t{1} << bit);
      }
      from = x.rest.find(',', from) + 1;
    }
    for (const auto& [kind, bit] :
         {std::pair{"D's type", 4}, std::pair{"A's type", 7}, std::pair{"A's negation", 13},
          std::pair{"A's major", 15}, std::pair{"B's major", 16}, std::pair{"N", 17},
          std::pair{"M", 24}}) {
      changed(fmt::format("{} in the instruction descriptor of", kind),
              fmt::format("given an instruction descriptor with another {}", kind), 32,
              std::uint64_t{1} << bit);
    }
  }

  // "setp.eq.s32 %p1, %r1, 4;", then a selp by it with a 0: the stage behind the last one.
  void rings() {
    for (std::size_t at = text_.begin; at < text_.end; ++at) {
      const std::string line = trimmed(lines_[at]);
      if (!begins(line, "setp.eq.s32") && !begins(line, "setp.gt.s32")) continue;
      Instruction x;
      x.at = at;
      x.name = line.substr(0, 11);
      x.opcode = x.name;
      x.rest = trimmed(line.substr(11));
      std::string before;
      const std::string count = last_operand(x.rest, before);
      const std::string predicate = x.rest.substr(0, x.rest.find(','));
      if (count.empty() || count.find_first_not_of("0123456789") != std::string::npos) continue;
      bool ring = false;
      for (std::size_t i = at + 1; i < std::min(at + 8, text_.end); ++i) {
        ring = ring || (has(lines_[i], "selp") && has(lines_[i], ", 0, ") &&
                        has(lines_[i], ", " + predicate + ";"));
      }
      if (!ring || std::stoi(count) < 1) continue;
      for (const int by : {-1, 1}) {
        const int is = std::stoi(count) + by;
        other(by < 0 ? "one stage less in" : "one stage more in", x,
              fmt::format("{}{};", before, is), fmt::format("made to begin anew at {}", is));
      }
    }
  }

  const std::vector<std::string>& lines_;
  const EntryText text_;
};

}  // namespace

const std::vector<std::string>& changed_instructions() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out = more;
    out.insert(out.end(), mutated_instructions.begin(), mutated_instructions.end());
    return out;
  }();
  return all;
}

std::vector<Mutation> all_changes(const std::string& ptx, const std::string& entry) {
  std::vector<Mutation> out = Mutator(ptx, entry).all();
  const std::vector<std::string> lines = lines_of(ptx);
  More(lines, entry, out).find();
  // A change that several kinds make is one: the first stands.
  std::stable_sort(out.begin(), out.end(),
                   [](const Mutation& a, const Mutation& b) { return a.line < b.line; });
  std::vector<Mutation> once;
  for (Mutation& m : out) {
    const bool known = std::any_of(once.rbegin(), once.rend(),
                                   [&](const Mutation& o) { return o.edits == m.edits; });
    if (!known) once.push_back(std::move(m));
  }
  return once;
}

}  // namespace tilescope::test
