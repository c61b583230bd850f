// The theatre of kernels that move data by threads: lines of global memory and their sectors on the
// way, in the colours of the warps that ask for them; the banks of shared memory with the lanes of
// one access, wavefront by wavefront; lanes that read each other's registers.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "viz/scene/items.h"
#include "viz/scene/palette.h"
#include "viz/theatre/theatre_painter.h"

namespace tilescope {
namespace {

using sim::WarpAccess;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr double line_row = 20, bank_row = 18, register_row = 20;
constexpr std::size_t most_wavefronts = 12;

std::string numbers_text(const std::vector<u32>& numbers) {
  std::string out;
  for (const u32 n : numbers) out += fmt::format("{}{}", out.empty() ? "" : ", ", n);
  return out;
}

// "A [3, 0:32]": the elements of a line of 128 bytes.
std::string elements_text(const sim::RecordedBuffer& buffer, u64 line) {
  const auto width = static_cast<u64>(std::max<std::size_t>(1, bytes_of(buffer.dtype)));
  const u64 from = line * 128 / width, to = (line + 1) * 128 / width;
  const auto columns = static_cast<u64>(std::max<std::int64_t>(1, buffer.columns()));
  if (buffer.shape.size() < 2) return fmt::format("[{}:{}]", from, to);
  if (from / columns == (to - 1) / columns) {
    return fmt::format("[{}, {}:{}]", from / columns, from % columns, (to - 1) % columns + 1);
  }
  return fmt::format("rows {} to {}", from / columns, (to - 1) / columns);
}

}  // namespace

Rgba TheatrePainter::colour_of_warp(u32 warp) const {
  return category(warp % 7 + warp / 7 % 3 * 8, s_.theme.dark);
}

void TheatrePainter::draw_memory(const Box& all) {
  const u64 block = p_.blocks[std::min<std::size_t>(s_.rank, p_.blocks.size() - 1)];
  const LanesNow now = lanes_at(record_, s_.view.lanes(), block, s_.warp, s_.now.at);
  const double top = all.y + 8, height = all.height - 8;
  constexpr std::size_t most_registers = 8;
  const auto registers =
      registers_at(record_, s_.view.lanes(), block, s_.warp, s_.now.at, most_registers);
  if (!s_.view.lanes().any(WarpAccess::Of::shared) && !s_.view.lanes().any(WarpAccess::Of::lanes)) {
    // Three lines of each buffer stay.
    const double wanted = 28 + 104 * static_cast<double>(s_.view.lanes().touched().size());
    const double high = std::clamp(height - wanted, std::min(46 + 3 * register_row, height / 2),
                                   46 + register_row * most_registers);
    draw_global({all.x, top, all.width, height - high}, now);
    return draw_lane_registers({all.x, top + height - high, all.width, high}, registers);
  }
  const double left = std::floor(all.width * 0.4), apart = 32;
  draw_global({all.x, top, left, height}, now);
  Box right{all.x + left + apart, top, all.width - left - apart, height};
  // From the bottom up, each where there is room for it beside the banks.
  constexpr double least = 130;
  const auto take = [&](double wanted) {
    const double high = std::min(wanted, std::max(0.0, right.height - least));
    right.height -= high;
    return Box{right.x, right.bottom(), right.width, high};
  };
  if (now.shuffle && height >= 200) draw_shuffle(take(110), *now.shuffle);
  const double rows =
      std::clamp((right.height - 300) / register_row, 3.0, static_cast<double>(most_registers));
  draw_lane_registers(
      take(46 + register_row * std::min(std::floor(rows), static_cast<double>(registers.size()))),
      registers);
  std::optional<LanesNow::Shared> read;
  if (!now.all_shared.empty()) {
    read = now.all_shared.front();
  } else if (const auto last = s_.view.lanes().last(record_, block, WarpAccess::Of::shared,
                                                    s_.now.at, s_.view.end())) {
    read = LanesNow::Shared{*last, false, {}};
  }
  if (read) draw_shared_rows(take(std::clamp(right.height * 0.5, 0.0, 360.0)), *read);
  draw_banks(right, now);
}

// How much of each stretch of a buffer L2 has now, the darker the more; where the record does not
// say, which parts of it this cluster has touched.
void TheatrePainter::draw_touched(const LaneAccesses::Touched& touched, const Box& bar,
                                  const LanesNow& now) {
  scene_.add(Rectangle{bar, Ink(Role::panel), {Role::line, 1, false}, 0});
  const sim::CachedBuffer* const cached = s_.view.cached(touched.buffer);
  const std::size_t cells =
      cached ? cached->rows > 1 ? cached->rows : cached->columns : LaneAccesses::buckets;
  const double part = bar.width / static_cast<double>(cells);
  const auto held = [&](std::size_t i) {
    if (cached) return share_in_l2(*cached, s_.now.at, i);
    // Of what is only written L2's times are not kept; one colour has one meaning.
    if (!record_.cached.empty()) return 0.0;
    const bool is =
        touched.first[i] != sim::never_ends && static_cast<double>(touched.first[i]) <= s_.now.at;
    return is ? 1.0 : 0.0;
  };
  for (std::size_t i = 0; i < cells;) {
    const std::size_t from = i;
    const double share = held(from);
    while (i < cells && held(i) == share) ++i;
    if (share <= 0) continue;
    scene_.add(Rectangle{{bar.x + static_cast<double>(from) * part, bar.y,
                          std::max(1.0, static_cast<double>(i - from) * part), bar.height},
                         Ink(Role::accent, 0.08 + 0.3 * share),
                         {},
                         0});
  }
  const std::string& name = record_.buffers[touched.buffer].name;
  scene_.hints.push_back(
      {bar, cached ? fmt::format("L2 has {:.0f}% of {} now, from its first row at the left to its "
                                 "last: what all CTAs have read until here",
                                 100 * share_in_l2(*cached, s_.now.at), name)
                   : fmt::format("{}: {}", name,
                                 record_.cached.empty()
                                     ? "which parts this cluster has touched until here"
                                     : "nobody reads it, and L2 is not followed for what is only "
                                       "written")});
  if (touched.bytes == 0) return;
  for (const SectorOnItsWay& s : now.sectors) {
    if (s.buffer != touched.buffer) continue;
    const double share = static_cast<double>(s.sector * 32) / static_cast<double>(touched.bytes);
    const double x = bar.x + std::min(1.0, share) * (bar.width - 2);
    scene_.add(Rectangle{{x, bar.y, 2, bar.height}, Ink(colour_of_warp(s.warps.front())), {}, 0});
  }
}

// Four sectors of a line, each in the colours of the warps that ask for it.
void TheatrePainter::draw_line(const Box& row, u64 line,
                               const std::vector<const SectorOnItsWay*>& sectors) {
  const double label = std::min(130.0, row.width * 0.38), cell = std::min(30.0, row.width * 0.08);
  const sim::RecordedBuffer& buffer = record_.buffers[sectors.front()->buffer];
  scene_.add(words({row.x, row.y + row.height / 2},
                   fitted(elements_text(buffer, line), label - 8, small_text, Family::mono),
                   Family::mono, Role::quiet));
  std::vector<u32> warps;
  const SectorOnItsWay* const farthest =
      *std::max_element(sectors.begin(), sectors.end(),
                        [](const auto* a, const auto* b) { return a->from < b->from; });
  const std::string_view from = from_words(*farthest);
  for (u32 k = 0; k < 4; ++k) {
    const Box box{row.x + label + k * (cell + 2), row.y + 2, cell, row.height - 4};
    scene_.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 0});
    for (const SectorOnItsWay* s : sectors) {
      if (s->sector % 4 != k) continue;
      const double part = box.width / static_cast<double>(s->warps.size());
      for (std::size_t w = 0; w < s->warps.size(); ++w) {
        const Box piece{box.x + static_cast<double>(w) * part, box.y, part, box.height};
        scene_.add(Rectangle{piece, Ink(colour_of_warp(s->warps[w])), {}, 0});
        if (!std::count(warps.begin(), warps.end(), s->warps[w])) warps.push_back(s->warps[w]);
      }
      scene_.hints.push_back(
          {box,
           fmt::format("{} {}, sector {}: warp{} {}{}", buffer.name, elements_text(buffer, line), k,
                       s->warps.size() == 1 ? "" : "s", numbers_text(s->warps), from_words(*s))});
    }
  }
  std::sort(warps.begin(), warps.end());
  const double x = row.x + label + 4 * (cell + 2) + 8;
  std::string who = warps_in_words(warps);
  const double room = std::max(0.0, row.right() - x);
  // ", from memory", where there is room for it; else ", memory".
  constexpr std::string_view word = ", from ";
  for (const std::string& whence :
       {who + std::string(from),
        from.empty() ? who : who + ", " + std::string(from.substr(word.size()))}) {
    if (text_width(whence, small_text, Family::sans) > room) continue;
    who = whence;
    break;
  }
  scene_.add(words({x, row.y + row.height / 2}, fitted(who, room, small_text, Family::sans)));
}

void TheatrePainter::draw_global(const Box& box, const LanesNow& now) {
  scene_.begin("global memory", box);
  draw_heading(box, "Global memory: lines on their way");
  const auto& touched = s_.view.lanes().touched();
  std::vector<std::map<u64, std::vector<const SectorOnItsWay*>>> lines(touched.size());
  std::size_t busy = 0;
  for (std::size_t i = 0; i < touched.size(); ++i) {
    for (const SectorOnItsWay& s : now.sectors) {
      if (s.buffer == touched[i].buffer) lines[i][s.sector / 4].push_back(&s);
    }
    busy += !lines[i].empty();
  }
  constexpr double heading = 24, idle = heading + line_row + 12;
  // What is idle takes little, so that the others have more.
  const double free = box.height - 28 - idle * static_cast<double>(touched.size() - busy);
  const double each = busy ? std::floor(free / static_cast<double>(busy)) : 0;
  const auto columns = static_cast<std::size_t>(std::clamp(box.width / 340, 1.0, 4.0));
  double top = box.y + 28;
  for (std::size_t i = 0; i < touched.size(); ++i) {
    const LaneAccesses::Touched& t = touched[i];
    const double label = std::min(190.0, box.width * 0.5);
    scene_.add(words({box.x, top + 8},
                     fitted(shape_of(record_.buffers[t.buffer]), label - 8, small_text,
                            Family::sans, FontWeight::bold),
                     FontWeight::bold));
    const sim::CachedBuffer* const cached = s_.view.cached(t.buffer);
    const double said = cached ? 62 : 0;
    if (cached) {
      scene_.add(words({box.right(), top + 8},
                       fmt::format("L2 {:.0f}%", 100 * share_in_l2(*cached, s_.now.at)),
                       Across::right));
    }
    draw_touched(t, {box.x + label, top, box.width - label - said, 14}, now);
    const double y = top + heading;
    if (lines[i].empty()) {
      scene_.add(words({box.x, y + line_row / 2}, "nothing on its way", Role::quiet));
      top += idle;
      continue;
    }
    const auto rows =
        static_cast<std::size_t>(std::max(1.0, (each - heading - line_row - 8) / line_row));
    const double width = box.width / static_cast<double>(columns);
    std::size_t k = 0;
    for (const auto& [line, sectors] : lines[i]) {
      if (k == rows * columns) break;
      draw_line({box.x + static_cast<double>(k / rows) * width,
                 y + static_cast<double>(k % rows) * line_row, width - 12, line_row},
                line, sectors);
      ++k;
    }
    if (k < lines[i].size()) {
      scene_.add(words({box.x, y + (static_cast<double>(rows) + 0.5) * line_row},
                       fmt::format("and {} lines more", lines[i].size() - k), Role::quiet));
    }
    const std::size_t high = std::min(rows, lines[i].size()) + (k < lines[i].size() ? 1 : 0);
    top += heading + static_cast<double>(high) * line_row + 12;
  }
  scene_.end();
}

void TheatrePainter::draw_banks(const Box& box, const LanesNow& now) {
  scene_.begin("banks", box);
  draw_heading(box, "Shared memory: 32 banks, lane by lane");
  double y = box.y + 28;
  if (now.all_shared.empty()) {
    scene_.add(words({box.x, y + 8},
                     s_.view.lanes().empty() ? "" : "No warp accesses shared memory now.",
                     Role::quiet));
    scene_.end();
    return;
  }
  for (const LanesNow::Shared& one : now.all_shared) {
    if (y > box.y + 28 && y + 24 + 16 + bank_row * 2 > box.bottom()) break;
    y = draw_access({box.x, y, box.width, box.bottom() - y}, one) + 12;
  }
  scene_.end();
}

// An access of shared memory, bank by bank; answers where it ends.
double TheatrePainter::draw_access(const Box& box, const LanesNow::Shared& one) {
  double y = box.y;
  const WarpAccess& access = record_.accesses[one.access];
  const u32 warp = record_.tracks[access.track].index;
  std::string said = access_text(record_, one.access);
  said += fmt::format("; {} wavefront{}", access.passes, access.passes == 1 ? "" : "s");
  if (access.passes > access.ideal) said += fmt::format(", {} would do", access.ideal);
  if (!one.now) said += " (the last one)";
  scene_.add(words({box.x, y + 8}, fitted(said, box.width, small_text, Family::sans),
                   access.passes > access.ideal ? Role::wrong : Role::text));
  y += 24;
  const double cell = std::floor(std::min(28.0, (box.width - 4) / 32));
  for (u32 bank = 0; bank < 32; bank += cell < 18 ? 4 : 1) {
    scene_.add(words({box.x + (bank + 0.5) * cell, y + 6}, fmt::format("{}", bank), Role::quiet,
                     Across::centre));
  }
  y += 16;
  u32 wavefronts = 0;
  for (const BankWord& w : one.words) wavefronts = std::max(wavefronts, w.wavefront + 1);
  const auto fits = static_cast<std::size_t>(std::max(1.0, (box.bottom() - y - 20) / bank_row));
  const auto shown = static_cast<u32>(std::min<std::size_t>({wavefronts, most_wavefronts, fits}));
  const Rgba hue = colour_of_warp(warp);
  for (u32 row = 0; row < shown; ++row) {
    for (u32 bank = 0; bank < 32; ++bank) {
      scene_.add(Rectangle{{box.x + bank * cell, y + row * bank_row, cell - 1, bank_row - 1},
                           Ink(Role::panel),
                           {},
                           0});
    }
  }
  for (const BankWord& w : one.words) {
    if (w.wavefront >= shown) continue;
    const Box at{box.x + w.bank * cell, y + w.wavefront * bank_row, cell - 1, bank_row - 1};
    const double share = 0.35 + 0.65 * static_cast<double>(w.lanes.front()) / 31;
    const Rgba colour = mix(s_.theme.paper, hue, share);
    scene_.add(Rectangle{at, Ink(colour), {}, 0});
    if (cell >= 18) {
      const std::string text = w.lanes.size() == 1 ? fmt::format("{}", w.lanes.front())
                                                   : fmt::format("x{}", w.lanes.size());
      scene_.add(words(at.centre(), text, Ink(text_on(colour)), Across::centre));
    }
    scene_.hints.push_back(
        {at, fmt::format("bank {}, wavefront {}: lane{} {}", w.bank, w.wavefront,
                         w.lanes.size() == 1 ? "" : "s", numbers_text(w.lanes))});
  }
  if (wavefronts > shown) {
    scene_.add(words({box.x, y + shown * bank_row + 10},
                     fmt::format("and {} wavefronts more", wavefronts - shown), Role::quiet));
  }
  return y + (shown + (wavefronts > shown ? 1 : 0)) * bank_row;
}

// Above who is read, below who reads.
void TheatrePainter::draw_shuffle(const Box& box, u32 number) {
  scene_.begin("shuffle", box);
  const WarpAccess& access = record_.accesses[number];
  const u32 warp = record_.tracks[access.track].index;
  draw_heading(box, "Shuffle, " + access_text(record_, number));
  const double cell = std::floor(std::min(28.0, (box.width - 4) / 32));
  const double from = box.y + 24, to = box.y + 80;
  const Rgba hue = colour_of_warp(warp);
  for (u32 l = 0; l < 32; ++l) {
    const double x = box.x + l * cell;
    for (const double y : {from, to}) {
      const bool takes_part = access.mask >> l & 1;
      scene_.add(Rectangle{
          {x, y, cell - 1, 16},
          takes_part ? Ink(mix(s_.theme.paper, hue, 0.3 + 0.5 * l / 31)) : Ink(Role::panel),
          {},
          0});
      if (cell >= 18) {
        scene_.add(words({x + cell / 2, y + 8}, fmt::format("{}", l), Across::centre));
      }
    }
    if (!(access.mask >> l & 1)) continue;
    const auto source = static_cast<double>(std::min<u64>(31, access.at(l, record_.lane_offsets)));
    Line line;
    line.points = {{box.x + (source + 0.5) * cell, from + 17}, {x + cell / 2, to - 1}};
    line.stroke = {Role::quiet, 1, false};
    line.arrow = true;
    scene_.add(line);
  }
  scene_.end();
}

}  // namespace tilescope
