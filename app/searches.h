// `run --search N`: other orders of a launch, from every point where its warps meet.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/runs.h"
#include "app/terminal.h"
#include "core/sim/machine/search.h"

namespace tilescope {

struct Searched {
  sim::Search::Progress progress;
  std::uint64_t seed = 0;  // of every run
  bool cut_short = false;  // there were more orders than were to be tried
  std::optional<sim::Search::Found> found;
  std::vector<sim::Search::Hazard> hazards;  // that the order in which nobody is held does not show
};

// What --schedule is given: an order, or a file that has one.
Outcome<sim::Schedule> schedule_in(const std::string& text);

// Tries up to `runs` orders; shows how far it is, and ends at Ctrl-C.
Outcome<Searched> search_orders(const PreparedRun& run, const Order& order, std::uint64_t runs,
                                Terminal& terminal);

// "no fault in 120 orders: each of 40 points ..."
std::string text(const Searched& searched);
// What `--schedule` is to be given to see the fault again, or a hazard.
std::string schedule_of(const Searched& searched);
std::string schedule_of(const Searched& searched, const sim::Search::Hazard& hazard);
nlohmann::ordered_json to_json(const Searched& searched);

}  // namespace tilescope
