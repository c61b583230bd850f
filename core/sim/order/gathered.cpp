// Reads that a Shadow only gathers, until somebody writes (Shadow::gather_reads).
#include <algorithm>
#include <vector>

#include "core/sim/order/shadow.h"
#include "core/sim/order/shadow_words.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

}  // namespace

// A read that is only gathered: it may race with the last weak writes. False: a strong one is among
// the others, and it has to be looked at now.
bool Shadow::Pass::gather(u64 begin, u64 end, bool& races) {
  const Shadow& s = *shadow_;
  const u32* const words = s.pages_[0].data();
  constexpr u32 nothing = ~0u;
  u32 before = nothing;
  for (u64 w = begin >> 2; w <= (end - 1) >> 2; ++w) {
    if (words[w] == before) continue;
    before = words[w];
    if (before == 0) continue;
    const History& was = s.histories_[before];
    if (was.some_write) return false;
    const u32 part = part_of(w, begin, end);
    for (u32 b = 0, last = 0; b < 4; ++b) {
      const u32 node = was.written[b];
      if (!(part >> b & 1) || node == last) continue;
      last = node;
      if (!races_with(s.nodes_[node])) continue;
      races = true;
      if (found_) continue;
      found_ = true;
      other_ = s.nodes_[node];
      at_ = w * 4 + b;
    }
  }
  if (reader_ == none_yet) {
    if (!touch_.lanes) touch_.lanes = shadow_->keep(lanes_, who_->turn());
    reader_ = static_cast<u32>(s.readers_.size());
    shadow_->readers_.push_back({touch_, {}});
  }
  shadow_->gathered_.push_back({static_cast<u32>(begin), static_cast<u32>(end), reader_});
  return true;
}

// Does all that was written there come before whatever `who` reads, in whichever lane? If so it
// does for ever: what has been seen stays so.
bool Shadow::comes_behind(const Observer& who, u32 history) {
  const History& was = histories_[history];
  if (was.some_write) return false;
  for (u32 b = 0, last = 0; b < 4; ++b) {
    const u32 node = was.written[b];
    if (!node || node == last) continue;
    last = node;
    const Touch& earlier = nodes_[node];
    if (earlier.operation) return false;
    if (earlier.agent == who.me()) {
      if (earlier.lanes && !who.all_met_since(lanes_[earlier.lanes].turn)) return false;
    } else if (!who.has_seen(earlier.agent, earlier.epoch)) {
      return false;
    }
  }
  Behind& known = behind_[who.me().slot];
  known.histories[known.next++ % known.histories.size()] = history;
  return true;
}

Shadow::Touch* Shadow::gather(const Observer& who, const EvenRead& read) {
  if (!gathers_ || is_full()) return nullptr;
  const u32 slot = who.me().slot;
  if (slot >= behind_.size()) behind_.resize(slot + 1);
  const Behind& known = behind_[slot];
  const auto is_known = [&](u32 history) {
    u32 found = 0;
    for (const u32 h : known.histories) found |= static_cast<u32>(h == history);
    return found != 0;
  };
  const u32* const words = pages_[0].data();
  for (u32 p = 0; p < read.pieces; ++p) {
    const u32 first = read.begin[p] >> 2, end = ((read.end[p] - 1) >> 2) + 1;
    u32 others = 0;
    for (u32 w = first; w < end; ++w) others |= words[w] ^ words[first];
    u32 before = 0;
    for (u32 w = first; w < (others ? end : first + 1); ++w) {
      if (words[w] == before || is_known(words[w])) continue;
      before = words[w];
      if (before && !comes_behind(who, before)) return nullptr;
    }
  }
  // Where it is to be: a copy would wait for what has just been written.
  const auto number = static_cast<u32>(readers_.size());
  Reader& reader = readers_.emplace_back();
  reader.touch.agent = who.me();
  reader.touch.home = who.home();
  reader.touch.epoch = who.epoch();
  reader.lanes.first = read.first;
  reader.lanes.step = read.step;
  reader.lanes.rise = read.rise;
  reader.lanes.mask = ~0u;
  reader.lanes.bytes = read.bytes;
  reader.lanes.turn = who.turn();
  for (u32 p = 0; p < read.pieces; ++p) {
    Gathered& g = gathered_.emplace_back();
    g.begin = read.begin[p];
    g.end = read.end[p];
    g.reader = number;
  }
  return &reader.touch;
}

void Shadow::note_gathered() {
  if (gathered_.empty()) return;
  u32 reader = ~0u, node = 0, from = 0, bytes = 0, to = 0;
  for (const Gathered& g : gathered_) {
    if (g.reader != reader) {
      reader = g.reader;
      bytes = 0;
      node = static_cast<u32>(nodes_.size());
      nodes_.push_back(readers_[reader].touch);
      if (readers_[reader].lanes.mask) {
        nodes_.back().lanes = static_cast<u32>(lanes_.size());
        lanes_.push_back(readers_[reader].lanes);
      }
    }
    for (u64 w = g.begin >> 2; w <= (g.end - 1) >> 2; ++w) {
      u32& word = *words_from(w);
      const u32 part = part_of(w, g.begin, g.end);
      if (word != from || part != bytes) {
        from = word;
        bytes = part;
        note_read(word, part, node);
        to = word;
      }
      word = to;
    }
  }
  gathered_.clear();
  readers_.clear();
}

// Nothing but what its own warp has read before does it stand for.
void Shadow::note_read(u32& word, u32 bytes, u32 node) {
  const Touch& touch = nodes_[node];
  History now = histories_[word];
  const auto is_same = [&](const Link& l) {
    const Touch& t = nodes_[l.node];
    return t.kind == Kind::read && !t.strong && !t.operation && t.agent == touch.agent &&
           (l.bytes & ~bytes) == 0;
  };
  if (now.others && is_same(links_[now.others])) {
    const Touch& last = nodes_[links_[now.others].node];
    // Of each word the same lanes: others may be whom a later store of one races with.
    const bool same_lanes = last.lanes == touch.lanes || lanes_[last.lanes] == lanes_[touch.lanes];
    if (last.epoch == touch.epoch && links_[now.others].bytes == bytes && same_lanes) return;
  }
  if (now.count + 1 >= now.thin_at) {
    kept_.clear();
    for (u32 at = now.others; at; at = links_[at].next) {
      if (!is_same(links_[at])) kept_.push_back(links_[at]);
    }
    thin();
    now.thin_at = thin_next(kept_.size(), more_links);
    link_kept(now);
  }
  links_.push_back({node, now.others, bytes});
  now.others = static_cast<u32>(links_.size() - 1);
  now.add(touch);
  histories_.push_back(now);
  word = static_cast<u32>(histories_.size() - 1);
}

}  // namespace tilescope::sim
