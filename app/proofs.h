// `run --prove`: whether a launch does the same in every order.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/runs.h"
#include "app/terminal.h"
#include "core/sim/machine/prove.h"

namespace tilescope {

struct Proved {
  sim::Proof proof;
  double seconds = 0;
  bool cut_short = false;
};

// For at most `seconds`; shows what it is at, and ends at Ctrl-C.
Outcome<Proved> prove_orders(const PreparedRun& run, const Order& order, double seconds,
                             Terminal& terminal);
// "60", "90s", "2m": seconds; nothing where it is none.
std::optional<double> seconds_of(const std::string& text);

std::string text(const Proved& proved);
nlohmann::ordered_json to_json(const Proved& proved);

}  // namespace tilescope
