// Thread/value layouts, tensors and slices nobody chose: every level gives every element of every
// thread the place that the algebra gives it.
#include <random>

#include "core/language/language.h"
#include "core/layout/text.h"
#include "tests/lower/lowered.h"

namespace tilescope::lowering::testing {
namespace {

class Cases {
 public:
  explicit Cases(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return *(all.begin() + number(0, static_cast<std::int64_t>(all.size()) - 1));
  }

  // (M,N), or with a nested mode, compact in any order of its leaves.
  std::string compact(std::initializer_list<std::int64_t> extents) {
    Tuple shape;
    for (int mode = 0; mode < 2; ++mode) {
      const std::int64_t n = one_of(extents);
      if (number(0, 3) > 0) {
        shape.push(Tuple(n));
      } else {
        shape.push(make_tuple_of(Int(n), Int(one_of<std::int64_t>({2, 3}))));
      }
    }
    Tuple order = shape;
    for (int i = 0; i < order.leaves; ++i) order.leaf[i] = i;
    for (int i = order.leaves - 1; i > 0; --i) {
      std::swap(order.leaf[i], order.leaf[static_cast<int>(number(0, i))]);
    }
    return text(*make_ordered_layout(shape, order));
  }

  std::string extent(bool known) {
    if (known) return std::to_string(one_of<std::int64_t>({48, 60, 128, 200, 513}));
    return number(0, 1) ? "?" : "?{div=" + std::to_string(one_of<std::int64_t>({2, 8, 12})) + "}";
  }
  std::string stride() {
    switch (number(0, 4)) {
      case 0:
        return "1";
      case 1:
        return std::to_string(number(0, 700));
      case 2:
        return "?{div=" + std::to_string(one_of<std::int64_t>({4, 6, 16})) + "}";
      default:
        return "?";
    }
  }

  std::string tensor() {
    const std::string memory =
        one_of<const char*>({"gmem<f32>", "gmem<f16>", "smem<bf16>", "gmem<e4m3>"});
    std::string shape, strides;
    for (int mode = 0; mode < 2; ++mode) {
      shape += (mode ? "," : "") + extent(number(0, 1) == 0);
      strides += (mode ? "," : "") + stride();
    }
    return memory + " o (" + shape + "):(" + strides + ")";
  }

 private:
  std::mt19937_64 random_;
};

TEST(Generated, OneThousandThreadValueLayoutsAreRightOnEveryLevel) {
  Cases cases(27);
  int right = 0, refused_ones = 0, sliced_ones = 0, unknown_ones = 0;
  std::string refusal;
  while (right < 1000 && refused_ones < 1000) {
    const std::string threads = cases.compact({1, 2, 3, 4, 8});
    const std::string values = cases.compact({1, 2, 4});
    std::string tensor = cases.tensor();
    const bool cut = cases.number(0, 3) > 0;
    const std::string copy =
        "make_tiled_copy(UniversalCopy<" +
        tensor.substr(tensor.find('<') + 1, tensor.find('>') - tensor.find('<') - 1) + ">, " +
        threads + ", " + values + ")";
    if (cut) {
      // The tile of the copy, or one of several copies.
      const Evaluated tv = tilescope::evaluate("make_layout_tv(" + threads + ", " + values + ")");
      const Value* value = std::get_if<Value>(&tv);
      ASSERT_TRUE(value) << threads << " " << values;
      Tuple tile = std::get<ThreadValue>(*value).tiler;
      for (int i = 0; i < tile.leaves; ++i) tile.leaf[i].value *= cases.number(1, 2);
      const std::string where = cases.one_of<const char*>(
          {"((_,_),?)", "((_,_),(?,?))", "((_,_),(2,?))", "((_,_),(_,?))", "((_,_),(?,0))"});
      const std::string whole = tensor.substr(tensor.find(" o ") + 3);
      tensor = "slice(" + where + ", " + tensor.substr(0, tensor.find(" o ")) +
               " o zipped_divide(" + whole + ", " + text(tile) + "))";
    }
    const std::string side = cases.number(0, 1) ? "S" : "D";
    const std::string expression = "partition_" + side + "(" + copy + ", ?, " + tensor + ")";
    const std::string reason = why_not(expression);
    if (!reason.empty()) {
      ++refused_ones;
      refusal = expression + ": " + reason;
      continue;
    }
    const Lowering l = lowered(expression, cases.one_of<std::int64_t>({0, 16, 128}));
    expect_right(l, expression);
    if (HasFailure()) return;
    ++right;
    sliced_ones += cut;
    unknown_ones += text(l.tensor.layout).find('?') != std::string::npos;
  }
  EXPECT_EQ(right, 1000);
  EXPECT_GE(sliced_ones, 500);
  EXPECT_GE(unknown_ones, 500);
  EXPECT_LE(refused_ones, 200) << refusal;
}

}  // namespace
}  // namespace tilescope::lowering::testing
