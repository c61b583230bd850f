#include "core/sim/order/shadow.h"

#include <algorithm>
#include <vector>

#include "core/sim/order/shadow_words.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::size_t fewest = 1u << 13;
constexpr u32 small_page = 10;  // 2^10 words
constexpr u32 whole = 15;
constexpr u32 lanes_of_a_warp = 32, half_of_a_warp = 16;
constexpr u64 most_apart = u64{1} << 26;
// So many accesses of a word are kept, the last ones. Of each warp one of a kind is enough, so that
// more than this are those of very many CTAs; and a store that many others of the same value came
// before looks at all of them.
constexpr std::size_t most_kept = 1024;

bool writes(Shadow::Kind kind) {
  return kind != Shadow::Kind::read;
}

// Do 32 lie evenly, each half of them like the other? As rows of 16 do, too.
bool are_even(const u64* offsets) {
  const u64 step = offsets[1] - offsets[0], rise = offsets[half_of_a_warp] - offsets[0];
  if (step > most_apart || rise > most_apart) return false;
  u64 uneven = 0;
  for (u32 l = 0; l < half_of_a_warp; ++l) {
    uneven |= (offsets[l] - offsets[0]) ^ l * step;
    uneven |= (offsets[l + half_of_a_warp] - offsets[l]) ^ rise;
  }
  return uneven == 0;
}

bool is_of_one_size(const Shadow::Touch& a, const Shadow::Touch& b) {
  return a.size == 0 || b.size == 0 || a.size == b.size;
}

// Races with nobody who is so, too, and of its size.
bool is_wide(const Shadow::Touch& touch) {
  return touch.strong && touch.scope >= Scope::gpu;
}

// By agent and kind, the bytes that later accesses have: a table that is not made anew each time.
class LaterBytes {
 public:
  void begin(std::size_t most) {
    std::size_t size = slots_.empty() ? 256 : slots_.size();
    while (size < 2 * most) size *= 2;
    if (size > slots_.size()) slots_.assign(size, {});
    ++turn_;
  }
  u32& of(u64 key) {
    for (std::size_t at = key * 0x9e3779b97f4a7c15u >> 32;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.turn != turn_) slot = {key, turn_, 0};
      if (slot.key == key) return slot.bytes;
    }
  }

 private:
  struct Slot {
    u64 key = 0, turn = 0;
    u32 bytes = 0;
  };
  std::vector<Slot> slots_;
  u64 turn_ = 0;
};

}  // namespace

void Shadow::History::add(const Touch& touch) {
  all_wide = all_wide && is_wide(touch) && (count == 0 || width == touch.size);
  width = touch.size;
  some_write = some_write || writes(touch.kind);
  ++count;
}

u32 Completions::begin() {
  all_.push_back({});
  return static_cast<u32>(all_.size());
}

void Completions::end(u32 operation, Agent on, u32 epoch) {
  Operation& first = all_[operation - 1];
  if (first.epoch == never) {
    first.on = on;
    first.epoch = epoch;
    return;
  }
  all_.push_back({on, epoch, first.also, false});
  all_[operation - 1].also = static_cast<u32>(all_.size());
}

bool Completions::is_seen(u32 operation, const Observer& who) const {
  for (; operation; operation = all_[operation - 1].also) {
    const Operation& o = all_[operation - 1];
    if (o.epoch != never && who.has_seen(o.on, o.epoch)) return true;
  }
  return false;
}

bool Completions::is_seen_by_all_lanes(u32 operation, const Observer& who) const {
  for (; operation; operation = all_[operation - 1].also) {
    const Operation& o = all_[operation - 1];
    if (o.epoch != never && who.has_seen(o.on, o.epoch) && who.was_seen_by_all(o.on, o.epoch)) {
      return true;
    }
  }
  return false;
}

void Shadow::start(u64 bytes, bool in_pages) {
  words_ = (bytes + 3) / 4;
  page_shift_ = in_pages ? small_page : 63;
  page_mask_ = (u64{1} << page_shift_) - 1;
  pages_.clear();
  pages_.resize((words_ + page_mask_) >> page_shift_);
  touched_ = 0;
  gathers_ = has_forgotten_ = clusters_meet_ = false;
  gathered_.clear();
  readers_.clear();
  behind_.clear();
  if (!in_pages && words_) words_from(0);
  histories_.assign(1, {});
  links_.assign(1, {});
  nodes_.assign(1, {});
  lanes_.assign(1, {});
  offsets_.assign(1, 0);
  most_ = std::max(fewest, touched_);
}

u32* Shadow::words_from(u64 number) {
  std::vector<u32>& page = pages_[number >> page_shift_];
  if (page.empty()) {
    const u64 first = number & ~page_mask_;
    page.assign(std::min(page_mask_ + 1, words_ - first), 0);
    touched_ += page.size();
  }
  return page.data() + (number & page_mask_);
}

std::uint64_t Shadow::held() const {
  return pages_.size() * sizeof pages_[0] + touched_ * sizeof(u32) +
         histories_.size() * sizeof(History) + links_.size() * sizeof(Link) +
         nodes_.size() * sizeof(Touch) + lanes_.size() * sizeof(KeptLanes) +
         offsets_.size() * sizeof(u32) + gathered_.size() * sizeof(Gathered) +
         readers_.size() * sizeof(Reader);
}

Shadow::Pass::Pass(Shadow& shadow, const Observer& who, const Completions& completions,
                   const Touch& touch, const LanesAccess& lanes)
    : shadow_(&shadow), who_(&who), completions_(&completions), touch_(touch), lanes_(lanes) {
  const std::vector<KeptLanes>& kept = shadow.lanes_;
  if (shadow.histories_.size() > std::max(shadow.most_, shadow.touched_) ||
      (kept.size() >= fewest && kept.size() == kept.capacity())) {
    shadow.compact();
  }
  gathers_ = shadow.gathers_ && touch.kind == Kind::read && !touch.strong && !touch.operation;
  if (!gathers_ || shadow.is_full()) shadow.note_gathered();
}

bool Shadow::Pass::is_ordered(const Touch& earlier) {
  if (!earlier.operation) {
    const bool own = earlier.agent == who_->me();
    if (!own && !who_->has_seen(earlier.agent, earlier.epoch)) return false;
    if (!earlier.lanes || !lanes_.mask) return true;
    if (own) {
      note_own(earlier);
    } else if (lanes_.may_be_untold && earlier.kind == Kind::write) {
      note_told(earlier);
    }
    return true;
  }
  if (completions_->in_flight(earlier.operation)) return earlier.async;
  return completions_->is_seen(earlier.operation, *who_);
}

// Both strong, each includes the other in its scope, and they overlap completely (8.7, "Morally
// strong operations"): accesses are aligned to their size, so that those of one size do.
bool Shadow::Pass::is_morally_strong_with(const Touch& earlier) const {
  return earlier.strong && touch_.strong && is_of_one_size(earlier, touch_) &&
         includes(earlier.scope, earlier.home, touch_.home) &&
         includes(touch_.scope, touch_.home, earlier.home);
}

bool Shadow::Pass::races_with(const Touch& earlier) {
  if (!writes(earlier.kind) && !writes(touch_.kind)) return false;
  const bool somebody = &earlier != shadow_->nodes_.data();  // nodes_[0] is nobody's
  if (somebody && earlier.home.cluster != touch_.home.cluster) shadow_->clusters_meet_ = true;
  return !is_morally_strong_with(earlier) && !is_ordered(earlier);
}

bool Shadow::Pass::stores_the_same() {
  if (same_ == Same::unknown) {
    same_ = lanes_.stores_the_same && (*lanes_.stores_the_same)() ? Same::yes : Same::no;
  }
  return same_ == Same::yes;
}

// Of two weak stores that nothing orders, does the later one store what is there?
bool Shadow::Pass::repeats(const Touch& earlier) {
  return touch_.kind == Kind::write && !touch_.strong && earlier.kind == Kind::write &&
         !earlier.strong && !earlier.async && !earlier.operation && stores_the_same();
}

void Shadow::Pass::note_repeated(u32 node, u64 at) {
  if (repeats_ || found_) return;
  repeats_ = true;
  other_ = shadow_->nodes_[node];
  at_ = at;
}

void Shadow::Pass::note_own(const Touch& earlier) {
  const KeptLanes& kept = shadow_->lanes_[earlier.lanes];
  if (who_->all_met_since(kept.turn)) return;
  if (lanes_.run && kept.mask == ~0u && !kept.apart && kept.first == lanes_.offsets[0] &&
      kept.bytes == lanes_.bytes && kept.step == lanes_.bytes &&
      kept.rise == half_of_a_warp * u64{lanes_.bytes}) {
    return;  // each lane where it was itself
  }
  const auto which = static_cast<u32>(&earlier - shadow_->nodes_.data());
  if (which == node_) return;  // its own: lanes of one access
  const auto end = own_.begin() + own_count_;
  if (own_count_ == own_.size() || std::find(own_.begin(), end, which) != end) return;
  own_[own_count_++] = which;
}

void Shadow::Pass::note_told(const Touch& earlier) {
  const auto which = static_cast<u32>(&earlier - shadow_->nodes_.data());
  const auto end = told_.begin() + told_count_;
  if (told_count_ == told_.size() || std::find(told_.begin(), end, which) != end) return;
  told_[told_count_++] = which;
}

bool Shadow::Pass::shares_bytes(const Touch& earlier, u32 theirs, LaneRace& out) const {
  const KeptLanes& kept = shadow_->lanes_[earlier.lanes];
  for (u32 mine = lanes_.mask; mine; mine &= mine - 1) {
    const auto lane = static_cast<u32>(__builtin_ctz(mine));
    const u64 begin = lanes_.offsets[lane];
    for (u32 rest = theirs; rest; rest &= rest - 1) {
      const auto other = static_cast<u32>(__builtin_ctz(rest));
      const u64 at = shadow_->offset_of(kept, other);
      if (at >= begin + lanes_.bytes || begin >= at + kept.bytes) continue;
      out = {earlier, lane, std::max(at, begin)};
      out.other.thread = earlier.thread / 32 * 32 + other;
      return true;
    }
  }
  return false;
}

bool Shadow::Pass::races_within(LaneRace& out) const {
  for (u32 n = 0; n < own_count_; ++n) {
    const Touch& earlier = shadow_->nodes_[own_[n]];
    const KeptLanes& kept = shadow_->lanes_[earlier.lanes];
    for (u32 mine = lanes_.mask; mine; mine &= mine - 1) {
      const auto lane = static_cast<u32>(__builtin_ctz(mine));
      const u64 begin = lanes_.offsets[lane];
      // What lanes stored at one place together each of them finds as its own.
      const bool takes_part = earlier.kind == Kind::write && kept.mask >> lane & 1;
      const u64 own = takes_part ? shadow_->offset_of(kept, lane) : 0;
      for (u32 theirs = kept.mask & ~(1u << lane); theirs; theirs &= theirs - 1) {
        const auto other = static_cast<u32>(__builtin_ctz(theirs));
        const u64 at = shadow_->offset_of(kept, other);
        if (at >= begin + lanes_.bytes || begin >= at + kept.bytes) continue;
        if (takes_part && at == own) continue;
        if (who_->is_behind(lane, other, kept.turn, earlier.epoch)) continue;
        out = {earlier, lane, std::max(at, begin)};
        out.other.thread = earlier.thread / 32 * 32 + other;
        return true;
      }
    }
  }
  return false;
}

u32 Shadow::keep(const LanesAccess& lanes, u32 turn) {
  if (!lanes.mask) return 0;
  KeptLanes kept{lanes.offsets[__builtin_ctz(lanes.mask)], 0, 0, lanes.mask, lanes.bytes, turn, 0};
  if (lanes.run) {
    kept.step = lanes.bytes;
    kept.rise = half_of_a_warp * u64{lanes.bytes};
  } else if (lanes.mask == ~0u && are_even(lanes.offsets)) {
    kept.step = lanes.offsets[1] - lanes.offsets[0];
    kept.rise = lanes.offsets[half_of_a_warp] - lanes.offsets[0];
  } else if (lanes.mask & (lanes.mask - 1)) {
    u64 low = kept.first, high = low;
    for (u32 rest = lanes.mask; rest; rest &= rest - 1) {
      const u64 at = lanes.offsets[__builtin_ctz(rest)];
      low = std::min(low, at);
      high = std::max(high, at);
    }
    if (high - low > ~u32{0}) return 0;
    kept.first = low;
    std::array<u32, lanes_of_a_warp> apart{};
    for (u32 rest = lanes.mask; rest; rest &= rest - 1) {
      const auto lane = static_cast<u32>(__builtin_ctz(rest));
      apart[lane] = static_cast<u32>(lanes.offsets[lane] - low);
    }
    // In a loop they lie alike as the last time, or the time before.
    for (std::size_t n = lanes_.size(); n-- > 1 && n + 3 > lanes_.size() && !kept.apart;) {
      const auto like = offsets_.begin() + lanes_[n].apart;
      if (lanes_[n].apart && std::equal(apart.begin(), apart.end(), like)) {
        kept.apart = lanes_[n].apart;
      }
    }
    if (!kept.apart) {
      kept.apart = static_cast<u32>(offsets_.size());
      offsets_.insert(offsets_.end(), apart.begin(), apart.end());
    }
  }
  lanes_.push_back(kept);
  return static_cast<u32>(lanes_.size() - 1);
}

// Whatever comes later and races with `earlier` races with this access, too.
bool Shadow::Pass::stands_for(const Touch& earlier) const {
  if (earlier.operation && completions_->in_flight(earlier.operation)) return false;
  if (writes(earlier.kind) && !writes(touch_.kind)) return false;
  if (touch_.strong && (!earlier.strong || touch_.scope > earlier.scope ||
                        touch_.size != earlier.size || touch_.home.block != earlier.home.block)) {
    return false;
  }
  if (earlier.operation) return completions_->is_seen(earlier.operation, *who_);
  return who_->has_seen(earlier.agent, earlier.epoch);
}

u32 Shadow::Pass::node() {
  if (!node_) {
    if (!touch_.lanes) touch_.lanes = shadow_->keep(lanes_, who_->turn());
    node_ = static_cast<u32>(shadow_->nodes_.size());
    shadow_->nodes_.push_back(touch_);
  }
  return node_;
}

// Has this warp done the same in this epoch already?
bool Shadow::Pass::is_known(u32 link, u32 bytes) const {
  const Touch& earlier = shadow_->nodes_[shadow_->links_[link].node];
  return earlier.agent == touch_.agent && earlier.epoch == touch_.epoch &&
         earlier.kind == touch_.kind && earlier.strong == touch_.strong &&
         earlier.scope == touch_.scope && earlier.size == touch_.size && !touch_.operation &&
         !earlier.operation && (bytes & ~shadow_->links_[link].bytes) == 0 &&
         has_same_lanes(earlier);
}

// Each where it was then, and none has met others since; or they are not told apart.
bool Shadow::Pass::has_same_lanes(const Touch& earlier) const {
  if (!earlier.lanes || !lanes_.mask) return true;
  const KeptLanes& kept = shadow_->lanes_[earlier.lanes];
  if (kept.mask != lanes_.mask || kept.bytes != lanes_.bytes || kept.turn != who_->turn())
    return false;
  for (u32 rest = kept.mask; rest; rest &= rest - 1) {
    const auto lane = static_cast<u32>(__builtin_ctz(rest));
    if (shadow_->offset_of(kept, lane) != lanes_.offsets[lane]) return false;
  }
  return true;
}

// What becomes of a word with history `from`, of which `bytes` are touched.
Shadow::Pass::Step Shadow::Pass::step(u32 from, u32 bytes, u64 word) {
  Shadow& s = *shadow_;
  const History was = s.histories_[from];
  Step out{from, bytes, from, 0};
  // Answers whether it is kept, whatever comes now.
  const auto note = [&](u32 node, u32 common) {
    const u64 at = word * 4 + static_cast<u32>(__builtin_ctz(common));
    if (repeats(s.nodes_[node])) {
      note_repeated(node, at);
      return true;
    }
    out.races = 1;
    if (found_) return false;
    found_ = true;
    other_ = s.nodes_[node];
    at_ = at;
    return false;
  };
  std::array<Link, 4> repeated;
  u32 repeated_count = 0;
  bool is_kept = false;
  for (u32 b = 0, before = 0; b < 4; ++b) {
    const u32 node = was.written[b];
    if (!(bytes >> b & 1)) continue;
    if (node != before) {
      before = node;
      is_kept = races_with(s.nodes_[node]) && note(node, 1u << b);
      if (is_kept) repeated[repeated_count++] = {node, 0, 0};
    }
    if (is_kept) repeated[repeated_count - 1].bytes |= 1u << b;
  }
  const bool reads = touch_.kind == Kind::read, replaces = !reads && !touch_.strong;
  if (!replaces && was.others && is_known(was.others, bytes)) return out;
  History now = was;
  // A read among reads races with none of them, nor a flag's access with those of others.
  const bool alike = is_wide(touch_) && was.all_wide && (!was.count || was.width == touch_.size);
  const bool harmless = (reads && !was.some_write) || alike;
  if (!harmless || was.count + 1 >= was.thin_at) look_through(was, bytes, replaces, note, now);
  if (replaces) {
    for (u32 b = 0; b < 4; ++b) {
      if (bytes >> b & 1) now.written[b] = node();
    }
    for (u32 k = 0; k < repeated_count; ++k) {
      s.links_.push_back({repeated[k].node, now.others, repeated[k].bytes});
      now.others = static_cast<u32>(s.links_.size() - 1);
      now.add(s.nodes_[repeated[k].node]);
    }
  } else {
    s.links_.push_back({node(), now.others, bytes});
    now.others = static_cast<u32>(s.links_.size() - 1);
    now.add(touch_);
  }
  s.histories_.push_back(now);
  out.to = static_cast<u32>(s.histories_.size() - 1);
  return out;
}

// Those since the last weak write: which of them race with this access, and which are still needed.
template <class Note>
void Shadow::Pass::look_through(const History& was, u32 bytes, bool replaces, Note note,
                                History& now) {
  Shadow& s = *shadow_;
  s.kept_.clear();
  bool all_kept = true;
  for (u32 at = was.others; at; at = s.links_[at].next) {
    const Link& link = s.links_[at];
    const Touch& earlier = s.nodes_[link.node];
    const bool repeated =
        (link.bytes & bytes) && races_with(earlier) && note(link.node, link.bytes & bytes);
    const u32 left = repeated                                        ? link.bytes
                     : replaces                                      ? link.bytes & ~bytes
                     : (link.bytes & ~bytes) || !stands_for(earlier) ? link.bytes
                                                                     : 0;
    all_kept = all_kept && left == link.bytes;
    if (left) s.kept_.push_back({link.node, 0, left});
  }
  if (was.count + 1 >= was.thin_at) {
    const std::size_t before = s.kept_.size();
    s.thin();
    all_kept = all_kept && s.kept_.size() == before;
    now.thin_at = thin_next(s.kept_.size(), more_links);
  }
  if (!all_kept) s.link_kept(now);
}

// Those go that a later one stands for: of the same agent, of the same kind.
void Shadow::thin() {
  if (kept_.size() < 4 * more_links) return;
  thread_local LaterBytes later;
  later.begin(kept_.size());
  const auto gone = [&](const Link& link) {
    const Touch& t = nodes_[link.node];
    if (t.operation) return false;
    const u64 kind = static_cast<u64>(t.kind) << 8 | u64{t.strong} << 7 |
                     static_cast<u64>(t.scope) << 5 | std::min<u64>(t.size, 31);
    u32& bytes = later.of(u64{t.agent.block} << 32 | u64{t.agent.slot & 0x3fffff} << 10 | kind);
    const bool covered = (link.bytes & ~bytes) == 0;
    bytes |= link.bytes;
    return covered;
  };
  kept_.erase(std::remove_if(kept_.begin(), kept_.end(), gone), kept_.end());
  if (kept_.size() < most_kept) return;
  kept_.resize(most_kept - 1);
  has_forgotten_ = true;
}

void Shadow::link_kept(History& history) {
  history.others = history.count = 0;
  history.some_write = false;
  history.all_wide = true;
  for (std::size_t i = kept_.size(); i-- > 0;) {
    links_.push_back({kept_[i].node, history.others, kept_[i].bytes});
    history.others = static_cast<u32>(links_.size() - 1);
    history.add(nodes_[kept_[i].node]);
  }
}

bool Shadow::Pass::touch(u64 begin, u64 end) {
  if (gathers_) {
    bool races = false;
    if (gather(begin, end, races)) return races;
    gathers_ = false;
    shadow_->note_gathered();
  }
  u32 races = 0, bytes = 0, from = 0, to = 0;  // of the step at hand; bytes 0: none yet
  const u64 last = ((end - 1) >> 2) + 1, whole_end = end >> 2;
  for (u64 first = begin >> 2; first < last;) {
    u32* const words = shadow_->words_from(first) - first;
    const u64 page_end = std::min(last, (first | shadow_->page_mask_) + 1);
    for (u64 w = first; w < page_end;) {
      const u32 part = begin <= w * 4 && w * 4 + 4 <= end ? whole : part_of(w, begin, end);
      if (words[w] != from || part != bytes) {
        bytes = part;
        from = words[w];
        std::size_t known = 0;
        while (known < last_.size() && (last_[known].bytes != bytes || last_[known].from != from)) {
          ++known;
        }
        if (known == last_.size()) {
          known = steps_++ % last_.size();
          last_[known] = step(from, bytes, w);
        }
        to = last_[known].to;
        races |= last_[known].races;
      }
      words[w++] = to;
      if (part != whole) continue;
      for (const u64 stop = std::min(page_end, whole_end); w < stop && words[w] == from; ++w) {
        words[w] = to;
      }
    }
    first = page_end;
  }
  return races;
}

bool Shadow::find_other_lane(const Observer& who, u32 lane, bool writes, u64 begin, u64 end,
                             LaneRace& out) {
  if (writes) note_gathered();
  // Bytes [first, last) have the same history, of which `bytes` of each word are the node's.
  const auto look_at = [&](u32 node, u32 bytes, u64 first, u64 last) {
    const Touch& earlier = nodes_[node];
    if (!earlier.lanes || earlier.operation || !(earlier.agent == who.me())) return false;
    const KeptLanes& kept = lanes_[earlier.lanes];
    if (who.all_met_since(kept.turn)) return false;
    for (u32 rest = kept.mask & ~(1u << lane); rest; rest &= rest - 1) {
      const auto other = static_cast<u32>(__builtin_ctz(rest));
      const u64 from = offset_of(kept, other);
      for (u64 at = std::max(from, first); at < std::min(from + kept.bytes, last); ++at) {
        if (!(bytes >> (at & 3) & 1) || who.is_behind(lane, other, kept.turn, earlier.epoch))
          continue;
        out = {earlier, lane, at};
        out.other.thread = earlier.thread / 32 * 32 + other;
        return true;
      }
    }
    return false;
  };
  for (u64 w = begin >> 2, next = 0; w <= (end - 1) >> 2; w = next) {
    const u32 now = word(w);
    for (next = w + 1; next <= (end - 1) >> 2 && word(next) == now; ++next) {
    }
    const History& history = histories_[now];
    const u64 first = std::max(begin, w * 4), last = std::min(end, next * 4);
    for (u32 b = 0; b < 4; ++b) {
      const u32 node = history.written[b];
      if (!node || (b && node == history.written[b - 1])) continue;
      u32 bytes = 0;
      for (u32 k = b; k < 4; ++k) bytes |= static_cast<u32>(history.written[k] == node) << k;
      if (look_at(node, bytes, first, last)) return true;
    }
    for (u32 l = history.others; l; l = links_[l].next) {
      if (!writes && nodes_[links_[l].node].kind == Kind::read) continue;
      if (look_at(links_[l].node, links_[l].bytes, first, last)) return true;
    }
  }
  return false;
}

void Shadow::divide(u64 begin, u64 end, u32 operation, u32 other) {
  for (u64 w = begin >> 2; w <= (end - 1) >> 2; ++w) {
    u32& at_word = *words_from(w);
    History now = histories_[at_word];
    bool any = false;
    for (u64 at = std::max(begin, w * 4); at < std::min(end, w * 4 + 4); ++at) {
      u32& written = now.written[at & 3];
      if (nodes_[written].operation != operation) continue;
      if (!any) {
        nodes_.push_back(nodes_[written]);
        nodes_.back().operation = other;
      }
      written = static_cast<u32>(nodes_.size() - 1);
      any = true;
    }
    if (!any) continue;
    histories_.push_back(now);
    at_word = static_cast<u32>(histories_.size() - 1);
  }
}

// Histories that no word has any more go, and what only they have.
void Shadow::compact() {
  std::vector<u32> history(histories_.size(), 0), link(links_.size(), 0), node(nodes_.size(), 0);
  std::vector<History> histories(1);
  std::vector<Link> links(1);
  std::vector<Touch> nodes(1);
  std::vector<KeptLanes> lanes(1);
  std::vector<u32> offsets(1), lanes_at(lanes_.size(), 0);
  std::vector<u32> apart_at(offsets_.size() / 32, 0);  // of each 32 of them behind the first
  const auto keep_lanes = [&](u32& n) {
    if (n && !lanes_at[n]) {
      KeptLanes kept = lanes_[n];
      if (kept.apart) {
        u32& apart = apart_at[kept.apart / 32];
        if (!apart) {
          const auto from = offsets_.begin() + kept.apart;
          apart = static_cast<u32>(offsets.size());
          offsets.insert(offsets.end(), from, from + 32);
        }
        kept.apart = apart;
      }
      lanes_at[n] = static_cast<u32>(lanes.size());
      lanes.push_back(kept);
    }
    n = lanes_at[n];
  };
  const auto keep_node = [&](u32 n) {
    if (n && !node[n]) {
      node[n] = static_cast<u32>(nodes.size());
      nodes.push_back(nodes_[n]);
      keep_lanes(nodes.back().lanes);
    }
    return node[n];
  };
  std::vector<u32> chain;
  const auto keep_links = [&](u32 first) {
    chain.clear();
    for (u32 at = first; at && !link[at]; at = links_[at].next) chain.push_back(at);
    for (; !chain.empty(); chain.pop_back()) {
      const Link& l = links_[chain.back()];
      link[chain.back()] = static_cast<u32>(links.size());
      links.push_back({keep_node(l.node), link[l.next], l.bytes});
    }
    return link[first];
  };
  const auto keep = [&](u32& word) {
    if (!word) return;
    u32& now = history[word];
    if (!now) {
      History h = histories_[word];
      for (u32& written : h.written) written = keep_node(written);
      h.others = keep_links(h.others);
      now = static_cast<u32>(histories.size());
      histories.push_back(h);
    }
    word = now;
  };
  for (std::vector<u32>& page : pages_) {
    for (u32& word : page) keep(word);
  }
  histories_ = std::move(histories);
  links_ = std::move(links);
  nodes_ = std::move(nodes);
  for (Reader& reader : readers_) keep_lanes(reader.touch.lanes);
  behind_.clear();  // histories have other numbers
  lanes_ = std::move(lanes);
  lanes_.reserve(2 * lanes_.size());  // there is time until the next time
  offsets_ = std::move(offsets);
  most_ = std::max(std::max(fewest, touched_), 2 * histories_.size());
}

}  // namespace tilescope::sim
