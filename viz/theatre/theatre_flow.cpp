// Matrices in global memory, and what moves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/theatre/theatre_painter.h"

namespace tilescope {

using sim::MemoryUse;

namespace {

// So far along a way, as a share of its length.
Point point_on(const std::vector<Point>& way, double share) {
  const auto length = [](Point a, Point b) { return std::hypot(b.x - a.x, b.y - a.y); };
  double left = 0;
  for (std::size_t i = 1; i < way.size(); ++i) left += length(way[i - 1], way[i]);
  left *= share;
  for (std::size_t i = 1; i < way.size(); ++i) {
    const Point a = way[i - 1], b = way[i];
    const double here = length(a, b);
    if (left <= here) {
      const double part = here > 0 ? left / here : 0;
      return {a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part};
    }
    left -= here;
  }
  return way.back();
}

}  // namespace

Box TheatrePainter::part_box(const Box& tensor, const sim::RecordedBuffer& buffer,
                             const MemoryUse& part) const {
  const double rows = static_cast<double>(std::max<std::int64_t>(1, buffer.rows()));
  const double columns = static_cast<double>(std::max<std::int64_t>(1, buffer.columns()));
  Box out{tensor.x + tensor.width * part.column / columns,
          tensor.y + tensor.height * part.row / rows,
          std::max(2.0, tensor.width * part.columns / columns),
          std::max(2.0, tensor.height * part.rows / rows)};
  return out.cut(tensor);
}

Box TheatrePainter::place_tensor(const Box& room, const sim::RecordedBuffer& buffer) {
  const double rows = static_cast<double>(std::max<std::int64_t>(1, buffer.rows()));
  const double columns = static_cast<double>(std::max<std::int64_t>(1, buffer.columns()));
  const double aspect = std::clamp(rows / columns, 0.25, 2.5);
  double width = room.width, height = width * aspect;
  if (height > room.height) {
    height = room.height;
    width = std::max(24.0, height / aspect);
  }
  const Box box{room.x, room.y, std::min(width, room.width), height};
  scene_.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 0});
  return box;
}

void TheatrePainter::draw_tensors() {
  scene_.begin("global memory");
  if (!s_.view.inputs().empty()) draw_heading(inputs_, wide_ ? "Global memory" : "Global");
  Box inputs = inputs_;
  if (s_.view.asked() && inputs.height > 240) {
    inputs.height -= 44;
    if (!has_l2_) draw_share({inputs.x, inputs.bottom() + 6, inputs.width, 36}, "L2: ");
  }
  draw_list(s_.view.inputs(), inputs, false);
  if (!s_.view.outputs().empty()) {
    draw_heading(outputs_, wide_ ? "Global memory" : "Global");
    Box room = outputs_;
    room.height = outputs_.height * 0.62;
    draw_list(s_.view.outputs(), room, true);
  }
  draw_registers();
  scene_.end();
}

std::string TheatrePainter::shape_of(const sim::RecordedBuffer& buffer) const {
  if (!wide_) return fmt::format("{} {}x{}", buffer.name, buffer.rows(), buffer.columns());
  return fmt::format("{}  {} x {} {}", buffer.name, buffer.rows(), buffer.columns(),
                     name_of(buffer.dtype));
}

void TheatrePainter::draw_list(const std::vector<std::uint32_t>& buffers, const Box& room,
                               bool output) {
  if (buffers.empty()) return;
  const std::size_t count = std::min<std::size_t>(buffers.size(), 4);
  const double high = (room.height - 20) / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const sim::RecordedBuffer& buffer = record_.buffers[buffers[i]];
    const double y = room.y + 24 + high * static_cast<double>(i);
    scene_.add(
        words({room.x, y + 6}, fitted(shape_of(buffer), room.width, small_text, Family::sans)));
    const Box box = place_tensor({room.x, y + 18, room.width, std::max(20.0, high - 34)}, buffer);
    tensors_[buffers[i]] = box;
    if (output) {
      draw_output(buffers[i], box);
    } else {
      draw_input(buffers[i], box);
    }
  }
}

void TheatrePainter::draw_input(std::uint32_t buffer, const Box& box) {
  const sim::RecordedBuffer& shape = record_.buffers[buffer];
  for (std::size_t i = 0; i < s_.now.stages.size(); ++i) {
    const TheatreStage& now = s_.now.stages[i];
    if (!now.filling || !is_shown(p_.stages[i].rank)) continue;
    for (const MemoryUse& part : now.filling->parts) {
      if (part.buffer != buffer) continue;
      const bool coming = now.state == TheatreStage::State::coming;
      scene_.add(Rectangle{part_box(box, shape, part),
                           coming ? Ink(step_colour(now.filling->step, s_.theme))
                                  : faint_step(now.filling->step, s_.theme),
                           {Role::paper, coming ? 0.0 : 1.0, false},
                           0});
      if (follows(i, now.filling)) draw_selection(scene_, part_box(box, shape, part), 1.5);
    }
  }
}

void TheatrePainter::draw_output(std::uint32_t buffer, const Box& box) {
  const sim::RecordedBuffer& shape = record_.buffers[buffer];
  for (const MemoryUse& part : s_.now.written) {
    if (part.buffer != buffer) continue;
    scene_.add(Rectangle{part_box(box, shape, part), Ink(Role::quiet, 0.5), {}, 0});
  }
  for (std::size_t a = 0; a < p_.accumulators.size(); ++a) {
    const TheatreSum& now = s_.now.sums[a];
    if (!now.sum || !now.sum->tile || !is_shown(p_.accumulators[a].where.rank)) continue;
    const bool alive = now.state != TheatreSum::State::empty;
    scene_.add(Rectangle{part_box(box, shape, *now.sum->tile),
                         alive ? faint_step(now.step, s_.theme) : Ink(Role::quiet, 0.3),
                         {Role::text, alive ? 1.0 : 0.0, false},
                         0});
  }
}

bool TheatrePainter::is_shown(std::uint8_t rank) const {
  return std::find(ranks_.begin(), ranks_.end(), rank) != ranks_.end();
}

void TheatrePainter::draw_registers() {
  const bool in_tmem =
      std::any_of(p_.accumulators.begin(), p_.accumulators.end(),
                  [](const auto& a) { return a.where.of == MemoryUse::Of::tensor; });
  if (!in_tmem || outputs_.height < 120) return;
  const Box box{outputs_.x, outputs_.y + outputs_.height * 0.72, outputs_.width, 44};
  registers_ = box;
  const bool lit = !s_.now.loads.empty();
  scene_.add(
      Rectangle{box, Ink(Role::panel), {lit ? Role::text : Role::line, lit ? 2.0 : 1.0, false}, 3});
  const std::string name = "Registers";
  const double wide = text_width(name, small_text, Family::sans, FontWeight::bold);
  const double left = std::clamp((box.width - wide) / 2, 0.0, 8.0);
  scene_.add(words({box.x + left, box.y + 14}, name, FontWeight::bold));
  if (lit) {
    std::string said = fmt::format("tcgen05.ld, {} warp{}", s_.now.loads.size(),
                                   s_.now.loads.size() == 1 ? "" : "s");
    if (text_width(said, small_text, Family::sans) > box.width - 12) said = "tcgen05.ld";
    scene_.add(words({box.x + 8, box.y + 31}, said, Role::quiet));
  }
}

void TheatrePainter::draw_tokens() {
  scene_.begin("copies");
  std::size_t drawn = 0;
  for (const TheatreCopy& copy : s_.now.copies) {
    if (!is_shown(copy.rank) || ++drawn > 48) continue;
    if (copy.out) {
      draw_token_out(copy);
    } else if (copy.stage) {
      draw_token_in(copy);
    }
  }
  // Sums on their way to registers.
  if (!s_.now.loads.empty() && !registers_.empty()) {
    for (std::size_t a = 0; a < s_.now.sums.size(); ++a) {
      const auto box = sum_boxes_.find(a);
      if (s_.now.sums[a].state != TheatreSum::State::read || box == sum_boxes_.end()) continue;
      link({box->second.right(), box->second.centre().y}, {registers_.x, registers_.centre().y},
           s_.theme.quiet);
    }
  }
  scene_.end();
}

double TheatrePainter::token_width(const std::string& label) const {
  return wide_ ? std::max(22.0, text_width(label, small_text, Family::sans) + 10) : 12;
}

void TheatrePainter::token(Point at, const std::string& label, Rgba colour, bool queued) {
  const double width = token_width(label), height = wide_ ? 18 : 12;
  const Box box{at.x - width / 2, at.y - height / 2, width, height};
  scene_.add(Rectangle{box,
                       queued ? Ink(Role::paper) : Ink(colour),
                       {queued ? Ink(colour) : Ink(Role::paper), 1.5, queued},
                       4});
  if (!wide_) return;
  scene_.add(words(box.centre(), label, Across::centre, small_text, FontWeight::bold,
                   queued ? Ink(Role::text) : Ink(text_on(colour))));
}

// Each copy goes along a lane of its own at the head of its stage, from the matrix to the stage's
// edge: above what is written beside the dial, and not into the stage, whose tiles have names.
void TheatrePainter::draw_token_in(const TheatreCopy& copy) {
  const auto to = boxes_.find(*copy.stage);
  if (to == boxes_.end()) return;
  const Box& box = to->second;
  const sim::Filling* filling = s_.now.stages[*copy.stage].filling;
  std::string name = copy.part ? record_.buffers[copy.part->buffer].name : std::string();
  double number = 0, lanes = 1;
  if (filling && filling->copies.size() <= 4) {  // each has its own part of the stage's box
    const std::vector<std::size_t> order = order_of_tiles(*filling);
    const auto at = std::find_if(order.begin(), order.end(),
                                 [&](std::size_t i) { return filling->copies[i] == copy.event; });
    if (at != order.end()) name = tile_name(record_, *filling, *at);
    number = static_cast<double>(at - order.begin());
    lanes = static_cast<double>(order.size());
  }
  const double apart = std::clamp((box.height - 18) / lanes, 2.0, 18.0);
  const double y = box.y + std::min(9.0, box.height / 2) + apart * number;
  const std::string label = fmt::format("{} k{}", name, copy.step);
  std::vector<Point> way = way_in(copy, {shared_.x, y});
  way.push_back({std::max(shared_.x, box.x - 1 - token_width(label) / 2), y});
  Line path;
  path.stroke = {Ink(Role::line), 1, false};
  path.points = way;
  path.points.back().x = box.x;
  scene_.add(std::move(path));
  token(along(way, copy.share), label, step_colour(copy.step, s_.theme), copy.queued);
}

std::vector<sim::ByteSpan> TheatrePainter::leaving_bytes(std::uint8_t rank) const {
  std::vector<sim::ByteSpan> out;
  for (const sim::EventId id : p_.copies_out) {
    for (const MemoryUse& use : sim::uses_of(record_.uses, id)) {
      if (use.of != MemoryUse::Of::shared || use.writes || use.rank != rank) continue;
      const sim::ByteSpan span{use.column, use.column + use.columns};
      if (out.empty()) out.push_back(span);
      out.front().begin = std::min(out.front().begin, span.begin);
      out.front().end = std::max(out.front().end, span.end);
    }
  }
  return out;
}

// Where threads put a result for copies to take it out of shared memory.
void TheatrePainter::draw_result(std::uint8_t rank, const std::vector<sim::ByteSpan>& bytes,
                                 const Box& box) {
  results_[rank] = box;
  const TheatreCopy* leaves = nullptr;
  for (const TheatreCopy& copy : s_.now.copies) {
    if (copy.out && copy.rank == rank) leaves = &copy;
  }
  std::string name = "result";
  if (leaves && leaves->part) {
    name = record_.buffers[leaves->part->buffer].name;
  } else if (!s_.view.outputs().empty()) {
    name = record_.buffers[s_.view.outputs().front()].name;
  }
  scene_.add(Rectangle{box,
                       leaves ? Ink(Role::quiet, 0.35) : Ink(Role::panel),
                       {leaves ? Role::text : Role::line, leaves ? 2.0 : 1.0, false},
                       3});
  const std::string said = name + (leaves ? " leaves" : ", out");
  scene_.add(words(box.centre(), fitted(said, box.width - 8, small_text, Family::sans),
                   Across::centre, leaves ? Role::text : Role::quiet));
  scene_.hints.push_back(
      {box, fmt::format("bytes {}: where copies out take {} from", sim::spans_text(bytes), name)});
}

// Under the tensor core and the sums, then up beside the matrix.
void TheatrePainter::draw_token_out(const TheatreCopy& copy) {
  if (!copy.part) return;
  const auto tensor = tensors_.find(copy.part->buffer);
  if (tensor == tensors_.end()) return;
  const Box part = part_box(tensor->second, record_.buffers[copy.part->buffer], *copy.part);
  const auto result = results_.find(copy.rank);
  const Point from = result != results_.end()
                         ? Point{result->second.right(), result->second.centre().y}
                         : Point{shared_.right(), shared_.bottom()};
  const double low = shared_.bottom() - 2, right = outputs_.x - 9, beside = shared_.right() + 6;
  const std::vector<Point> way = {
      from,         {beside, from.y},         {beside, low},
      {right, low}, {right, part.centre().y}, {part.x, part.centre().y}};
  Line path;
  path.stroke = {Ink(Role::line), 1, false};
  path.points = way;
  scene_.add(std::move(path));
  token(point_on(way, copy.share), record_.buffers[copy.part->buffer].name, s_.theme.quiet,
        copy.queued);
}

}  // namespace tilescope
