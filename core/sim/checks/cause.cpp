#include "core/sim/checks/cause.h"

#include <algorithm>

#include "core/sim/checks/cause_parts.h"

namespace tilescope::sim {
namespace {

// Who waits for whom, round to where it began.
class CycleOfWaits {
 public:
  explicit CycleOfWaits(DeadlockCause& cause) : out_(cause) {}
  void find() {
    std::vector<char> seen(out_.barriers.size(), 0);
    for (std::size_t b = 0; b < out_.barriers.size(); ++b) {
      if (seen[b]) continue;
      seen[b] = 1;
      std::vector<std::size_t> way{b};
      if (walk(b, way, seen)) return;
    }
  }

 private:
  // Those barriers that stand before what `b` lacks: of the waits of who would bring it.
  std::vector<std::size_t> stands_before(std::size_t b) const {
    std::vector<std::size_t> out;
    for (const DeadlockCause::Source& s : out_.barriers[b].sources) {
      if (!s.certain || (out_.barriers[b].pending && !s.arrives)) continue;
      for (const DeadlockCause::NotCome& n : s.not_come) {
        if (n.why == DeadlockCause::Why::waits && n.waits_for != DeadlockCause::none &&
            !std::count(out.begin(), out.end(), n.waits_for)) {
          out.push_back(n.waits_for);
        }
      }
    }
    return out;
  }

  bool walk(std::size_t at, std::vector<std::size_t>& way, std::vector<char>& seen) {
    for (const std::size_t next : stands_before(at)) {
      const auto before = std::find(way.begin(), way.end(), next);
      if (before != way.end()) {
        out_.cycle.assign(before, way.end());
        return true;
      }
      if (seen[next]) continue;
      seen[next] = 1;
      way.push_back(next);
      if (walk(next, way, seen)) return true;
      way.pop_back();
    }
    return false;
  }

  DeadlockCause& out_;
};

}  // namespace

std::shared_ptr<const DeadlockCause> cause_of(Model& machine, const Block& last,
                                              const std::vector<WaitingSplit>& waiting,
                                              const std::set<std::uint32_t>& helpful) {
  causes::Search search{machine, last, waiting, helpful, Derivation(machine), {}, {}, {}, {}};
  search.out.cluster_size = machine.cluster_size;
  causes::find_waits(search);
  causes::find_sources(search);
  CycleOfWaits(search.out).find();
  search.out.sentence = first_cause_text(search.out);
  return std::make_shared<const DeadlockCause>(std::move(search.out));
}

}  // namespace tilescope::sim
