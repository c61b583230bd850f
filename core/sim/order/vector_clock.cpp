#include "core/sim/order/vector_clock.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace tilescope::sim {

using u32 = std::uint32_t;

// ---- epochs of one block
// -------------------------------------------------------------------------

VectorClock::Epochs::Data* VectorClock::Epochs::make(u32 size, const Data* like) {
  void* room = ::operator new(sizeof(Data) + size * sizeof(u32));
  Data* out = new (room) Data;
  out->size = size;
  const u32 known = like ? std::min(size, like->size) : 0;
  if (known) std::memcpy(out->at(), like->at(), known * sizeof(u32));
  std::fill(out->at() + known, out->at() + size, 0);
  return out;
}

void VectorClock::Epochs::free(Data* data) {
  data->~Data();
  ::operator delete(data);
}

void VectorClock::Epochs::own(u32 size) {
  const u32 now = data_ ? data_->size : 0;
  if (now >= size && data_->owners.load(std::memory_order_acquire) == 1) return;
  Epochs mine;
  mine.data_ = make(std::max(now, size), data_);
  std::swap(data_, mine.data_);
}

void VectorClock::Epochs::see(u32 slot, u32 epoch) {
  if (data_ && slot < data_->size && data_->at()[slot] >= epoch) return;
  own(slot + 1);
  data_->at()[slot] = epoch;
}

void VectorClock::Epochs::join(const Epochs& other, bool shares) {
  if (data_ == other.data_ || !other.data_) return;
  const u32 size = data_ ? data_->size : 0, count = other.data_->size;
  const u32 both = std::min(size, count);
  const u32* in = other.data_->at();
  u32 ahead = count > size, behind = size > count;
  if (both) {
    const u32* mine = data_->at();
    for (u32 i = 0; i < both; ++i) {
      ahead |= mine[i] < in[i];
      behind |= in[i] < mine[i];
    }
  }
  if (!ahead) return;
  if (shares && !behind) {
    *this = other;
    return;
  }
  own(count);
  u32* __restrict out = data_->at();
  for (u32 i = 0; i < count; ++i) out[i] = out[i] < in[i] ? in[i] : out[i];
}

std::uint64_t VectorClock::Epochs::held() const {
  if (!data_) return 0;
  return sizeof(Data) + data_->size * sizeof(u32);
}

// ---- clocks
// --------------------------------------------------------------------------------------

const VectorClock::Row* VectorClock::find_among_many(u32 block) const {
  const auto at = std::lower_bound(rows_.begin(), rows_.end(), block,
                                   [](const Row& r, u32 b) { return r.block < b; });
  return at != rows_.end() && at->block == block ? &*at : nullptr;
}

void VectorClock::see(Agent a, u32 epoch) {
  auto at = rows_.begin();
  while (at != rows_.end() && at->block < a.block) ++at;
  if (at == rows_.end() || at->block != a.block) at = rows_.insert(at, Row{a.block, {}});
  at->seen.see(a.slot, epoch);
}

void VectorClock::join(const VectorClock& other) {
  if (rows_.empty()) {
    rows_ = other.rows_;
    return;
  }
  if (other.rows_.size() == 1) {
    const Row& one = other.rows_.front();
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), one.block,
                                     [](const Row& r, u32 b) { return r.block < b; });
    if (at == rows_.end() || at->block != one.block) {
      rows_.insert(at, one);
    } else {
      at->seen.join(one.seen, false);
    }
    return;
  }
  // Its own row a warp writes at each of its releases: to share that costs more than it saves where
  // there are few others.
  const bool shares = other.rows_.size() > few;
  std::size_t at = 0, fresh = 0;
  for (const Row& r : other.rows_) {
    while (at < rows_.size() && rows_[at].block < r.block) ++at;
    if (at == rows_.size() || rows_[at].block != r.block) {
      ++fresh;
    } else {
      rows_[at].seen.join(r.seen, shares);
    }
  }
  if (!fresh) return;
  std::vector<Row> all;
  all.reserve(rows_.size() + fresh);
  at = 0;
  for (const Row& r : other.rows_) {
    while (at < rows_.size() && rows_[at].block < r.block) all.push_back(std::move(rows_[at++]));
    all.push_back(at < rows_.size() && rows_[at].block == r.block ? std::move(rows_[at++]) : r);
  }
  while (at < rows_.size()) all.push_back(std::move(rows_[at++]));
  rows_ = std::move(all);
}

void VectorClock::join(const VectorClock& other, u32 block) {
  const Row* const theirs = other.find(block);
  if (!theirs) return;
  VectorClock one;
  one.rows_.push_back(*theirs);
  join(one);
}

std::uint64_t VectorClock::held() const {
  std::uint64_t out = 0;
  for (const Row& r : rows_) out += sizeof r + r.seen.held();
  return out;
}

}  // namespace tilescope::sim
