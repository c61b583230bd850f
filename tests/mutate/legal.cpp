#include "tests/mutate/legal.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

namespace tilescope::test {
namespace {

using Text = std::optional<std::string>;

// What an instruction is written as instead; nothing: it stays.
struct Way {
  const char* name;
  const char* why;
  std::function<Text(const Instruction&)> written;
};

std::string text_of(const Instruction& x) {
  return x.guard + x.opcode + " " + x.rest;
}

Text with_opcode(const Instruction& x, const std::string& is, const std::string& becomes) {
  const std::size_t at = x.opcode.find(is);
  if (at == std::string::npos) return std::nullopt;
  std::string opcode = x.opcode;
  opcode.replace(at, is.size(), becomes);
  return x.guard + opcode + " " + x.rest;
}

bool is_wait(const Instruction& x) {
  return x.name == "mbarrier.try_wait" && has(x.opcode, "parity");
}
bool is_load_by_tma(const Instruction& x) {
  return x.name == "cp.async.bulk" && has(x.opcode, "tensor") && has(x.opcode, "mbarrier");
}

// "[%r1], %r2;" of "_, [%r1], %r2;"
std::string without_state(const Instruction& x) {
  return begins(x.rest, "_, ") ? x.rest.substr(3) : "";
}

Text no_groups_left(const Instruction& x) {
  if (!has(x.name, "wait_group") || x.rest == "0;") return std::nullopt;
  return x.guard + x.opcode + " 0;";
}

Text before(const Instruction& x, const std::string& what) {
  return what + " " + text_of(x);
}
Text behind(const Instruction& x, const std::string& what) {
  return text_of(x) + " " + what;
}

Text expected_apart(const Instruction& x) {
  const std::string rest = without_state(x);
  if (x.name != "mbarrier.arrive.expect_tx" || rest.empty()) return std::nullopt;
  const std::string place = rest.substr(0, rest.find(']') + 1);
  return x.guard + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 " + rest + " " + x.guard +
         "mbarrier.arrive.release.cta.shared::cta.b64 _, " + place + ";";
}

Text expected_in_halves(const Instruction& x) {
  const std::string rest = without_state(x);
  if (x.name != "mbarrier.arrive.expect_tx" || rest.empty() || !x.guard.empty())
    return std::nullopt;
  const std::string place = rest.substr(0, rest.find(']') + 1);
  std::string before;
  const std::string bytes = last_operand(rest, before);
  return fmt::format(
      "{{ .reg .b32 half, rest; shr.u32 half, {1}, 1; sub.u32 rest, {1}, half; "
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 {0}, half; {2} _, {0}, rest; }}",
      place, bytes, x.opcode);
}

Text told_state(const Instruction& x) {
  if (!begins(x.name, "mbarrier.arrive") || has(x.opcode, "shared::cluster") ||
      without_state(x).empty())
    return std::nullopt;
  return "{ .reg .b64 state; " + x.guard + x.opcode + " state, " + without_state(x) + " }";
}

Text counted(const Instruction& x) {
  if (x.name != "mbarrier.arrive" || without_state(x).empty() || x.rest[x.rest.size() - 2] != ']')
    return std::nullopt;
  return x.guard + x.opcode + " " + x.rest.substr(0, x.rest.size() - 1) + ", 1;";
}

Text limited(const Instruction& x) {
  if (!is_wait(x)) return std::nullopt;
  return x.guard + x.opcode + " " + x.rest.substr(0, x.rest.size() - 1) + ", 200;";
}

Text hinted(const Instruction& x) {
  if (!is_load_by_tma(x) || !x.guard.empty() || has(x.opcode, "multicast")) return std::nullopt;
  return fmt::format(
      "{{ .reg .b64 policy; createpolicy.fractional.L2::evict_first.b64 policy, 1.0; "
      "{}.L2::cache_hint {}, policy; }}",
      x.opcode, x.rest.substr(0, x.rest.size() - 1));
}

Text prefetched(const Instruction& x) {
  if (!is_load_by_tma(x) || !has(x.opcode, ".tensor.2d")) return std::nullopt;
  const std::size_t from = x.rest.find('[', x.rest.find(']')), to = x.rest.find(']', from);
  if (to == std::string::npos) return std::nullopt;
  return before(x, x.guard + "cp.async.bulk.prefetch.tensor.2d.L2.global.tile " +
                       x.rest.substr(from, to - from + 1) + ";");
}

const std::vector<Way>& ways() {
  static const auto named = [](const char* name) {
    return [name = std::string(name)](const Instruction& x) { return x.name == name; };
  };
  static const auto opcode = [](const char* is, const char* becomes, const char* only = "") {
    return [=](const Instruction& x) -> Text {
      return begins(x.name, only) ? with_opcode(x, is, becomes) : std::nullopt;
    };
  };
  static const auto doubled = [](const char* name) {
    return [of = named(name)](const Instruction& x) -> Text {
      return of(x) ? behind(x, text_of(x)) : std::nullopt;
    };
  };
  static const auto ahead = [](const char* name, const char* what) {
    return [of = named(name), what](const Instruction& x) -> Text {
      return of(x) ? before(x, what) : std::nullopt;
    };
  };
  static const auto after = [](const char* name, const char* what) {
    return [of = named(name), what](const Instruction& x) -> Text {
      return of(x) ? behind(x, what) : std::nullopt;
    };
  };
  static const std::vector<Way> all = {
      // Waits.
      {"no group left in flight", "a wait may wait for more than it must", no_groups_left},
      {"waits for whole copies", "what has been written has been read",
       opcode(".read", "", "cp.async.bulk.wait")},
      {"test_wait for try_wait", "it asks in a loop, and need not be suspended",
       opcode("try_wait", "test_wait")},
      {"waits with a time limit", "it asks in a loop, and may give up earlier", limited},
      {"late waiters", "a thread may be late", ahead("mbarrier.try_wait", "nanosleep.u32 200;")},
      {"late arrivals", "a thread may be late", ahead("mbarrier.arrive", "nanosleep.u32 200;")},
      {"late producers", "a thread may be late",
       ahead("mbarrier.arrive.expect_tx", "nanosleep.u32 200;")},
      {"late commits", "a thread may be late", ahead("tcgen05.commit", "nanosleep.u32 200;")},
      {"late meetings", "a thread may be late", ahead("bar.sync", "nanosleep.u32 200;")},
      // Scopes.
      {"acquires in the cluster", "a wider scope", opcode(".acquire.cta", ".acquire.cluster")},
      {"releases in the cluster", "a wider scope",
       opcode(".release.cta", ".release.cluster", "mbarrier.arrive")},
      {"expects relaxed", "whoever expects bytes hands over nothing: the copies do",
       opcode(".release.cta", ".relaxed.cta", "mbarrier.arrive.expect_tx")},
      // Arrivals.
      {"expected, then arrived", "arrive.expect_tx is the two, one after the other",
       expected_apart},
      {"expected in halves", "expected bytes add up while an arrival is missing",
       expected_in_halves},
      {"states taken", "who asks by parity need not look at the state", told_state},
      {"counts said", "one arrival is what is meant without a count", counted},
      // Fences.
      {"fences between proxies twice", "a fence more", doubled("fence.proxy.async")},
      {"fences between all proxies", "without a state space it is for all of them",
       opcode(".shared::cta", "", "fence.proxy.async")},
      {"fences before arrivals", "a fence more", ahead("mbarrier.arrive", "fence.acq_rel.cta;")},
      {"strong fences before meetings", "a fence more", ahead("bar.sync", "fence.sc.cluster;")},
      {"fences behind meetings", "a fence more", after("bar.sync", "fence.proxy.async;")},
      {"fences of initialisations twice", "a fence more", doubled("fence.mbarrier_init")},
      {"initialisations fenced by proxies too", "a fence more",
       after("fence.mbarrier_init", "fence.proxy.async;")},
      {"wgmma.fence twice", "a fence more", doubled("wgmma.fence")},
      {"tcgen05.fence before twice", "a fence more", doubled("tcgen05.fence::before_thread_sync")},
      {"tcgen05.fence after twice", "a fence more", doubled("tcgen05.fence::after_thread_sync")},
      {"tcgen05.fence at all waits", "a fence more",
       [](const Instruction& x) -> Text {
         return x.name == "tcgen05.commit" ? before(x, "tcgen05.fence::before_thread_sync;")
                                           : std::nullopt;
       }},
      // Meetings.
      {"bar.sync twice", "they meet again", doubled("bar.sync")},
      {"barrier.sync.aligned for bar.sync", "the same by another name",
       opcode("bar.sync", "barrier.sync.aligned")},
      {"barrier 9 for barrier 0", "all meet at another number",
       [](const Instruction& x) -> Text {
         return x.name == "bar.sync" && x.rest == "0;" ? Text(x.guard + x.opcode + " 9;")
                                                       : std::nullopt;
       }},
      {"the cluster's release unsaid", "release is what is meant",
       opcode(".arrive.release", ".arrive", "barrier.cluster")},
      // Copies and products.
      {"copies with a cache policy", "a hint", hinted},
      {"copies prefetched", "a hint", prefetched},
      {"copies named for the cluster", "a CTA's own shared memory is a part of its cluster's",
       [](const Instruction& x) -> Text {
         return is_load_by_tma(x) ? with_opcode(x, ".shared::cta.global", ".shared::cluster.global")
                                  : std::nullopt;
       }},
      {"a group for each copy", "so many more are waited for",
       [](const Instruction& x) -> Text {
         const bool store = x.name == "cp.async.bulk" && has(x.opcode, "bulk_group");
         return store ? behind(x, "cp.async.bulk.commit_group;") : std::nullopt;
       }},
      {"empty groups", "wgmma.wait_group then leaves fewer of the others",
       doubled("wgmma.commit_group")},
      {"empty groups of copies", "cp.async.bulk.wait_group then leaves fewer of the others",
       doubled("cp.async.bulk.commit_group")},
      {"each load of TMEM awaited", "a wait more",
       after("tcgen05.ld", "tcgen05.wait::ld.sync.aligned;")},
      {"loads not by the read-only path", "a hint", opcode(".nc", "", "ld.global")},
      {"stores relaxed", "stronger than weak",
       [](const Instruction& x) -> Text {
         if (x.name != "st.shared" || has(x.opcode, ".v4")) return std::nullopt;
         return with_opcode(x, "st.shared", "st.relaxed.cta.shared");
       }},
      {"stores volatile", "stronger than weak",
       opcode("st.global", "st.volatile.global", "st.global")},
      {"registers not moved", "all keep what they were launched with",
       [](const Instruction& x) -> Text {
         return begins(x.name, "setmaxnreg") ? Text("// registers stay") : std::nullopt;
       }},
      {"waits at the start for kernels before", "there is none",
       [](const Instruction& x) -> Text {
         if (x.name == "tcgen05.alloc" || x.name == "fence.mbarrier_init")
           return before(x, "griddepcontrol.wait;");
         return std::nullopt;
       }},
  };
  return all;
}

Mutation everywhere(const Case& c, const Way& way) {
  Mutation out;
  out.kind = way.name;
  out.sentence = way.why;
  for (const Instruction& x : c.places) {
    if (const Text text = way.written(x)) {
      if (!out.line) out.line = static_cast<std::uint32_t>(x.at + 1);
      out.edits.emplace_back(static_cast<std::uint32_t>(x.at), "\t" + *text);
    }
  }
  return out;
}

// Rings of so many stages, "setp.eq.s32 %p1, %r1, 4;" with a selp by it: whoever fills and whoever
// empties one both begin anew earlier, and stages behind lie idle.
Mutation fewer_stages(const Case& c, int stages) {
  Mutation out;
  out.kind = fmt::format("{} stages", stages);
  out.sentence = "a ring may have fewer stages than there is room for";
  // The others also count stages elsewhere: by the low bits of a number where loops are unrolled,
  // or by waiting for all four before they leave.
  if (!begins(c.name, "hgemm_") && c.name != "wgmma_v6") return out;
  for (const Mutation& m : c.changes) {
    if (!begins(m.kind, "one stage less in")) continue;
    const auto& [at, text] = m.edits.front();
    std::string before;
    const int less = std::stoi(last_operand(trimmed(text), before));
    if (less + 1 <= stages || less + 1 < 3) continue;
    if (!out.line) out.line = m.line;
    out.edits.emplace_back(at, "\t" + before + fmt::format("{};", stages));
  }
  return out;
}

// Two of one kind that do not know of each other the other way round, at each pair that is not part
// of one before it.
Mutation swapped(const Case& c, const std::string& kind, const std::string& name,
                 const std::string& why) {
  Mutation out;
  out.kind = kind;
  out.sentence = why;
  for (std::size_t i = 0; i + 1 < c.places.size(); ++i) {
    const Instruction &x = c.places[i], &next = c.places[i + 1];
    if (x.name != name || next.name != name || x.straight != next.straight || x.first == next.first)
      continue;
    std::string moved;
    for (std::size_t at = x.first; at <= x.last; ++at) {
      moved += " " + trimmed(c.lines[at]);
      out.edits.emplace_back(static_cast<std::uint32_t>(at), "\t// moved");
    }
    out.edits.emplace_back(static_cast<std::uint32_t>(next.last), c.lines[next.last] + moved);
    if (!out.line) out.line = static_cast<std::uint32_t>(x.at + 1);
    ++i;
  }
  return out;
}

// The loop of a wait once more behind it: the phase is still complete, for the next one needs the
// waiter.
Mutation waited_twice(const Case& c) {
  Mutation out;
  out.kind = "waits twice";
  out.sentence = "the next phase does not complete before the waiter has done its part";
  for (const Instruction& x : c.places) {
    if (!is_wait(x) || x.first == x.at) continue;
    std::string again;
    for (std::size_t at = x.first; at <= x.last; ++at) again += " " + trimmed(c.lines[at]);
    if (!out.line) out.line = static_cast<std::uint32_t>(x.at + 1);
    out.edits.emplace_back(static_cast<std::uint32_t>(x.last), c.lines[x.last] + again);
  }
  return out;
}

// arrive.expect_tx moved behind the copy that follows it.
Mutation copied_first(const Case& c) {
  Mutation out;
  out.kind = "copied before it is expected";
  out.sentence = "bytes may come first: the phase lacks its arrival";
  for (std::size_t i = 0; i + 1 < c.places.size(); ++i) {
    const Instruction &x = c.places[i], &next = c.places[i + 1];
    if (x.name != "mbarrier.arrive.expect_tx" || !is_load_by_tma(next) ||
        x.straight != next.straight)
      continue;
    if (!out.line) out.line = static_cast<std::uint32_t>(x.at + 1);
    out.edits.emplace_back(static_cast<std::uint32_t>(x.at), "\t// moved");
    out.edits.emplace_back(static_cast<std::uint32_t>(next.last),
                           c.lines[next.last] + " " + text_of(x));
  }
  return out;
}

}  // namespace

std::vector<Mutation> legal_variants(const Case& c) {
  std::vector<Mutation> all;
  for (const Way& way : ways()) all.push_back(everywhere(c, way));
  all.push_back(fewer_stages(c, 3));
  all.push_back(fewer_stages(c, 2));
  all.push_back(
      swapped(c, "copies in another order", "cp.async.bulk", "neither knows of the other"));
  all.push_back(swapped(c, "mbarriers initialised in another order", "mbarrier.init",
                        "neither knows of the other"));
  all.push_back(waited_twice(c));
  all.push_back(copied_first(c));
  std::vector<Mutation> out;
  for (Mutation& m : all) {
    if (!m.edits.empty()) out.push_back(std::move(m));
  }
  return out;
}

}  // namespace tilescope::test
