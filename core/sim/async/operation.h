// Work that goes on while the thread that asked for it goes on too: copies by cp.async.bulk and
// TMA, arrivals after cp.async, products of tensor cores.
//
// An operation has moments. It is issued; it reads its sources; it writes its destinations; it is
// complete, and says so to an mbarrier or to the bulk group of its thread (PTX ISA 9.7.9.25:
// "reading data from the source locations, writing data to the destination locations, writes being
// made visible"). Nothing but what PTX promises says when these come:
//
//   by default      each a fixed number of instructions after the one before, or at once when
//   nothing
//                   else of the block can go on
//   --schedule N    each after a time drawn by the seed; those of a slow unit after a long one
//   --lazy          each as late as is legal: when nobody can go on without it
//
// Operations of one pipe (not 0) take place one after the other, in the order of their issue:
// tcgen05.mma and tcgen05.commit of a thread, for example (9.7.16.6.4); unless a Work says which of
// the earlier ones its own wait for. All others overtake each other as they like.
//
// An operation is in flight in the block whose memory it writes, or else reads: a copy that another
// block of the cluster has issued into this one's memory, too. What it completes on may be
// mbarriers of several blocks.
//
// A unit makes an AsyncOperation, says in a Work what happens at each moment, and hands both to
// Flights::issue(). Between issue and completion the ranges of shared memory that it names are in
// use: who writes what is being read, or touches what is being written, is at fault. Operations are
// plain values: a copy of the Machine is a checkpoint with everything that is in flight.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/sim/order/observer.h"

namespace tilescope::sim {

class Model;
struct Block;
struct AsyncOperation;

// A moment: false where a fault was reported.
using Moment = bool (*)(Model& machine, Block& block, AsyncOperation& operation);

// Bytes [begin, end) of global memory, by their addresses.
struct GlobalRange {
  std::uint64_t begin = 0, end = 0;
  bool meets(const GlobalRange& other) const { return begin < other.end && other.begin < end; }
};
// Hands the pieces of global memory that an operation uses to f, until that answers false.
using Visit = std::function<bool(const GlobalRange&)>;
using Pieces = void (*)(const AsyncOperation& operation, const Visit& f);
enum class GlobalUse : std::uint8_t { none, reads, writes, reduces };

// What a kind of operation does; a unit's constant. A null moment does nothing.
struct Work {
  std::string_view name;  // "cp.async.bulk.tensor"
  Moment read = nullptr, write = nullptr, complete = nullptr;
  GlobalUse global = GlobalUse::none;
  Pieces pieces = nullptr;  // where it uses global memory
  // Those that add do not get in each other's way where they write the same bytes.
  bool adds = false;
  // Does `later`, of this kind, come after `earlier` of the same pipe? Null: after all of them.
  bool (*keeps_order)(const AsyncOperation& earlier, const AsyncOperation& later) = nullptr;
};

enum class Stage : std::uint8_t { issued, read, written, complete };

// Bytes [begin, end) of the block's shared memory.
struct Range {
  std::uint32_t begin = 0, end = 0;
  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
};

constexpr std::uint32_t no_mbarrier = ~0u;
constexpr std::uint32_t no_group = ~0u;
constexpr std::uint32_t no_leader = ~0u;  // it leads itself

struct AsyncOperation {
  const Work* work = nullptr;
  std::uint64_t number = 0;  // in the order of issue in the block
  Stage stage = Stage::issued;
  std::uint64_t due = 0;  // the machine's instruction after which the next moment comes
  // With a clock (core/sim/time): when it begins, and when it has read, has written and is
  // complete.
  std::array<double, 4> times{};
  std::uint64_t products = 0;           // multiply-adds
  std::uint32_t event = ~0u;            // in the record
  std::uint32_t asked = 0, missed = 0;  // with a clock: bytes of L2; of these, those it had not
  std::uint32_t thread = 0;             // of the block, that issued it
  std::uint32_t pc = 0;                 // where
  std::uint32_t pipe = 0;               // operations of the same pipe keep their order; 0: of none
  std::uint32_t issuer = 0;             // rank in the cluster of the block whose thread that is
  std::uint32_t since = 0;              // the epoch of its warp when it was issued
  // Of tcgen05 and wgmma: as whom, and in which epoch, it has been done (core/sim/order).
  Agent by;
  std::uint32_t by_epoch = 0;
  // Among those of core/sim/order/shadow.h; 0: not watched. Of what it does to global memory alone,
  // which is over later where only its reads were waited for.
  std::uint32_t order = 0, global_order = 0;
  std::uint32_t mbarrier = no_mbarrier;  // offset of the one that it completes on
  // The blocks of the cluster whose mbarriers those are, a bit each; 0: the one that it is in
  // flight in.
  std::uint32_t targets = 0;
  std::uint32_t transactions = 0;  // bytes that it completes there
  std::uint32_t arrivals = 0;      // or arrivals
  std::uint32_t group = no_group;  // of its thread, by which it is waited for
  // What it uses of another block's memory is kept by a guard in flight there, which has no moments
  // of its own and ends with this stage of its leader: an operation in block `leader`, by its
  // number.
  std::uint32_t guards = 0;  // ranks of the blocks with guards, a bit each
  Stage guards_until = Stage::complete;
  std::uint32_t leader = no_leader;
  std::uint64_t leader_number = 0;
  // Operations of the block that have to be complete first, whatever their pipes; by their numbers.
  std::vector<std::uint64_t> behind;
  std::vector<std::uint32_t> copies;  // by cp.async, that it tells of (core/sim/order/shadow.h)
  std::vector<Range> reads, writes;   // of the block's shared memory, while it is in flight
  // What its thread had done and seen when it was issued, where its arrivals pass that on.
  std::shared_ptr<const Token> seen;
  // What its thread had done by then, and came behind.
  std::shared_ptr<const VectorClock> comes_behind;
  // Of global memory: from the first of its pieces to the last, while it reads or writes them.
  GlobalRange global;
  // What is the unit's own.
  std::array<std::uint64_t, 24> words{};
  std::vector<std::byte> bytes;         // read and not yet written
  std::vector<std::uint8_t> undefined;  // a byte for each of them; empty where all are defined

  // Does it complete on an mbarrier of block `rank`? `home`: the rank of the block that it is in.
  bool arrives_at(std::uint32_t rank, std::uint32_t home) const {
    return targets ? targets >> rank & 1 : rank == home;
  }
};

// The operations of a block that are in flight, in the order of issue; those of a bulk group also
// when they are complete, until their thread has waited for them.
struct Flight {
  std::vector<AsyncOperation> operations;
  std::uint64_t issued = 0;
  std::uint32_t fresh = 0;               // the last so many were issued by the current instruction
  std::vector<std::uint32_t> committed;  // bulk groups of each thread; empty before the first
  std::uint32_t failed_tests = 0;        // of mbarriers, since a moment last came
};

}  // namespace tilescope::sim
