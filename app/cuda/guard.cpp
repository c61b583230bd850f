#include "app/cuda/guard.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "app/cuda/memory.h"
#include "app/cuda/wire.h"

namespace tilescope::standin {
namespace {

constexpr std::uint64_t page = 4096;

// Only what a handler of signals may use: places of their own, and atomics.
struct Guarded {
  std::atomic<std::uint64_t> begin{0}, end{0};
  std::atomic<bool> closed{false};
  std::atomic<Work> work{Work::launch};
};
std::array<Guarded, 256> guarded;
std::atomic<unsigned> closed_ranges{0};

struct EarlyUse {
  std::atomic<std::uint64_t> address{0};
  std::uint64_t instruction = 0;
  Work work = Work::launch;
  bool writes = false;
  std::atomic<bool> whole{false};
};
std::array<EarlyUse, 64> early_uses;
std::atomic<unsigned> early_count{0};

std::mutex guard_mutex;
struct sigaction before {};

void open(Guarded& g) {
  const std::uint64_t begin = g.begin, end = g.end;
  if (!g.closed.exchange(false)) return;
  ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE);
  --closed_ranges;
}

void remember(std::uint64_t address, std::uint64_t instruction, Work work, bool writes) {
  const unsigned place = early_count++;
  if (place >= early_uses.size()) return;
  EarlyUse& use = early_uses[place];
  use.address = address, use.instruction = instruction;
  use.work = work, use.writes = writes;
  use.whole = true;
}

// As if this handler were not there. One that was put in its place, and behind which it then went
// again, may pass on to it: then nobody wants it.
void pass_on(int signal, siginfo_t* about, void* context) {
  static std::atomic<pid_t> passing{0};  // a thread; variables of its own need a handler's care
  const bool has_flags = before.sa_flags & SA_SIGINFO;
  const pid_t self = ::gettid();
  if (passing == self ||
      (!has_flags && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN))) {
    ::signal(signal, SIG_DFL);  // and once more
    return;
  }
  passing = self;
  if (has_flags) {
    before.sa_sigaction(signal, about, context);
  } else {
    before.sa_handler(signal);
  }
  passing = 0;
}

// The file that holds an instruction, where in it that is, and the function, where it has a name.
void name_place(std::uint64_t instruction, char* out, std::size_t room) {
  Dl_info in{};
  *out = 0;
  if (!instruction || !::dladdr(reinterpret_cast<void*>(instruction), &in) || !in.dli_fname) return;
  const char* const slash = std::strrchr(in.dli_fname, '/');
  const auto offset =
      static_cast<unsigned long long>(instruction - reinterpret_cast<std::uint64_t>(in.dli_fbase));
  std::snprintf(out, room, "%s%s%s, at 0x%llx of it", in.dli_sname ? in.dli_sname : "",
                in.dli_sname ? " in " : "", slash ? slash + 1 : in.dli_fname, offset);
}

// The program ends by this, but where it has a handler of its own.
void tell_fault(std::uint64_t address, std::uint64_t instruction, bool writes) {
  char where[512], text[1024];
  name_place(instruction, where, sizeof where);
  const int n = std::snprintf(
      text, sizeof text,
      "tilescope: the host %s 0x%llx%s%s%s, which is an address of the device: what cudaMalloc "
      "gives, only kernels and copies reach (cudaMemcpy, or cudaMallocManaged for both), and what "
      "was freed is not there any more.\n",
      writes ? "writes" : "reads", static_cast<unsigned long long>(address), *where ? " (" : "",
      where, *where ? ")" : "");
  if (n > 0 && ::write(2, text, static_cast<std::size_t>(n)) < 0) return;
}

void on_segment_fault(int signal, siginfo_t* about, void* context) {
  const auto address = reinterpret_cast<std::uint64_t>(about->si_addr);
  if (about->si_code <= 0 || !wire::on_device(address)) return pass_on(signal, about, context);
  std::uint64_t instruction = 0;
  bool writes = false;
#ifdef __x86_64__
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  instruction = static_cast<std::uint64_t>(registers[REG_RIP]);
  writes = registers[REG_ERR] & 2;  // Intel SDM 3A, 4.7: caused by a write
#endif
  if (about->si_code != SEGV_ACCERR) {
    tell_fault(address, instruction, writes);
    return pass_on(signal, about, context);
  }
  for (Guarded& g : guarded) {
    if (!g.closed || address < g.begin || address >= g.end) continue;
    remember(address, instruction, g.work, writes);
    open(g);
    return;
  }
  // Another thread has opened it by now.
  ::mprotect(reinterpret_cast<void*>(address / page * page), page, PROT_READ | PROT_WRITE);
}

// Others may have put handlers of theirs in its place.
void be_there() {
  struct sigaction now {};
  if (::sigaction(SIGSEGV, nullptr, &now) != 0 || now.sa_sigaction == on_segment_fault) return;
  before = now;
  struct sigaction ours {};
  ours.sa_sigaction = on_segment_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  ::sigaction(SIGSEGV, &ours, nullptr);
}

// With CUDA_LAUNCH_BLOCKING a launch comes back when it is over (CUDA C++ Programming Guide,
// "Environment Variables").
bool is_wanted(Work work) {
  static const bool wanted = !std::getenv(wire::trusts_host_variable);
  static const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  static const bool waits = blocking && std::strcmp(blocking, "0") != 0 && *blocking;
  return wanted && !(waits && work == Work::launch);
}

}  // namespace

void watch_for_faults() {
  const std::lock_guard lock(guard_mutex);
  struct sigaction now {};
  if (::sigaction(SIGSEGV, nullptr, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
      now.sa_handler == SIG_DFL) {
    be_there();
  }
}

void guard(std::uint64_t begin, std::uint64_t end, Work work, bool may_read) {
  if (!is_wanted(work) || begin >= end || !wire::on_device(begin)) return;
  const std::optional<HostBlock> block = host_block(begin);
  if (!block || end > block->begin + block->bytes) return;
  const std::uint64_t first = (begin + page - 1) / page * page;
  std::uint64_t last = end / page * page;
  if (end == block->begin + block->bytes) last = (end + page - 1) / page * page;
  if (first >= last) return;
  const std::lock_guard lock(guard_mutex);
  be_there();
  Guarded* place = nullptr;
  for (Guarded& g : guarded) {
    if (g.closed && g.begin < last && first < g.end) open(g);
    if (!g.closed && !place) place = &g;
  }
  if (!place) return;
  place->begin = first, place->end = last, place->work = work;
  ++closed_ranges;
  place->closed = true;
  if (::mprotect(reinterpret_cast<void*>(first), last - first, may_read ? PROT_READ : PROT_NONE)) {
    open(*place);
  }
}

void let_in() {
  if (closed_ranges == 0) return;
  const std::lock_guard lock(guard_mutex);
  for (Guarded& g : guarded) open(g);
}

void let_in(std::uint64_t begin, std::uint64_t end) {
  if (closed_ranges == 0) return;
  const std::lock_guard lock(guard_mutex);
  for (Guarded& g : guarded) {
    if (g.begin < end && begin < g.end) open(g);
  }
}

void each_early_use(void (*say)(std::uint64_t, Work, bool, const char*)) {
  if (early_count == 0) return;
  const unsigned count = std::min<unsigned>(early_count, early_uses.size());
  for (unsigned i = 0; i < count; ++i) {
    EarlyUse& use = early_uses[i];
    if (!use.whole.exchange(false)) continue;
    char where[512];
    name_place(use.instruction, where, sizeof where);
    say(use.address, use.work, use.writes, where);
  }
  early_count = 0;
}

}  // namespace tilescope::standin
