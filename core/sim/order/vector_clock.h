// How much of what others do has been seen: a vector clock (Mattern 1989), for the agents of a
// grid.
//
// An agent is whoever does things in an order of its own: a warp, whose lanes are taken to be in
// order, or what asynchronous operations complete on. Its deeds are counted in epochs, from 1 on.
//
// Where all CTAs tell each other, clocks have a row for each, and most rows are the same in all of
// them: copies share rows until one of them sees more.
#pragma once

#include <atomic>
#include <cstdint>
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
    const Row* r = find(a.block);
    return r ? r->seen.of(a.slot) : 0;
  }
  // Has anybody of this block been seen?
  bool knows(std::uint32_t block) const { return find(block) != nullptr; }
  void see(Agent a, std::uint32_t epoch);
  void join(const VectorClock& other);
  // The same, of what agents of this block do alone.
  void join(const VectorClock& other, std::uint32_t block);
  void clear() { rows_.clear(); }
  bool empty() const { return rows_.empty(); }
  std::uint64_t held() const;  // bytes, of what is shared too

 private:
  // Epochs by slot, shared by their copies; who writes has its own.
  class Epochs {
   public:
    Epochs() = default;
    Epochs(const Epochs& other) : data_(other.data_) {
      if (data_) data_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    Epochs(Epochs&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    Epochs& operator=(Epochs other) noexcept {
      std::swap(data_, other.data_);
      return *this;
    }
    ~Epochs() {
      if (data_ && data_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) free(data_);
    }

    std::uint32_t of(std::uint32_t slot) const {
      return data_ && slot < data_->size ? data_->at()[slot] : 0;
    }
    void see(std::uint32_t slot, std::uint32_t epoch);
    // The later of each. `shares`: it may become the same as `other`.
    void join(const Epochs& other, bool shares);
    std::uint64_t held() const;

   private:
    struct Data {
      std::atomic<std::uint32_t> owners{1};
      std::uint32_t size = 0;
      std::uint32_t* at() { return reinterpret_cast<std::uint32_t*>(this + 1); }
      const std::uint32_t* at() const { return reinterpret_cast<const std::uint32_t*>(this + 1); }
    };
    static Data* make(std::uint32_t size, const Data* like);
    static void free(Data* data);
    // Its own, for at least so many slots.
    void own(std::uint32_t size);

    Data* data_ = nullptr;
  };

  // What of one block has been seen. Most clocks have one row: that of their own block.
  struct Row {
    std::uint32_t block = 0;
    Epochs seen;
  };
  const Row* find(std::uint32_t block) const {
    if (rows_.size() > few) return find_among_many(block);
    for (const Row& r : rows_) {
      if (r.block == block) return &r;
    }
    return nullptr;
  }
  const Row* find_among_many(std::uint32_t block) const;

  static constexpr std::size_t few = 4;
  std::vector<Row> rows_;  // by block
};

}  // namespace tilescope::sim
