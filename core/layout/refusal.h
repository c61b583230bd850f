// A refusal is a value: which rule said no, at which mode, with which numbers. Its sentence is made
// elsewhere (core/layout/text.h), so that the algebra can run at compile time and in device code.
#pragma once

#include <cstdint>

namespace tilescope {

struct Refusal {
  enum class Rule : std::uint8_t {
    none,
    too_many_leaves,      // more than `a` leaves
    too_deep,             // nested deeper than `a`
    overflow,             // a number does not fit in 64 bits
    not_congruent,        // shape and stride, or coordinate and shape, differ in structure
    mode_out_of_range,    // mode `a` of a layout of rank `b`
    rank_too_small,       // a tiler of rank `a` for a layout of rank `b`
    size_not_positive,    // a shape of `a`
    stride_divisibility,  // composition: stride `a` against extent `b` of the left layout's mode
    shape_divisibility,   // composition: `a` elements against the `b` that are left in the mode
    carry,                // composition: the right side reaches `a` in a mode of extent `b`
    not_injective,        // complement: stride `a` below the `b` elements already covered
    hole,                 // complement: stride `a` is no multiple of the `b` already covered
    negative_stride,      // an operation that needs strides >= 0 met `a`
    dynamic_leaf,         // an operation that needs a known number met `?`
    divisor,              // `?{div=a}` where a multiple of `b` is needed
    unordered,            // unknown strides, or what reaches an unknown extent, must be compared
    axis_stride,          // an operation that needs plain strides met `a` on the axis of path `b`
    not_a_sum,            // + between what is no place
    tirx_axis,            // TIRx: `a` on the axis of path `b`, which is none of its own
    tirx_swizzle,         // TIRx: a swizzle that reads `a` bits above (below, if negative)
    not_flat,             // TIRx: extents nested `a` deep
    two_shards,           // TIRx: S + S
    replicas,             // to_cute: `a` copies of each element
    sizes_differ,         // to_cute: a shape of `a` elements for a layout of `b`
    no_such_element,      // element `a` of `b`
    coordinate_rank,      // a coordinate of `a` numbers in a grid of `b` extents
    coordinate_beyond,    // a coordinate of `a` in an extent of `b`
    not_grouped,          // TIRx: an extent of a shape ends inside a digit of the shard
    no_slice,             // TIRx: a range over the end of a digit
    not_a_range,          // TIRx: what stands for (begin,end)
    range_beyond,         // TIRx: a range up to `a` in an extent of `b`
    no_datapath,          // tmem_datapath_layout: no letter from A to G
    datapath_rows,        // `a` rows where the data path has `b`
    no_upper_half,        // the upper half of a data path that takes all lanes
    unknown_type,         // tma_shared_layout: an element type of no such name
    swizzle_mode,         // tma_shared_layout: a swizzle mode of no such name
    swizzle_bytes,        // tma_shared_layout: swizzled in rows of `a` bytes
    axis_extent,          // an extent of `a` on the axis of path `b`
    axis_coordinate,      // a coordinate of `a` on the axis of path `b`
    has_swizzle,          // an operation on plain layouts met a composed one
    out_of_bounds,        // coordinate or index `a` outside a shape of `b`
    underscore,           // `_` where a number is needed
    empty,                // an operation that needs at least one mode met ()
    swizzle_bits,         // a swizzle whose fields overlap or leave 64 bits: bits `a`, shift `b`
    order_not_distinct,   // make_ordered_layout: order `a` stands twice
    empty_range,          // modes from `a` up to, but without, `b`: none
    rank_too_large,       // a layout of rank `a` cannot be brought to rank `b` by adding modes
    not_divisible,        // upcast: stride `a` and the factor `b` do not divide each other
    not_adjacent,         // downcast: no stride is 1
    factor,               // a factor of `a`: 1 or more, for a swizzle a power of two
    tile_does_not_fill,   // tile_to_shape: an extent of `a` does not divide the target's `b`
    swizzle_through,      // no swizzle after this layout does what the one before it does
    swizzle_below,        // a swizzle reads bit `a`, below the lowest bit `b` of the new element
    swizzle_merge,        // two swizzles that are not one swizzle together
    has_offset,           // a swizzle with an offset of `a` where only 0 can be carried over
    too_large_to_list,    // an answer that is counted out needs `a` steps, `b` are the most
    not_power_of_two,     // a number of `a` where a power of two is needed
    not_linear,           // offset `a` of coordinate `b` is not the XOR of its bits' offsets
    access_width,         // accesses of `a` bytes: 1, 2, 4, 8 or 16 are
    lanes,                // `a` lanes: 1 to 32 take part
    not_aligned,          // an access at byte `a`, which is no multiple of its width `b`
    no_such_thread,       // thread `a` of `b`
    thread_layout_broadcasts,  // a thread layout of stride 0 in mode M, N or K
    copy_threads,              // a tiled copy of `a` threads, with an atom of `b`
    no_such_tile,              // tile `a` where there are `b` of them
    no_fragment,               // a copy that is neither tcgen05.ld nor .st
    split_out_of_range,        // halves a columns apart, each b wide
    no_split,                  // a split of `a` columns where the shape has no halves
    accumulator_rows,          // an accumulator of `a` rows by `b` CTAs
    accumulator_columns,       // an accumulator of `a` columns, where multiples of `b` are legal
    sparse_fragment,           // a fragment of an operand of which every `a`-th element is stored
    copy_values,               // a tiled copy of `a` values a thread, with an atom of `b`
  };

  Rule rule = Rule::none;
  std::int8_t mode = -1;    // leaf or top-level mode concerned, counted from 0; -1 is the whole
  std::int8_t operand = 0;  // 0: the first operand, 1: the second
  std::int64_t a = 0, b = 0;

  constexpr explicit operator bool() const { return rule != Rule::none; }
};

// A value, or why there is none.
template <class T>
struct Result {
  T value{};
  Refusal refusal{};

  constexpr Result() = default;
  constexpr Result(const T& v) : value(v) {}          // NOLINT: a value is a result
  constexpr Result(const Refusal& r) : refusal(r) {}  // NOLINT: so is a refusal
  // A value of several parts, made where it stays.
  template <class A, class B, class... More>
  constexpr Result(const A& a, const B& b, const More&... more) : value(a, b, more...) {}
  constexpr bool ok() const { return !refusal; }
  constexpr explicit operator bool() const { return ok(); }
  constexpr const T& operator*() const { return value; }
  constexpr const T* operator->() const { return &value; }
};

// At compile time: the value, or an error at the line that asked for it.
void a_layout_operation_was_refused(Refusal);
template <class T>
constexpr T must(const Result<T>& result) {
  if (!result.ok()) a_layout_operation_was_refused(result.refusal);
  return result.value;
}

}  // namespace tilescope
