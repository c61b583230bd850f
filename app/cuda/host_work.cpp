#include "app/cuda/host_work.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "app/cuda/contexts.h"
#include "app/cuda/streams.h"

namespace tilescope::standin {

TILESCOPE_CUDA cuCtxSetCurrent(CUcontext context);

namespace {

// A row of work and the thread that does it. Works are counted from 1.
struct Row;
struct Turn {
  Row* row = nullptr;
  std::uint64_t number = 0;
};
struct Late {
  LateWork work;
  std::vector<Turn> behind;  // of other rows
  CUcontext context = nullptr;
};
struct Row {
  bool blocking = true;
  std::deque<Late> waiting;
  std::uint64_t given = 0, done = 0;
  CUresult failed = CUDA_SUCCESS;  // the first that nobody was told of
  bool is_busy() const { return done < given; }
};

// What rows are made of lives as long as their threads, which nobody joins: a function may never
// come back, and the program ends all the same.
struct All {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<CUstream, std::unique_ptr<Row>> rows;
  std::map<CUevent, Turn> events;
};
All& all() {
  static auto* const the = new All;
  return *the;
}
std::atomic<std::uint64_t> busy{0};  // works that wait or are being done
thread_local bool is_of_a_row = false;

bool is_over(const Turn& place) {
  return place.row->done >= place.number;
}

void work_through(Row& row) {
  is_of_a_row = true;
  std::unique_lock lock(all().mutex);
  for (;;) {
    all().changed.wait(lock, [&] { return !row.waiting.empty(); });
    Late late = std::move(row.waiting.front());
    row.waiting.pop_front();
    for (const Turn& each : late.behind) {
      all().changed.wait(lock, [&] { return is_over(each); });
    }
    lock.unlock();
    if (late.context != current_context()) cuCtxSetCurrent(late.context);
    const CUresult result = late.work();
    late.work = nullptr;
    lock.lock();
    if (row.failed == CUDA_SUCCESS) row.failed = result;
    ++row.done;
    --busy;
    all().changed.notify_all();
  }
}

// Under the lock.
Row& row_of(CUstream stream) {
  std::unique_ptr<Row>& row = all().rows[own_stream(stream)];
  if (!row) {
    row = std::make_unique<Row>();
    row->blocking = is_blocking(stream);
    std::thread(work_through, std::ref(*row)).detach();
  }
  return *row;
}

// The rows whose works come before what the stream is given next, its own last. Under the lock.
std::vector<Row*> rows_before(CUstream stream) {
  const CUstream own = own_stream(stream);
  std::vector<Row*> out;
  const bool blocks = own && is_blocking(stream);
  for (const auto& [of, row] : all().rows) {
    if (of == own || !row->is_busy()) continue;
    if ((!own && row->blocking) || (blocks && !of)) out.push_back(row.get());
  }
  const auto mine = all().rows.find(own);
  if (mine != all().rows.end() && mine->second->is_busy()) out.push_back(mine->second.get());
  return out;
}

// Under the lock: where it is.
Turn put(CUstream stream, LateWork work, std::vector<Turn> behind) {
  for (Row* const each : rows_before(stream)) behind.push_back({each, each->given});
  Row& row = row_of(stream);
  std::erase_if(behind, [&](const Turn& each) { return each.row == &row; });
  row.waiting.push_back({std::move(work), std::move(behind), current_context()});
  ++busy;
  ++row.given;
  all().changed.notify_all();
  return {&row, row.given};
}

CUresult take_failure(Row& row) {
  return std::exchange(row.failed, CUDA_SUCCESS);
}

}  // namespace

bool is_behind(CUstream stream) {
  if (busy == 0 || is_of_a_row) return false;
  const std::lock_guard lock(all().mutex);
  return !rows_before(stream).empty();
}

void do_later(CUstream stream, LateWork work) {
  const std::lock_guard lock(all().mutex);
  put(stream, std::move(work), {});
}

CUresult do_in_order(CUstream stream, LateWork work) {
  if (!is_behind(stream)) return work();
  do_later(stream, std::move(work));
  return CUDA_SUCCESS;
}

CUresult catch_up(CUstream stream) {
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  if (is_of_a_row) return CUDA_SUCCESS;
  std::unique_lock lock(all().mutex);
  all().changed.wait(lock, [&] { return rows_before(stream).empty(); });
  const auto mine = all().rows.find(own_stream(stream));
  return mine == all().rows.end() ? CUDA_SUCCESS : take_failure(*mine->second);
}

CUresult catch_up_all() {
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  if (is_of_a_row) return CUDA_SUCCESS;
  std::unique_lock lock(all().mutex);
  CUresult result = CUDA_SUCCESS;
  for (const auto& [of, row] : all().rows) {
    all().changed.wait(lock, [&] { return !row->is_busy(); });
    if (result == CUDA_SUCCESS) result = take_failure(*row);
  }
  return result;
}

void record_later(CUevent event, CUstream stream, LateWork record) {
  const std::lock_guard lock(all().mutex);
  all().events[event] = put(stream, std::move(record), {});
}

bool is_late(CUevent event) {
  if (busy == 0 || is_of_a_row) return false;
  const std::lock_guard lock(all().mutex);
  const auto found = all().events.find(event);
  return found != all().events.end() && !is_over(found->second);
}

CUresult catch_up(CUevent event) {
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  if (is_of_a_row) return CUDA_SUCCESS;
  std::unique_lock lock(all().mutex);
  const auto found = all().events.find(event);
  if (found == all().events.end()) return CUDA_SUCCESS;
  const Turn place = found->second;
  all().changed.wait(lock, [&] { return is_over(place); });
  return CUDA_SUCCESS;
}

void wait_later(CUstream stream, CUevent event, LateWork wait) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().events.find(event);
  std::vector<Turn> behind;
  if (found != all().events.end()) behind.push_back(found->second);
  put(stream, std::move(wait), std::move(behind));
}

}  // namespace tilescope::standin
