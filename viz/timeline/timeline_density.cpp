#include "viz/timeline/timeline_density.h"

#include <algorithm>

#include "core/profile/statistics.h"

namespace tilescope {

char letter_of(Doing doing) {
  const bool sleeps = doing.stall == sim::Stall::siblings && doing.unit == sim::Unit::warp;
  return sleeps ? 'z' : sim::letter_of(doing.stall);
}

std::string text(Doing doing) {
  if (doing.waits()) return "waits for " + sim::text(sim::WaitKey{doing.stall, doing.unit});
  if (doing.unit == sim::Unit::warp) return "runs";
  return std::string(sim::name_of(doing.unit));
}

Density::Density(sim::Cycle begin, sim::Cycle end, std::size_t pieces) : begin_(begin) {
  const sim::Cycle length = std::max(end, begin + 1) - begin;
  pieces = std::max<std::size_t>(pieces, 1);
  width_ = (length + pieces - 1) / pieces;
  pieces_ = static_cast<std::size_t>((length + width_ - 1) / width_);
  events_.assign(pieces_ + 1, 0);
}

std::size_t Density::index_of(Doing doing) {
  const auto found = std::find(doings_.begin(), doings_.end(), doing);
  if (found != doings_.end()) return static_cast<std::size_t>(found - doings_.begin());
  doings_.push_back(doing);
  cycles_.emplace_back(pieces_ + 1, 0);
  return doings_.size() - 1;
}

void Density::add(Doing doing, sim::Cycle begin, sim::Cycle end) {
  spread(doing, begin, end, end > begin ? end - begin : 0);
}

void Density::spread(Doing doing, sim::Cycle begin, sim::Cycle end, std::uint64_t cycles) {
  begin = std::max(begin, begin_);
  if (pieces_ == 0 || cycles == 0 || begin >= begin_ + width_ * pieces_) return;
  std::vector<std::uint64_t>& sums = cycles_[index_of(doing)];
  const double share = end > begin ? static_cast<double>(cycles) / static_cast<double>(end - begin)
                                   : static_cast<double>(cycles);
  std::size_t i = static_cast<std::size_t>((begin - begin_) / width_);
  std::uint64_t left = cycles;
  // The pieces that it covers; the last one takes what rounding has left, so that nothing is lost.
  for (; i + 1 < pieces_; ++i) {
    const sim::Cycle edge = begin_ + width_ * (i + 1);
    if (edge >= end) break;
    const auto part =
        std::min(left, static_cast<std::uint64_t>(share * static_cast<double>(edge - begin) + 0.5));
    sums[i + 1] += part;
    left -= part;
    begin = edge;
  }
  sums[i + 1] += left;
}

void Density::count(sim::Cycle at, std::uint64_t events) {
  if (pieces_ == 0 || at < begin_) return;
  const std::size_t i = static_cast<std::size_t>((at - begin_) / width_);
  events_[std::min(i, pieces_ - 1) + 1] += events;
}

void Density::close() {
  // Runs and work first, then waits, always in one order: that of their layers in a picture.
  std::vector<std::size_t> order(doings_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return doings_[a] < doings_[b]; });
  std::vector<Doing> doings;
  std::vector<std::vector<std::uint64_t>> cycles;
  for (const std::size_t i : order) {
    doings.push_back(doings_[i]);
    cycles.push_back(std::move(cycles_[i]));
  }
  doings_ = std::move(doings);
  cycles_ = std::move(cycles);
  const auto sum = [](std::vector<std::uint64_t>& values) {
    for (std::size_t i = 1; i < values.size(); ++i) values[i] += values[i - 1];
  };
  sum(events_);
  for (std::vector<std::uint64_t>& each : cycles_) sum(each);
}

double Density::at(const std::vector<std::uint64_t>& sums, double time) const {
  const double place = (time - static_cast<double>(begin_)) / static_cast<double>(width_);
  if (!(place > 0) || pieces_ == 0) return 0;
  if (place >= static_cast<double>(pieces_)) return static_cast<double>(sums.back());
  const std::size_t i = static_cast<std::size_t>(place);
  const double low = static_cast<double>(sums[i]), high = static_cast<double>(sums[i + 1]);
  return low + (high - low) * (place - static_cast<double>(i));
}

double Density::before(std::size_t doing, double time) const {
  return at(cycles_[doing], time);
}

double Density::events_before(double time) const {
  return at(events_, time);
}

}  // namespace tilescope
