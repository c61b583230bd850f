// One product of tensor cores, opened: its descriptors' bits, the bytes that it reads, where its
// sum is and who takes it, all products of that sum, and each of its numbers term by term. Plain
// values from a run's record and its machine, which is brought to the product once more; for
// pictures, text, descriptions and tests.
//
//   ProductIndex   the products of a CTA (wgmma, tcgen05), or of one of its warps (mma.sync)
//   ProductView    one of these, with those that add to the same sum
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/profile/pipeline.h"
#include "core/sim/matrix/descriptor_fields.h"
#include "core/sim/matrix/product_trace.h"
#include "core/sim/stepping/products.h"

namespace tilescope {

struct ProductIndex {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;  // of mma.sync
  // In the order of their begins: of the tensor core's unit, whose sums are in this CTA.
  std::vector<sim::EventId> events;
  // Else all of the warp, as they were executed.
  std::shared_ptr<const std::vector<sim::ProductSeen>> of_warp;

  std::size_t size() const { return of_warp ? of_warp->size() : events.size(); }
  bool async() const { return !of_warp; }
  // The one under way at a time: the last that has begun. The first, where none has.
  std::size_t at(const sim::Record& record, double time) const;
  std::optional<std::size_t> number_of(sim::EventId event) const;
};

// `start`: the machine before its first instruction; asked only where no product of the record is
// in this CTA and the program has an mma.sync.
ProductIndex products_of(const sim::Record& record, const sim::Pipeline& pipeline,
                         std::uint64_t block, std::uint32_t warp, const sim::Machine& start,
                         const std::function<bool()>& keep_on = {});

// Bits, and what each of them means.
struct DescriptorView {
  std::string name;  // "descriptor of A", "instruction descriptor"
  std::uint64_t bits = 0;
  int width = 64;
  std::vector<sim::BitField> fields;
  std::vector<std::string> otherwise;  // of each: what another value would do
};

// A tcgen05.ld that reads some of the sum.
struct ProductLoad {
  sim::EventId event = sim::no_event;
  std::uint32_t pc = 0, warp = 0;
  std::vector<sim::CellRange> cells;
};

// Whose an element of D is.
struct ElementPlace {
  std::optional<sim::TensorAddress> cell;   // of TMEM
  std::optional<std::uint32_t> warp, lane;  // that has it, or loads it
  std::string reg;                          // "%f12"
  std::optional<std::size_t> load;          // which of ProductView::loads
};

class ProductView {
 public:
  std::uint64_t block = 0;
  std::size_t number = 0, count = 0;  // of the index
  bool timed = false;
  std::string kernel, text;  // the instruction
  std::uint32_t ptx_line = 0;
  std::string site;  // "kernels/hopper/wgmma_v1.cu:74"; empty: not known
  // Those that add to one sum, in order, each behind the one before: `before` of the first alone.
  std::shared_ptr<const std::vector<sim::ProductSeen>> products;
  std::vector<std::size_t> numbers;  // of each of them in the index; its size: not known
  std::size_t at = 0;                // which of them it is
  // The step of K that each of them is of, as the timeline and the theatre count them, and the last
  // one; empty: not known.
  std::vector<std::uint32_t> k_steps;
  std::uint32_t last_k_step = 0;
  bool whole = true;  // the sum begins with the first of them
  std::vector<DescriptorView> descriptors;
  std::vector<ProductLoad> loads;
  sim::Cycle issued = 0, begin = 0, end = 0;

  const std::vector<sim::ProductSeen>& sum() const { return *products; }
  const sim::ProductSeen& seen() const { return sum()[at]; }
  ElementPlace place(std::uint32_t row, std::uint32_t column) const;
  // Of every product of the sum, in order.
  std::vector<sim::ElementTrace> traces(std::uint32_t row, std::uint32_t column) const;
  sim::ElementTrace trace(std::size_t which, std::uint32_t row, std::uint32_t column) const;
  // Offsets of the 16-byte pieces that it reads in shared memory: of A's rows, of B's of one CTA;
  // and which row and k a piece holds first.
  struct Piece {
    std::uint32_t offset = 0, row = 0, rows = 1, k = 0;
  };
  std::vector<Piece> pieces(bool of_a) const;
  std::string instruction_name() const;  // "tcgen05.mma"
  // Of each element of D, row after row, whose it is: warp * 32 + lane, or nobody.
  static constexpr std::uint16_t nobody = 0xffff;
  std::vector<std::uint16_t> owners;
  std::vector<std::uint16_t> a_lanes, b_lanes;  // of mma.sync: of A's m x k and B's k x n, the lane

  std::shared_ptr<const ptx::Program> program;
};

// The product of this number. Refused where the machine did not come to it again.
Outcome<std::shared_ptr<const ProductView>> open_product(
    const sim::Record& record, const sim::Pipeline& pipeline, const ProductIndex& index,
    std::size_t number, const sim::Stepper& stepper, const std::function<bool()>& keep_on = {});

// Another product of the same sum.
std::shared_ptr<const ProductView> at_step(const ProductView& view, const sim::Record& record,
                                           const ProductIndex& index, std::size_t step);

// Of a descriptor's field: "16-29", "0x40".
std::string bits_text(const sim::BitField& field);
std::string value_text(const sim::BitField& field);

// What an element of A or of B is, as text: "-1.25"; NaN and infinities as such.
std::string number_text(double value);
// The bits of a pattern of D's type: "0x3f800000".
std::string pattern_text(const sim::ProductSeen& product, std::uint64_t pattern);

}  // namespace tilescope
