// How much of what others do has been seen: a vector clock (Mattern 1989), for the agents of a
// grid.
//
// An agent is whoever does things in an order of its own: a warp, whose lanes are taken to be in
// order, or what asynchronous operations complete on. Its deeds are counted in epochs, from 1 on.
//
// Where all CTAs tell each other, as by an atomic that all of them use, each clock has a row for
// each of them, and nearly all rows are the same in all clocks. So rows are in groups of 64 CTAs,
// and copies share groups, and rows, until one of them sees more: to copy a clock, or to take over
// what another has seen, costs a pointer for each 64 CTAs.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace tilescope::sim {

struct Agent {
  std::uint32_t block = 0;  // its number in the grid
  std::uint32_t slot = 0;   // in the block: warps first

  friend bool operator==(const Agent& a, const Agent& b) {
    return a.block == b.block && a.slot == b.slot;
  }
};

class VectorClock {
 public:
  // Up to which epoch an agent has been seen; 0: not at all.
  std::uint32_t of(Agent a) const {
    const Epochs* row = find(a.block);
    return row && a.slot < row->size() ? (*row)[a.slot] : 0;
  }
  // Has anybody of this block been seen?
  bool knows(std::uint32_t block) const { return find(block) != nullptr; }
  void see(Agent a, std::uint32_t epoch);
  void join(const VectorClock& other);
  // The same, of what agents of this block do alone.
  void join(const VectorClock& other, std::uint32_t block);
  void clear() { groups_.clear(); }
  bool empty() const { return groups_.empty(); }
  std::uint64_t held() const;  // bytes, about, of what is shared too

 private:
  // Few items, in one piece of memory with their count: copies share it until one of them writes.
  template <class T>
  class Few {
   public:
    Few() = default;
    Few(const Few& other) : data_(other.data_) {
      if (data_) data_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    Few(Few&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    Few& operator=(Few other) noexcept {
      std::swap(data_, other.data_);
      return *this;
    }
    ~Few() {
      if (!data_ || data_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      std::destroy_n(data_->at(), data_->size);
      ::operator delete(data_);
    }

    std::uint32_t size() const { return data_ ? data_->size : 0; }
    const T* begin() const { return data_ ? data_->at() : nullptr; }
    const T& operator[](std::uint32_t i) const { return data_->at()[i]; }
    bool is(const Few& other) const { return data_ == other.data_; }  // not only alike
    bool alone() const { return data_ && data_->owners.load(std::memory_order_acquire) == 1; }

    // To write: its own from now on, with at least so many items.
    T* own(std::uint32_t least) {
      const std::uint32_t now = size();
      if (now < least) {
        open(now, least - now);
      } else if (!alone()) {
        open(now, 0);
      }
      return data_->at();
    }
    void insert(std::uint32_t at, T item) { open(at, 1)[at] = std::move(item); }

   private:
    struct Data {
      std::atomic<std::uint32_t> owners{1};
      std::uint32_t size = 0;
      T* at() { return reinterpret_cast<T*>(this + 1); }
    };
    static_assert(sizeof(Data) % alignof(T) == 0);

    // Its own, with `more` empty items before item `at`.
    T* open(std::uint32_t at, std::uint32_t more) {
      const std::uint32_t now = size();
      Few mine;
      mine.data_ = new (::operator new(sizeof(Data) + (now + more) * sizeof(T))) Data;
      mine.data_->size = now + more;
      T* const to = mine.data_->at();
      std::uninitialized_value_construct_n(to + at, more);
      const T* const from = begin();
      std::uninitialized_copy_n(from, at, to);
      std::uninitialized_copy_n(from + at, now - at, to + at + more);
      std::swap(data_, mine.data_);
      return to;
    }

    Data* data_ = nullptr;
  };
  using Epochs = Few<std::uint32_t>;  // of the agents of a block, by slot: a row

  // What of 64 blocks has been seen. Most clocks have one row: that of their own block.
  struct Group {
    std::uint32_t number = 0;   // of its first block, by 64
    std::uint64_t present = 0;  // by block: there is a row of it
    Few<Epochs> rows;           // of those that are present

    std::uint32_t place(std::uint64_t bit) const {
      const std::uint64_t before = present & (bit - 1);
      return before ? std::popcount(before) : 0;
    }
  };
  static std::uint32_t number_of(std::uint32_t block) { return block >> 6; }
  static std::uint64_t bit_of(std::uint32_t block) { return std::uint64_t{1} << (block & 63); }

  const Epochs* find(std::uint32_t block) const {
    for (const Group& g : groups_) {
      if (g.number != number_of(block)) {
        if (groups_.size() > few) return find_among_many(block);
        continue;
      }
      const std::uint64_t bit = bit_of(block);
      return g.present & bit ? &g.rows[g.place(bit)] : nullptr;
    }
    return nullptr;
  }
  const Epochs* find_among_many(std::uint32_t block) const;
  std::vector<Group>::iterator at(std::uint32_t number);

  static void join(Epochs& mine, const Epochs& other, bool shares);
  static void join(Group& mine, const Group& other, bool shares);

  static constexpr std::size_t few = 4;
  std::vector<Group> groups_;  // by number
};

}  // namespace tilescope::sim
