// Draws a product, part by part (product_scene.h); for the files here alone.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "viz/product/product_scene.h"
#include "viz/scene/items.h"
#include "viz/scene/palette.h"

namespace tilescope {

class ProductPainter {
 public:
  ProductPainter(Scene& scene, const ProductShown& shown, Size size)
      : scene_(scene), s_(shown), v_(shown.view), p_(shown.view.seen()), size_(size) {}
  ProductFrame paint();

 private:
  static constexpr double edge = 16, head = 58, row = 17, steps = 46;
  static constexpr double beside_bits = 1000;  // wide: descriptors stand beside the matrices
  static constexpr double bit_pitch = 15.5;    // of the rows of fields
  // Below these a part is left out.
  static constexpr double least_bits = 310;  // wide, of one column of descriptors
  static constexpr double least_upper = 160;
  static constexpr Size least_number{400, 160};

  void heading(const Box& room, const std::string& text, const std::string& more = "");
  void line(Point at, const std::string& text, double width, const Ink& ink = Role::text,
            Family family = Family::sans);

  void draw_head();
  // `instead`: what `product show` would show in place of another part; empty: nothing.
  double draw_left_out(const std::vector<std::string>& parts, double bottom,
                       const std::string& instead);
  void draw_steps(const Box& room);
  // product_bits.cpp
  void draw_bits(const Box& room);
  // Descriptors that are told together: one, or two of the same fields; and how high it is with all
  // that says something, and with little of it.
  struct BitColumn {
    const DescriptorView* d = nullptr;
    const DescriptorView* other = nullptr;
    double most = 0, least = 0;
  };
  std::vector<BitColumn> bit_columns() const;
  void draw_bits_across(const std::vector<BitColumn>& columns, const Box& room);
  void draw_strip_of_bits(const DescriptorView& d, const Box& room);
  void draw_axis_of_bits(const DescriptorView& d, const Box& strip);
  // `other`: of the other operand, with the same fields, told in the same rows; or null.
  double draw_descriptor(const DescriptorView& d, const DescriptorView* other, const Box& room);
  void draw_fields_left_out(const DescriptorView& d, const DescriptorView* other,
                            const std::vector<std::size_t>& shown, const Box& at);
  Rgba field_colour(std::size_t i) const;
  // product_matrices.cpp
  void draw_matrices(const Box& room);
  void draw_bytes(const Box& room);
  void draw_operand_bytes(const Box& room, bool of_a);
  static double address_gutter(std::uint32_t last, double width);
  void draw_addresses(const Box& box, std::uint32_t first, std::uint32_t lines);
  void draw_pieces_near(const Box& room, const std::vector<ProductView::Piece>& pieces, bool of_a);
  void make_images();
  Rgba piece_colour(bool of_a, std::uint32_t row, std::uint32_t k) const;
  Rgba owner_colour(std::uint16_t owner) const;
  Rgba lane_colour(std::uint16_t owner) const;
  void draw_lanes(const Box& box, const std::vector<std::uint16_t>& lanes, std::uint32_t columns,
                  std::uint32_t rows);
  // product_owners.cpp
  void draw_owners(const Box& room);
  void draw_cells(const Box& room);
  void draw_fragment(const Box& room);
  // product_number.cpp
  void draw_number(const Box& room);
  double needed_for_number() const;  // in height, for all terms
  static double needed_for(const sim::TracedStep& step);
  void draw_sums(const Box& room);
  double draw_step(const sim::TracedStep& step, const Box& room);
  void draw_term(const Box& bar, double value, int unit, bool aligned, const Ink& ink);

  Scene& scene_;
  const ProductShown& s_;
  const ProductView& v_;
  const sim::ProductSeen& p_;
  Size size_;
  ProductImages own_;
  ProductImages* images_ = &own_;
  ProductFrame frame_;
  bool brief_ = false;            // of descriptors what says something
  bool bare_ = false;             // and of that what is not 0
  int highest_ = 0, lowest_ = 0;  // exponents that a step's bars have room for
};

}  // namespace tilescope
