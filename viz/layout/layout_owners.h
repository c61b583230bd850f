// Who owns the elements of a tile: a thread/value layout read backwards.
//
// A thread/value layout sends (thread, value) to an element. Read backwards an element has one
// owner, none (the layout leaves it out), or several (a broadcast: strides of 0, or ldmatrix and
// Volta's operands, which several threads read). Pairs that fall outside the tile own nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/layout/layout.h"

namespace tilescope {

struct Owner {
  std::int32_t thread = 0, value = 0;
  friend bool operator==(Owner, Owner) = default;
};

struct Owners {
  std::int64_t threads = 0, values = 0;
  std::int64_t most = 0;             // of one element
  std::int64_t shared = 0;           // elements with more than one owner
  std::int64_t unowned = 0;          // elements without
  std::int64_t outside = 0;          // pairs outside the tile
  std::vector<std::uint32_t> begin;  // by element, and one more
  std::vector<Owner> pairs;          // element after element, by thread, then value

  std::span<const Owner> of(std::int64_t element) const {
    const std::size_t e = static_cast<std::size_t>(element);
    return std::span(pairs).subspan(begin[e], begin[e + 1] - begin[e]);
  }
  // Every thread has every element, under one number: shared memory that an instruction reads by
  // descriptor. Naming all of them in each cell would say nothing.
  bool everyone = false;
  std::vector<std::int32_t> taking_part;  // the threads, where they are not 0, 1, 2...

  // Each element has exactly one: pairs[e] is element e's.
  bool one_each() const { return most == 1 && unowned == 0; }
  // What a reader should know: several owners, none, pairs outside. Whole sentences.
  std::vector<std::string> remarks() const;
};

// The thread that a layout's i-th is, or -1 for one that owns nothing; empty: i itself. Several may
// have one name.
using ThreadNames = std::vector<std::int32_t>;

// `layout` has two modes, threads and values, and is concrete; `elements` and the number of pairs
// are at most 2^24 (the caller's promise: LayoutView refuses more).
Owners owners_of(const Layout& layout, std::int64_t elements, const ThreadNames& threads = {});

}  // namespace tilescope
