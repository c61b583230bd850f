// What a kernel says of itself in its PTX, so that nobody keeps it by hand: lines that are comments
// to every assembler, with constants that nvcc fills in. Nothing is executed. core/run/manifest.h
// reads them, and whoever launches the kernel goes by them.
//
//     // tilescope: shared 197632              bytes of dynamic shared memory
//     // tilescope: barrier full 196608 4      mbarriers full[0] to full[3], 8 bytes each
//     // tilescope: barrier done 196672 0      one that is no array
//
// Stated once for each entry, in what is inlined into it.
#pragma once

#include <cstddef>
#include <type_traits>

// The kernel's dynamic shared memory is a `Struct`.
#define TILESCOPE_SHARED(Struct) asm volatile("// tilescope: shared %0" ::"n"(sizeof(Struct)))

// `Struct`, which begins where the block's shared memory does, has the mbarriers `name`.
#define TILESCOPE_BARRIER(Struct, name)                                               \
  asm volatile("// tilescope: barrier " #name " %0 %1" ::"n"(offsetof(Struct, name)), \
               "n"(tilescope::device::manifest_count<decltype(Struct::name)>))

namespace tilescope::device {

template <class Member>
constexpr int manifest_count = 0;
template <class Element, std::size_t count>
constexpr int manifest_count<Element[count]> = static_cast<int>(count);

}  // namespace tilescope::device
