// The sentence of a refusal: the rule, the mode, the numbers, and what would be legal.
#include <fmt/format.h>

#include "core/layout/text.h"

namespace tilescope {
namespace {

constexpr int lanes_of_a_warp = 32;

std::string where(const Refusal& r) {
  std::string out = r.operand == 1 ? " of the second operand" : "";
  return r.mode < 0 ? out : fmt::format(" in mode {}{}", static_cast<int>(r.mode), out);
}

// `a` on the axis of path `b`.
std::string axis_of(const Refusal& r) {
  return text(Axis{static_cast<std::uint32_t>(r.b)});
}
std::string number_on_axis(const Refusal& r) {
  return fmt::to_string(r.a) + axis_of(r);
}

}  // namespace

std::string sentence(const Refusal& r) {
  using Rule = Refusal::Rule;
  const std::string at = where(r);
  switch (r.rule) {
    case Rule::none:
      return "";
    case Rule::too_many_leaves:
      return fmt::format("The result needs more than {} leaves; split the layout.", max_leaves);
    case Rule::too_deep:
      return fmt::format("Nested deeper than {} levels; flatten some of them.", r.a);
    case Rule::overflow:
      return "A size or an offset does not fit in 64 bits; use smaller extents or strides.";
    case Rule::not_congruent:
      return r.a == r.b
                 ? std::string("The two are nested differently; give both the same parentheses.")
                 : fmt::format(
                       "The two differ in structure ({} elements against {}); give both the same "
                       "parentheses.",
                       r.a, r.b);
    case Rule::mode_out_of_range:
      return fmt::format("There is no mode {}: the layout has rank {} (modes 0 to {}).", r.a, r.b,
                         r.b - 1);
    case Rule::rank_too_small:
      return fmt::format(
          "A tiler of rank {} needs a layout of at least that rank{}, and this one has rank {}.",
          r.a, at, r.b);
    case Rule::size_not_positive:
      return fmt::format("An extent of {}{}: extents are 1 or more.", r.a, at);
    case Rule::stride_divisibility:
      return fmt::format(
          "A stride of {}{} meets an extent of {}: one must divide the other, or a step would "
          "cross "
          "into the next mode part way. Strides that divide {} (or are multiples of it) would "
          "work.",
          r.a, at, r.b, r.b);
    case Rule::shape_divisibility:
      return fmt::format(
          "{} steps{} do not fill whole rounds of the {} that fit before the mode ends; a multiple "
          "of {} (or fewer than {}) would work.",
          r.a, at, r.b, r.b, r.b + 1);
    case Rule::carry:
      return fmt::format(
          "Together the modes of the right side reach {}{} of extent {}: their sum runs over its "
          "end, so no layout gives A(B(c)) for all c. Parts that together stay below {} would "
          "work, "
          "or an extent of more than {}.",
          r.a, at, r.b, r.b, r.a);
    case Rule::not_injective:
      return fmt::format(
          "A stride of {}{} is inside the {} offsets that smaller strides already cover: the "
          "layout visits an offset twice and has no complement.",
          r.a, at, r.b);
    case Rule::hole:
      return fmt::format(
          "A stride of {}{} is no multiple of the {} offsets covered before it; the hole cannot be "
          "filled by a layout. A multiple of {} would work.",
          r.a, at, r.b, r.b);
    case Rule::negative_stride:
      return fmt::format("A stride of {}{}: this operation needs strides of 0 or more.", r.a, at);
    case Rule::dynamic_leaf:
      return fmt::format("A `?`{}: this operation needs a known number there.", at);
    case Rule::divisor:
      return fmt::format(
          "{}{} may be any {}, and this operation needs more to be sure: ?{{div={}}} would be "
          "enough, or a known number.",
          text(Int::unknown(r.a)), at,
          r.a == 1 ? std::string("number") : fmt::format("multiple of {}", r.a), r.b);
    case Rule::unordered:
      return fmt::format(
          "{}{} would have to be compared with other numbers, to put the modes in the order of "
          "their strides; a known number there would work.",
          text(Int::unknown(r.a)), at);
    case Rule::axis_stride:
      return fmt::format(
          "A stride of {}{}: this operation needs offsets, and a place on the axis {} is none; "
          "strides without an axis would work.",
          number_on_axis(r), at, axis_of(r));
    case Rule::tirx_axis:
      return fmt::format(
          "{}{}: TIRx's axes have names, of threads (tx, warpid, laneid, tid_in_wg...) or memory "
          "(m, "
          "TLane, TCol...), and {} is none of them.",
          number_on_axis(r), at, axis_of(r));
    case Rule::tirx_swizzle:
      return fmt::format(
          "A swizzle with a shift of {}: TIRx's swizzles read higher bits and change lower ones; a "
          "positive shift would work.",
          r.a);
    case Rule::not_flat:
      return fmt::format(
          "Extents nested {} deep: TIRx's are one flat list; flatten(L) has the same elements.",
          r.a);
    case Rule::two_shards:
      return "Two shards: S[...] appears once, and R[...] or an offset may be added to it.";
    case Rule::replicas:
      return fmt::format(
          "Each element has {} copies, and a CuTe layout has one place for a coordinate; the "
          "layout "
          "without R[...] would work, owners(X, C) lists all copies.",
          r.a);
    case Rule::sizes_differ:
      return fmt::format("A shape of {} elements for a layout of {}: both need as many.", r.a, r.b);
    case Rule::no_such_element:
      return fmt::format("There is no element {}: the layout has {} (0 to {}).", r.a, r.b, r.b - 1);
    case Rule::coordinate_rank:
      return fmt::format("A coordinate of {} numbers in a grid of {} extents: both need as many.",
                         r.a, r.b);
    case Rule::coordinate_beyond:
      return fmt::format("A coordinate of {}{}: the extent there is {}, so 0 to {} would work.",
                         r.a, at, r.b, r.b - 1);
    case Rule::not_grouped:
      return "An extent of the shape ends inside a digit of the shard, where that does not split; "
             "extents whose products divide those of the shard's (or are multiples of them) would "
             "work.";
    case Rule::no_slice:
      return fmt::format(
          "The range{} runs over the end of a digit of the shard, so its elements are no layout; a "
          "range inside a digit, or of whole ones, would work.",
          at);
    case Rule::not_a_range:
      return fmt::format(
          "The range{} is not known to be (BEGIN,END): each extent has one, as in ((0,8),(16,32)).",
          at);
    case Rule::range_beyond:
      return fmt::format(
          "A range up to {}{}, where the extent is {}: ranges are (BEGIN,END) with 0 <= BEGIN < "
          "END "
          "<= {}.",
          r.a, at, r.b, r.b);
    case Rule::no_datapath:
      return "The data paths of tcgen05.mma have the letters A to G.";
    case Rule::datapath_rows:
      return fmt::format("{} rows: this data path has {} of a CTA.", r.a, r.b);
    case Rule::no_upper_half:
      return "This data path takes both halves of each warp's lanes; C and F take one of them.";
    case Rule::unknown_type:
      return "There is no element type of this name; f16, bf16, f32, e4m3 or u8 would work.";
    case Rule::swizzle_mode:
      return "The swizzle modes are 32B, 64B and 128B: the bytes of a row of 8 that are swizzled.";
    case Rule::swizzle_bytes:
      return fmt::format("Rows of {} bytes: the swizzle modes are 32B, 64B and 128B.", r.a);
    case Rule::not_a_sum:
      return fmt::format(
          "A place is a number, or numbers on axes such as 3@TLane+4@TCol, and this{} is none.",
          at);
    case Rule::axis_extent:
      return fmt::format("An extent of {}{}: only strides are on an axis.", number_on_axis(r), at);
    case Rule::axis_coordinate:
      return fmt::format("A coordinate of {}: coordinates are numbers without an axis.",
                         number_on_axis(r));
    case Rule::has_swizzle:
      return fmt::format(
          "A swizzled layout{} is where only a plain one can be: take the swizzle off, or put the "
          "layout on the left side of the composition.",
          at);
    case Rule::out_of_bounds:
      return fmt::format("A coordinate of {}: coordinates are 0 or more.", r.a);
    case Rule::underscore:
      return "A `_` is where a number is needed; `_` belongs in slice().";
    case Rule::empty:
      return fmt::format("An empty layout (){}: at least one mode is needed.", at);
    case Rule::swizzle_bits:
      return fmt::format(
          "A swizzle of {} bits shifted by {}: each of B, M and |S| is at most 30, and the shift "
          "is "
          "at least the bits, or source and target overlap.",
          r.a, r.b);
    case Rule::empty_range:
      return fmt::format("Modes {} up to, but without, {}: that is none; the end comes after.", r.a,
                         r.b);
    case Rule::rank_too_large:
      return fmt::format(
          "A layout of rank {} cannot become one of rank {}: ask for rank {} or more, or take() "
          "some "
          "modes first.",
          r.a, r.b, r.a);
    case Rule::not_divisible:
      return fmt::format(
          "A stride of {}{} and a factor of {}: one must divide the other, or an element of the "
          "new "
          "width would hold parts of two.",
          r.a, at, r.b);
    case Rule::not_adjacent:
      return "No mode has stride 1, so no element can be split into adjacent parts; a layout with "
             "a "
             "stride of 1 would work.";
    case Rule::factor:
      return fmt::format("A factor of {}: 1 or more, and for a swizzled layout a power of two.",
                         r.a);
    case Rule::tile_does_not_fill:
      return fmt::format(
          "A block of extent {}{} does not fill a target of {} with whole copies; a target that is "
          "a multiple of {} would work.",
          r.a, at, r.b, r.a);
    case Rule::swizzle_through:
      return "The other layout does not keep the swizzle's bits together, so no swizzle before it "
             "does the same; power-of-two extents and strides would work.";
    case Rule::swizzle_below:
      return fmt::format(
          "The swizzle moves bit {} of the offset upwards, and the new element swallows the bits "
          "below {}: which element moves would be lost. A swizzle with a base of {} or more would "
          "work.",
          r.a, r.b, r.b);
    case Rule::swizzle_merge:
      return "These two swizzles together are not one swizzle; two with the same shift and bits "
             "that "
             "do not meet would be.";
    case Rule::has_offset:
      return fmt::format(
          "An offset of {} is between swizzle and layout; only an offset of 0 can be taken "
          "through.",
          r.a);
    case Rule::too_large_to_list:
      return fmt::format("{} coordinates would have to be counted out; {} are the most.", r.a, r.b);
    case Rule::not_power_of_two:
      return fmt::format("{} is not a power of two{}, and one is needed here.", r.a,
                         r.b > 0 ? fmt::format(" up to {}", r.b) : std::string());
    case Rule::not_linear:
      return fmt::format(
          "Coordinate {} has offset {}, which is not the XOR of the offsets of its bits: the "
          "layout "
          "is no matrix over GF(2). Power-of-two extents, and strides that share no bits, would "
          "work.",
          r.b, r.a);
    case Rule::access_width:
      return fmt::format("{} bytes: an access or an element has 1, 2, 4, 8 or 16.", r.a);
    case Rule::lanes:
      return fmt::format(
          "{} lanes in mode 0: a warp has 32. Put the lanes into mode 0 and further instructions "
          "into mode 1, as in ({},N).",
          r.a, lanes_of_a_warp);
    case Rule::not_aligned:
      return fmt::format(
          "An access at byte {} is not aligned to its {} bytes; the hardware faults there. Offsets "
          "that are multiples of {} bytes would work.",
          r.a, r.b, r.b);
    case Rule::no_such_thread:
      return fmt::format("There is no thread {}: there are {}, 0 to {}.", r.a, r.b, r.b - 1);
    case Rule::thread_layout_broadcasts:
      return fmt::format(
          "The thread layout has stride 0{}: several atoms would have the same threads. A stride "
          "that sets them apart would work.",
          at);
    case Rule::copy_threads:
      return fmt::format(
          "{} threads cannot be dealt out to atoms of {} threads; a multiple of {} would work.",
          r.a, r.b, r.b);
    case Rule::copy_values:
      return fmt::format(
          "{} values a thread cannot be dealt out to atoms that move {} of them; a multiple of {}, "
          "or an atom for other values, would work.",
          r.a, r.b, r.b);
    case Rule::sparse_fragment:
      return fmt::format(
          "The operand is sparse: one of {} elements is stored, and how those are packed is the "
          "kernel's choice. partition_A gives the thread's part of the whole operand.",
          r.a);
    case Rule::no_such_tile:
      return fmt::format("There is no tile {}{}: there are {}, 0 to {}.", r.a, at, r.b, r.b - 1);
    case Rule::no_fragment:
      return "This copy has no fragment in TMEM; SM100_TMEM_LOAD_... and SM100_TMEM_STORE_... "
             "have.";
    case Rule::split_out_of_range:
      return fmt::format(
          "A split of {} columns: the halves are {} wide each, and TMEM has 512; {} to {} would "
          "do.",
          r.a, r.b, r.b, 512 - r.b);
    case Rule::no_split:
      return fmt::format(
          "A split of {} columns: only the two halves of 16dp32b (.16x32bx2) are apart.", r.a);
    case Rule::accumulator_rows:
      return fmt::format(
          "M is {} for {} CTAs: one CTA makes 64 or 128 rows (weight-stationary also 32), a pair "
          "128 or 256.",
          r.a, r.b);
    case Rule::accumulator_columns:
      if (r.b == 64) return fmt::format("N is {}: weight-stationary it is 64, 128 or 256.", r.a);
      return fmt::format("N is {}: multiples of {} up to 256 are legal here.", r.a, r.b);
    case Rule::order_not_distinct:
      return fmt::format("Order {} appears twice{}: each mode needs its own place in the order.",
                         r.a, at);
  }
  return "";
}

}  // namespace tilescope
