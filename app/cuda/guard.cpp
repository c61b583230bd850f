#include "app/cuda/guard.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
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

// ---- what is guarded: what a handler of signals may use, places of their own and atomics
// ---------

enum class State : std::uint8_t { open, closed, opening };

// Who finds it closed opens it; a place is used again by guard() alone, once it is open.
struct Guarded {
  std::atomic<State> state{State::open};
  std::atomic<std::uint64_t> begin{0}, end{0};
  Work work;

  bool holds(std::uint64_t address) const { return address >= begin && address < end; }
};
std::array<Guarded, 256> guarded;
std::atomic<unsigned> closed_ranges{0};

// True for who has opened it; it is open for all behind this.
bool open(Guarded& g) {
  State is = State::closed;
  if (!g.state.compare_exchange_strong(is, State::opening)) {
    while (g.state == State::opening) {
    }
    return false;
  }
  ::mprotect(reinterpret_cast<void*>(g.begin.load()), g.end - g.begin, PROT_READ | PROT_WRITE);
  g.state = State::open;
  --closed_ranges;
  return true;
}

struct Seen {
  std::atomic<bool> whole{false};
  std::uint64_t address = 0, instruction = 0;
  Work work;
  bool writes = false;
};
std::array<Seen, 64> seen;
std::atomic<unsigned> seen_count{0};

void remember(std::uint64_t address, std::uint64_t instruction, Work work, bool writes) {
  const unsigned place = seen_count++;
  if (place >= seen.size()) return;
  Seen& one = seen[place];
  one.address = address, one.instruction = instruction;
  one.work = work, one.writes = writes;
  one.whole = true;
}

// ---- the handlers
// --------------------------------------------------------------------------------

std::mutex guard_mutex;
std::atomic<pid_t> guarding_process{0};
struct sigaction before {};  // what guards_on stands before

// The file that holds an instruction, where in it that is as addr2line has it, and the function,
// where it has a name.
// `whole`: the file with its folders, which no handler may ask for.
void name_place(std::uint64_t instruction, char* out, std::size_t room, bool whole = false) {
  Dl_info in{};
  *out = 0;
  if (!instruction || !::dladdr(reinterpret_cast<void*>(instruction), &in) || !in.dli_fname) return;
  const char* const slash = std::strrchr(in.dli_fname, '/');
  char path[PATH_MAX];
  const char* const file = whole && ::realpath(in.dli_fname, path) ? path
                           : slash                                 ? slash + 1
                                                                   : in.dli_fname;
  const bool fixed = static_cast<const Elf64_Ehdr*>(in.dli_fbase)->e_type == ET_EXEC;
  const std::uint64_t base = fixed ? 0 : reinterpret_cast<std::uint64_t>(in.dli_fbase);
  std::snprintf(out, room, "%s%s%s, at 0x%llx of it", in.dli_sname ? in.dli_sname : "",
                in.dli_sname ? " in " : "", file,
                static_cast<unsigned long long>(instruction - base));
}

struct Fault {
  std::uint64_t address = 0, instruction = 0;
  bool happened = false;  // not sent by somebody
  bool is_protection = false, writes = false, fetches = false;
};
Fault fault_of(const siginfo_t* about, const void* context) {
  Fault out;
  out.address = reinterpret_cast<std::uint64_t>(about->si_addr);
  out.happened = about->si_code > 0;
  out.is_protection = about->si_code == SEGV_ACCERR;
#ifdef __x86_64__
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  out.instruction = static_cast<std::uint64_t>(registers[REG_RIP]);
  out.writes = registers[REG_ERR] & 2;    // Intel SDM 3A, 4.7: W/R
  out.fetches = registers[REG_ERR] & 16;  // I/D
#endif
  return out;
}

// Whether it is over, and the instruction may go on.
bool was_guarded(const Fault& f) {
  if (!f.happened || !f.is_protection || f.fetches) return false;
  for (Guarded& g : guarded) {
    if (g.state == State::open || !g.holds(f.address)) continue;
    const Work work = g.work;
    if (open(g)) remember(f.address, f.instruction, work, f.writes);
    return true;
  }
  // Another thread may have opened it by now.
  for (Guarded& g : guarded) {
    if (!g.holds(f.address)) continue;
    ::mprotect(reinterpret_cast<void*>(f.address / page * page), page, PROT_READ | PROT_WRITE);
    return true;
  }
  return false;
}

void send_again(int signal) {
  ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal);
}

// The program ends by this.
void tell_fault(const Fault& f) {
  if (!f.happened || f.is_protection || f.fetches || !wire::on_device(f.address)) return;
  char where[512], text[1024];
  name_place(f.instruction, where, sizeof where);
  const int n = std::snprintf(
      text, sizeof text,
      "tilescope: the host %s 0x%llx%s%s%s, an address of the device at which the host has "
      "nothing: memory of cudaMalloc, which only kernels and copies reach (cudaMemcpy, or "
      "cudaMallocManaged for both); or memory that was freed; or beyond the end of some.\n",
      f.writes ? "writes" : "reads", static_cast<unsigned long long>(f.address), *where ? " (" : "",
      where, *where ? ")" : "");
  if (n > 0 && ::write(2, text, static_cast<std::size_t>(n)) < 0) return;
}

// From cuInit on, where there was no handler.
void watches_on(int signal, siginfo_t* about, void* context) {
  const Fault f = fault_of(about, context);
  if (was_guarded(f)) return;
  tell_fault(f);
  ::signal(signal, SIG_DFL);  // and once more
  if (!f.happened) send_again(signal);
}

void guards_on(int signal, siginfo_t* about, void* context) {
  const Fault f = fault_of(about, context);
  if (was_guarded(f)) return;
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  if (now.sa_sigaction == guards_on) {
    for (Guarded& g : guarded) open(g);
    ::sigaction(signal, &before, nullptr);
    if (!f.happened) send_again(signal);
    return;
  }
  // Called by a handler that was put before this one, and passes on.
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, about, context);
  if (before.sa_handler == SIG_IGN) return;
  if (before.sa_handler != SIG_DFL) return before.sa_handler(signal);
  ::signal(signal, SIG_DFL);
  if (!f.happened) send_again(signal);
}

bool is_there(void (*handler)(int, siginfo_t*, void*), struct sigaction& now) {
  return ::sigaction(SIGSEGV, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
         now.sa_sigaction == handler;
}
void put(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction ours {};
  ours.sa_sigaction = handler;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  ::sigaction(SIGSEGV, &ours, nullptr);
}

bool trusts_host() {
  static const bool trusts = std::getenv(wire::trusts_host_variable);
  return trusts;
}

std::atomic<std::uint64_t> times_waited = 0;

// Of what the process has that guards; one that was forked from it is left alone.
bool has_any() {
  return closed_ranges != 0 && guarding_process == ::getpid();
}

}  // namespace

bool launches_wait() {
  static const char* const word = std::getenv("CUDA_LAUNCH_BLOCKING");
  return word && *word && std::strcmp(word, "0") != 0;
}

void watch_for_faults() {
  struct sigaction now {};
  const std::lock_guard lock(guard_mutex);
  const bool none = ::sigaction(SIGSEGV, nullptr, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
                    now.sa_handler == SIG_DFL;
  if (none && !trusts_host()) put(watches_on);
}

void guard(std::uint64_t begin, std::uint64_t end, Work work) {
  if (trusts_host() || begin >= end || !wire::on_device(begin)) return;
  const std::optional<HostBlock> block = host_block(begin);
  if (!block || end > block->begin + block->bytes) return;
  const std::uint64_t first = (begin + page - 1) / page * page;
  std::uint64_t last = end / page * page;
  if (end == block->begin + block->bytes) last = (end + page - 1) / page * page;
  if (first >= last) return;
  const std::lock_guard lock(guard_mutex);
  Guarded* place = nullptr;
  for (Guarded& g : guarded) {
    if (g.state != State::open && g.begin < last && first < g.end) open(g);
    if (g.state == State::open && !place) place = &g;
  }
  if (!place) return;
  struct sigaction now {};
  if (!is_there(guards_on, now)) {
    before = now;
    put(guards_on);
  }
  guarding_process = ::getpid();
  place->begin = first, place->end = last, place->work = work;
  ++closed_ranges;
  place->state = State::closed;
  const int how = work.kind == Work::Kind::copy_in ? PROT_READ : PROT_NONE;
  if (::mprotect(reinterpret_cast<void*>(first), last - first, how)) open(*place);
}

std::uint64_t waits() {
  return times_waited;
}

void let_in() {
  ++times_waited;
  if (!has_any()) return;
  const std::lock_guard lock(guard_mutex);
  for (Guarded& g : guarded) {
    if (g.state != State::open) open(g);
  }
  struct sigaction now {};
  if (is_there(guards_on, now)) ::sigaction(SIGSEGV, &before, nullptr);
}

void let_in(std::uint64_t begin, std::uint64_t end) {
  if (!has_any()) return;
  const std::lock_guard lock(guard_mutex);
  for (Guarded& g : guarded) {
    if (g.state != State::open && g.begin < end && begin < g.end) open(g);
  }
}

std::vector<EarlyUse> take_early_uses() {
  static std::mutex taking;
  std::vector<EarlyUse> out;
  std::vector<std::uint64_t> instructions;
  if (seen_count == 0) return out;
  {
    const std::lock_guard lock(taking);
    for (Seen& one : seen) {
      if (!one.whole) continue;
      out.push_back({one.address, one.work, one.writes, ""});
      instructions.push_back(one.instruction);
      one.whole = false;
    }
    unsigned count = seen_count;
    const bool all =
        std::none_of(seen.begin(), seen.end(), [](const Seen& one) { return one.whole.load(); });
    if (all) seen_count.compare_exchange_strong(count, 0);  // else somebody is coming
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    char where[PATH_MAX + 512];
    name_place(instructions[i], where, sizeof where, true);
    out[i].where = where;
  }
  return out;
}

}  // namespace tilescope::standin
