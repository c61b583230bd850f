// Which bytes of global memory somebody has read and written, whoever that is: a launch, a copy.
// Byte by byte, in pages that are made when they are first touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/sim/order/vector_clock.h"

namespace tilescope::sim {

// Addresses.
class ByteSet {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  bool empty() const { return pages_.empty(); }
  // The lowest address that is in both.
  std::optional<std::uint64_t> common(const ByteSet& other) const;
  std::uint64_t held() const;  // bytes, about

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  // A bit for each byte; empty: all of them.
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> pages_;
};

// Strong accesses (PTX ISA 8.5) of the whole chip are told apart: two of them are no race.
class AccessLog {
 public:
  enum class How : std::uint8_t { read, write, strong_read, strong_write };
  void add(How how, std::uint64_t begin, std::uint64_t end, bool early = false) {
    sets_[static_cast<int>(how)].add(begin, end);
    if (early) early_[static_cast<int>(how)].add(begin, end);
  }

  // Of a launch that may begin before the one before it has ended (programmatic dependent launch):
  // what is not behind a griddepcontrol.wait is early (PTX ISA 9.7.13.13), be it one's own or that
  // of another thread of the cluster, which has released since and been acquired.
  struct Wait {
    Agent agent;
    std::uint32_t epoch = 0;
  };
  void tell_early() { tells_early_ = true; }
  // It has executed griddepcontrol.launch_dependents: a launch behind it may begin before it ends;
  // and where it is `early` there, before the launch before it ends, too.
  void let_dependents_begin(bool early = false) {
    lets_dependents_begin_ = true;
    waits_first_ = waits_first_ || !early;
  }
  bool lets_dependents_begin() const { return lets_dependents_begin_; }
  bool passes_on() const { return lets_dependents_begin_ && !waits_first_; }
  void waited(std::uint64_t cluster, Wait wait) {
    if (tells_early_) waits_[cluster].push_back(wait);
  }
  bool tells_early() const { return tells_early_; }
  // is_behind(const Wait&): what happens in the cluster now is.
  template <class Behind>
  bool is_early(std::uint64_t cluster, Behind is_behind) const {
    if (!tells_early_) return false;
    const auto at = waits_.find(cluster);
    return at == waits_.end() || std::none_of(at->second.begin(), at->second.end(), is_behind);
  }

  bool empty() const;
  std::uint64_t held() const;

  struct Meeting {
    std::uint64_t at = 0;  // the lowest address
    bool writes = false, other_writes = false;
  };
  // Bytes that both use, of which one writes, and which not both use strongly.
  std::optional<Meeting> meeting(const AccessLog& other) const;
  // The same of what is early here.
  std::optional<Meeting> early_meeting(const AccessLog& other) const;

 private:
  using Sets = ByteSet[4];
  static std::optional<Meeting> meeting(const Sets& mine, const Sets& theirs);

  Sets sets_;
  Sets early_;  // of these
  bool tells_early_ = false, lets_dependents_begin_ = false, waits_first_ = false;
  std::unordered_map<std::uint64_t, std::vector<Wait>> waits_;  // by cluster
};

}  // namespace tilescope::sim
