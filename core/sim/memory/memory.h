// Bytes with a memory of their own: what is where, which bytes mean nothing yet, who wrote them.
//
// A Region is one range of addresses: a buffer, a variable, the parameters, a block's shared
// memory, its threads' local memory. Every byte that a kernel writes is written by
// Region::write_lanes() or Region::write(): nothing else changes bytes after the launch, so bounds,
// undefined bytes, writers, and whatever is to be known of writes later, see all of them.
//
// Undefined bytes are a bit each, kept only where there can be some. Writers are 8 bytes for each
// grain, the smallest store of the entry, in pages made when first written. Copies of a region
// share its bytes until one of them is written, and the pages of writers likewise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/sim/checks/tiles.h"
#include "core/sim/memory/shared_array.h"

namespace tilescope::sim {

using Mask = std::uint32_t;  // one bit a lane
constexpr int lanes = 32;

// Who wrote: block (31 bits), thread in the block (10), instruction (23). 0 is nobody.
struct Writer {
  std::uint64_t bits = 0;
  static Writer of(std::uint64_t block, std::uint32_t thread, std::uint32_t pc) {
    return {block << 33 | std::uint64_t{thread} << 23 | (pc + 1)};
  }
  Writer lane(std::uint32_t n) const { return {bits + (std::uint64_t{n} << 23)}; }
  explicit operator bool() const { return bits != 0; }
  std::uint64_t block() const { return bits >> 33; }
  std::uint32_t thread() const { return bits >> 23 & 0x3ff; }
  std::uint32_t pc() const { return static_cast<std::uint32_t>(bits & 0x7fffff) - 1; }
};
constexpr std::uint64_t most_blocks = (std::uint64_t{1} << 31) - 1;
constexpr std::uint32_t most_instructions = (1u << 23) - 2;

// One value of every lane, as it moves to or from memory: `width` bytes a lane, lane after lane.
// `undefined` has a byte for each of them, or is null where all are defined.
struct LaneData {
  std::byte* bytes = nullptr;
  const std::uint8_t* undefined = nullptr;
  std::uint32_t width = 0;
};

// Memory that was given back, by where it began: its end, and what it was called.
struct Freed {
  std::uint64_t end = 0;
  std::string name;
};
using AllFreed = std::map<std::uint64_t, Freed>;
// What lay at that address; null: nothing did.
const Freed* freed_at(const AllFreed& all, std::uint64_t address);

class Region {
 public:
  enum class Kind : std::uint8_t { buffer, variable, parameters, shared, local };

  Region() = default;
  Region(Kind kind, std::string name, std::uint64_t base, std::vector<std::byte> bytes);

  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  std::uint64_t base() const { return base_; }
  std::uint64_t size() const { return bytes_.size(); }
  bool read_only = false;
  bool watched = false;  // who accesses it when is followed (core/sim/order)
  bool is_heap = false;  // malloc's: only what it gave may be accessed (core/sim/machine/heap.h)
  std::string about;     // "f32 32x32": for sentences

  const std::byte* data() const { return bytes_.data(); }
  // One bit a byte, 1 for undefined; null where every byte is defined.
  const std::uint8_t* undefined_bits() const {
    return undefined_.empty() ? nullptr : undefined_.data();
  }

  void make_undefined();  // all bytes, as before anybody wrote
  void make_undefined(std::uint64_t offset, std::uint64_t bytes);
  // By the host, while no kernel runs: the bytes are defined, and nobody's.
  void set(std::uint64_t offset, const std::byte* from, std::uint64_t bytes);
  // As before a launch: nobody wrote, nothing is watched.
  void forget();
  void remember_writers(std::uint32_t grain);  // from now on, for each `grain` bytes
  // And beside each writer when it wrote, by a clock that the machine sets.
  void remember_times();
  void set_time(std::uint32_t now) { now_ = now; }

  // From now on, which tiles two blocks write: of each, where the second first did. Sums by atomics
  // do not count.
  struct Twice {
    Writer first, second;
    std::uint64_t offset = 0;
  };
  void watch_tiles(Tiles tiles);
  bool watches_tiles() const { return watches_tiles_; }
  const Tiles& tiles() const { return tiles_; }
  const std::map<std::uint64_t, Twice>& written_twice() const { return twice_; }

  // Counts writes; after compare_stores() only those that change something.
  std::uint64_t changes() const { return changes_; }
  void compare_stores() { compares_ = looks_ = true; }

  // From now on, whether one of these bytes is written, besides those of other numbers (below 64)
  // that are watched already. A bit for each number that was, since the last take_touched().
  void watch(std::uint32_t number, std::uint64_t begin, std::uint64_t end);
  void watch_nothing();
  std::uint64_t take_touched() { return std::exchange(touched_, 0); }

  std::uint64_t held() const;  // bytes, with what is known of each

  bool is_undefined(std::uint64_t offset) const {
    return !undefined_.empty() && (undefined_[offset >> 3] >> (offset & 7) & 1);
  }
  bool any_undefined(std::uint64_t offset, std::uint64_t bytes) const;
  // Whether the same bytes of both are defined, and have the same values.
  bool means_same(const Region& other) const;
  // Which bits of a byte are undefined. Some only where a bit field was written into what nobody
  // had: a debug build makes an object so, field by field.
  std::uint8_t undefined_bits_at(std::uint64_t offset) const;
  Writer writer(std::uint64_t offset) const;
  // The first bytes at or behind `offset` that may have a writer, by pages: all others have none.
  // Both are size() where there are no more.
  struct Stretch {
    std::uint64_t begin = 0, end = 0;
  };
  Stretch next_written(std::uint64_t offset) const;
  // f(begin, end) for each run of bytes that have a writer, within a page of them.
  template <class F>
  void each_written(F f) const {
    for (std::uint64_t p = 0; p < writers_.size(); ++p) {
      const std::uint64_t grains = writers_[p].size(), first = p * page_grains;
      for (std::uint64_t g = 0; g < grains;) {
        const std::uint64_t begin = g;
        while (g < grains && writers_[p][g]) ++g;
        if (g > begin)
          f((first + begin) << grain_shift_, std::min(size(), (first + g) << grain_shift_));
        g += g == begin;
      }
    }
  }
  // What `part`, a copy of this one of before the launch, has written, with its writers: bytes that
  // mean something, all of them.
  void take_written(const Region& part);
  // Who of the launches before left these bytes undefined although it wrote them: "launch 3
  // (scale), by the st.global at ...". Held until somebody defines them; empty: nobody is known.
  void note_undefined(std::uint64_t offset, std::uint64_t bytes,
                      std::shared_ptr<const std::string> by);
  std::shared_ptr<const std::string> undefined_by(std::uint64_t offset) const;
  std::uint32_t grain() const { return 1u << grain_shift_; }
  std::uint32_t written_at(std::uint64_t offset) const;  // 0 where times are not remembered
  bool was_written() const { return was_written_; }      // while times are remembered

  // Asynchronous operations that still read, or write, some of it (core/sim/async/global.cpp).
  std::uint32_t readers = 0, writers = 0;
  bool is_busy() const { return readers || writers; }

  // The write hook. Offsets are inside the region (the caller has checked); `first` is lane 0's
  // writer. Where lanes collide the lowest one's bytes stay (measured on an H200: stores of 4
  // bytes, global and shared).
  void write_lanes(const std::uint64_t* offsets, Mask mask, const LaneData& data, Writer first);
  // The same for all 32 lanes one after the other from `offset`.
  void write_run(std::uint64_t offset, const LaneData& data, Writer first);
  void write(std::uint64_t offset, const std::byte* from, const std::uint8_t* undefined,
             std::uint32_t bytes, Writer writer);

  // What is there counts as written, by nobody.
  void define(std::uint64_t offset, std::uint64_t bytes);
  // As write(), by an atomic: one that leaves everything as it was does not count as a change.
  void write_atomically(std::uint64_t offset, const std::byte* from, const std::uint8_t* undefined,
                        std::uint32_t bytes, Writer writer);

 private:
  void count_change(std::uint64_t offset, const std::byte* from, std::uint32_t bytes) {
    if (looks_) {
      look(offset, from, bytes);
    } else {
      ++changes_;
    }
  }
  void look(std::uint64_t offset, const std::byte* from, std::uint32_t bytes);
  bool differs(std::uint64_t offset, const std::byte* from, std::uint32_t bytes) const;
  void note(std::uint64_t offset, const std::uint8_t* undefined, std::uint32_t bytes,
            Writer writer);
  void remember(std::uint64_t grain_index, std::uint64_t writer_bits);
  void note_twice(std::uint64_t grain_index, std::uint64_t before, std::uint64_t writer_bits);

  static constexpr std::uint32_t page_grains = 4096;
  Kind kind_ = Kind::buffer;
  std::string name_;
  std::uint64_t base_ = 0;
  SharedArray<std::byte> bytes_;
  SharedArray<std::uint8_t> undefined_;
  std::map<std::uint64_t, std::uint8_t> partly_;  // of undefined bytes those that are so in part
  struct LeftUndefined {
    std::uint64_t begin = 0, end = 0;
    std::shared_ptr<const std::string> by;
  };
  std::vector<LeftUndefined> left_;  // of earlier launches, the last of them last
  std::uint32_t grain_shift_ = 0;
  bool remembers_ = false;
  bool compares_ = false;
  bool looks_ = false;  // at each write: compares_, or some bytes are watched
  struct Watched {
    std::uint64_t begin = 0, end = 0, bit = 0;
  };
  std::vector<Watched> watched_;
  std::uint64_t touched_ = 0;
  std::uint64_t changes_ = 0;
  std::vector<SharedArray<std::uint64_t>> writers_;  // pages; empty until written
  std::vector<SharedArray<std::uint32_t>> times_;    // of the same grains
  std::uint32_t now_ = 0;
  bool was_written_ = false;
  bool watches_tiles_ = false;
  Tiles tiles_;
  std::map<std::uint64_t, Twice> twice_;  // by tile
};

}  // namespace tilescope::sim
