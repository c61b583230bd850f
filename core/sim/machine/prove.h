// Shows that a launch does the same in every order of its warps and of what is in flight; or finds
// an order in which it goes wrong; or says which steps keep it from either.
//
// One run is enough where it has no race, and each of its steps whose order means something is
// ordered behind the other (core/sim/order/order_log.h): then every other order is the same run
// with its steps in other places. That is told by what is ordered in the run, not by which order it
// took; what it rests on beyond that is tried as well, in a few runs that differ as much as they
// can: all waits that are asked for the first time answer no, everything in flight comes late,
// seeds; and where clusters take each other's work, that there is none to take. Each must do what
// the first did, warp by warp, and leave the same bytes.
//
// Where two steps could change places, orders are searched for one that fails (core/sim/machine/
// search.h), as long as there is time. Likewise where it is a seed's order that fails: one of few
// delays that fails so, too, says more of why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/job.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/search.h"
#include "core/sim/order/order_log.h"

namespace tilescope::sim {

class Proof {
 public:
  enum class Verdict : std::uint8_t { running, proved, open, fails };

  // Two steps that could change places, where they are.
  struct Pair {
    Reversal::Kind kind = Reversal::Kind::mbarrier;
    Site earlier, later;
  };
  struct Failure {
    std::string how;  // the order: "the default order", "--lazy", "--schedule 0.4@1250"
    std::vector<Report> reports;
  };

  static Outcome<Proof> begin(Job job, Options options);

  // Executes about `budget` warp instructions.
  Outcome<Verdict> advance(std::uint64_t budget);
  // No more time: what is known by now.
  void stop();

  Verdict verdict() const { return verdict_; }
  const std::vector<Pair>& pairs() const { return pairs_; }
  // Why nothing can be shown, beside the pairs: "it reads %clock64 at PTX line 30".
  const std::vector<std::string>& reasons() const { return reasons_; }
  const std::optional<Failure>& failure() const { return failure_; }
  std::uint64_t runs() const { return runs_; }
  bool searches() const { return search_.has_value(); }  // for an order that fails
  std::uint64_t searched() const { return search_ ? search_->progress().tried : 0; }
  std::uint64_t steps() const { return steps_; }
  double orders() const { return orders_; }  // decimal logarithm
  std::string doing() const;

 private:
  struct Way {
    std::string name;
    Options options;
  };
  Proof(Job job, Options options);
  Outcome<bool> begin_next();
  void end_run(RunState state);
  void look_at_program();
  void conclude();
  void search_orders(SearchLimits limits);

  Job job_;
  Options options_;
  std::vector<Way> ways_;
  std::size_t way_ = 0;
  std::optional<Machine> machine_;
  std::optional<Search> search_;
  bool searches_ = false;
  bool grants_work_ = false;  // by clusterlaunchcontrol: whose work a CTA does is drawn
  Verdict verdict_ = Verdict::running;
  std::uint64_t trace_ = 0, runs_ = 0, steps_ = 0;
  double orders_ = 0;
  std::vector<Buffer> results_;
  std::vector<Pair> pairs_;
  std::vector<std::string> reasons_;
  std::optional<Failure> failure_;
};

}  // namespace tilescope::sim
