#include "core/sim/order/access_log.h"

#include <algorithm>

namespace tilescope::sim {
namespace {

using u64 = std::uint64_t;

// Bits [begin, end) of a word.
u64 mask_of(u64 begin, u64 end) {
  const u64 up_to = end == 64 ? ~u64{0} : (u64{1} << end) - 1;
  return up_to & ~((u64{1} << begin) - 1);
}

bool is_write(AccessLog::How how) {
  return how == AccessLog::How::write || how == AccessLog::How::strong_write;
}
bool is_strong(AccessLog::How how) {
  return how == AccessLog::How::strong_read || how == AccessLog::How::strong_write;
}

}  // namespace

void ByteSet::add(u64 begin, u64 end) {
  while (begin < end) {
    const u64 number = begin / page_bytes, first = begin % page_bytes;
    const u64 last = std::min(page_bytes, first + (end - begin));
    begin += last - first;
    const auto found = pages_.find(number);
    if (first == 0 && last == page_bytes) {
      pages_[number].clear();
      continue;
    }
    if (found != pages_.end() && found->second.empty()) continue;
    std::vector<u64>& bits = found == pages_.end() ? pages_[number] : found->second;
    if (bits.empty()) bits.resize(page_bytes / 64);
    for (u64 at = first; at < last;) {
      const u64 stop = std::min(last, (at / 64 + 1) * 64);
      bits[at / 64] |= mask_of(at % 64, at % 64 + (stop - at));
      at = stop;
    }
  }
}

std::optional<u64> ByteSet::common(const ByteSet& other) const {
  if (pages_.size() > other.pages_.size()) return other.common(*this);
  std::optional<u64> least;
  for (const auto& [number, bits] : pages_) {
    const auto found = other.pages_.find(number);
    if (found == other.pages_.end()) continue;
    for (u64 word = 0; word < page_bytes / 64; ++word) {
      const u64 mine = bits.empty() ? ~u64{0} : bits[word];
      const u64 both = mine & (found->second.empty() ? ~u64{0} : found->second[word]);
      if (!both) continue;
      const u64 at = number * page_bytes + word * 64 + static_cast<u64>(__builtin_ctzll(both));
      if (!least || at < *least) least = at;
      break;
    }
  }
  return least;
}

u64 ByteSet::held() const {
  u64 out = 0;
  for (const auto& [number, bits] : pages_) out += 48 + bits.size() * sizeof bits[0];
  return out;
}

bool AccessLog::empty() const {
  return std::all_of(std::begin(sets_), std::end(sets_),
                     [](const ByteSet& set) { return set.empty(); });
}

u64 AccessLog::held() const {
  u64 out = 0;
  for (const ByteSet& set : sets_) out += set.held();
  for (const ByteSet& set : early_) out += set.held();
  return out;
}

std::optional<AccessLog::Meeting> AccessLog::meeting(const AccessLog& other) const {
  return meeting(sets_, other.sets_);
}

std::optional<AccessLog::Meeting> AccessLog::early_meeting(const AccessLog& other) const {
  return meeting(early_, other.sets_);
}

std::optional<AccessLog::Meeting> AccessLog::meeting(const Sets& mine_of, const Sets& theirs_of) {
  constexpr How all[] = {How::read, How::write, How::strong_read, How::strong_write};
  std::optional<Meeting> least;
  for (const How mine : all) {
    for (const How theirs : all) {
      if (!is_write(mine) && !is_write(theirs)) continue;
      if (is_strong(mine) && is_strong(theirs)) continue;
      const auto at = mine_of[static_cast<int>(mine)].common(theirs_of[static_cast<int>(theirs)]);
      if (at && (!least || *at < least->at)) {
        least = Meeting{*at, is_write(mine), is_write(theirs)};
      }
    }
  }
  return least;
}

}  // namespace tilescope::sim
