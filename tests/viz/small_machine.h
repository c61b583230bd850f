// A machine of two warps that meet at an mbarrier and write their numbers: what the window's tests
// step through, in a few dozen instructions.
#pragma once

#include <memory>
#include <string>

#include "viz/machine/live_run.h"

namespace tilescope::test {

inline constexpr const char* small_ptx = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry add(.param .u64 c)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .reg .pred %p<3>;
  .shared .align 8 .b64 full;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, full;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MADE;
  mbarrier.init.shared.b64 [%r2], 64;
MADE:
  bar.sync 0;
  mbarrier.arrive.shared.b64 %rd1, [%r2];
AGAIN:
  mbarrier.try_wait.shared.b64 %p2, [%r2], %rd1;
  @!%p2 bra AGAIN;
  ld.param.u64 %rd2, [c];
  cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

inline Outcome<std::shared_ptr<LiveRun>> small_machine(const char* ptx = small_ptx) {
  Job job;
  job.program = {"add", ptx};
  job.launch.grid = {2, 1, 1};
  job.launch.block = {64, 1, 1};
  Buffer c;
  c.name = "C";
  c.dtype = DType::u32;
  c.shape = {64};
  c.bytes.resize(256);
  job.buffers.push_back(std::move(c));
  job.arguments.push_back(Argument::pointer(0));
  auto stepper = sim::Stepper::load(std::move(job));
  if (!stepper) return stepper.error();
  auto live = std::make_shared<LiveRun>(std::move(*stepper));
  std::string text = ptx;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    live->sources[""].push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return live;
}

}  // namespace tilescope::test
