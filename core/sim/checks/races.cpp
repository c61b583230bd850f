#include "core/sim/checks/races.h"

#include <algorithm>

#include "core/sim/memory/memory.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 end_of_time = ~0u;

// Of [offset, offset + bytes) the part in 4-byte word `word`, a bit a byte.
u32 part_of(u64 word, u64 offset, u32 bytes) {
  const u64 begin = std::max(offset, word * 4), end = std::min(offset + bytes, word * 4 + 4);
  return ((1u << (end - begin)) - 1) << (begin - word * 4);
}

}  // namespace

void Races::start(u32 warps, u64 bytes) {
  now_ = 0;
  warps_ = warps;
  copies_ = false;
  met_.clear();
  own_warps_ = warps;
  published_ = {};
  fenced_ = {};
  offered_ = {};
  proxy_ = {};
  all_proxy_ = {};
  own_fences_.clear();
  proxy_fences_.clear();
  rank_proxy_.clear();
  for (Clock& clock : seen_) clock.fill(0);
  floor_.fill(0);
  const u64 words = warps > 0 ? (bytes + 3) / 4 : 0;
  for (Times* times : {&written_, &writer_, &since_, &readers_, &reader_}) times->assign(words, 0);
  flags_.assign(words, 0);
}

u32 Races::tick() {
  if (now_ != end_of_time) ++now_;
  return now_;
}

void Races::release(u32 warp, Clock& clock) const {
  join(clock, seen_[warp]);
  clock[warp] = now_;
}

void Races::acquire(u32 warp, const Clock& clock) {
  Clock& seen = seen_[warp];
  u32 floor = end_of_time;
  for (u32 r = 0; r < warps_; ++r) {
    seen[r] = std::max(seen[r], clock[r]);
    if (r != warp) floor = std::min(floor, seen[r]);
  }
  floor_[warp] = floor;
}

void Races::meet_at(u64 address, u32 warp) {
  Clock& clock = met_[address];
  acquire(warp, clock);
  release(warp, clock);
}

bool Races::read_word(u64 word, const Access& a, u32 bytes, Conflict& out) {
  const u32 writer = warp_of(writer_[word]);
  const bool races = writer != a.warp && written_[word] > seen_[a.warp][writer] &&
                     (bytes_of(writer_[word]) & bytes) &&
                     !(a.synchronises && (flags_[word] & strong_write));
  if (races) {
    out.other = flags_[word] & strong_write ? Kind::atomic : Kind::write;
    out.warp = writer;
    out.pc = pc_of(writer_[word]);
  }
  const bool fresh = since_[word] <= floor_[a.warp];
  const u32 earlier = fresh ? 0 : bytes_of(reader_[word]);
  if (fresh) {
    since_[word] = now_;
    readers_[word] = 0;
    flags_[word] |= strong_reads;
  }
  if (!a.synchronises) flags_[word] &= static_cast<std::uint8_t>(~strong_reads);
  readers_[word] |= 1u << a.warp;
  reader_[word] = who(a, bytes | earlier);
  return races;
}

bool Races::write_word(u64 word, const Access& a, u32 bytes, Conflict& out) {
  const Clock& seen = seen_[a.warp];
  const u32 writer = warp_of(writer_[word]);
  const bool both_strong = a.synchronises && (flags_[word] & strong_write);
  bool races = false;
  if (!both_strong && writer != a.warp && written_[word] > seen[writer] &&
      (bytes_of(writer_[word]) & bytes)) {
    races = true;
    out.other = flags_[word] & strong_write ? Kind::atomic : Kind::write;
    out.warp = writer;
    out.pc = pc_of(writer_[word]);
  }
  const bool only_strong = a.synchronises && (flags_[word] & strong_reads);
  if (!only_strong && (bytes_of(reader_[word]) & bytes)) {
    for (u32 rest = readers_[word] & ~(1u << a.warp); rest && !races; rest &= rest - 1) {
      const auto r = static_cast<u32>(__builtin_ctz(rest));
      if (since_[word] <= seen[r]) continue;
      races = true;
      out.other = Kind::read;
      out.warp = r;
      out.pc = pc_of(reader_[word]);
    }
  }
  const bool same = writer == a.warp && written_[word] == now_;
  written_[word] = now_;
  writer_[word] = who(a, same ? bytes | bytes_of(writer_[word]) : bytes);
  since_[word] = readers_[word] = 0;
  flags_[word] = a.synchronises ? strong_write : 0;
  return races;
}

bool Races::one_word(u64 word, const Access& a, u32 bytes, Conflict& out) {
  if ((flags_[word] & pending_copy) && (bytes_of(writer_[word]) & bytes)) {
    out.other = Kind::copy;
    out.warp = warp_of(writer_[word]);
    out.pc = pc_of(writer_[word]);
    out.pending = true;
    if (a.kind != Kind::read) flags_[word] &= static_cast<std::uint8_t>(~pending_copy);
    return true;
  }
  return a.kind == Kind::read ? read_word(word, a, bytes, out) : write_word(word, a, bytes, out);
}

bool Races::lane(u32 lane, const Access& a, Conflict& out) {
  bool races = false;
  const u64 offset = a.offsets[lane];
  for (u64 w = offset >> 2; w <= (offset + a.bytes - 1) >> 2; ++w) {
    Conflict found;
    if (!one_word(w, a, part_of(w, offset, a.bytes), found) || races) continue;
    races = true;
    out = found;
    out.lane = lane;
    out.offset = std::max(offset, w * 4);
  }
  return races;
}

// Whole words side by side, none written by others since this warp has seen them all: the common
// case, as vectors. False: something has to be looked at word by word, and nothing was changed.
bool Races::read_run(u64 first, u64 count, const Access& a) {
  const u32 floor = floor_[a.warp], now = now_, me = who(a, 15), bit = 1u << a.warp, mine = a.warp;
  u32 late = 0;
  for (u64 w = first; w < first + count; ++w) {
    late |= static_cast<u32>(written_[w] > floor) & static_cast<u32>(warp_of(writer_[w]) != mine);
  }
  if (late || copies_) return false;
  u32* since = &since_[first];
  u32* readers = &readers_[first];
  u32* reader = &reader_[first];
  for (u64 w = 0; w < count; ++w) {
    const bool fresh = since[w] <= floor;
    readers[w] = (fresh ? 0 : readers[w]) | bit;
    since[w] = fresh ? now : since[w];
    reader[w] = me;
  }
  for (u64 w = first; w < first + count; ++w) flags_[w] &= static_cast<std::uint8_t>(~strong_reads);
  return true;
}

bool Races::write_run(u64 first, u64 count, const Access& a) {
  const u32 floor = floor_[a.warp], mine = a.warp, others = ~(1u << a.warp);
  u32 late = 0;
  for (u64 w = first; w < first + count; ++w) {
    late |= static_cast<u32>(written_[w] > floor) & static_cast<u32>(warp_of(writer_[w]) != mine);
    late |= since_[w] > floor ? readers_[w] & others : 0;
  }
  if (late || copies_) return false;
  const auto fill = [&](Times& times, u32 value) {
    std::fill_n(times.begin() + static_cast<std::ptrdiff_t>(first), count, value);
  };
  fill(written_, now_);
  fill(writer_, who(a, 15));
  fill(since_, 0);
  fill(readers_, 0);
  std::fill_n(flags_.begin() + static_cast<std::ptrdiff_t>(first), count, std::uint8_t{0});
  return true;
}

// One whole word, as read_run() and write_run() would.
inline bool Races::read_whole(u64 w, u32 floor, u32 me, u32 warp) {
  if ((written_[w] > floor && warp_of(writer_[w]) != warp) || copies_) return false;
  const bool fresh = since_[w] <= floor;
  readers_[w] = (fresh ? 0 : readers_[w]) | 1u << warp;
  since_[w] = fresh ? now_ : since_[w];
  reader_[w] = me;
  flags_[w] &= static_cast<std::uint8_t>(~strong_reads);
  return true;
}

inline bool Races::write_whole(u64 w, u32 floor, u32 me, u32 warp) {
  const bool late = (written_[w] > floor && warp_of(writer_[w]) != warp) ||
                    (since_[w] > floor && (readers_[w] & ~(1u << warp)));
  if (late || copies_) return false;
  written_[w] = now_;
  writer_[w] = me;
  since_[w] = readers_[w] = 0;
  flags_[w] = 0;
  return true;
}

// Lanes from `first` on that lie side by side with the one before; or at the same place, `step` 0.
inline u32 Races::together(const Access& a, u32 first, u64& step) {
  u32 end = first + 1;
  step = a.bytes;
  if (end < 32 && (a.mask >> end & 1) && a.offsets[end] == a.offsets[first]) step = 0;
  while (end < 32 && (a.mask >> end & 1) && a.offsets[end] == a.offsets[end - 1] + step) ++end;
  return end;
}

bool Races::access(const Access& a, Conflict& out) {
  if (now_ == end_of_time) return false;
  ++now_;
  const bool whole = a.bytes >= 4 && !a.synchronises;
  const u32 floor = floor_[a.warp], me = who(a, 15);
  const auto quick = [&](u64 first, u64 words) {
    const bool reads = a.kind == Kind::read;
    if (words >= 8) return reads ? read_run(first, words, a) : write_run(first, words, a);
    for (u64 w = first; w < first + words; ++w) {
      if (!(reads ? read_whole(w, floor, me, a.warp) : write_whole(w, floor, me, a.warp))) {
        return false;
      }
    }
    return true;
  };
  if (a.run && whole && quick(a.offsets[0] / 4, u64{a.bytes} * 8)) return false;
  bool races = false;
  for (u32 first = 0, end = 0; first < 32; first = end) {
    u64 step = 0;
    end = first + 1;
    if (!(a.mask >> first & 1)) continue;
    end = together(a, first, step);
    const u64 words = (step ? u64{a.bytes} * (end - first) : a.bytes) / 4;
    if (whole && quick(a.offsets[first] / 4, words)) continue;
    for (u32 l = first; l < (step ? end : first + 1); ++l) {
      Conflict found;
      if (!lane(l, a, found) || races) continue;
      races = true;
      out = found;
    }
  }
  return races;
}

void Races::begin_copy(u32 warp, u32 pc, u64 offset, u32 bytes) {
  copies_ = true;
  const Access copy{Kind::copy, false, warp, pc, 0, nullptr, bytes, false};
  for (u64 w = offset >> 2; w <= (offset + bytes - 1) >> 2; ++w) {
    writer_[w] = who(copy, part_of(w, offset, bytes));
    written_[w] = now_;
    flags_[w] = pending_copy;
  }
}

// What was waited for counts as written by the warp now: others see it when they have synchronised
// with it.
void Races::end_copy(u32 warp, u64 offset, u32 bytes) {
  for (u64 w = offset >> 2; w <= (offset + bytes - 1) >> 2; ++w) {
    if (!(flags_[w] & pending_copy) || warp_of(writer_[w]) != warp) continue;
    flags_[w] &= static_cast<std::uint8_t>(~pending_copy);
    written_[w] = now_;
  }
}

// It becomes one of the warps with its first deed: until then nobody has to have seen it.
u32 Races::agent(u32 whose, u32 warp) {
  for (u32 slot = own_warps_; slot < warps_; ++slot) {
    if (whose_[slot] == whose) return slot;
  }
  if (warps_ >= most_warps) {
    if (warps_ == own_warps_) return warp;
    whose_[warps_ - 1] = several;
    return warps_ - 1;
  }
  whose_[warps_] = whose;
  floor_.fill(0);
  return warps_++;
}

u32 Races::agent_of_rank(u32 rank, u32 warp) {
  const u32 by = agent(rank, warp);
  if (is_agent(by)) acquire(by, published_);
  return by;
}

std::optional<u32> Races::rank_of(u32 warp) const {
  if (!is_agent(warp) || whose_[warp] >= own_operations) return std::nullopt;
  return whose_[warp];
}

void Races::publish_rank(u32 rank) {
  for (u32 slot = own_warps_; slot < warps_; ++slot) {
    if (whose_[slot] == rank) release(slot, published_);
  }
}

void Races::acquire_cluster(u32 warp) {
  Clock known = published_;
  release_agents(warp, known);
  acquire(warp, known);
}

void Races::show_agents(const Clock& clock) {
  join(published_, clock);
  for (u32 slot = own_warps_; slot < warps_; ++slot) acquire(slot, clock);
}

void Races::settle(u32 warp, u32 pc, u32 begin, u32 end, bool writes) {
  if (now_ == end_of_time) return;
  ++now_;
  const Access by{Kind::write, false, warp, pc, 0, nullptr, 0, false};
  if (begin % 4 == 0 && end % 4 == 0)
    return settle_words(begin >> 2, end >> 2, who(by, 15), writes);
  for (u64 w = begin >> 2; w <= (end - 1) >> 2; ++w) {
    const u32 part = part_of(w, begin, end - begin);
    if (writes) {
      written_[w] = now_;
      writer_[w] = who(by, part);
      since_[w] = readers_[w] = 0;
      flags_[w] = by_async;
      continue;
    }
    if (readers_[w] == 0) since_[w] = now_;
    readers_[w] |= 1u << warp;
    reader_[w] = who(by, 15);
    flags_[w] &= static_cast<std::uint8_t>(~strong_reads);
  }
}

// The same of whole words: loops that the compiler makes vectors of.
void Races::settle_words(u64 first, u64 end, u32 by, bool writes) {
  const u64 count = end - first;
  u32* __restrict since = &since_[first];
  u32* __restrict readers = &readers_[first];
  if (writes) {
    std::fill_n(&written_[first], count, now_);
    std::fill_n(&writer_[first], count, by);
    std::fill_n(since, count, 0);
    std::fill_n(readers, count, 0);
    std::fill_n(&flags_[first], count, std::uint8_t{by_async});
    return;
  }
  const u32 me = 1u << warp_of(by), now = now_;
  for (u64 w = 0; w < count; ++w) {
    since[w] = readers[w] == 0 ? now : since[w];
    readers[w] |= me;
  }
  std::fill_n(&reader_[first], count, by);
  for (u64 w = 0; w < count; ++w) flags_[first + w] &= static_cast<std::uint8_t>(~strong_reads);
}

void Races::release_agents(u32 warp, Clock& clock) {
  if (warps_ == own_warps_) operations(warp);
  for (u32 slot = own_warps_; slot < warps_; ++slot) {
    if (whose_[slot] != own_products) clock[slot] = now_;
  }
  if (warps_ == own_warps_) clock[warp] = now_;
}

// Words that one warp wrote, not later than it has been seen: most that are looked at are.
bool Races::are_seen(const Clock& seen, u64 first, u64 end) const {
  constexpr u32 top = 1u << 31;
  const u32 writer = writer_[first], limit = seen[warp_of(writer)];
  if (copies_ || limit >= top) return false;
  u32 others = 0, late = 0;
  for (u64 w = first; w < end; ++w) {
    others |= writer_[w] ^ writer;
    late |= written_[w] | (limit - written_[w]);
  }
  return warp_of(others) == 0 && late < top;
}

bool Races::unordered(u32 warp, u32 begin, u32 end, bool writes, Conflict& out) const {
  const Clock& seen = seen_[warp];
  if (!writes && are_seen(seen, begin >> 2, ((end - 1) >> 2) + 1)) return false;
  for (u64 w = begin >> 2; w <= (end - 1) >> 2; ++w) {
    out.offset = std::max<u64>(begin, w * 4);
    const u32 writer = warp_of(writer_[w]);
    const bool pending = flags_[w] & pending_copy;
    if (pending || (writer != warp && written_[w] > seen[writer])) {
      out.other = pending ? Kind::copy : flags_[w] & strong_write ? Kind::atomic : Kind::write;
      out.warp = writer;
      out.pc = pc_of(writer_[w]);
      out.pending = pending;
      return true;
    }
    for (u32 rest = writes ? readers_[w] & ~(1u << warp) : 0; rest; rest &= rest - 1) {
      const auto r = static_cast<u32>(__builtin_ctz(rest));
      if (since_[w] <= seen[r]) continue;
      out.other = Kind::read;
      out.warp = r;
      out.pc = pc_of(reader_[w]);
      return true;
    }
  }
  return false;
}

void Races::fence(u32 warp) {
  release(warp, fenced_[warp]);
  acquire(warp, offered_[warp]);
}

void Races::release_fenced(u32 warp, Clock& clock) const {
  join(clock, fenced_[warp]);
}

void Races::acquire_at_fence(u32 warp, const Clock& clock) {
  join(offered_[warp], clock);
}

void Races::fence_proxy(u32 warp, u32 mask) {
  tick();  // later than what was released before it
  auto& times = proxy_[warp];
  for (u32 l = 0; l < times.size(); ++l) {
    if (mask >> l & 1) times[l] = now_;
  }
  if (own_fences_.empty()) own_fences_.resize(most_warps);
  auto& own = own_fences_[warp];
  std::rotate(own.begin(), own.end() - 1, own.end());
  own[0] = {now_, mask};
  all_proxy_[warp] = *std::min_element(times.begin(), times.end());
  if (proxy_fences_.empty()) proxy_fences_.resize(most_warps);
  auto& fences = proxy_fences_[warp];
  std::rotate(fences.begin(), fences.end() - 1, fences.end());
  fences[0] = {now_, seen_[warp]};
}

// Did a warp, having seen the write of `writer` at `time`, execute a fence that `warp` has seen?
bool Races::was_fenced(u32 warp, u32 writer, u32 time) const {
  for (u32 w = 0; w < proxy_fences_.size(); ++w) {
    for (const ProxyFence& fence : proxy_fences_[w]) {
      if (fence.at && fence.seen[writer] >= time && has_seen(warp, w, fence.at)) return true;
    }
  }
  return false;
}

void Races::fence_proxy_of_rank(u32 rank, u32 warp, u32 mask) {
  const bool writes =
      std::find(&whose_[own_warps_], &whose_[0] + warps_, rank) != &whose_[0] + warps_;
  if (!writes) return;
  auto& times = rank_proxy_[rank * 32 + warp];
  for (u32 l = 0; l < times.size(); ++l) {
    if (mask >> l & 1) times[l] = now_;
  }
}

bool Races::is_unfenced_of_rank(u64 word, u32 rank, const Region& shared) const {
  for (u32 byte = 0; byte < 4; ++byte) {
    if (!(bytes_of(writer_[word]) >> byte & 1)) continue;
    const Writer by = shared.writer(word * 4 + byte);
    if (!by) continue;
    const auto times = rank_proxy_.find(rank * 32 + by.thread() / 32);
    if (times == rank_proxy_.end() || written_[word] > times->second[by.thread() % 32]) return true;
  }
  return false;
}

// Had one of these lanes of `writer` a fence since `time` that `warp` has seen? Fences that are no
// longer known count as if it had.
bool Races::has_fenced(u32 writer, u32 mask, u32 time, u32 warp) const {
  if (own_fences_.empty()) return false;
  const auto& own = own_fences_[writer];
  if (own.back().at >= time) return true;
  return std::any_of(own.begin(), own.end(), [&](const OwnFence& fence) {
    return fence.at >= time && (fence.mask & mask) && has_seen(warp, writer, fence.at);
  });
}

// The warp's last write of this word is later than the last fence of one of its lanes, or `warp`
// has not seen that fence: was it that lane's write?
bool Races::is_unfenced(u64 word, u32 warp, const Region& shared) const {
  const u32 writer = warp_of(writer_[word]);
  for (u32 byte = 0; byte < 4; ++byte) {
    if (!(bytes_of(writer_[word]) >> byte & 1)) continue;
    const Writer by = shared.writer(word * 4 + byte);
    const bool known = by && by.thread() / 32 == writer;
    if (!known && written_[word] > all_proxy_[writer]) return true;
    const u32 mask = known ? 1u << by.thread() % 32 : ~0u;
    if (!has_fenced(writer, mask, written_[word], warp)) return true;
  }
  return false;
}

bool Races::unfenced(u32 warp, u32 begin, u32 end, const Region& shared, Conflict& out) const {
  std::uint8_t all = by_async;
  for (u64 w = begin >> 2; w <= (end - 1) >> 2; ++w) all &= flags_[w];
  if (all) return false;
  for (u64 w = begin >> 2; w <= (end - 1) >> 2; ++w) {
    const u32 writer = warp_of(writer_[w]);
    if (flags_[w] & by_async) continue;
    const bool fenced = written_[w] <= all_proxy_[writer];
    if (fenced && has_seen(warp, writer, all_proxy_[writer])) continue;
    const std::optional<u32> rank = rank_of(writer);
    if (is_agent(writer) && !rank) continue;
    if (!(rank ? is_unfenced_of_rank(w, *rank, shared) : is_unfenced(w, warp, shared))) continue;
    if (was_fenced(warp, writer, written_[w])) continue;
    out.fenced_too_late = fenced;
    out.offset = std::max<u64>(begin, w * 4);
    out.warp = writer;
    out.pc = pc_of(writer_[w]);
    return true;
  }
  return false;
}

}  // namespace tilescope::sim
