// Shared memory, its mbarriers, the tensor core and the sums.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/theatre/theatre_painter.h"

namespace tilescope {

using sim::MemoryUse;

void TheatrePainter::draw_dial(std::size_t barrier, Point at, std::uint8_t rank, bool name_left) {
  const TheatreBarrier& now = s_.now.barriers[barrier];
  const bool waited = !now.waiting.empty();
  const Box box{at.x - dial_, at.y - dial_, 2 * dial_, 2 * dial_};
  tilescope::draw_dial(scene_, dial_of(now), at, dial_);
  const sim::BarrierPhases& of = p_.barriers[barrier];
  const std::string name = barrier_text(record_, of, rank);
  if (wide_) {
    const double x = name_left ? box.x - 5 : box.right() + 5;
    const Across across = name_left ? Across::right : Across::left;
    scene_.add(words({x, at.y},
                     fitted(barrier_text(record_, of, of.rank), 62, small_text, Family::sans),
                     Role::quiet, across));
    if (of.rank != rank) {
      scene_.add(words({x, at.y + dial_ + 5}, fmt::format("of {}", cta(of.rank)), Role::quiet,
                       small_text, across));
    } else if (waited) {
      // Beside a stage the tensor core is near: "1-3 wait" is short enough.
      std::string text = waiting_text(p_, now);
      const bool near = !name_left && x < core_.x && text.rfind("warp", 0) == 0;
      if (near && x + text_width(text, small_text, Family::sans) > core_.x - 4) {
        text.erase(0, text.find(' ') + 1);
      }
      scene_.add(words({x, at.y + dial_ + 5}, text, Role::accent, small_text, across));
    }
  }
  scene_.hints.push_back({box, dial_text(now, name)});
  dials_.try_emplace(barrier, at);
}

void TheatrePainter::draw_stages() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const std::uint8_t rank = ranks_[r];
    const Box room = part_of(shared_, r);
    scene_.begin(fmt::format("shared memory of {}", cta(rank)));
    draw_heading(room,
                 ranks_.size() > 1 ? fmt::format("Shared memory, {}", cta(rank)) : "Shared memory");
    std::vector<const sim::Ring*> rings;
    std::size_t rows = 0;
    for (const sim::Ring& ring : p_.rings) {
      if (ring.rank != rank) continue;
      rings.push_back(&ring);
      rows += ring.stages.size();
    }
    const auto leaving = leaving_bytes(rank);
    const double side = wide_ ? 92 : 28, below = leaving.empty() ? 0 : 34;
    if (!leaving.empty()) {
      draw_result(rank, leaving, {room.x + side, room.bottom() - 26, room.width - 2 * side, 24});
    }
    if (rings.empty()) {
      draw_operands(rank, {room.x, room.y + 22, room.width, room.height - 22 - below});
      scene_.end();
      continue;
    }
    const std::vector<std::size_t> loose = loose_barriers(rank);
    const double dials = loose.empty() ? 0 : 44;
    const double heads = 20.0 * static_cast<double>(rings.size());
    const double high = std::clamp(
        (room.height - 20 - heads - below - dials) / static_cast<double>(rows), 10.0, tall_row);
    double y = room.y + 22;
    for (const sim::Ring* ring : rings) {
      scene_.add(words({room.x, y + 8},
                       fmt::format("{}: {} stage{}", ring->holds.empty() ? "copies" : ring->holds,
                                   ring->stages.size(), ring->stages.size() == 1 ? "" : "s"),
                       Role::quiet));
      y += 20;
      for (std::size_t i = 0; i < ring->stages.size(); ++i) {
        draw_stage(ring->stages[i], {room.x, y, room.width, high - 4});
        y += high;
      }
    }
    const double each =
        (room.width - 2 * side) / static_cast<double>(std::max<std::size_t>(1, loose.size()));
    for (std::size_t i = 0; i < loose.size(); ++i) {
      draw_dial(loose[i], {room.x + side + dial_ + each * static_cast<double>(i), y + dial_ + 4},
                rank, false);
    }
    scene_.end();
  }
}

// Of a deadlock: those that are waited for, and of which too little happened to say what they are
// for.
std::vector<std::size_t> TheatrePainter::loose_barriers(std::uint8_t rank) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; s_.now.stuck && i < p_.barriers.size(); ++i) {
    const sim::BarrierPhases& barrier = p_.barriers[i];
    if (barrier.unit != sim::Unit::mbarrier || barrier.rank != rank) continue;
    const bool placed =
        std::any_of(p_.stages.begin(), p_.stages.end(),
                    [&](const auto& stage) { return stage.full == i || stage.free == i; }) ||
        std::any_of(p_.accumulators.begin(), p_.accumulators.end(),
                    [&](const auto& sum) { return sum.complete == i || sum.drained == i; });
    if (!placed && !s_.now.barriers[i].waiting.empty()) out.push_back(i);
  }
  return out;
}

// Where no copies are known that fill stages: what of shared memory products read.
void TheatrePainter::draw_operands(std::uint8_t rank, const Box& room) {
  const std::array<std::pair<MemoryUse::Operand, std::string_view>, 2> operands = {
      {{MemoryUse::Operand::a, "A"}, {MemoryUse::Operand::b, "B"}}};
  const double side = wide_ ? 92 : 28;
  double y = room.y + 4;
  for (const auto& [operand, name] : operands) {
    std::vector<sim::ByteSpan> bytes;
    for (const sim::EventId id : p_.products) {
      for (const MemoryUse& use : sim::uses_of(record_.uses, id)) {
        if (use.of != MemoryUse::Of::shared || use.operand != operand || use.rank != rank) continue;
        const sim::ByteSpan span{use.column, use.column + use.columns};
        if (bytes.empty()) bytes.push_back(span);
        bytes.front().begin = std::min(bytes.front().begin, span.begin);
        bytes.front().end = std::max(bytes.front().end, span.end);
      }
    }
    if (bytes.empty()) continue;
    const Box box{room.x + side, y, room.width - 2 * side, std::min(64.0, room.height / 2 - 8)};
    operand_boxes_[{rank, operand}] = box;
    scene_.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 3});
    const std::string said = fmt::format("{}, bytes {}", name, sim::spans_text(bytes));
    scene_.add(
        words(box.centre(), fitted(said, box.width - 8, small_text, Family::sans), Across::centre));
    scene_.hints.push_back({box, said + ": threads write it, so that no copy says which part of K "
                                        "it is"});
    y += box.height + 12;
  }
}

// An mbarrier of the other CTA of a pair is beside that one's stage.
bool TheatrePainter::draws(const std::optional<std::size_t>& barrier, std::uint8_t rank) const {
  if (!barrier) return false;
  const std::uint8_t whose = p_.barriers[*barrier].rank;
  return whose == rank || !is_shown(whose);
}

void TheatrePainter::draw_stage(std::size_t number, const Box& row) {
  const sim::RingStage& stage = p_.stages[number];
  const TheatreStage& now = s_.now.stages[number];
  const double side = wide_ ? 92 : 28;
  const Box box{row.x + side, row.y, row.width - 2 * side, row.height};
  boxes_[number] = box;
  const double middle = row.y + row.height / 2;
  const bool small = row.height < 20;
  tilescope::draw_stage(scene_, contents_of(s_.view, s_.now, number), box, small);
  const bool lit = follows(number, now.filling);
  if (lit) draw_selection(scene_, box);
  if (!small) {
    if (draws(stage.full, stage.rank)) {
      draw_dial(*stage.full, {box.x - 6 - dial_, middle}, stage.rank, true);
    }
    if (draws(stage.free, stage.rank)) {
      draw_dial(*stage.free, {box.right() + 6 + dial_, middle}, stage.rank, false);
    }
  } else {
    if (stage.full) dials_.try_emplace(*stage.full, Point{box.x, middle});
    if (stage.free) dials_.try_emplace(*stage.free, Point{box.right(), middle});
  }
  std::string hint = fmt::format("{}, bytes {}: {}", stage_text(s_.view, number),
                                 sim::spans_text(stage.spans), name_of(now.state));
  if (now.filling) {
    hint += fmt::format(", {}; {}", parts_text(record_, now.filling->parts), life_of(*now.filling));
  }
  scene_.hints.push_back({box, hint});
  const auto use = now.filling ? now.filling - stage.fillings.data() : 0;
  scene_.targets.push_back({box,
                            lit           ? "theatre follow none"
                            : now.filling ? fmt::format("theatre follow tile {} {}", number, use)
                                          : fmt::format("theatre follow stage {}", number),
                            "follows what is in this stage"});
}

void TheatrePainter::draw_sums() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const std::uint8_t rank = ranks_[r];
    std::vector<std::size_t> mine;
    bool registers = false;
    for (std::size_t a = 0; a < p_.accumulators.size(); ++a) {
      if (p_.accumulators[a].where.rank != rank) continue;
      mine.push_back(a);
      registers = p_.accumulators[a].where.of == MemoryUse::Of::registers;
    }
    if (mine.empty()) continue;
    const Box room = part_of(sums_, r);
    const std::string title = registers ? "Registers" : "TMEM";
    scene_.begin(fmt::format("{} of {}", title, cta(rank)));
    draw_heading(room, ranks_.size() > 1 ? title + (wide_ ? " of both CTAs" : ", both") : title);
    const double high =
        std::clamp((room.height - 28) / static_cast<double>(mine.size()), 24.0, 220.0);
    double y = room.y + 28;
    for (const std::size_t a : mine) {
      draw_sum(a, {room.x, y, room.width, high - 10});
      y += high;
    }
    scene_.end();
  }
}

void TheatrePainter::draw_sum(std::size_t number, const Box& box) {
  const sim::Accumulator& accumulator = p_.accumulators[number];
  const TheatreSum& now = s_.now.sums[number];
  sum_boxes_[number] = box;
  using State = TheatreSum::State;
  const bool alive = now.sum && now.state != State::empty;
  scene_.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 3});
  if (alive) {
    // A stripe for each product that has been added, in the colour of its step.
    const std::size_t of = now.sum->products.size();
    const std::size_t stripes = std::min<std::size_t>(of, 64);
    const Box inner = box.grown(-3);
    const double high = std::clamp(box.height * 0.12, 14.0, 26.0);
    const double width = inner.width / static_cast<double>(stripes);
    for (std::size_t i = 0; i < stripes; ++i) {
      const std::size_t product = i * of / stripes;
      const bool done = product < now.done;
      if (!done) break;
      const std::uint32_t step = now.sum->steps[product];
      const Ink ink =
          now.state == State::used ? faint_step(step, s_.theme) : Ink(step_colour(step, s_.theme));
      scene_.add(Rectangle{
          {inner.x + width * static_cast<double>(i), inner.bottom() - high, width + 0.5, high},
          ink,
          {},
          0});
    }
    scene_.add(Rectangle{
        {inner.x, inner.bottom() - high, inner.width, high}, {}, {Role::line, 1, false}, 0});
    if (now.state == State::read) {
      scene_.add(Rectangle{box, {}, {Role::text, 2, false}, 3});
    }
  }
  const MemoryUse& where = accumulator.where;
  const std::string label =
      where.of == MemoryUse::Of::registers
          ? fmt::format("warps {}-{}", where.row, where.row + where.rows - 1)
          : fmt::format("columns {}-{}", where.column, where.column + where.columns - 1);
  if (box.height >= 36) {
    scene_.add(words({box.x + 8, box.y + 14},
                     fitted(label, box.width - 12, small_text, Family::sans, FontWeight::bold),
                     FontWeight::bold));
  }
  if (box.height >= 56) {
    scene_.add(words({box.x + 8, box.y + 32},
                     fitted(state_text(now), box.width - 12, small_text, Family::sans),
                     Role::quiet));
    if (alive && now.sum->tile && box.height >= 74) {
      scene_.add(words({box.x + 8, box.y + 50},
                       fitted(tile_text(*now.sum->tile), box.width - 16, small_text, Family::sans),
                       Role::quiet));
    }
  }
  if (box.height >= 110) {
    const double y = box.y + 76;
    if (accumulator.complete) {
      draw_dial(*accumulator.complete, {box.x + 20, y}, where.rank, false);
    }
    // One below the other where there is room: side by side their names meet.
    const double below = 2 * dial_ + 16;
    if (accumulator.complete && accumulator.drained && y + below + dial_ + 16 <= box.bottom()) {
      draw_dial(*accumulator.drained, {box.x + 20, y + below}, where.rank, false);
    } else if (accumulator.drained) {
      draw_dial(*accumulator.drained, {box.right() - 20, y}, where.rank, true);
    }
  }
  std::string hint = fmt::format("{}: {}", label, state_text(now));
  if (alive) {
    hint += fmt::format(", {} of {} products added", now.done, now.sum->products.size());
    if (now.sum->tile) hint += ", for " + tile_text(*now.sum->tile);
  }
  scene_.hints.push_back({box, std::move(hint)});
}

std::string TheatrePainter::tile_text(const MemoryUse& tile) const {
  std::string name;
  if (!s_.view.outputs().empty()) name = record_.buffers[s_.view.outputs().front()].name + " ";
  return fmt::format("{}[{}:{}, {}:{}]", name, tile.row, tile.row + tile.rows, tile.column,
                     tile.column + tile.columns);
}

void TheatrePainter::draw_core() {
  scene_.begin("tensor core");
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const bool both = ranks_.size() > 1;
    const Box column = both ? core_ : part_of(core_, r);
    const double high = std::min(column.height * 0.5, 180.0);
    const Box box{column.x, column.y + (column.height - high) / 2, column.width, high};
    if (p_.products.empty()) {
      draw_readers(box, ranks_[r]);
    } else {
      draw_core_of(box, ranks_[r], both);
    }
    if (both) break;
  }
  scene_.end();
}

void TheatrePainter::draw_core_of(const Box& box, std::uint8_t rank, bool pair) {
  const TheatreProduct* product = nullptr;
  std::vector<std::uint32_t> steps;  // of all that are under way, the last issued first
  scene_.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 3});
  for (auto each = s_.now.products.rbegin(); each != s_.now.products.rend(); ++each) {
    if (!(pair ? is_shown(each->rank) : each->rank == rank)) continue;
    if (!product) product = &*each;
    if (std::find(steps.begin(), steps.end(), each->step) != steps.end()) continue;
    // Arrows of different steps stand apart.
    const double y = box.centre().y + 14 * static_cast<double>(steps.size());
    steps.push_back(each->step);
    const Rgba colour = step_colour(each->step, s_.theme);
    for (const std::size_t stage : each->stages) {
      const auto from = boxes_.find(stage);
      if (from == boxes_.end()) continue;
      link({from->second.right(), from->second.y + 7}, {box.x, y}, colour);
    }
    for (const auto& [whose, operand] : operand_boxes_) {
      if (whose.first != each->rank || !each->stages.empty()) continue;
      link({operand.right(), operand.centre().y}, {box.x, y}, colour);
    }
    const auto to = sum_boxes_.find(each->accumulator);
    if (to != sum_boxes_.end()) {
      link({box.right(), y}, {to->second.x, to->second.centre().y}, colour);
    }
  }
  if (product) {
    const Rgba colour = step_colour(product->step, s_.theme);
    Box filled = box.grown(-2);
    filled.height *= product->share;
    filled.y = box.bottom() - 2 - filled.height;
    scene_.add(Rectangle{filled, Ink(colour), {}, 2});
    scene_.add(Rectangle{box, {}, {Ink(colour), 2, false}, 3});
  }
  const double x = box.centre().x;
  const auto plate = [&](double y, const std::string& text, FontWeight weight, Ink ink) {
    const double width = text_width(text, small_text, Family::sans, weight) + 8;
    if (product) {
      scene_.add(Rectangle{{x - width / 2, y - 9, width, 18}, Ink(Role::paper, 0.85), {}, 2});
    }
    scene_.add(words({x, y}, text, Across::centre, weight, ink));
  };
  const std::string name = pair ? "Tensor cores" : "Tensor core";
  const bool whole = text_width(name, small_text, Family::sans, FontWeight::bold) + 4 <= box.width;
  plate(box.y + 16, whole ? name : "MMA", FontWeight::bold, Role::text);
  if (product) {
    std::string all;
    for (const std::uint32_t step : steps)
      all += fmt::format("{}{}", all.empty() ? "" : ", ", step);
    if (product->known_step) {
      plate(box.y + 38, fmt::format("k-step{} {}", steps.size() == 1 ? "" : "s", all),
            FontWeight::regular, Role::text);
    }
    if (box.height > 72 && steps.size() == 1) {
      plate(box.y + 58,
            (box.width >= 140 ? "product " : "") +
                fmt::format("{} of 0 to {}", product->number, product->of - 1),
            FontWeight::regular, Role::quiet);
    }
  } else {
    plate(box.y + 38, s_.now.queued ? "next is on its way" : "idle", FontWeight::regular,
          Role::quiet);
  }
  if (s_.now.queued && box.height > 92) {
    plate(box.y + 78, fmt::format("{} queued", s_.now.queued), FontWeight::regular, Role::quiet);
  }
  scene_.hints.push_back(
      {box,
       !product ? std::string("no product is under way")
       : product->known_step
           ? fmt::format("product {} of 0 to {}, k-step {} of {}; {} more issued", product->number,
                         product->of - 1, product->step, product->steps, s_.now.queued)
           : fmt::format("product {} of 0 to {}; {} more issued", product->number, product->of - 1,
                         s_.now.queued)});
}

void TheatrePainter::link(Point from, Point to, Rgba colour) {
  Line line;
  line.stroke = {Ink(colour), 3, false};
  const double turn = std::max((from.x + to.x) / 2, to.x - 18);
  line.points = {from, {turn, from.y}, {turn, to.y}, to};
  line.arrow = true;
  scene_.add(std::move(line));
}

}  // namespace tilescope
