#include "core/run/deadlock_cause.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope {
namespace {

using Cause = DeadlockCause;
using Why = DeadlockCause::Why;

std::string numbers_text(std::uint64_t mask) {
  std::string out;
  for (int i = 0; i < 64; ++i) {
    if (!(mask >> i & 1)) continue;
    int end = i;
    while (end + 1 < 64 && (mask >> (end + 1) & 1)) ++end;
    out += out.empty() ? "" : ", ";
    out += end > i ? fmt::format("{}-{}", i, end) : fmt::format("{}", i);
    i = end;
  }
  return out;
}

bool many(const Cause::Warps& w) {
  return (w.mask & (w.mask - 1)) != 0;
}

std::string times_text(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// "1 of 2 arrivals and 16384 bytes"
std::string lacks_text(const Cause::WaitedFor& b) {
  std::string out;
  if (b.pending) {
    const bool threads = b.of != Cause::WaitedFor::Of::mbarrier;
    out = fmt::format("{} of {}", b.pending, times_text(b.count, threads ? "thread" : "arrival"));
  }
  if (b.bytes > 0) out += fmt::format("{}{} bytes", out.empty() ? "" : " and ", b.bytes);
  if (b.bytes < 0) {
    out = fmt::format("{}, and has {} bytes more than were expected", out.empty() ? "nothing" : out,
                      -b.bytes);
  }
  return out.empty() ? "nothing" : out;
}

// Without what says how: "tcgen05.commit", "mbarrier.arrive.expect_tx".
std::string short_opcode(const std::string& opcode) {
  if (opcode.rfind("cp.async.bulk", 0) == 0) {
    return opcode.rfind("cp.async.bulk.tensor", 0) == 0 ? "cp.async.bulk.tensor" : "cp.async.bulk";
  }
  if (opcode.rfind("wgmma.mma_async", 0) == 0) return "wgmma.mma_async";
  std::size_t end = opcode.size();
  for (const std::string_view how :
       {".shared", ".cta_group", ".release", ".relaxed", ".b64", "::", ".aligned"}) {
    end = std::min(end, opcode.find(how));
  }
  return opcode.substr(0, end);
}

std::string named(const Cause::WaitedFor& b, std::uint64_t phase) {
  return b.of == Cause::WaitedFor::Of::mbarrier ? fmt::format("phase {} of {}", phase, b.name)
                                                : b.name;
}
std::string named(const Cause::WaitedFor& b) {
  return named(b, b.phase);
}

// "hgemm_v7.cu:77 (PTX line 223)": the kernel's own line, where a header's was called from there.
std::string place(const Site& site) {
  const std::string& path = site.caller_line ? site.caller : site.source;
  const std::uint32_t line = site.caller_line ? site.caller_line : site.source_line;
  const std::string ptx = site.ptx_place.empty() ? fmt::format("PTX line {}", site.ptx_line)
                                                 : fmt::format("PTX {}", site.ptx_place);
  if (!line) return ptx;
  return fmt::format("{}:{} ({})", path.substr(path.rfind('/') + 1), line, ptx);
}

std::string source_text(const Cause::Source& s) {
  return fmt::format("{} at {}", short_opcode(s.opcode), place(s.site));
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

// Who waits for a barrier: the first of them.
const Cause::Waiting* waiter_of(const Cause& cause, std::size_t barrier) {
  for (const Cause::Waiting& w : cause.waiting) {
    if (w.waits_for == barrier) return &w;
  }
  return nullptr;
}

// Have all who arrive, and all bytes, come in this phase, so that it lacks what nobody brings?
bool all_came(const Cause::WaitedFor& b) {
  if (b.everyone) return false;
  bool any = false;
  for (const Cause::Source& s : b.sources) {
    for (const Cause::NotCome& n : s.not_come) {
      any = any || n.why == Why::came;
      const bool again = n.why == Why::waits && n.phases;
      if (n.why == Why::predicate && !n.phases && !n.been) continue;  // it is none of theirs
      if (again || (n.why != Why::came && n.why != Why::branch && n.why != Why::waits))
        return false;
      if (n.why == Why::waits && n.waits_for != Cause::none) return false;
    }
  }
  return any;
}

// "expects 32768 bytes (mbarrier.arrive.expect_tx at ...), and 16384 came (...)".
std::string bytes_text(const Cause::WaitedFor& b) {
  std::uint64_t expected = 0, came = 0;
  std::string by, from;
  for (const Cause::Source& s : b.sources) {
    if (s.expects && s.bytes) {
      expected += s.bytes;
      by += (by.empty() ? "" : ", ") + fmt::format("by {}", source_text(s));
    }
    if (s.brings && s.bytes) {
      came += s.bytes;
      from += (from.empty() ? "" : ", ") + fmt::format("{} by {}", s.bytes, source_text(s));
    }
  }
  if (!expected && !came) return "";
  return fmt::format("{} bytes were expected in this phase{}, and {} came{}", expected,
                     by.empty() ? "" : " (" + by + ")", came,
                     from.empty() ? "" : " (" + from + ")");
}

// The reason that is told of a barrier: the first of its first source.
struct Told {
  const Cause::Source* source = nullptr;
  const Cause::NotCome* why = nullptr;
};
Told told_of(const Cause::WaitedFor& b) {
  for (const Cause::Source& s : b.sources) {
    for (const Cause::NotCome& n : s.not_come) {
      if (n.why != Why::came) return {&s, &n};
    }
  }
  return {};
}

bool in_cycle(const Cause& cause, const Cause::WaitedFor& b) {
  const auto number = static_cast<std::size_t>(&b - cause.barriers.data());
  return std::count(cause.cycle.begin(), cause.cycle.end(), number) != 0;
}

// Who has come in this phase: "1 arrival of tcgen05.commit at ... by warp 4".
std::string came_text(const Cause& cause, const Cause::WaitedFor& b) {
  std::string out;
  for (const Cause::Source& s : b.sources) {
    for (const Cause::NotCome& n : s.not_come) {
      if (n.why != Why::came || (b.pending && !s.arrives)) continue;
      const std::string times = s.times ? times_text(s.times, "arrival") + " of " : std::string();
      out += (out.empty() ? "" : ", ") +
             fmt::format("{}{}, {}", times, source_text(s), warps_text(cause, n));
    }
  }
  return out;
}

// Of a barrier of which it is not certain that anything comes to it: what may, best what was on a
// neighbour of its.
std::string may_sentence(const Cause& cause, const Cause::WaitedFor& b) {
  const Cause::Source* source = &b.sources.front();
  const Cause::NotCome* why = nullptr;
  for (const Cause::Source& s : b.sources) {
    for (const Cause::NotCome& n : s.not_come) {
      const bool named = !n.detail.empty() && n.detail.rfind("mbarrier ", 0) != 0;
      if (why || !named || (n.why != Why::waits && n.why != Why::elsewhere)) continue;
      source = &s;
      why = &n;
    }
  }
  const std::string none = fmt::format("No instruction is known to arrive at {}", b.name);
  if (!why) {
    std::string out =
        fmt::format("{}; {} may: its address could not be told.", none, source_text(*source));
    if (source->not_come.empty()) return out;
    // Those whom a branch or a guard keeps from it say nothing of where it goes.
    for (const Cause::NotCome& n : source->not_come) {
      const bool closed = n.why == Why::branch || (n.why == Why::predicate && !n.been);
      if (closed && !n.phases) continue;
      return out + fmt::format(" {} {}.", capital(warps_text(cause, n)), why_text(cause, n));
    }
    return out;
  }
  return fmt::format("{}: {}, by {}, was on {} only.", none, source_text(*source),
                     warps_text(cause, *why), why->detail);
}

// Why it is not complete, in a sentence; `waits`: because somebody waits for another.
std::string barrier_sentence(const Cause& cause, const Cause::WaitedFor& b, bool& waits) {
  waits = false;
  const bool threads = b.of != Cause::WaitedFor::Of::mbarrier;
  if (b.sources.empty()) {
    return fmt::format(
        "No instruction that was executed, or is still ahead of a warp, arrives at {}.", b.name);
  }
  if (!b.sources.front().certain) return may_sentence(cause, b);
  if (b.pending == 0 && b.bytes != 0) {
    if (const std::string bytes = bytes_text(b); !bytes.empty()) return bytes + ".";
  }
  if (b.pending && std::none_of(b.sources.begin(), b.sources.end(),
                                [](const Cause::Source& s) { return s.arrives; })) {
    return fmt::format(
        "No instruction that was executed, or is still ahead of a warp, arrives at {}: what comes "
        "there only brings or expects bytes ({}).",
        b.name, source_text(b.sources.front()));
  }
  const Told told = told_of(b);
  const std::string came = came_text(cause, b);
  const std::string made = b.made.ptx_line || b.made.source_line
                               ? fmt::format(", set at {}", place(b.made))
                               : std::string();
  if (!told.why || all_came(b)) {
    const std::string how_many = threads ? fmt::format("it is for {} threads", b.count)
                                         : fmt::format("its count is {}{}", b.count, made);
    return fmt::format("All who come to {} have come{} ({}), and {}: nobody is left to make it up.",
                       b.name, threads ? "" : " in this phase", came, how_many);
  }
  waits = told.why->why == Why::waits;
  const std::string first = fmt::format("{} ({}) {}.", capital(warps_text(cause, *told.why)),
                                        source_text(*told.source), why_text(cause, *told.why));
  if (!came.empty() && b.pending && !threads && in_cycle(cause, b) && waits) {
    return fmt::format(
        "In this phase came {}. {} So either its count of {}{}, is more than come in a phase, or "
        "another arrival is missing.",
        came, first, b.count, made);
  }
  return first;
}

}  // namespace

std::string warps_text(const Cause& cause, const Cause::Warps& warps) {
  std::string out = fmt::format("{} {}", many(warps) ? "warps" : "warp", numbers_text(warps.mask));
  if (cause.cluster_size > 1) out += fmt::format(" of CTA {}", warps.rank);
  return out;
}

std::string warps_text(const Cause& cause, const Cause::NotCome& n) {
  std::string out = warps_text(cause, n.warps);
  if (n.lanes == ~std::uint32_t{0}) return out;
  const bool one = (n.lanes & (n.lanes - 1)) == 0;
  return out + fmt::format(", {} {}", one ? "lane" : "lanes", numbers_text(n.lanes));
}

bool is_one(const Cause::NotCome& n) {
  const bool all = n.lanes == ~std::uint32_t{0};
  return !many(n.warps) && (all || (n.lanes & (n.lanes - 1)) == 0);
}

namespace {

std::string reason_text(const Cause& cause, const Cause::NotCome& n) {
  const bool one = is_one(n);
  const std::string before = n.phases ? fmt::format("{} done so in {}, and ", one ? "has" : "have",
                                                    times_text(n.phases, "phase"))
                                      : std::string();
  switch (n.why) {
    case Why::waits: {
      std::string what =
          n.waits_for == Cause::none ? std::string() : " for " + named(cause.barriers[n.waits_for]);
      std::string out = fmt::format("{}{} at {}{}, before {} to it{}", before,
                                    one ? "waits itself" : "wait themselves", place(n.site), what,
                                    one ? "it comes" : "they come", before.empty() ? "" : " again");
      if (!n.detail.empty()) out += fmt::format(" (so far it was on {})", n.detail);
      return out;
    }
    case Why::branch:
      if (!before.empty() || n.been) {
        return fmt::format("{}{} gone on from there by the branch at {}", before,
                           one ? "has" : "have", place(n.site));
      }
      return fmt::format("{} not come to it: the branch at {} took {} another way{}",
                         one ? "has" : "have", place(n.site), one ? "it" : "them",
                         n.detail.empty() ? "" : ", as " + n.detail);
    case Why::predicate:
      if (n.is_ahead) return fmt::format("{} not execute it, as {}", one ? "does" : "do", n.detail);
      return fmt::format("{}{}went past it without executing it, as {}", before,
                         before.empty() ? "" : "the last time ", n.detail);
    case Why::left:
      if (n.been && !n.phases && n.detail != "exited") {
        return fmt::format("{} executed it before, and gone past it", one ? "has" : "have");
      }
      return fmt::format("{}{} {}", before, one ? "has" : "have",
                         n.detail == "exited" ? "exited" : "gone past it");
    case Why::elsewhere:
      return fmt::format("executed it on {} only, and {} gone past it", n.detail,
                         one ? "has" : "have");
    case Why::skipped:
      return fmt::format("{}left it out in its turn: since then {} executed it on {}", before,
                         one ? "it has" : "they have", n.detail);
    case Why::came:
      return fmt::format("{} come in this phase", one ? "has" : "have");
    default:
      return fmt::format("{} not come, and why could not be told", one ? "does" : "do");
  }
}

}  // namespace

std::string why_text(const Cause& cause, const Cause::NotCome& n) {
  const std::string now = n.why == Why::waits || n.waits_for == Cause::none
                              ? std::string()
                              : fmt::format(", and {} for {} now", is_one(n) ? "waits" : "wait",
                                            cause.barriers[n.waits_for].name);
  return reason_text(cause, n) + now;
}

std::string cycle_text(const Cause& cause) {
  std::string out;
  for (std::size_t i = 0; i < cause.cycle.size(); ++i) {
    const std::size_t number = cause.cycle[i];
    const Cause::WaitedFor& b = cause.barriers[number];
    const std::size_t next = cause.cycle[(i + 1) % cause.cycle.size()];
    const Cause::NotCome* by = nullptr;
    const Cause::Source* source = nullptr;
    for (const Cause::Source& s : b.sources) {
      for (const Cause::NotCome& n : s.not_come) {
        if (!by && n.why == Why::waits && n.waits_for == next) by = &n, source = &s;
      }
    }
    if (!by) continue;
    out += fmt::format("{}{} waits for {} ({}), which {}", out.empty() ? "" : "; ", named(b),
                       warps_text(cause, *by), source_text(*source),
                       fmt::format("{} at {} for {}", is_one(*by) ? "waits" : "wait",
                                   place(by->site), named(cause.barriers[next])));
  }
  return out;
}

std::string first_cause_text(const Cause& cause) {
  if (cause.waiting.empty()) return "";
  const std::size_t root = cause.waiting.front().waits_for;
  if (root == Cause::none) {
    const Cause::Waiting& w = cause.waiting.front();
    return fmt::format("{} at {} ({}{}).",
                       capital(warps_text(cause, w.warps)) + (many(w.warps) ? " wait" : " waits"),
                       place(w.site), short_opcode(w.opcode), w.words);
  }
  const Cause::WaitedFor& b = cause.barriers[root];
  std::string out;
  if (const Cause::Waiting* const w = waiter_of(cause, root)) {
    out = fmt::format("{} at {} for {}, which lacks {}. ",
                      capital(warps_text(cause, w->warps)) + (many(w->warps) ? " wait" : " waits"),
                      place(w->site), named(b), lacks_text(b));
  }
  // Bytes that came without their arrival say where it belongs.
  if (b.pending && b.of == Cause::WaitedFor::Of::mbarrier) {
    if (const std::string bytes = bytes_text(b); !bytes.empty()) out += capital(bytes) + ". ";
  }
  bool waits = false;
  out += barrier_sentence(cause, b, waits);
  const Told told = told_of(b);
  if (!waits || told.why->waits_for == Cause::none) return out;
  if (in_cycle(cause, b)) {
    if (cause.cycle.size() == 1) {
      out += " It waits for itself: nobody else brings what is missing.";
    } else {
      std::string round;
      const auto at = std::find(cause.cycle.begin(), cause.cycle.end(), root);
      for (std::size_t i = 1; i <= cause.cycle.size(); ++i) {
        const auto from = static_cast<std::size_t>(at - cause.cycle.begin());
        const Cause::WaitedFor& next = cause.barriers[cause.cycle[(from + i) % cause.cycle.size()]];
        round += (round.empty() ? "" : ", that for ") + next.name;
      }
      out += fmt::format(" The waits go round: {} waits for {}.", b.name, round);
    }
    if (b.would_help && b.phase == 0 && b.of == Cause::WaitedFor::Of::mbarrier &&
        b.pending == b.count) {
      out +=
          " Nobody has arrived there yet: a first wait that is to go on at once asks for parity "
          "1, the phase before the first.";
    }
    return out;
  }
  // Down to the first that is not waiting for another.
  std::size_t at = told.why->waits_for;
  for (std::size_t steps = 0; steps < cause.barriers.size(); ++steps) {
    const Told next = told_of(cause.barriers[at]);
    if (!next.why || next.why->why != Why::waits || next.why->waits_for == Cause::none ||
        in_cycle(cause, cause.barriers[at])) {
      break;
    }
    at = next.why->waits_for;
  }
  if (at != root) out += " " + barrier_sentence(cause, cause.barriers[at], waits);
  return out;
}

std::string text_of(const Cause& cause) {
  std::string out = "Why nobody goes on: " + cause.sentence + "\n\nWho waits:\n";
  for (const Cause::Waiting& w : cause.waiting) {
    const std::string what =
        w.waits_for == Cause::none
            ? w.words
            : ", for " + named(cause.barriers[w.waits_for],
                               cause.barriers[w.waits_for].of == Cause::WaitedFor::Of::mbarrier
                                   ? w.phase
                                   : 0);
    out += fmt::format("  {} at {} ({}){}\n", warps_text(cause, w.warps), place(w.site), w.opcode,
                       what);
  }
  for (const Cause::WaitedFor& b : cause.barriers) {
    out += fmt::format("\n{}: lacks {}\n", capital(named(b)), lacks_text(b));
    if (b.sources.empty()) {
      out += "  no instruction that was executed, or is still ahead of a warp, arrives here\n";
    }
    for (const Cause::Source& s : b.sources) {
      std::string did;
      if (s.bytes && (s.expects || s.brings)) {
        did =
            fmt::format(": {} {} bytes in this phase", s.expects ? "expected" : "brought", s.bytes);
      }
      out += fmt::format("  {}{}\n", source_text(s), did);
      for (const Cause::NotCome& n : s.not_come) {
        out += fmt::format("    {} {}\n", warps_text(cause, n), why_text(cause, n));
      }
    }
    if (b.would_help) out += "  were it complete, others would go on\n";
  }
  if (!cause.cycle.empty()) out += "\nThe waits go round: " + cycle_text(cause) + "\n";
  return out;
}

}  // namespace tilescope
