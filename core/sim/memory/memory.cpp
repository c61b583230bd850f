#include "core/sim/memory/memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tilescope::sim {

const Freed* freed_at(const AllFreed& all, std::uint64_t address) {
  const auto next = all.upper_bound(address);
  if (next == all.begin()) return nullptr;
  const Freed& r = std::prev(next)->second;
  return address < r.end ? &r : nullptr;
}

Region::Region(Kind kind, std::string name, std::uint64_t base, std::vector<std::byte> bytes)
    : kind_(kind), name_(std::move(name)), base_(base), bytes_(std::move(bytes)) {}

void Region::make_undefined() {
  left_.clear();
  partly_.clear();
  undefined_.assign((bytes_.size() + 7) / 8, 0xff);
}

void Region::make_undefined(std::uint64_t offset, std::uint64_t bytes) {
  if (undefined_.empty()) undefined_.assign((bytes_.size() + 7) / 8, 0);
  partly_.erase(partly_.lower_bound(offset), partly_.lower_bound(offset + bytes));
  std::uint8_t* const bits = undefined_.own();
  for (std::uint64_t at = offset; at < offset + bytes; ++at) {
    bits[at >> 3] |= static_cast<std::uint8_t>(1u << (at & 7));
  }
}

void Region::set(std::uint64_t offset, const std::byte* from, std::uint64_t bytes) {
  std::memcpy(bytes_.own() + offset, from, bytes);
  if (undefined_.empty()) return;
  if (bytes == bytes_.size()) {
    undefined_.clear();
    partly_.clear();
    return;
  }
  partly_.erase(partly_.lower_bound(offset), partly_.lower_bound(offset + bytes));
  std::uint8_t* const bits = undefined_.own();
  for (std::uint64_t at = offset; at < offset + bytes;) {
    if (at % 8 == 0 && offset + bytes - at >= 8) {
      const std::uint64_t eights = (offset + bytes - at) / 8;
      std::memset(bits + at / 8, 0, eights);
      at += eights * 8;
    } else {
      bits[at >> 3] &= static_cast<std::uint8_t>(~(1u << (at & 7)));
      ++at;
    }
  }
}

void Region::forget() {
  remembers_ = compares_ = looks_ = watched = was_written_ = watches_tiles_ = false;
  writers_.clear();
  times_.clear();
  watched_.clear();
  twice_.clear();
  touched_ = changes_ = 0;
  now_ = readers = writers = 0;
}

void Region::remember_writers(std::uint32_t grain) {
  grain_shift_ = 0;
  while ((1u << grain_shift_) < grain) ++grain_shift_;
  const std::uint64_t grains = (bytes_.size() + grain - 1) >> grain_shift_;
  writers_.assign((grains + page_grains - 1) / page_grains, {});
  remembers_ = true;
}

std::uint64_t Region::held() const {
  std::uint64_t out = bytes_.held() + undefined_.held();
  for (const auto& page : writers_) out += page.held();
  for (const auto& page : times_) out += page.held();
  return out;
}

std::uint8_t Region::undefined_bits_at(std::uint64_t offset) const {
  if (!is_undefined(offset)) return 0;
  const auto part = partly_.find(offset);
  return part == partly_.end() ? 0xff : part->second;
}

bool Region::any_undefined(std::uint64_t offset, std::uint64_t bytes) const {
  if (undefined_.empty()) return false;
  const std::uint64_t end = offset + bytes;
  for (std::uint64_t i = offset; i < end;) {
    if (i % 8 == 0 && end - i >= 8 && undefined_[i / 8] == 0) {
      i += 8;
    } else if (is_undefined(i)) {
      return true;
    } else {
      ++i;
    }
  }
  return false;
}

bool Region::means_same(const Region& other) const {
  if (size() != other.size()) return false;
  for (std::uint64_t at = 0; at < size(); at += 8) {
    const std::uint64_t count = std::min<std::uint64_t>(8, size() - at);
    const std::uint8_t own = undefined_.empty() ? 0 : undefined_[at / 8];
    const std::uint8_t others = other.undefined_.empty() ? 0 : other.undefined_[at / 8];
    if (own != others) return false;
    if (own == 0 && std::memcmp(data() + at, other.data() + at, count) == 0) continue;
    for (std::uint64_t k = 0; k < count; ++k) {
      if (!(own >> k & 1) && data()[at + k] != other.data()[at + k]) return false;
    }
  }
  return true;
}

Writer Region::writer(std::uint64_t offset) const {
  if (!remembers_) return {};
  const std::uint64_t grain = offset >> grain_shift_;
  const auto& page = writers_[grain / page_grains];
  return page.empty() ? Writer{} : Writer{page[grain % page_grains]};
}

Region::Stretch Region::next_written(std::uint64_t offset) const {
  const std::uint64_t page_bytes = std::uint64_t{page_grains} << grain_shift_;
  const auto page = [&](std::uint64_t at) { return at * page_bytes; };
  std::uint64_t first = offset / page_bytes;
  while (first < writers_.size() && writers_[first].empty()) ++first;
  std::uint64_t last = first;
  while (last < writers_.size() && !writers_[last].empty()) ++last;
  return {std::min(size(), std::max(offset, page(first))), std::min(size(), page(last))};
}

void Region::take_written(const Region& part) {
  part.each_written([&](std::uint64_t begin, std::uint64_t end) {
    set(begin, part.data() + begin, end - begin);
  });
  for (std::size_t p = 0; p < part.writers_.size(); ++p) {
    const SharedArray<std::uint64_t>& theirs = part.writers_[p];
    if (theirs.empty()) continue;
    if (writers_[p].empty()) {
      writers_[p] = theirs;
      continue;
    }
    std::uint64_t* const mine = writers_[p].own();
    for (std::size_t g = 0; g < theirs.size(); ++g) mine[g] = theirs[g] ? theirs[g] : mine[g];
  }
  changes_ += part.changes_;
}

void Region::note_undefined(std::uint64_t offset, std::uint64_t bytes,
                            std::shared_ptr<const std::string> by) {
  constexpr std::size_t most = 4096;
  if (!left_.empty() && left_.back().by == by && left_.back().end == offset) {
    left_.back().end += bytes;
    return;
  }
  if (left_.size() == most) left_.erase(left_.begin(), left_.begin() + most / 2);
  left_.push_back({offset, offset + bytes, std::move(by)});
}

std::shared_ptr<const std::string> Region::undefined_by(std::uint64_t offset) const {
  if (!is_undefined(offset)) return nullptr;
  const auto last = std::find_if(left_.rbegin(), left_.rend(), [&](const LeftUndefined& l) {
    return l.begin <= offset && offset < l.end;
  });
  return last == left_.rend() ? nullptr : last->by;
}

void Region::remember_times() {
  times_.assign(writers_.size(), {});
}

std::uint32_t Region::written_at(std::uint64_t offset) const {
  if (times_.empty()) return 0;
  const std::uint64_t grain = offset >> grain_shift_;
  const auto& page = times_[grain / page_grains];
  return page.empty() ? 0 : page[grain % page_grains];
}

void Region::watch_tiles(Tiles tiles) {
  tiles_ = std::move(tiles);
  watches_tiles_ = true;
}

void Region::note_twice(std::uint64_t grain, std::uint64_t before, std::uint64_t writer) {
  const std::uint64_t offset = grain << grain_shift_;
  const auto [at, fresh] = twice_.try_emplace(tiles_.of(offset), Twice{{before}, {writer}, offset});
  // Of lanes of one instruction, which are written in whatever order, the lowest element is told.
  Twice& told = at->second;
  const Writer now{writer};
  if (!fresh && offset < told.offset && now.block() == told.second.block() &&
      now.thread() / 32 == told.second.thread() / 32 && now.pc() == told.second.pc()) {
    told = {{before}, now, offset};
  }
}

inline void Region::remember(std::uint64_t grain, std::uint64_t writer) {
  auto& page = writers_[grain / page_grains];
  if (page.empty()) page.assign(page_grains, 0);
  std::uint64_t& place = page.own()[grain % page_grains];
  if (watches_tiles_ && place && place >> 33 != writer >> 33) note_twice(grain, place, writer);
  place = writer;
  if (times_.empty()) return;
  auto& times = times_[grain / page_grains];
  if (times.empty()) times.assign(page_grains, 0);
  times.own()[grain % page_grains] = now_;
  was_written_ = true;
}

bool Region::differs(std::uint64_t offset, const std::byte* from, std::uint32_t bytes) const {
  return std::memcmp(bytes_.data() + offset, from, bytes) != 0 || any_undefined(offset, bytes);
}

void Region::watch(std::uint32_t number, std::uint64_t begin, std::uint64_t end) {
  watched_.push_back({begin, end, std::uint64_t{1} << number});
  looks_ = true;
}

void Region::watch_nothing() {
  watched_.clear();
  touched_ = 0;
  looks_ = compares_;
}

void Region::look(std::uint64_t offset, const std::byte* from, std::uint32_t bytes) {
  for (const Watched& each : watched_) {
    if (offset < each.end && each.begin < offset + bytes) touched_ |= each.bit;
  }
  if (!compares_ || differs(offset, from, bytes)) ++changes_;
}

// What is known of a write, besides its bytes.
inline void Region::note(std::uint64_t offset, const std::uint8_t* undefined, std::uint32_t bytes,
                         Writer writer) {
  if (!undefined_.empty() || undefined) {
    if (undefined_.empty()) undefined_.assign((bytes_.size() + 7) / 8, 0);
    const bool whole = !undefined && offset % 8 == 0;  // of as many bytes as go: all their bits
    const std::uint32_t eights = whole ? bytes / 8 : 0;
    std::uint8_t* const bits = undefined_.own();
    std::memset(bits + offset / 8, 0, eights);
    for (std::uint32_t i = eights * 8; i < bytes; ++i) {
      const std::uint64_t at = offset + i;
      const auto bit = static_cast<std::uint8_t>(1u << (at & 7));
      if (undefined && undefined[i]) {
        constexpr std::size_t most = 65536;  // beyond, a byte is as undefined as a bit of it
        bits[at >> 3] |= bit;
        if (undefined[i] != 0xff && partly_.size() < most) {
          partly_[at] = undefined[i];
        } else if (!partly_.empty()) {
          partly_.erase(at);
        }
      } else {
        bits[at >> 3] &= static_cast<std::uint8_t>(~bit);
      }
    }
  }
  if (remembers_) {
    const std::uint64_t end = ((offset + bytes - 1) >> grain_shift_) + 1;
    std::uint64_t g = offset >> grain_shift_;
    while (g < end && !watches_tiles_ && times_.empty()) {  // a page's at once
      auto& page = writers_[g / page_grains];
      if (page.empty()) page.assign(page_grains, 0);
      const std::uint64_t first = g % page_grains;
      const std::uint64_t count = std::min(end - g, page_grains - first);
      std::fill_n(page.own() + first, count, writer.bits);
      g += count;
    }
    for (; g < end; ++g) remember(g, writer.bits);
  }
}

void Region::write(std::uint64_t offset, const std::byte* from, const std::uint8_t* undefined,
                   std::uint32_t bytes, Writer writer) {
  count_change(offset, from, bytes);
  std::memcpy(bytes_.own() + offset, from, bytes);
  note(offset, undefined, bytes, writer);
}

void Region::write_atomically(std::uint64_t offset, const std::byte* from,
                              const std::uint8_t* undefined, std::uint32_t bytes, Writer writer) {
  const bool changes = differs(offset, from, bytes);
  const std::uint64_t before = changes_;
  if (looks_) look(offset, from, bytes);
  changes_ = before + changes;
  std::memcpy(bytes_.own() + offset, from, bytes);
  const bool watches = std::exchange(watches_tiles_, false);
  note(offset, undefined, bytes, writer);
  watches_tiles_ = watches;
}

void Region::write_lanes(const std::uint64_t* offsets, Mask mask, const LaneData& data,
                         Writer first) {
  std::byte* const bytes = bytes_.own();
  // As an H200 does it: 128 bytes at a time, and of the lanes of these the lowest comes last.
  const std::uint32_t together = data.width > 4 ? 4 * lanes / data.width : lanes;
  for (std::uint32_t k = 0; k < lanes; ++k) {
    const std::uint32_t lane = k ^ (together - 1);
    if (!(mask >> lane & 1)) continue;
    const std::uint64_t offset = offsets[lane];
    const std::byte* from = data.bytes + lane * data.width;
    count_change(offset, from, data.width);
    switch (data.width) {  // constant sizes become single moves
      case 4:
        std::memcpy(bytes + offset, from, 4);
        break;
      case 8:
        std::memcpy(bytes + offset, from, 8);
        break;
      case 16:
        std::memcpy(bytes + offset, from, 16);
        break;
      default:
        std::memcpy(bytes + offset, from, data.width);
    }
    const Writer writer = first.lane(lane);
    // Aligned stores of 4 bytes are most of them: one nibble of bits, one writer.
    if (data.width == 4 && !data.undefined && (grain_shift_ == 2 || !remembers_)) {
      if (!undefined_.empty()) {
        undefined_.own()[offset >> 3] &= static_cast<std::uint8_t>(~(0xfu << (offset & 4)));
      }
      if (remembers_) remember(offset >> 2, writer.bits);
    } else {
      note(offset, data.undefined ? data.undefined + lane * data.width : nullptr, data.width,
           writer);
    }
  }
}

// Their bits are 0 from now on.
void Region::define(std::uint64_t offset, std::uint64_t bytes) {
  std::uint8_t* const bits = undefined_.own();
  const auto below = [](std::uint64_t bit) { return (1u << bit) - 1; };
  std::uint64_t first = offset >> 3;
  const std::uint64_t last = (offset + bytes) >> 3, head = offset & 7, tail = (offset + bytes) & 7;
  if (first == last) {
    bits[first] &= static_cast<std::uint8_t>(~(below(tail) & ~below(head)));
    return;
  }
  if (head) bits[first++] &= static_cast<std::uint8_t>(below(head));
  std::memset(bits + first, 0, last - first);
  if (tail) bits[last] &= static_cast<std::uint8_t>(~below(tail));
}

void Region::write_run(std::uint64_t offset, const LaneData& data, Writer first) {
  const std::uint32_t bytes = data.width * lanes;
  const std::uint32_t grains_a_lane = data.width >> grain_shift_;
  if (data.undefined || grains_a_lane == 0) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t at = lane * data.width;
      write(offset + at, data.bytes + at, data.undefined ? data.undefined + at : nullptr,
            data.width, first.lane(lane));
    }
    return;
  }
  count_change(offset, data.bytes, bytes);
  std::memcpy(bytes_.own() + offset, data.bytes, bytes);
  if (!undefined_.empty()) define(offset, bytes);
  if (!remembers_) return;
  std::uint64_t grain = offset >> grain_shift_;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t bits = first.lane(lane).bits;
    for (std::uint32_t k = 0; k < grains_a_lane; ++k) remember(grain++, bits);
  }
}

}  // namespace tilescope::sim
