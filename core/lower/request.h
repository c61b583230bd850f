// What is asked, as text: the layout language with the operations that are lowered around it.
//
//     partition_S(COPY, ?, slice(((_,_),?), T))      T a tensor, or a layout: then of f32 in gmem
//     crd2idx((?,3), (?,?):(?,1))
//     get_scalars((?,?):(?,1), only_dynamic)         get_iter, get_layout, get_shape, get_stride,
//                                                    get_leaves
//     A = (?,?):(?,1); slice((3,_), A)               names, as in the language
//
// COPY, coordinates and T are expressions of the language; `?` in a coordinate is the block's
// number, as a thread it is threadIdx.x. A tensor alone stands for get_iter, get_shape, get_stride
// and get_scalars of it.
#pragma once

#include <string_view>

#include "core/lower/lowering.h"

namespace tilescope::lowering {

Outcome<Request> request_of(std::string_view text, std::int64_t align = 0);

}  // namespace tilescope::lowering
