// Streams and events.
#include <cmath>

#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/graphs.h"

namespace tilescope::standin {

TILESCOPE_CUDA cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return Question(Call::stream_create)
      .with(flags)
      .with(priority)
      .ask(reinterpret_cast<std::uint64_t*>(stream));
}
TILESCOPE_CUDA cuStreamCreate(CUstream* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
TILESCOPE_CUDA cuStreamDestroy_v2(CUstream stream) {
  return Question(Call::stream_destroy).with(number_of(stream)).ask();
}
TILESCOPE_CUDA cuStreamSynchronize(CUstream stream) {
  if (is_captured(stream)) return static_cast<CUresult>(900);  // STREAM_CAPTURE_UNSUPPORTED
  Question question(Call::synchronize);
  const CUresult result = question.with(number_of(stream)).ask();
  print(question.results().text());
  return result;
}
// Work is done when it is given: what was asked for is complete.
TILESCOPE_CUDA cuStreamQuery(CUstream stream) {
  return cuStreamSynchronize(stream);
}
TILESCOPE_CUDA cuStreamGetFlags(CUstream, unsigned* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = 1;  // CU_STREAM_NON_BLOCKING
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamGetPriority(CUstream, int* priority) {
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  *priority = 0;
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
TILESCOPE_CUDA cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  if (wait_captured(stream, event)) return CUDA_SUCCESS;
  return Question(Call::event_wait).with(number_of(event)).with(number_of(stream)).ask();
}
TILESCOPE_CUDA cuStreamAttachMemAsync(CUstream, CUdeviceptr, std::size_t, unsigned) {
  return CUDA_SUCCESS;
}
// ---- events -------------------------------------------------------------------------------------

TILESCOPE_CUDA cuEventCreate(CUevent* event, unsigned flags) {
  return Question(Call::event_create).with(flags).ask(reinterpret_cast<std::uint64_t*>(event));
}
TILESCOPE_CUDA cuEventDestroy_v2(CUevent event) {
  return Question(Call::event_destroy).with(number_of(event)).ask();
}
TILESCOPE_CUDA cuEventRecord(CUevent event, CUstream stream) {
  if (record_captured(event, stream)) return CUDA_SUCCESS;
  return Question(Call::event_record).with(number_of(event)).with(number_of(stream)).ask();
}
TILESCOPE_CUDA cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  return cuEventRecord(event, stream);
}
TILESCOPE_CUDA cuEventQuery(CUevent event) {
  return Question(Call::event_query).with(number_of(event)).ask();
}
TILESCOPE_CUDA cuEventSynchronize(CUevent event) {
  Question question(Call::event_query);
  const CUresult result = question.with(number_of(event)).ask();
  print(question.results().text());
  return result;
}
TILESCOPE_CUDA cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return Question(Call::event_elapsed)
      .with(number_of(begin))
      .with(number_of(end))
      .ask(milliseconds);
}
TILESCOPE_CUDA cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime(milliseconds, begin, end);
}

}  // namespace tilescope::standin
