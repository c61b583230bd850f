// The pipeline of the CTA looked at, where the machine stands, for the machine's views.
#pragma once

#include <optional>

#include "viz/machine/pipeline_now.h"
#include "viz/session/session.h"

namespace tilescope {

// Nothing: there is no record with times of this CTA, or no machine.
std::optional<PipelineNow> pipeline_now(const Session& session);

}  // namespace tilescope
