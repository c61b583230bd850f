// What becomes of the tiles of an output: one that nobody computes, one that two blocks do.
//
// Only of buffers that say what one block computes of them (Buffer::tile): split-K kernels, whose
// blocks take turns at a tile, or those whose stores overlap, have not said so. Sums by atomics and
// reducing copies are not looked at: they are meant to come from many.
#include "core/sim/checks/tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/around.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u64 = std::uint64_t;

std::string text(const std::vector<u64>& coordinate) {
  return fmt::format("({})", fmt::join(coordinate, ","));
}

u64 tiles_along(u64 extent, u64 tile) {
  return (extent + tile - 1) / tile;
}

// Of a tile, in tiles.
std::vector<u64> coordinate_of(const Tiles& t, u64 number) {
  std::vector<u64> out(t.shape.size());
  for (std::size_t d = out.size(); d-- > 0;) {
    const u64 along = tiles_along(t.shape[d], t.tile[d]);
    out[d] = number % along;
    number /= along;
  }
  return out;
}

std::vector<u64> element_at(const Tiles& t, u64 byte) {
  u64 index = byte / t.element;
  std::vector<u64> out(t.shape.size());
  for (std::size_t d = out.size(); d-- > 0; index /= t.shape[d]) out[d] = index % t.shape[d];
  return out;
}

std::string block_text(const Site& site) {
  return fmt::format("CTA ({},{},{})", site.block.x, site.block.y, site.block.z);
}

// The byte of the first element of a tile that nobody wrote.
u64 first_missing(const Region& r, const Tiles& tiles, u64 number) {
  for (u64 at = tiles.first(number); at < r.size(); at += tiles.element) {
    if (!r.writer(at) && tiles.of(at) == number) return at;
  }
  return tiles.first(number);
}

}  // namespace

u64 Tiles::count() const {
  u64 out = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) out *= tiles_along(shape[d], tile[d]);
  return out;
}

u64 Tiles::of(u64 byte) const {
  const std::vector<u64> coordinate = element_at(*this, byte);
  u64 out = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    out = out * tiles_along(shape[d], tile[d]) + coordinate[d] / tile[d];
  }
  return out;
}

u64 Tiles::first(u64 number) const {
  const std::vector<u64> coordinate = coordinate_of(*this, number);
  u64 index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + coordinate[d] * tile[d];
  return index * element;
}

u64 Tiles::elements(u64 number) const {
  const std::vector<u64> coordinate = coordinate_of(*this, number);
  u64 out = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    out *= std::min(tile[d], shape[d] - coordinate[d] * tile[d]);
  }
  return out;
}

std::string Tiles::at(u64 number) const {
  return text(coordinate_of(*this, number));
}

std::string Tiles::place(u64 byte) const {
  return text(element_at(*this, byte));
}

// True: there is one, and it was reported.
bool find_missing_tile(Model& machine, std::size_t buffer) {
  const Region& r = machine.regions[machine.first_buffer + buffer];
  const Tiles& tiles = r.tiles();
  std::vector<u64> missing(tiles.count(), 0);  // elements of each
  for (u64 at = 0; at < r.size(); at += tiles.element) {
    if (!r.writer(at)) ++missing[tiles.of(at)];
  }
  const auto is_missing = [](u64 elements) { return elements != 0; };
  const auto first = std::find_if(missing.begin(), missing.end(), is_missing);
  if (first == missing.end()) return false;
  const auto number = static_cast<u64>(first - missing.begin());
  const auto count = std::count_if(missing.begin(), missing.end(), is_missing);
  const u64 all = tiles.elements(number);
  std::string others;
  constexpr int most_told = 4;
  int told = 0;
  for (u64 n = number + 1; n < missing.size() && told < most_told; ++n) {
    if (missing[n]) others += (told++ ? ", " : " ") + tiles.at(n);
  }
  if (count > told + 1) others += fmt::format(" and {} more", count - told - 1);
  Report fault;
  fault.kind = "tile_not_computed";
  fault.sentence = fmt::format(
      "no CTA computes tile {} of buffer {}, which begins at element {}{}{}", tiles.at(number),
      machine.shells[buffer].name, tiles.place(tiles.first(number)),
      *first < all ? fmt::format(": {} of its {} elements were never written", *first, all) : "",
      told ? fmt::format("; nor{}", others) : "");
  fault.expected = fmt::format("each tile of {} elements to be written", text(tiles.tile));
  fault.found = fmt::format("{} of the {} tiles not written", count, tiles.count());
  // Of a tile of which others are written: who did that beside the first that is not.
  if (*first < all) {
    const u64 at = first_missing(r, tiles, number);
    fault.found += fmt::format("; the first element that nobody wrote is {}{}", tiles.place(at),
                               neighbours_text(machine, r, at));
  }
  fault.site.kernel = machine.kernel;
  fault.evidence = evidence_at(place_of(
      GlobalRange{r.base() + tiles.first(number), r.base() + tiles.first(number) + tiles.element}));
  machine.reports.add(std::move(fault));
  machine.state = RunState::fault;
  return true;
}

void tell_of_tiles_written_twice(Model& machine, std::size_t buffer) {
  const Region& r = machine.regions[machine.first_buffer + buffer];
  if (r.written_twice().empty()) return;
  const auto& [number, twice] = *r.written_twice().begin();
  const Site before = machine.site_of(twice.first);
  Report hazard;
  hazard.weight = Weight::hazard;
  hazard.kind = "tile_computed_twice";
  hazard.site = machine.site_of(twice.second);
  hazard.count = r.written_twice().size();
  hazard.sentence = fmt::format(
      "two CTAs compute tile {} of buffer {}: {} writes element {}, which {} had written at {}",
      r.tiles().at(number), machine.shells[buffer].name, block_text(hazard.site),
      r.tiles().place(twice.offset), block_text(before), place_text(before));
  hazard.expected = fmt::format("each tile of {} elements from one CTA", text(r.tiles().tile));
  hazard.found = fmt::format("{} of the {} tiles from several", hazard.count, r.tiles().count());
  const Evidence::Place place =
      place_of(GlobalRange{r.base() + twice.offset, r.base() + twice.offset + r.tiles().element});
  hazard.evidence.place = place;
  hazard.evidence.parties = {{"writes", place, {}, hazard.site}, {"wrote", place, {}, before}};
  machine.reports.add(std::move(hazard));
}

}  // namespace tilescope::sim
