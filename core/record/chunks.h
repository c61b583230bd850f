// A long row of values that grows without moving: pieces of one size, so that a row of hundreds of
// megabytes is never copied, and its front can be freed while it is read.
#pragma once

#include <cstddef>
#include <vector>

namespace tilescope::sim {

template <class T>
class Chunks {
 public:
  static constexpr std::size_t chunk = 1 << 12;

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return chunks_[i / chunk][i % chunk]; }
  const T& operator[](std::size_t i) const { return chunks_[i / chunk][i % chunk]; }

  // Says that [i] will be read soon.
  void prefetch(std::size_t i) const { __builtin_prefetch(&chunks_[i / chunk][i % chunk]); }

  void push_back(const T& value) {
    if (size_ % chunk == 0) {
      chunks_.emplace_back();
      chunks_.back().reserve(size_ ? chunk : 0);  // a short row stays small
    }
    chunks_.back().push_back(value);
    ++size_;
  }

  // Frees the memory of whole pieces before i: they are not to be read again.
  void release_before(std::size_t i) {
    for (const std::size_t end = i / chunk; released_ < end; ++released_) {
      std::vector<T>().swap(chunks_[released_]);
    }
  }

 private:
  std::vector<std::vector<T>> chunks_;
  std::size_t size_ = 0, released_ = 0;
};

}  // namespace tilescope::sim
