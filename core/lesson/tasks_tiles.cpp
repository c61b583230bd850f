// Tasks about tiles: which tile, whose element, inside the matrix or not.
#include <fmt/format.h>

#include <array>

#include "core/layout/algebra.h"
#include "core/lesson/operands.h"

namespace tilescope {
namespace {

// A shape cut into tiles: ((tile), (tiles)) -> the element's number in the shape that whole tiles
// cover, first mode fastest.
struct Cut {
  Tuple shape, tile, whole;  // whole: the shape, rounded up to whole tiles
  Layout divided;
  std::int64_t in_tile = 1, tiles = 1;

  std::int64_t element(std::int64_t t, std::int64_t i) const { return divided(t * in_tile + i); }
  Tuple coordinate(std::int64_t t, std::int64_t i) const {
    return idx2crd(Int(element(t, i)), whole).value;
  }
  bool inside(const Tuple& at) const {
    for (int m = 0; m < shape.leaves; ++m) {
      if (at.leaf[m].value >= shape.leaf[m].value) return false;
    }
    return true;
  }
};

Cut cut_of(Operands& operands, std::size_t shape, std::size_t tile) {
  Cut cut;
  cut.shape = operands.tuple(shape);
  cut.tile = operands.tuple(tile);
  if (operands.problem()) return cut;
  if (!cut.shape.congruent(cut.tile) || cut.shape.depth() > 1) {
    operands.fail(
        fmt::format("The tile {} is not of the form of {}.", text(cut.tile), text(cut.shape)));
    return cut;
  }
  cut.whole = cut.shape;
  for (int m = 0; m < cut.shape.leaves; ++m) {
    const std::int64_t by = cut.tile.leaf[m].value;
    const std::int64_t extent = cut.shape.leaf[m].value;
    if (by < 1 || extent < 1 || by > most_counted || extent > most_counted) {
      operands.fail(fmt::format("Extents go from 1 to {}.", most_counted));
      return cut;
    }
    cut.whole.leaf[m] = ceil_div(cut.shape.leaf[m].value, by) * by;
    cut.in_tile *= by;
    cut.tiles *= cut.whole.leaf[m].value / by;
  }
  const Result<std::int64_t> all = product(cut.whole);
  if (!all || *all > 16 * most_counted) operands.fail("The shape has too many elements to count.");
  if (operands.problem()) return cut;
  const Layout plain = operands.take(make_layout(cut.whole));
  if (!operands.problem()) cut.divided = operands.take(zipped_divide(plain, Tiler(cut.tile)));
  return cut;
}

class TileOf : public Task {
 public:
  TileOf(const Cut& cut, const Tuple& at, std::int64_t tile, std::int64_t inside)
      : cut_(cut), at_(at), tile_(tile), inside_(inside) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(tile_); }
  std::vector<Slip> slips() const override {
    Tuple counts = cut_.shape;
    for (int m = 0; m < counts.leaves; ++m) {
      counts.leaf[m] = cut_.whole.leaf[m].value / cut_.tile.leaf[m].value;
    }
    return {{row_major_index(tile_, counts),
             "You counted the tiles along the rows. They are counted as coordinates are: the first "
             "mode, down, moves fastest."},
            {inside_, fmt::format("That is the place of {} inside its tile.", text(at_))}};
  }
  std::string explain(const Reply& wrong) const override {
    const std::int64_t n = number_in(wrong);
    if (n < 0 || n >= cut_.tiles) {
      return fmt::format("There are {} tiles, 0 to {}.", cut_.tiles, cut_.tiles - 1);
    }
    return fmt::format("Tile {} begins with the element {} and ends with {}.", n,
                       text(cut_.coordinate(n, 0)), text(cut_.coordinate(n, cut_.in_tile - 1)));
  }

 private:
  Cut cut_;
  Tuple at_;
  std::int64_t tile_, inside_;
};

Made make_tile_of(Operands& operands) {
  const Cut cut = cut_of(operands, 0, 1);
  const Tuple at = operands.tuple(2);
  if (operands.problem()) return *operands.problem();
  const auto index = index_inside(at, cut.shape);
  if (!index) operands.fail(fmt::format("{} is no coordinate of it.", text(at)));
  if (operands.problem()) return *operands.problem();
  const std::int64_t wanted = crd2index(at, cut.whole).value;
  std::int64_t found = 0;
  while (cut.divided(found) != wanted) ++found;
  return made<TileOf>(operands, cut, at, found / cut.in_tile, found % cut.in_tile);
}

// A tile whose places are owned by threads and values.
struct Owned {
  Layout tv;
  Tuple shape;
  std::int64_t threads = 1, values = 1;

  std::int64_t place(std::int64_t t, std::int64_t v) const { return tv(v * threads + t); }
};

Owned owned_of(Operands& operands) {
  Owned out;
  out.tv = operands.layout(0);
  out.shape = operands.tuple(1);
  if (operands.problem()) return out;
  if (out.tv.rank() != 2) {
    operands.fail("A thread/value layout has two modes: threads, values.");
    return out;
  }
  out.threads = size(get(out.tv, 0).value).value;
  out.values = size(get(out.tv, 1).value).value;
  const std::int64_t places = product(out.shape).value;
  for (std::int64_t i = 0; i < out.threads * out.values; ++i) {
    const std::int64_t place = out.tv(i);
    if (place >= 0 && place < places) continue;
    operands.fail(
        fmt::format("Thread {} holds its value {} at {}, and the tile {} has places 0 to {}.",
                    i % out.threads, i / out.threads, place, text(out.shape), places - 1));
    break;
  }
  return out;
}

// Who holds a place: the thread's number, or the value's.
class HolderOf : public Task {
 public:
  HolderOf(const Owned& owned, const Tuple& at, std::vector<std::int64_t> holders, bool thread)
      : owned_(owned), at_(at), holders_(std::move(holders)), thread_(thread) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(number(holders_.front())); }
  bool accepts(const Reply& answer) const override {
    for (const std::int64_t holder : holders_) {
      if (Reply(number(holder)) == answer) return true;
    }
    return false;
  }
  std::vector<Slip> slips() const override {
    const std::int64_t other =
        thread_ ? holders_.front() / owned_.threads : holders_.front() % owned_.threads;
    return {{other, thread_ ? fmt::format("{} is the number of the value that {} is. Asked is the "
                                          "thread that holds it.",
                                          other, text(at_))
                            : fmt::format("{} is the thread that holds {}. Asked is which of its "
                                          "values it is.",
                                          other, text(at_))}};
  }
  std::string explain(const Reply& wrong) const override {
    const std::int64_t n = number_in(wrong), end = thread_ ? owned_.threads : owned_.values;
    const std::string_view noun = thread_ ? "thread" : "value";
    if (n < 0 || n >= end) {
      return fmt::format("There are {} {}s, 0 to {}.", end, noun, end - 1);
    }
    if (!thread_) {
      const std::int64_t thread = holders_.front() % owned_.threads;
      return fmt::format("Value {} of that thread is at {}.", n,
                         coordinate_text(owned_.place(thread, n), owned_.shape));
    }
    std::string places;
    for (std::int64_t v = 0; v < owned_.values && v < 4; ++v) {
      places +=
          fmt::format("{}{}", v ? ", " : "", coordinate_text(owned_.place(n, v), owned_.shape));
    }
    return fmt::format("Thread {} holds {}{}; {} is not among its places.", n, places,
                       owned_.values > 4 ? " and more" : "", text(at_));
  }

 private:
  std::int64_t number(std::int64_t holder) const {
    return thread_ ? holder % owned_.threads : holder / owned_.threads;
  }
  Owned owned_;
  Tuple at_;
  std::vector<std::int64_t> holders_;  // indices of the thread/value layout
  bool thread_;
};

Made make_holder(Operands& operands, bool thread) {
  const Owned owned = owned_of(operands);
  const Tuple at = operands.tuple(2);
  if (operands.problem()) return *operands.problem();
  const auto index = index_inside(at, owned.shape);
  std::vector<std::int64_t> holders;
  for (std::int64_t i = 0; index && i < owned.threads * owned.values; ++i) {
    if (owned.tv(i) == *index) holders.push_back(i);
  }
  if (holders.empty()) operands.fail(fmt::format("Nobody holds {}.", text(at)));
  return made<HolderOf>(operands, owned, at, holders, thread);
}
Made make_thread_at(Operands& operands) {
  return make_holder(operands, true);
}
Made make_value_at(Operands& operands) {
  return make_holder(operands, false);
}

class PlaceOf : public Task {
 public:
  PlaceOf(const Owned& owned, std::int64_t thread, std::int64_t value)
      : owned_(owned), thread_(thread), value_(value) {}

  AnswerForm form() const override { return AnswerForm::coordinate; }
  Outcome<Reply> solution() const override {
    return Reply(idx2crd(Int(owned_.place(thread_, value_)), owned_.shape).value);
  }
  bool accepts(const Reply& answer) const override {
    const Tuple* at = std::get_if<Tuple>(&answer);
    const auto index = at ? index_inside(*at, owned_.shape) : std::nullopt;
    return index && *index == owned_.place(thread_, value_);
  }
  std::string explain(const Reply& wrong) const override {
    const Tuple* at = std::get_if<Tuple>(&wrong);
    const auto index = at ? index_inside(*at, owned_.shape) : std::nullopt;
    if (!index) {
      return fmt::format("{} is outside the tile, which is {}.", text(wrong), text(owned_.shape));
    }
    for (std::int64_t i = 0; i < owned_.threads * owned_.values; ++i) {
      if (owned_.tv(i) != *index) continue;
      return fmt::format("{} belongs to thread {}, as its value {}.", text(*at), i % owned_.threads,
                         i / owned_.threads);
    }
    return fmt::format("Nobody holds {}.", text(*at));
  }

 private:
  Owned owned_;
  std::int64_t thread_, value_;
};

Made make_place_of(Operands& operands) {
  const Owned owned = owned_of(operands);
  const std::int64_t thread = operands.number(2), value = operands.number(3);
  if (operands.problem()) return *operands.problem();
  if (thread >= owned.threads || value >= owned.values) {
    operands.fail(fmt::format("There are {} threads with {} values.", owned.threads, owned.values));
  }
  return made<PlaceOf>(operands, owned, thread, value);
}

class TilesFor : public Task {
 public:
  explicit TilesFor(const Cut& cut) : cut_(cut) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(cut_.tiles); }
  std::vector<Slip> slips() const override {
    std::int64_t full = 1, sum = 0;
    for (int m = 0; m < cut_.shape.leaves; ++m) {
      full *= cut_.shape.leaf[m].value / cut_.tile.leaf[m].value;
      sum += cut_.whole.leaf[m].value / cut_.tile.leaf[m].value;
    }
    const std::int64_t volume = product(cut_.shape).value;
    return {{full,
             "Those are the full tiles. What is left at the edges needs tiles too, filled "
             "in part."},
            {ceil_div(volume, cut_.in_tile),
             fmt::format("{} elements would fill so many tiles, but tiles do not bend around the "
                         "edge. Round up in each mode.",
                         volume)},
            {sum, "You added the tiles down and across; they are multiplied."}};
  }
  std::string explain(const Reply& wrong) const override {
    const bool parts = cut_.whole != cut_.shape;
    return fmt::format("Not {}: {} rows in tiles of {}, {} columns in tiles of {}{}.", text(wrong),
                       cut_.shape.leaf[0].value, cut_.tile.leaf[0].value, cut_.shape.leaf[1].value,
                       cut_.tile.leaf[1].value, parts ? "; a part of a tile counts as one" : "");
  }

 private:
  Cut cut_;
};

Made make_tiles_for(Operands& operands) {
  const Cut cut = cut_of(operands, 0, 1);
  if (!operands.problem() && cut.shape.leaves != 2) operands.fail("The shape is (rows, columns).");
  return made<TilesFor>(operands, cut);
}

class PredicateOf : public Task {
 public:
  PredicateOf(const Tuple& shape, const Tuple& at) : shape_(shape), at_(at) {}

  AnswerForm form() const override { return AnswerForm::yes_no; }
  Outcome<Reply> solution() const override { return Reply(inside()); }
  std::string explain(const Reply&) const override {
    std::string all;
    for (int m = 0; m < shape_.leaves; ++m) {
      const std::int64_t at = at_.leaf[m].value, end = shape_.leaf[m].value;
      all +=
          fmt::format("{}{} < {} {}", m ? ", " : "", at, end, at < end ? "holds" : "does not hold");
    }
    return fmt::format("Compare number by number: {}. All must hold.", all);
  }

 private:
  bool inside() const {
    for (int m = 0; m < shape_.leaves; ++m) {
      if (at_.leaf[m].value >= shape_.leaf[m].value) return false;
    }
    return true;
  }
  Tuple shape_, at_;
};

Made make_predicate_of(Operands& operands) {
  const Tuple shape = operands.tuple(0), at = operands.tuple(1);
  if (!operands.problem() && !shape.congruent(at)) operands.fail("The coordinate has other modes.");
  return made<PredicateOf>(operands, shape, at);
}

class OutsideOf : public Task {
 public:
  OutsideOf(const Cut& cut, std::int64_t tile) : cut_(cut), tile_(tile) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(cut_.in_tile - inside()); }
  std::vector<Slip> slips() const override {
    return {{inside(), "That is how many are inside."},
            {cut_.in_tile, "That would be all of the tile, but part of it is the matrix's."}};
  }
  std::string explain(const Reply& wrong) const override {
    return fmt::format(
        "Not {}: the tile goes from {} to {}, and the matrix ends before row {} and "
        "column {}.",
        text(wrong), text(cut_.coordinate(tile_, 0)),
        text(cut_.coordinate(tile_, cut_.in_tile - 1)), cut_.shape.leaf[0].value,
        cut_.shape.leaf[1].value);
  }

 private:
  std::int64_t inside() const {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < cut_.in_tile; ++i) count += cut_.inside(cut_.coordinate(tile_, i));
    return count;
  }
  Cut cut_;
  std::int64_t tile_;
};

Made make_outside_of(Operands& operands) {
  const Cut cut = cut_of(operands, 0, 1);
  const std::int64_t tile = operands.number(2);
  if (operands.problem()) return *operands.problem();
  if (cut.shape.leaves != 2) operands.fail("The shape is (rows, columns).");
  if (tile >= cut.tiles) operands.fail(fmt::format("There are {} tiles.", cut.tiles));
  if (cut.in_tile > most_counted) operands.fail("The tile has too many elements to count.");
  return made<OutsideOf>(operands, cut, tile);
}

constexpr std::array kRows = {
    TaskRow{"tile_of", 3, 3, make_tile_of},       TaskRow{"thread_at", 3, 3, make_thread_at},
    TaskRow{"value_at", 3, 3, make_value_at},     TaskRow{"place_of", 4, 4, make_place_of},
    TaskRow{"tiles_for", 2, 2, make_tiles_for},   TaskRow{"predicate_of", 2, 2, make_predicate_of},
    TaskRow{"outside_of", 3, 3, make_outside_of},
};

}  // namespace

std::span<const TaskRow> tile_tasks() {
  return kRows;
}

}  // namespace tilescope
