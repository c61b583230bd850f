// Tasks about operations on layouts. An answer is compared as a function: however it is written, it
// must answer the same offset at every coordinate.
#include <fmt/format.h>

#include <array>

#include "core/layout/algebra.h"
#include "core/lesson/operands.h"

namespace tilescope {
namespace {

// The first coordinate at which two layouts of one size differ.
std::optional<std::int64_t> first_difference(const Layout& a, const Layout& b) {
  const std::int64_t count = size(a).value;
  for (std::int64_t i = 0; i < count; ++i) {
    if (a(i) != b(i)) return i;
  }
  return {};
}

// An answer that is a layout, compared with `want` as a function. What a difference means is for
// each task to say.
class LayoutTask : public Task {
 public:
  explicit LayoutTask(const Layout& want) : want_(want) {}

  AnswerForm form() const override { return AnswerForm::layout; }
  Outcome<Reply> solution() const override { return Reply(want_); }
  bool accepts(const Reply& answer) const override {
    const Layout* layout = std::get_if<Layout>(&answer);
    return layout && size(*layout).value == size(want_).value && !first_difference(*layout, want_);
  }
  std::string explain(const Reply& wrong) const override {
    const Layout* layout = std::get_if<Layout>(&wrong);
    if (!layout) return "";
    const std::int64_t has = size(*layout).value, wants = size(want_).value;
    if (has != wants) return other_size(has, wants);
    const auto at = first_difference(*layout, want_);
    return at ? differs(*at, (*layout)(*at)) : "";
  }

 protected:
  virtual std::string other_size(std::int64_t has, std::int64_t wants) const {
    return fmt::format("Yours has {} elements, and {} are needed.", has, wants);
  }
  virtual std::string differs(std::int64_t at, std::int64_t yours) const = 0;

  Layout want_;
};

// The function of an expression; its coordinates are called `noun`: "thread", "coordinate".
class SameFunction : public LayoutTask {
 public:
  SameFunction(const Layout& want, std::string noun) : LayoutTask(want), noun_(std::move(noun)) {}

  // Two strides in each other's places.
  std::vector<Slip> slips() const override {
    std::vector<Slip> out;
    for (int i = 0; i < want_.modes.leaves; ++i) {
      for (int k = i + 1; k < want_.modes.leaves; ++k) {
        Layout other = want_;
        std::swap(other.modes.leaf[i].stride, other.modes.leaf[k].stride);
        if (other == want_) continue;
        const auto stride = [&](int leaf) { return text(want_.modes.leaf[leaf].stride); };
        out.push_back({other, fmt::format("The strides {} and {} have changed places: each stands "
                                          "below the extent of its own direction.",
                                          stride(i), stride(k))});
      }
    }
    return out;
  }

 protected:
  std::string other_size(std::int64_t has, std::int64_t wants) const override {
    return fmt::format("Yours is for {} {}s, and there are {}.", has, noun_, wants);
  }
  std::string differs(std::int64_t at, std::int64_t yours) const override {
    return fmt::format("Yours leads {} {} to {}, and it is at {}.{}", noun_, at, yours, want_(at),
                       at > 0 ? " Those before it are right." : "");
  }

 private:
  std::string noun_;
};

Made make_same_function(Operands& operands) {
  const Layout want = operands.layout(0);
  return made<SameFunction>(operands, want,
                            operands.count() > 1 ? operands.words(1) : std::string("coordinate"));
}

class CompositionAt : public Task {
 public:
  CompositionAt(const Layout& a, const Layout& b, std::int64_t at) : a_(a), b_(b), at_(at) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(a_(b_(at_))); }
  std::vector<Slip> slips() const override {
    return {{b_(at_), fmt::format("That is what {} answers at {}. It is where {} is asked next.",
                                  text(b_), at_, text(a_))},
            {a_(at_), fmt::format("You asked {} at {} itself. What {} answers comes first.",
                                  text(a_), at_, text(b_))},
            {b_(a_(at_)),
             fmt::format("You asked {} first. The layout on the right is asked first.", text(a_))}};
  }
  std::string explain(const Reply& wrong) const override {
    const std::int64_t count = size(a_).value;
    for (std::int64_t i = 0; i < count; ++i) {
      if (a_(i) != number_in(wrong)) continue;
      return fmt::format("{} is what {} answers at {}, but {} leads {} elsewhere.", text(wrong),
                         text(a_), i, text(b_), at_);
    }
    return fmt::format("{} answers {} nowhere. Ask {} at {}, then {} at what came out.", text(a_),
                       text(wrong), text(b_), at_, text(a_));
  }

 private:
  Layout a_, b_;
  std::int64_t at_;
};

Made make_composition_at(Operands& operands) {
  const Layout a = operands.layout(0), b = operands.layout(1);
  const std::int64_t at = operands.number(2);
  if (operands.problem()) return *operands.problem();
  if (at >= size(b).value) operands.fail(fmt::format("{} is no coordinate of {}.", at, text(b)));
  return made<CompositionAt>(operands, a, b, at);
}

class CompositionOf : public LayoutTask {
 public:
  CompositionOf(const Layout& a, const Layout& b, const Layout& want)
      : LayoutTask(want), a_(a), b_(b) {}

  std::vector<Slip> slips() const override {
    const Result<Layout> other = composition(b_, a_);
    if (!other) return {};
    return {{*other, fmt::format("That asks {} first. The layout on the right, {}, is asked first.",
                                 text(a_), text(b_))}};
  }

 protected:
  std::string other_size(std::int64_t has, std::int64_t wants) const override {
    return fmt::format("Yours has {} elements. The answer has a coordinate for each of {}: {}.",
                       has, text(b_), wants);
  }
  std::string differs(std::int64_t at, std::int64_t yours) const override {
    return fmt::format("At {} yours answers {}. But {} answers {} there, and {} at {} answers {}.",
                       at, yours, text(b_), b_(at), text(a_), b_(at), a_(b_(at)));
  }

 private:
  Layout a_, b_;
};

Made make_composition_of(Operands& operands) {
  const Layout a = operands.layout(0), b = operands.layout(1);
  if (operands.problem()) return *operands.problem();
  const Layout want = operands.take(composition(a, b));
  return made<CompositionOf>(operands, a, b, want);
}

class ComplementOf : public LayoutTask {
 public:
  ComplementOf(const Layout& layout, std::int64_t end, const Layout& want)
      : LayoutTask(want), layout_(layout), end_(end) {}

  // Says what is covered twice or never: the law that a complement is there for.
  std::string explain(const Reply& wrong) const override {
    const Layout* rest = std::get_if<Layout>(&wrong);
    if (!rest) return "";
    const std::int64_t many = size(layout_).value, times = size(*rest).value;
    std::vector<int> reached(static_cast<std::size_t>(end_), 0);
    for (std::int64_t r = 0; r < times; ++r) {
      for (std::int64_t i = 0; i < many; ++i) {
        const std::int64_t at = layout_(i) + (*rest)(r);
        if (at < 0 || at >= end_) {
          return fmt::format(
              "Its copies leave the range: one reaches offset {}, and the last is {}.", at,
              end_ - 1);
        }
        if (++reached[static_cast<std::size_t>(at)] == 2) {
          return fmt::format("Two of its copies reach offset {}.", at);
        }
      }
    }
    for (std::int64_t at = 0; at < end_; ++at) {
      if (reached[static_cast<std::size_t>(at)] == 0) {
        return fmt::format("No copy reaches offset {}.", at);
      }
    }
    return "Every offset is reached once, but not in order: a complement's offsets increase.";
  }

 protected:
  std::string differs(std::int64_t, std::int64_t) const override { return ""; }

 private:
  Layout layout_;
  std::int64_t end_;
};

Made make_complement_of(Operands& operands) {
  const Layout layout = operands.layout(0);
  const std::int64_t end = operands.number(1);
  if (operands.problem()) return *operands.problem();
  if (end > most_counted) operands.fail(fmt::format("{} is too far to count.", end));
  const Layout want = operands.take(complement(layout, Tuple(Int(end))));
  return made<ComplementOf>(operands, layout, end, want);
}

class DivideMode : public LayoutTask {
 public:
  // `indices`: the same of the layout that answers every index itself: the tiler, or its
  // complement.
  DivideMode(const Layout& want, const Layout& other, const Layout& indices, bool tiles)
      : LayoutTask(want), other_(other), indices_(indices), tiles_(tiles) {}

  std::vector<Slip> slips() const override {
    return {{other_, tiles_ ? "That walks inside one tile. Asked is where the tiles begin."
                            : "That says where the tiles begin. Asked is the inside of one."},
            {indices_, fmt::format("That is {}, which has indices. The divided layout says which "
                                   "offsets these indices have.",
                                   tiles_ ? "the complement of the tiler" : "the tiler itself")}};
  }

 protected:
  std::string other_size(std::int64_t has, std::int64_t wants) const override {
    return fmt::format("Yours has {}, and {} {}.", has, tiles_ ? "the tiles are" : "a tile has",
                       wants);
  }
  std::string differs(std::int64_t at, std::int64_t yours) const override {
    return tiles_ ? fmt::format(
                        "Yours lets tile {} begin at offset {}. Find that tile's first "
                        "element in the input.",
                        at, yours)
                  : fmt::format(
                        "Yours has offset {} as element {} of the tile. See which element "
                        "the tiler picks there.",
                        yours, at);
  }

 private:
  Layout other_, indices_;
  bool tiles_;
};

Made make_divide_mode(Operands& operands) {
  const Layout layout = operands.layout(0);
  const Tiler tiler = operands.tiler(1);
  const std::int64_t which = operands.number(2);
  if (operands.problem()) return *operands.problem();
  const Layout divided = operands.take(zipped_divide(layout, tiler));
  if (operands.problem()) return *operands.problem();
  if (which > 1) operands.fail("The mode is 0, a tile, or 1, the tiles.");
  const Layout want = operands.take(get(divided, which > 0 ? 1 : 0));
  const Layout other = operands.take(get(divided, which > 0 ? 0 : 1));
  const Layout plain = operands.take(make_layout(layout.shape()));
  const Layout of_indices =
      operands.problem() ? Layout() : operands.take(zipped_divide(plain, tiler));
  const Layout indices =
      operands.problem() ? Layout() : operands.take(get(of_indices, which > 0 ? 1 : 0));
  return made<DivideMode>(operands, want, other, indices, which == 1);
}

constexpr std::array kRows = {
    TaskRow{"same_function", 1, 2, make_same_function},
    TaskRow{"composition_at", 3, 3, make_composition_at},
    TaskRow{"composition_of", 2, 2, make_composition_of},
    TaskRow{"complement_of", 2, 2, make_complement_of},
    TaskRow{"divide_mode", 3, 3, make_divide_mode},
};

}  // namespace

std::span<const TaskRow> algebra_tasks() {
  return kRows;
}

}  // namespace tilescope
