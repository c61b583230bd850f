// What kernels of tcgen05 products in these tests begin with.
#pragma once

#include <cstdint>
#include <string>

namespace tilescope::test {

// A text with every `from` made `to`.
inline std::string filled(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The head of a body of 128 threads with parameter `in`: allocates all of TMEM (its address in
// `base`; GROUP is .cta_group::1 or 2), makes an mbarrier `done` of one arrival (%r20), and copies
// the CTA's `bytes` of `in` to `tiles` in shared memory (%r10), for the tensor core to read once
// the threads have met. %r2 is the thread, %r9 the CTA's rank; %p1 is thread 0, %p6 that of CTA 0.
inline std::string images_in_shared(std::uint32_t bytes) {
  const std::string text = R"(  .reg .b16 %h<4>;
  .reg .b32 %r<60>;
  .reg .b64 %d<20>;
  .reg .pred %p<10>;
  .shared .align 1024 .b8 tiles[BYTES];
  .shared .align 8 .b64 done;
  .shared .align 4 .b32 base;
  mov.u32 %r2, %tid.x;
  mov.u32 %r9, %cluster_ctarank;
  setp.lt.u32 %p0, %r2, 32;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.and.u32 %p6, %r9, 0, %p1;
  mov.u32 %r0, base;
  mov.u32 %r20, done;
  @%p0 tcgen05.allocGROUP.sync.aligned.shared::cta.b32 [%r0], 512;
  @%p1 mbarrier.init.shared::cta.b64 [%r20], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  ld.param.u64 %d0, [in];
  mad.wide.u32 %d0, %r9, BYTES, %d0;
  mad.wide.u32 %d0, %r2, 4, %d0;
  mov.u32 %r10, tiles;
  mad.lo.u32 %r11, %r2, 4, %r10;
  mov.u32 %r12, 0;
FILL:
  ld.global.u32 %r13, [%d0];
  st.shared.b32 [%r11], %r13;
  add.u64 %d0, %d0, 512;
  add.u32 %r11, %r11, 512;
  add.u32 %r12, %r12, 512;
  setp.lt.u32 %p2, %r12, BYTES;
  @%p2 bra FILL;
  fence.proxy.async.shared::cta;
)";
  return filled(text, "BYTES", std::to_string(bytes));
}

}  // namespace tilescope::test
