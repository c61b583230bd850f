// Who touched each byte of a memory, and who of them nothing orders: a race detector by vector
// clocks (FastTrack, Flanagan and Freund, PLDI 2009) that keeps all accesses that may still race,
// byte by byte.
//
// Of a byte are kept the last weak write, and since then each read, each atomic and each strong
// write that no later one stands for: one that is ordered behind it and races with whatever it
// would race with. So an access is reported exactly if it races with an earlier one of the byte, as
// long as none was before it. A weak write that a later one raced with, and that stored the same,
// is kept besides.
//
// Every four bytes have a number: that of their history. Words that were touched alike have the
// same one, so that a warp that touches a tile looks at few histories and fills in numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/sim/order/observer.h"

namespace tilescope::sim {

// When asynchronous operations are over: in which epoch of what they complete on, which may be
// several things. Until then they are in flight.
class Completions {
 public:
  static constexpr std::uint32_t none = 0, never = ~0u;
  std::uint32_t begin();  // a number for an operation
  void end(std::uint32_t operation, Agent on, std::uint32_t epoch);
  // It has done what it does, and nobody has waited for it yet.
  void finish(std::uint32_t operation) { all_[operation - 1].finished = true; }
  bool is_seen(std::uint32_t operation, const Observer& who) const;
  bool is_seen_by_all_lanes(std::uint32_t operation, const Observer& who) const;
  bool in_flight(std::uint32_t operation) const {
    return epoch(operation) == never && !all_[operation - 1].finished;
  }
  Agent on(std::uint32_t operation) const { return all_[operation - 1].on; }
  std::uint32_t epoch(std::uint32_t operation) const { return all_[operation - 1].epoch; }
  std::uint64_t held() const { return all_.size() * sizeof(Operation); }

 private:
  struct Operation {
    Agent on;
    std::uint32_t epoch = never;
    std::uint32_t also = none;  // another that says when it is over
    bool finished = false;
  };
  std::vector<Operation> all_;
};

// What else is known of an access: the lanes that are told apart, and where each begins; and
// whether it stores what is there already.
struct LanesAccess {
  std::uint32_t mask = 0, bytes = 0;
  const std::uint64_t* offsets = nullptr;                  // of each lane
  bool run = false;                                        // all 32, side by side
  bool may_be_untold = false;                              // Pass::untold() will be asked
  const std::function<bool()>* stores_the_same = nullptr;  // null: no
};

class Shadow {
 public:
  enum class Kind : std::uint8_t { read, write, atomic, copy };

  // An access: who, when, how.
  struct Touch {
    Kind kind = Kind::read;
    bool strong : 1 = false;  // volatile, relaxed, acquire, release, atomic
    bool async : 1 = false;   // through the async proxy
    Scope scope = Scope::cta;
    std::uint8_t size = 0;  // of a strong one: bytes of an element; 0: as those that it meets
    Agent agent;
    Home home;
    std::uint32_t epoch = 0;
    // Of an operation; then Completions says agent and epoch. While one of the async proxy is in
    // flight others tell who collides with it (core/sim/async/collisions.cpp); with a copy by
    // cp.async one races as with anything else.
    std::uint32_t operation = Completions::none;
    std::uint32_t thread = 0, pc = 0;
    std::uint32_t lanes = 0;  // which of them did what (KeptLanes); 0: they are not told apart
  };

  // An access by a lane, and an earlier one by one of its warp or of another, between which nothing
  // is that these lanes did.
  struct LaneRace {
    Touch other;  // `thread` is the lane's
    std::uint32_t lane = 0;
    std::uint64_t at = 0;  // a byte of both
  };

 private:
  // Lane l of `mask` touched `bytes` bytes from first + l % 16 * step + l / 16 * rise on; or,
  // `apart`, from `first` by what stands in offsets_ on.
  struct KeptLanes {
    std::uint64_t first = 0, step = 0, rise = 0;
    std::uint32_t mask = 0, bytes = 0, turn = 0, apart = 0;
    bool operator==(const KeptLanes&) const = default;
  };

  // Accesses that a later one stands for are looked for whenever there are so many more, and twice
  // as many as were left.
  static constexpr std::uint32_t more_links = 24;

  // One of the accesses of a word since its last weak write.
  struct Link {
    std::uint32_t node = 0, next = 0, bytes = 0;
  };
  struct History {
    std::array<std::uint32_t, 4> written{};  // node of each byte's last weak write; 0: none
    std::uint32_t others = 0;                // Link
    std::uint32_t count = 0;                 // of them
    std::uint32_t thin_at = more_links;      // so many of them are looked through
    bool some_write = false;                 // one of them does
    bool all_wide = true;                    // they are strong, for the whole chip, of one size
    std::uint8_t width = 0;                  // that size
    void add(const Touch& touch);            // its Link is in its place already
  };

 public:
  // One access of a warp or an operation, in pieces.
  class Pass {
   public:
    // `who` has seen what the access is ordered behind: a warp, or who issued the operation.
    Pass(Shadow& shadow, const Observer& who, const Completions& completions, const Touch& touch,
         const LanesAccess& lanes = {});
    // It touches [begin, end). True: that is unordered with an earlier access of these bytes.
    bool touch(std::uint64_t begin, std::uint64_t end);

   private:
    bool gather(std::uint64_t begin, std::uint64_t end, bool& races);

   public:
    // The first that it is unordered with, and the byte.
    const Touch& other() const { return other_; }
    std::uint64_t at() const { return at_; }
    // It is unordered with writes that stored the same, and with no others: touch() says no, and
    // other() is one of them.
    bool repeats() const { return repeats_ && !found_; }
    // After it: is it unordered with what another lane of the warp itself did?
    bool races_within(LaneRace& out) const;
    // After it: is it ordered behind what another warp stored only by what some of that warp's
    // lanes told, and by another one's store? f(agent, lanes, turn, epoch): the Observer::Untold of
    // them.
    template <class F>
    Observer::Untold untold(LaneRace& out, F f) const {
      for (std::uint32_t n = 0; n < told_count_; ++n) {
        const Touch& earlier = shadow_->nodes_[told_[n]];
        const KeptLanes& kept = shadow_->lanes_[earlier.lanes];
        const Observer::Untold which = f(earlier.agent, kept.mask, kept.turn, earlier.epoch);
        if (which.lanes && shares_bytes(earlier, which.lanes, out)) return which;
      }
      return {};
    }

   private:
    friend class Shadow;
    // What became of words with history `from`, of which `bytes` were touched.
    struct Step {
      std::uint32_t from = 0, bytes = 0, to = 0, races = 0;
    };
    template <class Note>
    void look_through(const History& was, std::uint32_t bytes, bool replaces, Note note,
                      History& now);
    bool is_morally_strong_with(const Touch& earlier) const;
    Step step(std::uint32_t from, std::uint32_t bytes, std::uint64_t word);
    bool is_ordered(const Touch& earlier);
    bool races_with(const Touch& earlier);
    bool stores_the_same();
    bool repeats(const Touch& earlier);
    void note_repeated(std::uint32_t node, std::uint64_t at);
    void note_own(const Touch& earlier);
    void note_told(const Touch& earlier);
    bool shares_bytes(const Touch& earlier, std::uint32_t theirs, LaneRace& out) const;
    bool stands_for(const Touch& earlier) const;
    bool is_known(std::uint32_t link, std::uint32_t bytes) const;
    bool has_same_lanes(const Touch& earlier) const;
    std::uint32_t node();

    Shadow* shadow_;
    const Observer* who_;
    const Completions* completions_;
    Touch touch_, other_;
    std::uint64_t at_ = 0;
    std::uint32_t node_ = 0;
    std::array<Step, 4> last_{};
    std::uint32_t steps_ = 0;
    bool found_ = false, repeats_ = false;
    enum class Same : std::uint8_t { unknown, yes, no } same_ = Same::unknown;
    bool gathers_ = false;
    std::uint32_t reader_ = none_yet;
    static constexpr std::uint32_t none_yet = ~0u;
    LanesAccess lanes_;
    // Nodes of its own warp that other lanes may race with: as many as are looked at.
    std::array<std::uint32_t, 4> own_{};
    std::uint32_t own_count_ = 0;
    // Likewise those of other warps' stores, which this access is ordered behind.
    std::array<std::uint32_t, 4> told_{};
    std::uint32_t told_count_ = 0;
  };

  // A page at a time where only some of the memory may be touched; the rest costs nothing.
  void start(std::uint64_t bytes, bool in_pages = false);
  bool on() const { return !pages_.empty(); }

  // Weak reads of warps are only gathered from now on, and looked at before the next access that
  // could race with one; or never, where all who can come have seen them by then. (Not where others
  // than a block's own warps reach the memory.)
  void gather_reads() { gathers_ = true; }
  // A read by all lanes of a warp: lane l reads `bytes` from first + l % 16 * step + l / 16 * rise
  // on, that is [begin[0], end[0]) and [begin[1], end[1]), or only the first of them.
  struct EvenRead {
    std::uint64_t first = 0, step = 0, rise = 0;
    std::uint32_t bytes = 0, pieces = 0;
    std::array<std::uint32_t, 2> begin{}, end{};
  };
  // Gathers it where all that was written there comes before it, by whichever lanes: the common
  // case, without a Pass. Null: something may be to be told, and nothing has been done. Else the
  // read, of which the caller says the thread and the instruction.
  Touch* gather(const Observer& who, const EvenRead& read);
  // All have seen what was read so far: at a barrier of the whole block. Those stay whose
  // instruction `keep` wants.
  template <class F>
  void forget_reads(F keep) {
    if (gathered_.empty()) return;
    std::size_t kept = 0;
    for (const Gathered& g : gathered_) {
      if (keep(readers_[g.reader].touch.pc)) gathered_[kept++] = g;
    }
    gathered_.resize(kept);
    if (!kept) readers_.clear();
  }
  std::uint64_t held() const;
  // Of a word that very many accessed, one that a later access may race with is not kept.
  bool has_forgotten() const { return has_forgotten_; }
  // Two clusters have touched the same byte, and one of them wrote it.
  bool clusters_meet() const { return clusters_meet_; }
  // f(n) for each word that somebody has touched: bytes 4n to 4n + 3.
  template <class F>
  void each_touched(F f) const {
    for (std::uint64_t p = 0; p < pages_.size(); ++p) {
      for (std::size_t i = 0; i < pages_[p].size(); ++i) {
        if (pages_[p][i]) f((p << page_shift_) + i);
      }
    }
  }

  // f(first, end, last weak write) for each run of bytes of [begin, end) with the same one, until f
  // answers true. Answers whether f did.
  template <class F>
  bool any_writer(std::uint64_t begin, std::uint64_t end, F f) const {
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t first = at;
      const std::uint32_t node = histories_[word(at >> 2)].written[at & 3];
      while (at < end && histories_[word(at >> 2)].written[at & 3] == node) {
        const std::uint32_t now = word(at >> 2);
        const History& history = histories_[now];
        ++at;
        if (at & 3) continue;
        // Words with the same history, as most of a tile have.
        if (std::equal(history.written.begin() + 1, history.written.end(),
                       history.written.begin())) {
          while (at + 4 <= end && word(at >> 2) == now) at += 4;
        }
      }
      if (node && f(first, at, nodes_[node])) return true;
    }
    return false;
  }
  // The same of its reads since then.
  template <class F>
  bool any_read(std::uint64_t begin, std::uint64_t end, F f) {
    return any_other(begin, end, [&](std::uint64_t at, const Touch& touch) {
      return touch.kind == Kind::read && f(at, touch);
    });
  }
  // The same of all that is kept besides its last weak write.
  template <class F>
  bool any_other(std::uint64_t begin, std::uint64_t end, F f) {
    note_gathered();
    std::uint32_t before = 0;
    for (std::uint64_t at = begin; at < end; at += 4 - at % 4) {
      const std::uint32_t now = word(at >> 2);
      if (now == before) continue;
      before = now;
      for (std::uint32_t l = histories_[now].others; l; l = links_[l].next) {
        if (f(at, nodes_[links_[l].node])) return true;
      }
    }
    return false;
  }
  // What another lane of `who`'s warp did to these bytes, by the warp's own accesses, that `lane`
  // is not behind: before an operation of this lane alone touches them. False: nothing.
  bool find_other_lane(const Observer& who, std::uint32_t lane, bool writes, std::uint64_t begin,
                       std::uint64_t end, LaneRace& out);
  // What an operation has written there is that of another one from now on.
  void divide(std::uint64_t begin, std::uint64_t end, std::uint32_t operation, std::uint32_t other);
  // Throws away what no word has any more. It does so itself when there is much of that.
  void compact();

 private:
  std::uint32_t word(std::uint64_t number) const {
    const std::vector<std::uint32_t>& page = pages_[number >> page_shift_];
    return page.empty() ? 0 : page[number & page_mask_];
  }
  std::uint32_t keep(const LanesAccess& lanes, std::uint32_t turn);
  std::uint64_t offset_of(const KeptLanes& lanes, std::uint32_t lane) const {
    return lanes.apart ? lanes.first + offsets_[lanes.apart + lane]
                       : lanes.first + lane % 16 * lanes.step + lane / 16 * lanes.rise;
  }
  void note_gathered();
  bool comes_behind(const Observer& who, std::uint32_t history);
  void thin();
  void link_kept(History& history);
  void note_read(std::uint32_t& word, std::uint32_t bytes, std::uint32_t node);

  // The words from that of `number` on, up to the end of its page, which is made.
  std::uint32_t* words_from(std::uint64_t number);

  std::vector<std::vector<std::uint32_t>> pages_;  // of each 4 bytes its History; empty: all 0
  std::uint64_t words_ = 0, page_mask_ = ~std::uint64_t{0};
  std::uint32_t page_shift_ = 0;
  std::size_t touched_ = 0;  // words that have pages
  std::vector<History> histories_;
  std::vector<Link> links_;
  std::vector<Touch> nodes_;
  std::vector<KeptLanes> lanes_;
  std::vector<std::uint32_t> offsets_;
  std::vector<Link> kept_;  // of the word at hand, the last first
  bool has_forgotten_ = false, clusters_meet_ = false;
  std::size_t most_ = 0;  // histories, before those that are gone are thrown away

  // Reads that are not in the histories yet.
  struct Gathered {
    std::uint32_t begin = 0, end = 0, reader = 0;
  };
  struct Reader {
    Touch touch;
    KeptLanes lanes;  // where touch.lanes does not say so
  };
  // So many are gathered before they are looked at, should nobody write: then most of a warp stand
  // for its earlier ones.
  static constexpr std::size_t most_gathered = 1u << 16;
  bool is_full() const { return gathered_.size() > most_gathered; }

  bool gathers_ = false;
  std::vector<Gathered> gathered_;
  std::vector<Reader> readers_;
  // By warp some histories whose writes all come before whatever it reads from now on.
  struct Behind {
    std::array<std::uint32_t, 16> histories{};
    std::uint32_t next = 0;
  };
  std::vector<Behind> behind_;
};

}  // namespace tilescope::sim
