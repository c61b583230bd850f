#include "core/sim/time/processor.h"

#include <algorithm>
#include <utility>

namespace tilescope::sim {
namespace {

// Cycles of a bucket, and how many: what belongs to one SM is asked for within a few
// thousand cycles, what all share may be taken for longer.
constexpr double bucket = 32;
constexpr std::size_t buckets = 256;

}  // namespace

Level1::Set::Set() {
  for (std::size_t w = 0; w < ways; ++w) of[w] = {no_line, 0, ways - 1 - w};
}

std::size_t Level1::Set::find(std::uint64_t line) const {
  std::size_t way = 0;
  while (way < ways && of[way].number != line) ++way;
  return way;
}

void Level1::Set::use(std::size_t way) {
  const std::uint64_t before = of[way].age;
  for (Way& w : of) w.age += w.age < before;
  of[way].age = 0;
}

Level1::Level1(std::uint64_t bytes) : sets_(bytes / line_bytes / ways) {}

std::uint32_t Level1::fetch(std::uint64_t line, std::uint32_t sectors, double*& arrives) {
  arrives = nullptr;
  if (sets_.empty()) return 0;
  Set& set = set_of(line);
  std::size_t way = set.find(line);
  if (way == ways) {
    way = 0;
    while (set.of[way].age != ways - 1) ++way;
    set.of[way].number = line;
    set.of[way].sectors = 0;
    set.arrives[way] = 0;
  }
  set.use(way);
  arrives = &set.arrives[way];
  const auto there = static_cast<std::uint32_t>(set.of[way].sectors & sectors);
  set.of[way].sectors |= sectors;
  return there;
}

void Level1::drop(std::uint64_t line, std::uint32_t sectors) {
  if (sets_.empty()) return;
  Set& set = set_of(line);
  if (const std::size_t way = set.find(line); way != ways) set.of[way].sectors &= ~sectors;
}

void Level2::add(std::uint64_t base, std::uint64_t bytes, bool warm) {
  const std::uint64_t first = base / line_bytes, end = (base + bytes + line_bytes - 1) / line_bytes;
  Part part;
  part.first = first, part.lines = end - first, part.warm = warm;
  part.pages.resize((part.lines + page_lines - 1) / page_lines);
  parts_.push_back(std::move(part));
}

std::uint32_t Level2::fetch(std::uint64_t line, std::uint32_t sectors, double*& arrives) {
  arrives = nullptr;
  const auto holds = [&](const Part& p) { return line >= p.first && line - p.first < p.lines; };
  if (last_ >= parts_.size() || !holds(parts_[last_])) {
    last_ = static_cast<std::size_t>(std::find_if(parts_.begin(), parts_.end(), holds) -
                                     parts_.begin());
    if (last_ == parts_.size()) return sectors;
  }
  Part& part = parts_[last_];
  const std::uint64_t at = line - part.first;
  std::vector<Line>& page = part.pages[at / page_lines];
  if (page.empty()) page.assign(page_lines, {part.warm ? std::uint64_t{16 + 15} : 0, 0});
  Line& own = page[at % page_lines];
  arrives = &own.arrives;
  const bool there = own.used && come_ - own.used / 16 < lines_;
  if (!there) ++come_;
  const auto had = there ? static_cast<std::uint32_t>(own.used % 16) : 0u;
  own.used = come_ * 16 + (had | sectors);
  return had & sectors;
}

std::optional<double> Level2::came(std::size_t part, std::uint64_t line) const {
  const Part& p = parts_[part];
  if (line < p.first || line - p.first >= p.lines) return {};
  const std::uint64_t own = line - p.first;
  const std::vector<Line>& page = p.pages[own / page_lines];
  const double at = page.empty() ? 0 : page[own % page_lines].arrives;
  if (at > 0) return at;
  if (p.warm) return 0;
  return {};
}

Processor::Processor(const DeviceTimes& t, std::uint64_t level1_bytes)
    : load_store(1, bucket, buckets),
      shared(t.shared_bytes, bucket, buckets),
      in(t.l2_port, bucket, buckets),
      out(t.l2_port, bucket, buckets),
      copies(1, bucket, buckets),
      tensor(1, bucket, buckets),
      tensor_in(t.tensor_store_bytes, bucket, buckets),
      tensor_out(t.tensor_load_bytes, bucket, buckets),
      level1(level1_bytes) {
  for (std::size_t s = 0; s < most_schedulers; ++s) {
    issue[s] = Calendar(1, bucket, buckets);
    for (std::size_t l = 1; l < lanes[s].size(); ++l) lanes[s][l] = Calendar(1, bucket, buckets);
  }
}

}  // namespace tilescope::sim
