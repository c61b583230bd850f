// What goes on in a cluster at one time: each stage and what it holds, each barrier's phase, the
// sums, every warp; and of the CTAs that are shown each copy and how far it is, the products, the
// loads. Plain values, for pictures, descriptions and tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viz/scene/stage_items.h"
#include "viz/theatre/theatre_view.h"

namespace tilescope {

struct TheatreCopy {
  sim::EventId event = sim::no_event;
  bool out = false;       // out of shared memory
  bool queued = false;    // issued, not yet under way
  double share = 0;       // how far it is, of its time under way
  std::uint8_t rank = 0;  // of the CTA whose shared memory it fills or leaves
  std::optional<std::size_t> stage;
  std::optional<sim::MemoryUse> part;  // of a tensor
  std::uint32_t step = 0;
  // L2 did not have all of it.
  bool from_memory() const { return part && part->missed > 0; }
};

struct TheatreStage {
  using State = StageState;
  State state = State::empty;
  const sim::Filling* filling = nullptr;
  std::uint64_t arrived = 0;  // bytes
};

struct TheatreBarrier {
  std::uint32_t phase = 0;  // the one that is not complete; its parity is phase % 2
  // `of` 0: not known. Bytes are of a phase in which something has come: before, none are expected.
  std::uint64_t arrivals = 0, arrivals_of = 0, bytes = 0, bytes_of = 0;
  std::vector<std::size_t> waiting;  // warps: Pipeline::warps
  bool used = false;                 // some phase has begun
  bool over = false;                 // behind its last phase: nothing came to this one
  double share() const;              // of what it waits for, how much has come
};

struct TheatreSum {
  enum class State : std::uint8_t { empty, adding, added, complete, read, used };
  State state = State::empty;
  const sim::Accumulation* sum = nullptr;
  std::size_t done = 0;    // products
  std::uint32_t step = 0;  // of the product that began last
  bool known_step = true;  // false: no copy tells it
  bool under_way = false;  // one of its products is
  double read = 0;         // share of its loads that are over
};
std::string_view name_of(TheatreSum::State state);
// "k0-k6 added, k7 now", "8 of 16 products" where no copy tells steps, "being read, 25%",
// "complete"
std::string state_text(const TheatreSum& sum);

struct TheatreProduct {
  sim::EventId event = sim::no_event;
  double share = 0;
  std::size_t accumulator = 0, number = 0, of = 0;  // the number-th product of its sum
  std::uint32_t step = 0, steps = 0;
  bool known_step = true;           // false: no copy tells it
  std::vector<std::size_t> stages;  // that it reads
  std::uint8_t rank = 0;
};

struct TheatreWarp {
  // `stopped`: a fault of the run, of whoever's, left it where it stood.
  enum class State : std::uint8_t { absent, runs, waits, exited, stopped };
  State state = State::absent;
  sim::Event event;                    // what it does
  std::optional<std::size_t> barrier;  // that it waits for: Pipeline::barriers
  std::string doing;                   // "waits for full[2], phase 3", "runs"
};

struct TheatreNow {
  double at = 0;
  std::vector<TheatreCopy> copies;       // under way or queued
  std::vector<TheatreStage> stages;      // as Pipeline::stages
  std::vector<TheatreBarrier> barriers;  // as Pipeline::barriers
  std::vector<TheatreSum> sums;          // as Pipeline::accumulators
  std::vector<TheatreProduct> products;  // under way
  std::size_t queued = 0;                // products that are issued and have not begun
  std::vector<sim::EventId> loads;       // tcgen05.ld under way
  std::vector<TheatreWarp> warps;        // as Pipeline::warps
  std::size_t stuck = 0;                 // of these, that wait for what never comes
  std::vector<sim::MemoryUse> written;   // parts of the output whose copies out are over
  std::string sentence;                  // what happens, in one or two sentences
};

// As the CTA of this rank is looked at.
TheatreNow theatre_at(const TheatreView& view, double at, std::uint8_t rank = 0);

// How much of a buffer L2 has at a time.
double share_in_l2(const sim::CachedBuffer& cached, double at);
// Of one row of its cells; of a buffer of one row, whether this cell is there.
double share_in_l2(const sim::CachedBuffer& cached, double at, std::size_t row);
// A point of a way whose legs take equal shares of its time; of two points at least.
Point along(const std::vector<Point>& way, double share);

// What a picture calls a part that a filling's copy brings: "A"; where it brings several of one
// tensor, "A0", "A1" by their addresses.
std::string tile_name(const sim::Record& record, const sim::Filling& filling, std::size_t copy);
// As pictures of a stage and of a barrier take it.
StageContents contents_of(const TheatreView& view, const TheatreNow& now, std::size_t stage);
Dial dial_of(const TheatreBarrier& barrier);
// "full[1], phase 4 (parity 0), 1 of 1 arrivals, 16,384 of 32,768 bytes, 4 warps wait"
std::string dial_text(const TheatreBarrier& barrier, const std::string& name);
// "warp 7 waits", "warps 0-3 wait"; empty: nobody does.
std::string waiting_text(const sim::Pipeline& pipeline, const TheatreBarrier& barrier);

}  // namespace tilescope
