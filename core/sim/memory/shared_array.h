// An array whose copies share it until one of them writes: a checkpoint costs what changes behind
// it. Copies may be in different threads, each of which uses its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilescope::sim {

template <class T>
class SharedArray {
 public:
  SharedArray() = default;
  explicit SharedArray(std::vector<T> values) : data_(new Data{{1}, std::move(values)}) {}
  SharedArray(const SharedArray& other) : data_(other.data_) {
    if (data_) data_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedArray(SharedArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  SharedArray& operator=(SharedArray other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~SharedArray() {
    if (data_ && data_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete data_;
  }

  std::size_t size() const { return data_ ? data_->values.size() : 0; }
  bool empty() const { return size() == 0; }
  const T* data() const { return data_ ? data_->values.data() : nullptr; }
  const T& operator[](std::size_t i) const { return data_->values[i]; }

  // To write: from now on they are its own.
  T* own() {
    if (!data_) return nullptr;
    if (data_->owners.load(std::memory_order_acquire) != 1) *this = SharedArray(data_->values);
    return data_->values.data();
  }
  void assign(std::size_t size, const T& value) {
    *this = SharedArray(std::vector<T>(size, value));
  }
  void clear() { *this = {}; }

  std::uint64_t held() const { return size() * sizeof(T); }  // bytes, of what is shared too

 private:
  struct Data {
    std::atomic<std::uint32_t> owners;
    std::vector<T> values;
  };
  Data* data_ = nullptr;
};

}  // namespace tilescope::sim
