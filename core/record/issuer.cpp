#include "core/record/issuer.h"

namespace tilescope::sim {

EventId issuer_of(const Record& record, const Event& operation) {
  EventId at = operation.cause;
  if (at < record.events.size() && record.events[at].kind == EventKind::operation) {
    at = record.events[at].cause;
  }
  const bool runs = at < record.events.size() && record.events[at].kind == EventKind::run;
  return runs ? at : no_event;
}

}  // namespace tilescope::sim
