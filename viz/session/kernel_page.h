// The page of the open kernel in the window's session: what of its run is told there.
#pragma once

#include <memory>
#include <vector>

namespace tilescope {

struct Session;
struct RunResult;
struct KernelCard;
struct Image;
struct KernelRun;
struct KernelStep;

// Read out of a run once; and small pictures of the kernel's own layouts, made once.
struct KernelPage {
  std::shared_ptr<const RunResult> of;
  std::shared_ptr<const KernelRun> run;
  std::shared_ptr<const KernelCard> layouts_of;
  std::vector<std::shared_ptr<const Image>> pictures;  // null: its expression has no picture
};

// What the last run adds to the page. Null: there was none.
const KernelRun* kernel_run(const Session& session);
// What can be done next, the first one first of all.
std::vector<KernelStep> next_steps(const Session& session);

}  // namespace tilescope
