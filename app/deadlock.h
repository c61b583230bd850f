// Why nobody goes on (core/run/deadlock_cause.h), as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/run/deadlock_cause.h"

namespace tilescope {

nlohmann::ordered_json to_json(const DeadlockCause& cause);
nlohmann::ordered_json site_json(const Site& site);

// The deadlock among reports, that says why; null: there is none.
const DeadlockCause* deadlock_in(const std::vector<Report>& reports);

}  // namespace tilescope
