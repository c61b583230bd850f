#include "core/sim/tcgen05/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace tilescope::sim {
namespace {

bool overlap(const Allocation& a, std::uint32_t column, std::uint32_t columns) {
  return a.column < column + columns && column < a.column + a.columns;
}

}  // namespace

std::string cells_text(const CellRange& cells) {
  const auto some = [](std::string_view what, std::uint32_t first, std::uint32_t count) {
    return count == 1 ? fmt::format("{} {}", what, first)
                      : fmt::format("{}s {}-{}", what, first, first + count - 1);
  };
  return fmt::format("{}, {} of TMEM", some("lane", cells.lane, cells.lanes),
                     some("column", cells.column, cells.columns));
}

const CellRange* meeting(const std::vector<CellRange>& a, const std::vector<CellRange>& b) {
  for (const CellRange& x : a) {
    for (const CellRange& y : b) {
      if (x.meets(y)) return &x;
    }
  }
  return nullptr;
}

TensorMemory& TensorMemory::operator=(TensorMemory other) noexcept {
  swap(other);
  return *this;
}

void TensorMemory::swap(TensorMemory& other) noexcept {
  std::swap(pending_, other.pending_);
  allocations_.swap(other.allocations_);
  given_back_.swap(other.given_back_);
  cells_.swap(other.cells_);
  undefined_.swap(other.undefined_);
}

void TensorMemory::calculate(Executor* executor, std::function<void(std::uint32_t* rows)> work) {
  pending_.calculate(executor, [work = std::move(work), rows = cells_[0].cells] { work(rows); });
}

void TensorMemory::reserve(std::uint32_t column, std::uint32_t count) {
  if (cells_.empty()) {
    cells_.assign(lanes, Row{});
    undefined_.assign(std::size_t{lanes} * columns, 0xf);
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    std::memset(&undefined_[lane * columns + column], 0xf, count);
  }
}

void TensorMemory::take(const Allocation& allocation) {
  allocations_.push_back(allocation);
  given_back_.erase(std::remove_if(given_back_.begin(), given_back_.end(),
                                   [&](const Allocation& a) {
                                     return overlap(a, allocation.column, allocation.columns);
                                   }),
                    given_back_.end());
}

bool TensorMemory::deallocate(const Allocation& by) {
  const auto found = std::find_if(allocations_.begin(), allocations_.end(), [&](const auto& a) {
    return a.column == by.column && a.columns == by.columns;
  });
  if (found == allocations_.end()) return false;
  allocations_.erase(found);
  given_back_.push_back(by);
  return true;
}

const Allocation* TensorMemory::given_back(std::uint32_t column, std::uint32_t count) const {
  const auto found = std::find_if(given_back_.rbegin(), given_back_.rend(),
                                  [&](const auto& a) { return overlap(a, column, count); });
  return found == given_back_.rend() ? nullptr : &*found;
}

bool TensorMemory::owns(std::uint32_t column, std::uint32_t count) const {
  if (count > columns || column > columns - count) return false;
  for (std::uint32_t at = column; at < column + count;) {
    const auto holds = [&](const Allocation& a) {
      return at >= a.column && at < a.column + a.columns;
    };
    const auto found = std::find_if(allocations_.begin(), allocations_.end(), holds);
    if (found == allocations_.end()) return false;
    at = found->column + found->columns;
  }
  return true;
}

bool TensorMemory::any_undefined(std::uint32_t lane, std::uint32_t column,
                                 std::uint32_t count) const {
  const std::uint8_t* at = &undefined_[lane * columns + column];
  std::uint64_t any[4] = {};  // independent of each other: the processor does them at once
  for (; count >= sizeof any; count -= sizeof any, at += sizeof any) {
    std::uint64_t some[4];
    std::memcpy(some, at, sizeof some);
    for (int i = 0; i < 4; ++i) any[i] |= some[i];
  }
  for (; count > 0; --count) any[0] |= *at++;
  return (any[0] | any[1] | any[2] | any[3]) != 0;
}

void TensorMemory::define(std::uint32_t lane, std::uint32_t column, std::uint32_t count) {
  std::memset(&undefined_[lane * columns + column], 0, count);
}

}  // namespace tilescope::sim
