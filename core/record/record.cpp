#include "core/record/record.h"

namespace tilescope::sim {
namespace {

struct StallName {
  std::string_view name;
  char letter;
};

// In the order of Stall. No letter is `k`, which counts steps of K.
constexpr StallName stalls[] = {
    {"runs", '='},
    {"waits for its turn to issue", 'i'},
    {"waits for a result", 'd'},
    {"waits for a busy unit", 'u'},
    {"waits for shared memory", 's'},
    {"waits for global memory", 'g'},
    {"waits for TMEM", 't'},
    {"waits for a barrier", 'b'},
    {"waits for an mbarrier", 'm'},
    {"waits for a copy group", 'c'},
    {"waits for MMAs", 'p'},
    {"waits for the cluster", 'x'},
    {"waits for TMEM columns", 'a'},
    {"waits for registers", 'r'},
    {"waits for the peer CTA", '2'},
    {"waits for other lanes", 'l'},
    {"waits for a fence", 'f'},
};
static_assert(std::size(stalls) == static_cast<std::size_t>(Stall::count_));

// In the order of Unit.
constexpr std::string_view units[] = {
    "warp",        "copies in",  "copies out",  "cp.async", "tensor core",
    "TMEM copies", "TMEM loads", "TMEM stores", "commits",  "remote",
    "launches",    "barrier",    "mbarrier",    "cluster",
};
static_assert(std::size(units) == static_cast<std::size_t>(Unit::count_));

constexpr std::string_view kinds[] = {"run",   "wait",   "operation", "arrival",
                                      "phase", "report", "folded"};

constexpr std::string_view pipes[] = {
    "issue",         "integer",     "floating point", "half",   "double", "special", "load/store",
    "shared memory", "tensor core", "TMEM",           "copies", "L2",     "memory",
};
static_assert(std::size(pipes) == static_cast<std::size_t>(Pipe::count_));

// Records come from files, too: a number beyond the names has none.
template <std::size_t n, class Enum>
std::string_view entry(const std::string_view (&names)[n], Enum value) {
  const auto i = static_cast<std::size_t>(value);
  return i < n ? names[i] : "unknown";
}

}  // namespace

std::string_view name_of(Stall stall) {
  const auto i = static_cast<std::size_t>(stall);
  return i < std::size(stalls) ? stalls[i].name : "unknown";
}

char letter_of(Stall stall) {
  const auto i = static_cast<std::size_t>(stall);
  return i < std::size(stalls) ? stalls[i].letter : '?';
}

std::string_view name_of(Unit unit) {
  return entry(units, unit);
}
std::string_view name_of(EventKind kind) {
  return entry(kinds, kind);
}
std::string_view name_of(Pipe pipe) {
  return entry(pipes, pipe);
}

std::uint64_t cluster_of(const Launch& launch, std::uint64_t block) {
  const Dim3 size = launch.cluster.value_or(Dim3{});
  if (size.count() <= 1 || launch.grid.count() == 0) return block;
  const std::uint64_t x = block % launch.grid.x;
  const std::uint64_t y = block / launch.grid.x % launch.grid.y;
  const std::uint64_t z = block / launch.grid.x / launch.grid.y;
  const std::uint64_t wide = (launch.grid.x + size.x - 1) / size.x;
  const std::uint64_t high = (launch.grid.y + size.y - 1) / size.y;
  return x / size.x + wide * (y / size.y + high * (z / size.z));
}

}  // namespace tilescope::sim
