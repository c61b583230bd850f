// A product as a picture: its descriptors' bits, A, B and D as matrices beside the bytes of shared
// memory that are read, who has D, the k-steps of the sum, and at the foot how one element of D
// came about, term by term.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/product/product_view.h"
#include "viz/scene/describe.h"
#include "viz/scene/scene.h"

namespace tilescope {

// What of a product's picture is at a point: an element of a matrix, or the piece of shared memory
// that holds it first.
struct ProductSpot {
  enum class In : std::uint8_t { a, b, d };
  In in = In::d;
  bool piece = false;                 // in shared memory
  std::uint32_t row = 0, column = 0;  // of D; of A and B: row or column of D, and k
  friend bool operator==(const ProductSpot&, const ProductSpot&) = default;
};
// "A[5, 8], bytes 1,280 to 1,295 of shared memory"
std::string spot_text(const ProductView& view, const ProductSpot& spot);

// Images of a view, which are made once for a theme.
struct ProductImages {
  const ProductView* of = nullptr;
  bool dark = false;
  std::shared_ptr<const Image> a, b, d, cells;
};

struct ProductShown {
  const ProductView& view;
  const std::vector<sim::ElementTrace>& traces;  // of the element, one for each product of the sum
  const Theme& theme;
  std::uint32_t row = 0, column = 0;  // of D: the element looked at
  // Where there is no room for both, how the element came about, and not the descriptors.
  bool number_first = false;
  std::optional<ProductSpot> hovered = {};
  ProductImages* images = nullptr;  // null: made anew
};

// Where its parts are, for the pointer.
struct ProductFrame {
  struct Bytes {
    Box box;  // lines of 128 bytes
    std::uint32_t first = 0, lines = 0;
  };
  Box a, b, d;  // B is k x n
  std::uint32_t m = 0, n = 0, k = 0;
  Bytes a_bytes, b_bytes;
};
std::optional<ProductSpot> spot_at(const ProductView& view, const ProductFrame& frame, Point at);

ProductFrame draw_product(Scene& scene, const ProductShown& shown, Size size);
Json describe_product(const ProductShown& shown);

// In one sentence: what it multiplies, and which of how many it is.
std::string product_sentence(const ProductView& view);
// "5 of 0 to 15": products and k-steps are counted from 0.
std::string counted_text(std::size_t number, std::size_t count);
// "8 of 0 to 15": its step of K; empty: not known.
std::string k_step_text(const ProductView& view);
// Who has an element: "TMEM lane 5, column 9; warp 0's lane 5 loads it into %r12".
std::string place_text(const ProductView& view, const ElementPlace& place);

}  // namespace tilescope
