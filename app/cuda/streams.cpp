// Streams and events.
#include "app/cuda/streams.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/graphs.h"
#include "app/cuda/guard.h"
#include "app/cuda/host_work.h"
#include "app/cuda/pools.h"

namespace tilescope::standin {
namespace {

constexpr unsigned non_blocking = 1;             // CU_STREAM_NON_BLOCKING
constexpr int least_priority = 0, highest = -5;  // as every chip since 7.0 answers

struct Facts {
  unsigned flags = 0;
  int priority = 0;
  std::map<int, CUlaunchAttributeValue> attributes;  // that were set
};
std::mutex facts_mutex;
std::map<CUstream, Facts>& all_facts() {
  static auto* const all = new std::map<CUstream, Facts>;
  return *all;
}
// How often the host had waited as an event was recorded last (guard.h).
std::map<CUevent, std::uint64_t>& recorded() {
  static auto* const all = new std::map<CUevent, std::uint64_t>;
  return *all;
}

// An H200 answers cudaErrorNotReady where what comes before the event is not done yet; here it
// always is. Told once.
void tell_unwaited(CUevent event) {
  static bool told = false;
  const std::lock_guard lock(facts_mutex);
  const auto found = recorded().find(event);
  if (told || found == recorded().end() || found->second != waits() || launches_wait()) return;
  told = true;
  say("cudaEventElapsedTime is asked before the program has waited for the event "
      "(cudaEventSynchronize): on a chip it may answer cudaErrorNotReady, and no time.");
}

bool is_default(CUstream stream) {
  const CUstream own = own_stream(stream);
  return !own || wire::is_thread_stream(reinterpret_cast<std::uint64_t>(own));
}

// Null: there is no such stream. Under the lock.
Facts* facts_of_stream(CUstream stream) {
  if (is_default(stream)) return &all_facts()[own_stream(stream)];
  const auto found = all_facts().find(stream);
  return found == all_facts().end() ? nullptr : &found->second;
}

}  // namespace

CUstream own_stream(CUstream stream) {
  static std::atomic<std::uint64_t> next = wire::first_thread_stream;
  static thread_local std::uint64_t own = 0;
  if (stream == stream_legacy()) return nullptr;
  if (stream != stream_per_thread()) return stream;
  if (!own) own = next++;
  return reinterpret_cast<CUstream>(own);
}

bool is_blocking(CUstream stream) {
  const std::lock_guard lock(facts_mutex);
  const Facts* const facts = facts_of_stream(stream);
  return facts && facts->flags != non_blocking;
}

bool was_recorded(CUevent event) {
  const std::lock_guard lock(facts_mutex);
  return recorded().count(event) > 0;
}

TILESCOPE_CUDA cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  if (!stream || flags > non_blocking) {
    return is_connected() ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
  }
  std::uint64_t number = 0;
  const CUresult result = Question(Call::stream_create).with(flags).with(priority).ask(&number);
  if (result) return result;
  *stream = handle_of<CUstream>(number);
  const std::lock_guard lock(facts_mutex);
  all_facts()[*stream] = {flags, std::clamp(priority, highest, least_priority), {}};
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamCreate(CUstream* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
TILESCOPE_CUDA cuStreamDestroy_v2(CUstream stream) {
  if (is_default(stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult wrong = catch_up(stream)) return wrong;
  {
    const std::lock_guard lock(facts_mutex);
    all_facts().erase(stream);
  }
  return Question(Call::stream_destroy).with(number_of(stream)).ask();
}
TILESCOPE_CUDA cuStreamSynchronize(CUstream stream) {
  if (const CUresult wrong = spoil_capture(stream)) return wrong;
  if (const CUresult wrong = waits_for_captured(stream)) return wrong;
  if (const CUresult wrong = catch_up(stream)) return wrong;
  Question question(Call::synchronize);
  const CUresult result = question.with(number_of(stream)).ask();
  print(question.results().text());
  trim_pools();
  return result;
}
// Work is done when it is given, but behind host functions. One that asks of a stream is told what
// an H200's driver told it of its own.
TILESCOPE_CUDA cuStreamQuery(CUstream stream) {
  if (in_host_function()) return CUDA_ERROR_NOT_READY;
  if (is_behind(stream)) {
    const CUresult wrong = spoil_capture(stream);
    return wrong ? wrong : CUDA_ERROR_NOT_READY;
  }
  return cuStreamSynchronize(stream);
}
TILESCOPE_CUDA cuStreamGetFlags(CUstream stream, unsigned* flags) {
  const std::lock_guard lock(facts_mutex);
  const Facts* const facts = facts_of_stream(stream);
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  if (!facts) return CUDA_ERROR_INVALID_HANDLE;
  *flags = facts->flags;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamGetPriority(CUstream stream, int* priority) {
  const std::lock_guard lock(facts_mutex);
  const Facts* const facts = facts_of_stream(stream);
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  if (!facts) return CUDA_ERROR_INVALID_HANDLE;
  *priority = facts->priority;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamGetId(CUstream stream, unsigned long long* id) {
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = number_of(stream);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamGetDevice(CUstream, CUdevice* device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = 0;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamGetCtx(CUstream, CUcontext* context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context() ? current_context() : primary_context();
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamGetCtx_v2(CUstream stream, CUcontext* context, void** green) {
  if (green) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
TILESCOPE_CUDA cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  CUresult result = CUDA_SUCCESS;
  if (flags > wait_external) return CUDA_ERROR_INVALID_VALUE;
  if (wait_captured(stream, event, flags == wait_external, result)) return result;
  const CUstream own = own_stream(stream);
  const auto wait = [=] {
    return Question(Call::event_wait).with(number_of(event)).with(number_of(own)).ask();
  };
  if (!is_late(event) && !is_behind(own)) return wait();
  wait_later(own, event, wait);
  return CUDA_SUCCESS;
}

// ---- attributes: hints, which change nothing here -----------------------------------------------

namespace {

constexpr int most_window = 109;  // CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE
constexpr int persisting = 2;     // CU_ACCESS_PROPERTY_PERSISTING

bool is_of_streams(int id) {
  return id == attribute_access_policy_window || id == attribute_synchronization_policy ||
         id == attribute_priority || id == attribute_sync_domain_map || id == attribute_sync_domain;
}

}  // namespace

// What a window may be (CUDA Driver API, CUaccessPolicyWindow).
CUresult window_wrong(const CUaccessPolicyWindow& window) {
  int most = 0;
  const CUresult result = Question(Call::device_attribute).with(most_window).ask(&most);
  if (result) return result;
  const bool good = window.bytes <= static_cast<std::size_t>(most) && window.hit_ratio >= 0 &&
                    window.hit_ratio <= 1 && window.hit >= 0 && window.hit <= persisting &&
                    window.miss >= 0 && window.miss < persisting;
  return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

TILESCOPE_CUDA cuStreamSetAttribute(CUstream stream, int id, const CUlaunchAttributeValue* value) {
  if (!value || !is_of_streams(id)) return CUDA_ERROR_INVALID_VALUE;
  if (id == attribute_access_policy_window) {
    if (const CUresult wrong = window_wrong(value->window)) return wrong;
  }
  const std::lock_guard lock(facts_mutex);
  Facts* const facts = facts_of_stream(stream);
  if (!facts) return CUDA_ERROR_INVALID_HANDLE;
  facts->attributes[id] = *value;
  if (id == attribute_priority) {
    facts->priority = std::clamp(value->number, highest, least_priority);
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamGetAttribute(CUstream stream, int id, CUlaunchAttributeValue* value) {
  if (!value || !is_of_streams(id)) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(facts_mutex);
  const Facts* const facts = facts_of_stream(stream);
  if (!facts) return CUDA_ERROR_INVALID_HANDLE;
  const auto found = facts->attributes.find(id);
  *value = found == facts->attributes.end() ? CUlaunchAttributeValue{} : found->second;
  if (id == attribute_priority) value->number = facts->priority;
  if (id == attribute_synchronization_policy && found == facts->attributes.end()) {
    value->number = 1;  // CU_SYNC_POLICY_AUTO
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamCopyAttributes(CUstream to, CUstream from) {
  const std::lock_guard lock(facts_mutex);
  Facts* const mine = facts_of_stream(to);
  const Facts* const theirs = facts_of_stream(from);
  if (!mine || !theirs) return CUDA_ERROR_INVALID_HANDLE;
  mine->attributes = theirs->attributes;
  return CUDA_SUCCESS;
}

// ---- events -------------------------------------------------------------------------------------

TILESCOPE_CUDA cuEventCreate(CUevent* event, unsigned flags) {
  // CU_EVENT_...: one for other processes has no time.
  constexpr unsigned all_flags = 7, for_others = 4;
  if (flags > all_flags || ((flags & for_others) && !(flags & disable_timing))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return Question(Call::event_create).with(flags).ask(reinterpret_cast<std::uint64_t*>(event));
}
TILESCOPE_CUDA cuEventDestroy_v2(CUevent event) {
  if (const CUresult wrong = catch_up(event)) return wrong;
  forget_event(event);
  {
    const std::lock_guard lock(facts_mutex);
    recorded().erase(event);
  }
  return Question(Call::event_destroy).with(number_of(event)).ask();
}
TILESCOPE_CUDA cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  CUresult result = CUDA_SUCCESS;
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  if (flags > record_external) return CUDA_ERROR_INVALID_VALUE;
  if (record_captured(event, stream, flags == record_external, result)) return result;
  if (const CUresult wrong = waits_for_captured(stream)) return wrong;
  const CUstream own = own_stream(stream);
  const auto record = [=] {
    return Question(Call::event_record).with(number_of(event)).with(number_of(own)).ask();
  };
  if (is_behind(own)) {
    record_later(event, own, record);
  } else {
    result = record();
  }
  const std::lock_guard lock(facts_mutex);
  if (result == CUDA_SUCCESS) recorded()[event] = waits();
  return result;
}
TILESCOPE_CUDA cuEventRecord(CUevent event, CUstream stream) {
  return cuEventRecordWithFlags(event, stream, 0);
}
TILESCOPE_CUDA cuEventSynchronize(CUevent event) {
  if (const CUresult wrong = spoil_capture(event)) return wrong;
  if (const CUresult wrong = catch_up(event)) return wrong;
  Question question(Call::event_query);
  const CUresult result = question.with(number_of(event)).ask();
  print(question.results().text());
  trim_pools();
  return result;
}
TILESCOPE_CUDA cuEventQuery(CUevent event) {
  if (is_late(event)) {
    const CUresult wrong = spoil_capture(event);
    return wrong ? wrong : CUDA_ERROR_NOT_READY;
  }
  return cuEventSynchronize(event);
}
TILESCOPE_CUDA cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  if (is_late(begin) || is_late(end)) return CUDA_ERROR_NOT_READY;
  tell_unwaited(end);
  return Question(Call::event_elapsed)
      .with(number_of(begin))
      .with(number_of(end))
      .ask(milliseconds);
}
TILESCOPE_CUDA cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime(milliseconds, begin, end);
}

}  // namespace tilescope::standin
