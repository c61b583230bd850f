// The facts of the page; the picture of the tensors is in kernel_tiles.cpp.
#include "viz/machine/kernel_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "viz/machine/kernel_tiles.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

constexpr double page_edge = 24, page_line = 20, page_name = 104, page_button = 32;

double width_of(const std::string& text, FontWeight weight = FontWeight::regular) {
  return text_width(text, small_text, Family::sans, weight);
}

std::string dims_text(const Dim3& dims) {
  if (dims.z > 1) return fmt::format("{} x {} x {}", dims.x, dims.y, dims.z);
  if (dims.y > 1) return fmt::format("{} x {}", dims.x, dims.y);
  return fmt::format("{}", dims.x);
}

// "full[0..3], empty[0..3], done"
std::string barriers_text(const BarrierNames& barriers) {
  std::vector<std::pair<std::string, int>> arrays;
  for (const auto& [byte, name] : barriers) {
    const std::size_t bracket = name.find('[');
    const std::string base = name.substr(0, bracket);
    if (bracket == std::string::npos) {
      arrays.emplace_back(name, 0);
    } else if (arrays.empty() || arrays.back().first != base) {
      arrays.emplace_back(base, 1);
    } else {
      ++arrays.back().second;
    }
  }
  std::string out;
  for (const auto& [name, count] : arrays) {
    if (!out.empty()) out += ", ";
    out += count == 0   ? name
           : count == 1 ? name + "[0]"
                        : fmt::format("{}[0..{}]", name, count - 1);
  }
  return out;
}

// Writes down the page, from a height on.
class Column {
 public:
  Column(Scene& scene, Box room) : scene_(scene), room_(room), y_(room.y) {}

  void heading(const std::string& text) {
    if (y_ > room_.y) y_ += between;
    scene_.add(words({room_.x, y_ + 8},
                     fitted(text, room_.width, small_text, Family::sans, FontWeight::bold),
                     FontWeight::bold));
    y_ += page_line + 2;
  }
  // A name and its value, in as many lines as it needs.
  void fact(const std::string& name, const std::string& value, bool code = false) {
    const double from = name.empty() ? 0 : std::min(page_name, room_.width * 0.35);
    if (!name.empty()) {
      scene_.add(
          words({room_.x, y_ + 8}, fitted(name, from - 8, small_text, Family::sans), Role::quiet));
    }
    const double width = std::max(40.0, room_.width - from);
    if (code) {
      scene_.add(words({room_.x + from, y_ + 8}, fitted(value, width, small_text, Family::mono),
                       Family::mono));
      y_ += page_line;
      return;
    }
    for (const std::string& line : wrapped(value, width, 6)) {
      scene_.add(words({room_.x + from, y_ + 8}, line));
      y_ += page_line;
    }
  }
  // Words that can be clicked, beside each other as long as they fit.
  void links(const std::vector<KernelCard::OwnLayout>& layouts) {
    double x = room_.x;
    for (const KernelCard::OwnLayout& each : layouts) {
      const double wide = width_of(each.name) + 16;
      if (x > room_.x && x + wide > room_.right()) {
        x = room_.x;
        y_ += page_line + 6;
      }
      const Box box{x, y_ - 4, wide, page_line + 4};
      scene_.add(Rectangle{box, Ink(Role::accent, 0.08), {Role::accent, 0, false}, 4});
      scene_.add(words({x + 8, y_ + 8}, each.name, Role::accent));
      scene_.targets.push_back(
          {box, "open layout " + each.expression, each.help.empty() ? each.expression : each.help});
      x += wide + 8;
    }
    y_ += page_line + 6;
  }
  double y() const { return y_; }
  void skip(double pixels) { y_ += pixels; }

 private:
  Scene& scene_;
  Box room_;
  double y_;
};

void draw_facts(Scene& scene, Column& at, const KernelCardShown& shown) {
  const KernelCard& card = shown.card;
  scene.begin("launch");
  at.heading("Launch");
  if (card.grid.count() > 0) {
    const bool flat = card.grid.y == 1 && card.grid.z == 1;
    std::string grid = flat ? "" : dims_text(card.grid) + " = ";
    grid += fmt::format("{} CTA{}", grouped(card.grid.count()), card.grid.count() == 1 ? "" : "s");
    if (card.cluster.count() > 1) grid += ", in clusters of " + dims_text(card.cluster);
    at.fact("grid", grid);
    const std::uint64_t warps = (card.block.count() + 31) / 32;
    at.fact("threads",
            fmt::format("{} a CTA: {} warp{}", card.block.count(), warps, warps == 1 ? "" : "s"));
  } else {
    at.fact("", card.launch);
  }
  if (card.shared > 0) at.fact("shared", bytes_words(card.shared) + " of dynamic shared memory");
  if (!card.target.empty()) at.fact("for", card.target);
  if (!card.source.empty()) at.fact("source", card.source, true);
  if (!card.entry.empty() && card.entry != card.name) at.fact("entry", card.entry, true);
  scene.end();

  const auto& roles = shown.run && !shown.run->roles.empty() ? shown.run->roles : card.roles;
  scene.begin("warps");
  at.heading("Who does what");
  if (roles.empty()) {
    at.fact("", shown.run ? "All warps do the same." : "Seen when it has run.");
  }
  if (roles.size() == 1) at.fact("", "All warps do the same.");
  for (const KernelCard::Role& role : roles) {
    if (roles.size() == 1) break;
    at.fact(fmt::format("{} {}", role.warps.size() == 1 ? "warp" : "warps", warps_text(role.warps)),
            role.does);
  }
  scene.end();

  const bool staged = shown.run && !shown.run->stages.empty();
  if (staged || !card.barriers.empty()) {
    scene.begin("stages");
    at.heading("Stages in shared memory");
    if (staged) {
      for (const std::string& each : shown.run->stages) at.fact("", each);
    }
    if (!card.barriers.empty()) at.fact("mbarriers", barriers_text(card.barriers));
    scene.end();
  }

  if (!card.tensors.empty()) {
    scene.begin("tensors");
    at.heading("Tensors");
    for (const KernelCard::Tensor& tensor : card.tensors) {
      at.fact(tensor.name, fmt::format("{}, {}", tensor.shape, tensor.from));
    }
    scene.end();
  }
  if (!card.parameters.empty()) {
    scene.begin("parameters");
    at.heading("Parameters");
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < std::min(most, card.parameters.size()); ++i) {
      at.fact(fmt::format("{}", i), card.parameters[i]);
    }
    if (card.parameters.size() > most) {
      at.fact("", fmt::format("and {} more", card.parameters.size() - most));
    }
    scene.end();
  }
  if (!card.layouts.empty()) {
    scene.begin("layouts");
    at.heading("Its layouts");
    at.skip(4);
    at.links(card.layouts);
    scene.end();
  }
}

// How the run ended, in a bar of its colour; and what bounds it.
double draw_outcome(Scene& scene, const KernelRun& run, const Box& room) {
  const Role colour = run.wrong ? Role::wrong : run.right ? Role::right : Role::quiet;
  std::vector<std::pair<std::string, Ink>> lines;
  const double width = room.width - 2 * between;
  const Role said = colour == Role::quiet ? Role::text : colour;
  // The first of these is bold.
  for (auto& line : wrapped(run.sentence, width, 6, FontWeight::bold))
    lines.emplace_back(std::move(line), said);
  if (!run.time.empty()) {
    for (auto& line : wrapped(run.time, width, 2)) lines.emplace_back(std::move(line), Role::text);
  }
  for (auto& line : wrapped(run.verdict, width, 6)) lines.emplace_back(std::move(line), Role::text);
  const double height = 18 * static_cast<double>(lines.size()) + 14;
  scene.begin("outcome");
  scene.add(Rectangle{{room.x, room.y, room.width, height}, Ink(colour, 0.08), {}, 4});
  scene.add(Rectangle{{room.x, room.y, 4, height}, Ink(colour), {}, 2});
  double y = room.y + 16;
  for (const auto& [text, ink] : lines) {
    const bool first = &text == &lines.front().first;
    scene.add(
        words({room.x + between, y}, text, ink, first ? FontWeight::bold : FontWeight::regular));
    y += 18;
  }
  scene.end();
  return height;
}

double draw_steps(Scene& scene, const std::vector<KernelStep>& steps, const Box& room) {
  double x = room.x, y = room.y;
  scene.begin("next");
  for (const KernelStep& step : steps) {
    const bool first = &step == &steps.front();
    const double wide = width_of(step.word, first ? FontWeight::bold : FontWeight::regular) + 28;
    if (x > room.x && x + wide > room.right()) {
      x = room.x;
      y += page_button + 8;
    }
    const Box box{x, y, wide, page_button};
    Rectangle shape{box, first ? Ink(Role::accent) : Ink(Role::paper), {}, 4};
    if (!first) shape.stroke = {Role::line, 1, false};
    scene.add(shape);
    scene.add(words({box.centre().x, box.centre().y}, step.word, first ? Role::paper : Role::text,
                    first ? FontWeight::bold : FontWeight::regular, Across::centre));
    scene.targets.push_back({box, step.command, step.command});
    x += wide + 8;
  }
  scene.end();
  return y + page_button - room.y;
}

}  // namespace

const KernelCard::Tensor* output_of(const KernelCard& card) {
  for (const KernelCard::Tensor& tensor : card.tensors) {
    if (tensor.output) return &tensor;
  }
  return nullptr;
}

std::string warps_text(const std::vector<std::uint32_t>& warps) {
  std::string out;
  for (std::size_t i = 0; i < warps.size();) {
    std::size_t last = i;
    while (last + 1 < warps.size() && warps[last + 1] == warps[last] + 1) ++last;
    if (!out.empty()) out += ", ";
    out += last == i ? fmt::format("{}", warps[i]) : fmt::format("{}-{}", warps[i], warps[last]);
    i = last + 1;
  }
  return out;
}

std::string bytes_words(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  if (bytes % 1024 == 0) return fmt::format("{} KiB", grouped(bytes / 1024));
  return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
}

double draw_kernel_card(Scene& scene, const KernelCardShown& shown, Size size, double scrolled) {
  const KernelCard& card = shown.card;
  const double width = std::max(80.0, size.width - 2 * page_edge);
  double y = page_edge - scrolled;
  draw_title(scene, card.name.substr(card.name.find_last_of('/') + 1), {page_edge, y + 8});
  y += 34;
  scene.begin("what");
  for (const std::string& line : wrapped(card.help, width, 3)) {
    scene.add(words({page_edge, y}, line, Role::quiet));
    y += page_line;
  }
  scene.end();
  y += 4;
  if (shown.run) y += draw_outcome(scene, *shown.run, {page_edge, y, width, 0}) + between;
  if (!shown.steps.empty())
    y += draw_steps(scene, shown.steps, {page_edge, y, width, 0}) + between_groups;
  // The picture at the left, facts beside it; one above the other where it is narrow.
  constexpr double least_beside = 620;
  const bool beside = width >= least_beside;
  const double facts = beside ? std::clamp(width * 0.42, 280.0, 460.0) : width;
  const double picture = beside ? width - facts - 2 * between : width;
  double below = y;
  // As high as the window has room for, so that it is seen without scrolling.
  const double room =
      std::max(180.0, size.height + std::min(0.0, scrolled) - y - scrolled - page_edge);
  if (const double used = draw_kernel_tiles(scene, card, shown.run,
                                            {page_edge, y, picture, std::min(room, picture * 1.1)});
      used > 0) {
    below = y + used;
  } else if (beside) {
    Column all(scene, {page_edge, y, width, 0});
    draw_facts(scene, all, shown);
    return std::max(0.0, all.y() + scrolled + page_edge - size.height);
  }
  Column column(scene, beside ? Box{page_edge + picture + 2 * between, y, facts, 0}
                              : Box{page_edge, below > y ? below + between_groups : y, width, 0});
  draw_facts(scene, column, shown);
  return std::max(0.0, std::max(column.y(), below) + scrolled + page_edge - size.height);
}

}  // namespace tilescope
