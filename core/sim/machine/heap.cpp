#include "core/sim/machine/heap.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/ptx/program.h"

namespace tilescope::sim {
namespace {

using u64 = std::uint64_t;

constexpr u64 grain = 16, in_use = 0x5ce7c0de1u, given_back = 0x5ce7c0de2u;
constexpr u64 map = ptx::heap_bytes;  // where the bits begin

struct Piece {
  u64 bytes = 0, state = 0;
};

constexpr u64 in_grains(u64 bytes) {
  return (bytes + grain - 1) / grain * grain;
}

template <class T>
T held_at(const Region& heap, u64 offset) {
  T out;
  std::memcpy(&out, heap.data() + offset, sizeof out);
  return out;
}
template <class T>
void hold_at(Region& heap, u64 offset, const T& value) {
  heap.write(offset, reinterpret_cast<const std::byte*>(&value), nullptr, sizeof value, {});
}

// The bits of a piece, which begins at a multiple of 16: whole bytes, and the rest of one.
void mark(Region& heap, u64 offset, u64 bytes, bool is) {
  std::vector<std::byte> bits((bytes + 7) / 8, is ? std::byte{0xff} : std::byte{0});
  if (is && bytes % 8) bits.back() = static_cast<std::byte>((1u << bytes % 8) - 1);
  heap.write(map + offset / 8, bits.data(), nullptr, static_cast<std::uint32_t>(bits.size()), {});
}

u64 given_out(const Region& heap) {
  return std::max(held_at<u64>(heap, 0), grain);
}

}  // namespace

// Its first bytes after the count are a piece's header, which no kernel reads: with them undefined
// each load takes the way on which somebody looks where it goes.
void begin_heap(Region& heap) {
  heap.is_heap = true;
  heap.make_undefined(grain, 1);
}

u64 take_piece(Region& heap, u64 bytes) {
  const u64 from = given_out(heap), room = ptx::heap_bytes - from;
  if (bytes >= room || in_grains(bytes) + grain > room) return 0;
  const u64 at = from + grain;
  hold_at(heap, from, Piece{bytes, in_use});
  hold_at(heap, 0, at + in_grains(bytes));
  if (bytes) {
    heap.make_undefined(at, bytes);
    mark(heap, at, bytes, true);
  }
  return at;
}

GivesBack give_back_piece(Region& heap, u64 offset) {
  Piece piece;
  if (offset >= 2 * grain && offset < given_out(heap) + grain && offset % grain == 0) {
    piece = held_at<Piece>(heap, offset - grain);
  }
  if (piece.state == given_back) return GivesBack::again;
  if (piece.state != in_use) return GivesBack::no_piece;
  hold_at(heap, offset - grain, Piece{piece.bytes, given_back});
  if (piece.bytes) {
    heap.make_undefined(offset, piece.bytes);
    mark(heap, offset, piece.bytes, false);
  }
  return GivesBack::done;
}

bool is_in_pieces(const Region& heap, u64 offset, std::uint32_t bytes) {
  if (offset + bytes > ptx::heap_bytes) return false;
  const std::byte* const bits = heap.data() + map;
  for (u64 at = offset; at < offset + bytes; ++at) {
    if ((bits[at / 8] >> at % 8 & std::byte{1}) == std::byte{0}) return false;
  }
  return true;
}

PieceNear piece_near(const Region& heap, u64 offset, std::uint32_t bytes) {
  PieceNear out;
  for (u64 at = 2 * grain; at < given_out(heap) + grain && at < offset + bytes;) {
    const auto piece = held_at<Piece>(heap, at - grain);
    if (piece.state != in_use && piece.state != given_back) break;
    out = {at, piece.bytes, piece.state == given_back};
    at += in_grains(piece.bytes) + grain;
  }
  return out;
}

}  // namespace tilescope::sim
