#include "app/deadlock.h"

#include <array>
#include <nlohmann/json.hpp>

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;

Json numbers_json(const DeadlockCause::Warps& warps) {
  Json numbers = Json::array();
  for (int i = 0; i < 64; ++i) {
    if (warps.mask >> i & 1) numbers.push_back(i);
  }
  return numbers;
}

Json index_json(std::size_t index) {
  return index == DeadlockCause::none ? Json() : Json(index);
}

std::string_view name_of(DeadlockCause::Why why) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(DeadlockCause::Why::count_)>
      names{"waits",     "branch",  "predicate", "left",
            "elsewhere", "skipped", "came",      "could_not_be_told"};
  return names[static_cast<std::size_t>(why)];
}

std::string_view name_of(DeadlockCause::WaitedFor::Of of) {
  using Of = DeadlockCause::WaitedFor::Of;
  constexpr std::array<std::string_view, static_cast<std::size_t>(Of::count_)> names{
      "mbarrier", "barrier", "cluster", "together"};
  return names[static_cast<std::size_t>(of)];
}

Json source_json(const DeadlockCause& cause, const DeadlockCause::Source& s) {
  Json reasons = Json::array();
  for (const DeadlockCause::NotCome& n : s.not_come) {
    reasons.push_back({{"why", name_of(n.why)},
                       {"cta", n.warps.rank},
                       {"warps", numbers_json(n.warps)},
                       {"lanes", n.lanes},
                       {"phases", n.phases},
                       {"waits_for", index_json(n.waits_for)},
                       {"at", n.pc ? site_json(n.site) : Json()},
                       {"detail", n.detail},
                       {"sentence", why_text(cause, n)}});
  }
  return {{"opcode", s.opcode},   {"site", site_json(s.site)},
          {"arrives", s.arrives}, {"expects", s.expects},
          {"brings", s.brings},   {"bytes", s.bytes},
          {"times", s.times},     {"not_come", std::move(reasons)}};
}

}  // namespace

Json to_json(const DeadlockCause& cause) {
  Json waiting = Json::array(), barriers = Json::array();
  for (const DeadlockCause::Waiting& w : cause.waiting) {
    waiting.push_back({{"cta", w.warps.rank},
                       {"warps", numbers_json(w.warps)},
                       {"lanes", w.lanes},
                       {"opcode", w.opcode},
                       {"site", site_json(w.site)},
                       {"waits_for", index_json(w.waits_for)},
                       {"phase", w.phase}});
    if (!w.words.empty()) waiting.back()["words"] = w.words;
  }
  for (const DeadlockCause::WaitedFor& b : cause.barriers) {
    Json sources = Json::array();
    for (const DeadlockCause::Source& s : b.sources) sources.push_back(source_json(cause, s));
    barriers.push_back({{"of", name_of(b.of)},
                        {"cta", b.rank},
                        {"object", b.object},
                        {"name", b.name},
                        {"phase", b.phase},
                        {"parity", b.phase % 2},
                        {"count", b.count},
                        {"pending", b.pending},
                        {"bytes", b.bytes},
                        {"would_help", b.would_help},
                        {"sources", std::move(sources)}});
  }
  return {{"sentence", cause.sentence},
          {"waiting", std::move(waiting)},
          {"barriers", std::move(barriers)},
          {"cycle", cause.cycle}};
}

const DeadlockCause* deadlock_in(const std::vector<Report>& reports) {
  for (const Report& r : reports) {
    if (r.deadlock) return r.deadlock.get();
  }
  return nullptr;
}

}  // namespace tilescope
