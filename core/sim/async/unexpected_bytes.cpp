#include "core/sim/async/unexpected_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

std::string text_of_bytes(std::uint64_t n) {
  return fmt::format("{} byte{}", n, n == 1 ? "" : "s");
}

}  // namespace

void look_for_unexpected_bytes(Model& machine, Block& block, std::uint32_t offset,
                               const Mbarrier& b, Actor who) {
  if (!block.order.on() || machine.supposes) return;
  std::uint64_t under_way = 0;
  std::vector<std::string> senders;
  const auto add = [](std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  };
  for (std::uint32_t rank = 0; rank < machine.cluster_size; ++rank) {
    const Block& from = *machine.member(block, rank);
    for (const AsyncOperation& o : from.flight.operations) {
      if (o.mbarrier != offset || !o.transactions || o.stage == Stage::complete ||
          o.leader != no_leader || !o.arrives_at(block.rank, rank)) {
        continue;
      }
      under_way += o.transactions;
      add(senders, place_text(machine.site(machine.issuer(from, o), o.thread, o.pc)));
    }
  }
  if (!under_way) return;
  std::uint64_t expected = 0, came = 0;
  std::vector<std::string> expecting;
  Actor expects = who;
  for (const Visits& v : b.visits) {
    if (v.phase + 1 != b.phase) continue;
    const Block& home = *machine.member(block, v.rank);
    const std::string at = place_text(machine.site(home, v.warp * 32, v.pc));
    if (v.expects) {
      if (expecting.empty()) {
        expects = {v.warp * 32 + static_cast<std::uint32_t>(__builtin_ctz(v.last)), v.pc, false,
                   v.rank};
      }
      expected += v.bytes;
      add(expecting, at);
    } else if (v.brings) {
      came += v.bytes;
      add(senders, at);
    }
  }
  std::sort(senders.begin(), senders.end());
  const Block& home = home_of(machine, block, expects);
  machine.reports.hazard_at(home, expects.thread, expects.pc, "bytes_not_expected", who.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "{} expects {} in phase {}{}, and {} were sent to it before it completed, by {}: the phase "
        "is complete with {} of them under way",
        mbarrier_name(machine, offset), text_of_bytes(expected), b.phase - 1,
        expecting.empty() ? "" : fmt::format(" ({})", fmt::join(expecting, ", ")),
        text_of_bytes(came + under_way), fmt::join(senders, ", "), text_of_bytes(under_way));
    r.expected =
        fmt::format("expect_tx of {}, or fewer bytes sent", text_of_bytes(came + under_way));
    r.found = fmt::format("expect_tx of {}", text_of_bytes(expected));
    r.evidence = evidence_at(mbarrier_at(block, offset));
    const auto party = [&](const Actor& a, std::string_view does) {
      return thread_at(machine, home_of(machine, block, a), a.thread, a.pc,
                       fmt::format("{} {}", opcode_text(machine.program().code[a.pc].text), does),
                       mbarrier_at(block, offset));
    };
    r.evidence.parties = {party(expects, "expects too few bytes"),
                          party(who, "completed the phase")};
    return r;
  });
}

}  // namespace tilescope::sim
