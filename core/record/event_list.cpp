#include "core/record/event_list.h"

namespace tilescope::sim {
namespace {

constexpr std::uint32_t endless = ~std::uint32_t{0};

bool fits(std::uint64_t value) {
  return value < endless;
}

}  // namespace

EventList::Packed EventList::pack(const Event& event) {
  const bool run = event.kind == EventKind::run || event.kind == EventKind::folded;
  const std::uint64_t length = event.end - event.begin;  // huge where the end is before the begin
  const std::uint64_t lead = event.begin - event.issue;
  const bool plain = event.begin >> 44 == 0 && (event.end == never_ends || fits(length)) &&
                     fits(event.amount) &&
                     (run ? event.issue == event.begin
                          : fits(lead) && (event.until == 0 || event.until == event.pc));
  Packed packed{};
  packed.track = event.track;
  packed.cause = event.cause;
  packed.kind = static_cast<std::uint64_t>(event.kind) & 0xf;
  if (!plain) {
    packed.wide = 1;
    packed.amount = static_cast<std::uint32_t>(wide_.size());
    wide_.push_back(event);
    return packed;
  }
  packed.begin = event.begin & ((std::uint64_t{1} << 44) - 1);
  packed.stall = static_cast<std::uint64_t>(event.stall) & 0x1f;
  packed.bytes = event.bytes;
  packed.length = event.end == never_ends ? endless : static_cast<std::uint32_t>(length);
  packed.other = run ? event.until : static_cast<std::uint32_t>(lead);
  packed.stands = !run && event.until != 0;
  packed.amount = static_cast<std::uint32_t>(event.amount);
  packed.object = event.object;
  packed.phase = event.phase;
  packed.pc = event.pc;
  return packed;
}

void EventList::set_cause(std::size_t i, EventId cause) {
  Packed& packed = packed_[i];
  packed.cause = cause;
  if (packed.wide) wide_[packed.amount].cause = cause;
}

bool EventList::operator==(const EventList& other) const {
  if (size() != other.size()) return false;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!((*this)[i] == other[i])) return false;
  }
  return true;
}

}  // namespace tilescope::sim
