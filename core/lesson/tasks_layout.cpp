// Tasks about one layout: offsets, coordinates, sizes.
#include <fmt/format.h>

#include <array>

#include "core/layout/analysis.h"
#include "core/lesson/operands.h"

namespace tilescope {
namespace {

// The coordinates that have an offset, as a phrase: "(2,1)", "(2,1) and 3 more".
std::string owners_text(const Layout& layout, std::int64_t offset) {
  const Result<std::vector<std::int64_t>> all = owners(layout, offset);
  if (!all || all->empty()) return "";
  const std::string first = coordinate_text(all->front(), layout.shape());
  return all->size() == 1 ? first : fmt::format("{} and {} more", first, all->size() - 1);
}

class OffsetOf : public Task {
 public:
  OffsetOf(const Layout& layout, const Tuple& coordinate, std::int64_t index)
      : layout_(layout), coordinate_(coordinate), index_(index) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(layout_(index_)); }

  std::vector<Slip> slips() const override {
    const Tuple shape = layout_.shape(), stride = layout_.stride();
    const Tuple flat = idx2crd(Int(index_), shape).value;
    std::int64_t reversed = 0, sum = 0;
    for (int i = 0; i < flat.leaves; ++i) {
      reversed += flat.leaf[i].value * stride.leaf[flat.leaves - 1 - i].value;
      sum += flat.leaf[i].value;
    }
    std::vector<Slip> out = {
        {reversed, fmt::format("Each number goes with the stride in its own place. You paired {} "
                               "with the strides {} the other way round.",
                               text(flat), text(stride))},
        {index_,
         given_as_index()
             ? fmt::format("{} is the index. {} The strides {} say where that is.", index_, whose(),
                           text(stride))
             : fmt::format("{} is the number of {} when coordinates are counted, first mode "
                           "fastest. The strides {} say where it is.",
                           index_, text(coordinate_), text(stride))},
        {row_major_index(index_, shape),
         fmt::format("That counts along the rows. Nothing says that rows are contiguous here: the "
                     "strides are {}.",
                     text(stride))},
        {sum, "You added the numbers of the coordinate; each is multiplied by its stride first."},
    };
    if (!layout_.swizzle.identity()) {
      out.insert(out.begin(),
                 {sum_of_strides(flat),
                  "That is the offset before the swizzle, which changes some of its bits."});
    }
    if (!given_as_index()) return out;
    if (index_ >= shape.leaf[0].value) {
      out.push_back({index_ * stride.leaf[0].value,
                     fmt::format("That goes {} steps in one direction, and there are only {} "
                                 "elements in it: then the next one moves on.",
                                 index_, shape.leaf[0].value)});
    }
    out.push_back({at_row_major(index_),
                   "You counted with the last mode fastest, as NumPy does. Here the first mode "
                   "moves fastest."});
    return out;
  }

  std::string explain(const Reply& wrong) const override {
    const std::string owner = owners_text(layout_, number_in(wrong));
    const std::string swizzled = layout_.swizzle.identity() ? "" : ", then swizzle the sum";
    const std::string rule =
        given_as_index()
            ? fmt::format("{} Multiply each of its numbers by its stride in {} and add{}.", whose(),
                          text(layout_.stride()), swizzled)
            : fmt::format("Multiply each number of {} by its stride in {} and add{}.",
                          text(coordinate_), text(layout_.stride()), swizzled);
    if (owner.empty()) {
      return fmt::format("No coordinate of {} has offset {}. {}", text(layout_), text(wrong), rule);
    }
    return fmt::format("Offset {} is that of {}. {}", text(wrong), owner, rule);
  }

 private:
  // Asked by a number where the shape wants several, or by one number of a nested mode.
  bool given_as_index() const {
    return text(coordinate_) != coordinate_text(index_, layout_.shape());
  }
  // How the coordinate is found, which is for the learner to do.
  std::string whose() const {
    const std::string asked = text(coordinate_), shape = text(layout_.shape());
    return coordinate_.scalar()
               ? fmt::format(
                     "Which coordinate of the shape {} has the index {}, first mode "
                     "fastest?",
                     shape, asked)
               : fmt::format(
                     "Write {} as a coordinate of the shape {}: a number of a nested mode "
                     "is an index in it.",
                     asked, shape);
  }
  std::int64_t sum_of_strides(const Tuple& flat) const {
    std::int64_t sum = layout_.offset.value;
    for (int i = 0; i < flat.leaves; ++i)
      sum += flat.leaf[i].value * layout_.stride().leaf[i].value;
    return sum;
  }
  // The offset of the coordinate that has this index where the last mode is the fastest.
  std::int64_t at_row_major(std::int64_t index) const {
    const Tuple shape = layout_.shape();
    std::int64_t place = 0, each = 1;
    std::vector<std::int64_t> digits(static_cast<std::size_t>(shape.leaves));
    for (int i = shape.leaves; i-- > 0;) {
      digits[static_cast<std::size_t>(i)] = index % shape.leaf[i].value;
      index /= shape.leaf[i].value;
    }
    for (int i = 0; i < shape.leaves; ++i) {
      place += digits[static_cast<std::size_t>(i)] * each;
      each *= shape.leaf[i].value;
    }
    return layout_(place);
  }

  Layout layout_;
  Tuple coordinate_;
  std::int64_t index_;
};

Made make_offset_of(Operands& operands) {
  const Layout layout = operands.layout(0);
  const Tuple coordinate = operands.tuple(1);
  if (operands.problem()) return *operands.problem();
  const auto index = index_inside(coordinate, layout.shape());
  if (!index) operands.fail(fmt::format("{} is no coordinate of it.", text(coordinate)));
  return made<OffsetOf>(operands, layout, coordinate, index.value_or(0));
}

class CoordinateOf : public Task {
 public:
  CoordinateOf(const Layout& layout, std::int64_t index) : layout_(layout), index_(index) {}

  AnswerForm form() const override { return AnswerForm::coordinate; }
  Outcome<Reply> solution() const override {
    return Reply(idx2crd(Int(index_), layout_.shape()).value);
  }
  bool accepts(const Reply& answer) const override {
    const Tuple* at = std::get_if<Tuple>(&answer);
    const auto index = at ? index_inside(*at, layout_.shape()) : std::nullopt;
    return index && layout_(*index) == layout_(index_);
  }
  std::string explain(const Reply& wrong) const override {
    const Tuple* at = std::get_if<Tuple>(&wrong);
    const auto index = at ? index_inside(*at, layout_.shape()) : std::nullopt;
    if (!index) {
      return fmt::format(
          "{} is no coordinate here: there are {} numbers in it, each from 0 on and below {}.",
          text(wrong), layout_.shape().rank(), text(layout_.shape()));
    }
    const std::string is = fmt::format("{} has offset {}, and {} is asked for.", text(*at),
                                       layout_(*index), layout_(index_));
    const std::optional<Tuple> mirror = mirrored(*at);
    const auto other = mirror ? index_inside(*mirror, layout_.shape()) : std::nullopt;
    if (other && layout_(*other) == layout_(index_)) {
      return fmt::format("{} The two numbers have changed places.", is);
    }
    return is;
  }

 private:
  Layout layout_;
  std::int64_t index_;
};

Made make_coordinate_of(Operands& operands) {
  const Layout layout = operands.layout(0);
  const std::int64_t offset = operands.number(1);
  if (operands.problem()) return *operands.problem();
  const std::vector<std::int64_t> found = operands.take(owners(layout, offset));
  if (found.empty()) operands.fail(fmt::format("No coordinate of it has offset {}.", offset));
  return made<CoordinateOf>(operands, layout, found.empty() ? 0 : found.front());
}

class IndexOf : public Task {
 public:
  IndexOf(const Tuple& shape, const Tuple& coordinate, std::int64_t index)
      : shape_(shape), coordinate_(coordinate), index_(index) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(index_); }
  std::vector<Slip> slips() const override {
    return {{row_major_index(index_, shape_),
             "You counted with the last mode fastest, as NumPy does. Here the first mode moves "
             "fastest."},
            {index_ + 1, "Counting begins at 0."}};
  }
  std::string explain(const Reply& wrong) const override {
    const std::int64_t n = number_in(wrong);
    if (n < 0 || n >= product(shape_).value) {
      return fmt::format("There are {} coordinates, counted from 0 to {}.", product(shape_).value,
                         product(shape_).value - 1);
    }
    return fmt::format("Number {} is {}; {} is asked for.", n, coordinate_text(n, shape_),
                       text(coordinate_));
  }

 private:
  Tuple shape_, coordinate_;
  std::int64_t index_;
};

Made make_index_of(Operands& operands) {
  const Tuple shape = operands.tuple(0), coordinate = operands.tuple(1);
  if (operands.problem()) return *operands.problem();
  const auto index = index_inside(coordinate, shape);
  if (!index) operands.fail(fmt::format("{} is no coordinate of it.", text(coordinate)));
  return made<IndexOf>(operands, shape, coordinate, index.value_or(0));
}

// How many coordinates, or how far offsets reach.
class ExtentOf : public Task {
 public:
  ExtentOf(const Layout& layout, bool reach) : layout_(layout), reach_(reach) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override {
    return Reply(reach_ ? cosize(layout_).value : size(layout_).value);
  }
  std::vector<Slip> slips() const override {
    std::int64_t sum = 0;
    const Tuple shape = layout_.shape();
    for (int i = 0; i < shape.leaves; ++i) sum += shape.leaf[i].value;
    const std::int64_t count = size(layout_).value, end = cosize(layout_).value;
    const Slip added{sum, fmt::format("You added the extents of {}. Every number of one mode meets "
                                      "every number of the others.",
                                      text(shape))};
    if (!reach_) {
      return {added,
              {end, "That is how far the offsets reach. Asked is how many elements there are."}};
    }
    return {{count,
             "That is how many elements there are. Asked is how far their offsets reach: between "
             "them may be gaps, and several elements may have one offset."},
            {end - 1, "That is the largest offset. Offsets begin at 0, so one more is needed."},
            added};
  }
  std::string explain(const Reply& wrong) const override {
    if (!reach_) {
      return fmt::format("It has not {} elements. Count the coordinates of the shape {}.",
                         text(wrong), text(layout_.shape()));
    }
    return fmt::format("{} Take the largest offset, and one more.",
                       number_in(wrong) > cosize(layout_).value
                           ? fmt::format("The offsets do not reach so far: {} is none of them.",
                                         number_in(wrong) - 1)
                           : fmt::format("Not all offsets are below {}.", text(wrong)));
  }

 private:
  Layout layout_;
  bool reach_;
};

Made make_size_of(Operands& operands) {
  const Layout layout = operands.layout(0);
  return made<ExtentOf>(operands, layout, false);
}
Made make_cosize_of(Operands& operands) {
  const Layout layout = operands.layout(0);
  operands.take(cosize(layout));
  return made<ExtentOf>(operands, layout, true);
}

constexpr std::array kRows = {
    TaskRow{"offset_of", 2, 2, make_offset_of}, TaskRow{"coordinate_of", 2, 2, make_coordinate_of},
    TaskRow{"index_of", 2, 2, make_index_of},   TaskRow{"size_of", 1, 1, make_size_of},
    TaskRow{"cosize_of", 1, 1, make_cosize_of},
};

}  // namespace

std::span<const TaskRow> layout_tasks() {
  return kRows;
}

}  // namespace tilescope
