#include "core/sim/order/vector_clock.h"

#include <cstddef>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Of two rows: has either seen more of some agent?
struct Apart {
  bool first = false, second = false;
};
Apart compared(const u32* a, u32 of_a, const u32* b, u32 of_b) {
  u32 first = of_a > of_b, second = of_b > of_a;
  for (u32 i = 0, both = std::min(of_a, of_b); i < both; ++i) {
    first |= b[i] < a[i];
    second |= a[i] < b[i];
  }
  return {first != 0, second != 0};
}

}  // namespace

// ---- one row, and one group

// `shares`: it may become the same as `other`.
void VectorClock::join(Epochs& mine, const Epochs& other, bool shares) {
  if (mine.is(other)) return;
  const Apart apart = compared(mine.begin(), mine.size(), other.begin(), other.size());
  if (!apart.second) return;
  if (shares && !apart.first) {
    mine = other;
    return;
  }
  u32* __restrict out = mine.own(other.size());
  const u32* in = other.begin();
  for (u32 i = 0; i < other.size(); ++i) out[i] = out[i] < in[i] ? in[i] : out[i];
}

void VectorClock::join(Group& mine, const Group& other, bool shares) {
  if (mine.rows.is(other.rows)) return;
  if (mine.present == other.present && mine.rows.size() <= few && mine.rows.alone()) {
    Epochs* const rows = mine.rows.own(0);
    for (u32 i = 0; i < mine.rows.size(); ++i) join(rows[i], other.rows[i], shares);
    return;
  }
  const u64 fresh = other.present & ~mine.present;
  u64 newer = 0;                                      // rows in which the other has seen more
  bool ahead = (mine.present & ~other.present) != 0;  // this one has seen what the other has not
  const Epochs* a = mine.rows.begin();
  const Epochs* b = other.rows.begin();
  for (u64 left = mine.present | other.present; left; left &= left - 1) {
    const u64 bit = left & -left;
    const bool both = mine.present & other.present & bit;
    if (both && !a->is(*b)) {
      const Apart apart = compared(a->begin(), a->size(), b->begin(), b->size());
      ahead |= apart.first;
      if (apart.second) newer |= bit;
    }
    a += (mine.present & bit) != 0;
    b += (other.present & bit) != 0;
  }
  if (!newer && !fresh) return;
  if (shares && !ahead) {
    mine = other;
    return;
  }
  if (newer) {
    Epochs* const rows = mine.rows.own(0);
    for (; newer; newer &= newer - 1) {
      const u64 bit = newer & -newer;
      join(rows[mine.place(bit)], other.rows[other.place(bit)], shares);
    }
  }
  for (u64 left = fresh; left; left &= left - 1) {
    const u64 bit = left & -left;
    mine.rows.insert(mine.place(bit), other.rows[other.place(bit)]);
    mine.present |= bit;
  }
}

// ---- clocks

std::vector<VectorClock::Group>::iterator VectorClock::at(u32 number) {
  if (groups_.size() == 1) return groups_.begin() + (groups_.front().number < number);
  return std::lower_bound(groups_.begin(), groups_.end(), number,
                          [](const Group& g, u32 n) { return g.number < n; });
}

const VectorClock::Epochs* VectorClock::find_among_many(u32 block) const {
  const auto g = const_cast<VectorClock*>(this)->at(number_of(block));
  if (g == groups_.end() || g->number != number_of(block)) return nullptr;
  const u64 bit = bit_of(block);
  return g->present & bit ? &g->rows[g->place(bit)] : nullptr;
}

void VectorClock::see(Agent a, u32 epoch) {
  const u32 number = number_of(a.block);
  const u64 bit = bit_of(a.block);
  auto g = at(number);
  if (g == groups_.end() || g->number != number) g = groups_.insert(g, Group{number, 0, {}});
  if (!(g->present & bit)) {
    g->rows.insert(g->place(bit), {});
    g->present |= bit;
  }
  const u32 place = g->place(bit);
  const Epochs& row = g->rows[place];
  if (a.slot < row.size() && row[a.slot] >= epoch) return;
  g->rows.own(0)[place].own(a.slot + 1)[a.slot] = epoch;
}

void VectorClock::join(const VectorClock& other) {
  if (this == &other || other.empty()) return;
  if (groups_.empty()) {
    groups_ = other.groups_;
    return;
  }
  if (groups_.size() == 1 && other.groups_.size() == 1 &&
      groups_.front().number == other.groups_.front().number) {
    return join(groups_.front(), other.groups_.front(), other.groups_.front().rows.size() > few);
  }
  // Its own row a warp writes at each of its releases: to share that costs more than it saves where
  // there are few others.
  const bool shares = other.groups_.size() > 1 || other.groups_.front().rows.size() > few;
  std::size_t at = 0, fresh = 0;
  for (const Group& g : other.groups_) {
    while (at < groups_.size() && groups_[at].number < g.number) ++at;
    if (at == groups_.size() || groups_[at].number != g.number) {
      ++fresh;
    } else {
      join(groups_[at], g, shares);
    }
  }
  if (!fresh) return;
  std::vector<Group> all;
  all.reserve(groups_.size() + fresh);
  at = 0;
  for (const Group& g : other.groups_) {
    while (at < groups_.size() && groups_[at].number < g.number) {
      all.push_back(std::move(groups_[at++]));
    }
    const bool mine = at < groups_.size() && groups_[at].number == g.number;
    all.push_back(mine ? std::move(groups_[at++]) : g);
  }
  while (at < groups_.size()) all.push_back(std::move(groups_[at++]));
  groups_ = std::move(all);
}

void VectorClock::join(const VectorClock& other, u32 block) {
  const Epochs* const theirs = other.find(block);
  if (!theirs) return;
  VectorClock one;
  one.groups_.push_back({number_of(block), bit_of(block), {}});
  one.groups_.front().rows.insert(0, *theirs);
  join(one);
}

// The rows of a group are as long as its first one.
std::uint64_t VectorClock::held() const {
  u64 out = groups_.size() * sizeof(Group);
  for (const Group& g : groups_) {
    out += g.rows.size() * (sizeof(Epochs) + g.rows[0].size() * sizeof(u32));
  }
  return out;
}

}  // namespace tilescope::sim
