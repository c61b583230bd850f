#include "app/python/block_memory.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "app/python/arrays.h"
#include "app/python/values.h"
#include "core/sim/tcgen05/tensor_memory.h"
#include "viz/machine/machine_scene.h"
#include "viz/machine/memory_now.h"

namespace tilescope::python {
namespace {

// NumPy's array of these elements.
template <class T>
nb::object array_of(std::vector<T> elements, std::vector<std::size_t> shape,
                    nb::dlpack::dtype type) {
  auto* const held = new std::vector<T>(std::move(elements));
  const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(
      nb::ndarray<nb::numpy>(held->data(), shape.size(), shape.data(), owner, nullptr, type));
}

nb::dlpack::dtype element(nb::dlpack::dtype_code code, std::uint8_t bits) {
  return {static_cast<std::uint8_t>(code), bits, 1};
}

// numpy.ma's: what is undefined, or not there, is masked.
template <class T>
nb::object masked(std::vector<T> elements, std::vector<std::uint8_t> undefined,
                  const std::vector<std::size_t>& shape, nb::dlpack::dtype type) {
  const nb::object mask =
      array_of(std::move(undefined), shape, element(nb::dlpack::dtype_code::Bool, 8));
  return nb::module_::import_("numpy.ma")
      .attr("array")(array_of(std::move(elements), shape, type), nb::arg("mask") = mask,
                     nb::arg("copy") = false);
}

nb::object register_array(const sim::RegisterValue& value, sim::Mask there) {
  using nb::dlpack::dtype_code;
  const bool predicate = value.type == ptx::Type::pred;
  const int bits = predicate ? 8 : std::max(8, ptx::bits_of(value.type));
  const auto bytes = static_cast<std::size_t>(bits) / 8, of_array = std::min<std::size_t>(bytes, 8);
  const bool wide = bytes > 8;  // two words of 64 bits
  std::vector<std::byte> data(32 * bytes);
  std::vector<std::uint8_t> undefined(wide ? 64 : 32);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    std::memcpy(&data[lane * bytes], &value.low[lane], of_array);
    if (wide) std::memcpy(&data[lane * bytes + 8], &value.high[lane], 8);
    if (predicate) data[lane] &= std::byte{1};
    const std::uint8_t masked = value.undefined[lane] || !(there >> lane & 1);
    if (wide) undefined[2 * lane] = undefined[2 * lane + 1] = masked;
    if (!wide) undefined[lane] = masked;
  }
  dtype_code code = dtype_code::UInt;
  const ptx::Class kind = ptx::class_of(value.type);
  const bool number =
      value.type == ptx::Type::f16 || value.type == ptx::Type::f32 || value.type == ptx::Type::f64;
  if (predicate) code = dtype_code::Bool;
  if (kind == ptx::Class::signed_integer) code = dtype_code::Int;
  if (number) code = dtype_code::Float;
  std::vector<std::size_t> shape{32};
  if (wide) shape.push_back(2);
  return masked(std::move(data), std::move(undefined), shape,
                element(code, static_cast<std::uint8_t>(8 * of_array)));
}

// From when to when a CTA was there, by the record; empty: it is not known.
std::string life_of(const Run* run, std::uint64_t block) {
  if (!run || !run->record) return "";
  sim::Cycle begin = sim::never_ends, end = 0;
  const sim::Record& record = *run->record;
  for (const sim::Event& event : record.events) {
    if (record.tracks[event.track].block != block) continue;
    begin = std::min(begin, event.begin);
    end = std::max(end, event.end == sim::never_ends ? record.end : event.end);
  }
  return end == 0 ? "" : fmt::format(" Its events are from {} to {}.", begin, end);
}

// A tile row by row, as the tensor map means it, whatever its swizzle: (rows, elements).
nb::object tile_array(const MemoryNow& now, const MemoryTile& tile) {
  const bool narrow = bits_of(tile.type()) < 8;  // several to a byte: bytes
  const auto width = narrow ? 1u : static_cast<std::uint32_t>(bytes_of(tile.type()));
  const std::uint32_t rows = tile.box().rows(), columns = tile.box().row_bytes() / width;
  std::vector<std::byte> bytes(std::size_t{rows} * columns * width);
  std::vector<std::uint8_t> undefined(std::size_t{rows} * columns);
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t at = 0; at < columns * width; ++at) {
      const std::uint32_t from = byte_of(tile.box(), {row, at});
      const bool known = from < now.bytes() && !now.undefined[from];
      const std::size_t to = std::size_t{row} * columns * width + at;
      if (known) bytes[to] = now.values[from];
      if (!known) undefined[to / width] = 1;
    }
  }
  return masked(std::move(bytes), std::move(undefined), {rows, columns},
                element_of(narrow ? DType::u8 : tile.type()));
}

}  // namespace

const sim::SplitState* split_at(const std::vector<sim::WarpState>& warps, std::uint32_t warp) {
  if (warp >= warps.size() || warps[warp].splits.empty()) return nullptr;
  return &warps[warp].splits.front();
}

nb::object registers_of(const Walk& walk) {
  const auto warps = sim::warps_of(walk.machine(), walk.spot.block);
  const sim::SplitState* const split = split_at(warps, walk.spot.warp);
  if (!split) {
    refuse(fmt::format("CTA {} warp {} has no registers here: {}", walk.spot.block, walk.spot.warp,
                       standing_text(walk.live, walk.spot)));
  }
  nb::dict out;
  for (const sim::RegisterValue& value :
       walk.live.registers.all(walk.machine(), walk.spot.block, walk.spot.warp)) {
    out[nb::str(value.name.c_str())] = register_array(value, split->lanes);
  }
  return out;
}

BlockMemory memory_of(const Walk& walk, std::uint64_t block, const Run* run) {
  const sim::Machine& machine = walk.machine();
  const std::string when = moment_text(walk.live);
  const std::string state = state_of_block(machine, block);
  if (state != "resident") {
    refuse(fmt::format("CTA {} {} at {}: it has no shared memory then.{}", block, state, when,
                       life_of(run, block)));
  }
  const auto now = memory_now(machine, block);
  BlockMemory out;
  out.block = tuple_of_block(machine, block);
  out.when = when;
  const std::size_t bytes = now->values.size();
  std::vector<std::uint8_t> undefined(now->undefined.begin(), now->undefined.end());
  out.shared = masked(std::vector<std::byte>(now->values), std::move(undefined), {bytes},
                      element(nb::dlpack::dtype_code::UInt, 8));
  nb::list parts;
  for (const MemoryPart& part : now->parts) {
    if (part.kind == MemoryPart::Kind::untouched) continue;
    nb::dict each;
    each["begin"] = part.begin;
    each["end"] = part.end;
    each["name"] = part.name;
    each["detail"] = part.detail;
    each["state"] = part.state;
    if (const MemoryTile* tile = now->tile_in(part)) each["array"] = tile_array(*now, *tile);
    parts.append(std::move(each));
  }
  out.parts = std::move(parts);
  const auto allocated = sim::columns_of(machine, block);
  if (allocated.empty()) return out;
  constexpr std::uint32_t lanes = sim::TensorMemory::lanes, columns = sim::TensorMemory::columns;
  std::vector<std::uint32_t> cells(std::size_t{lanes} * columns);
  std::vector<std::uint8_t> masks(cells.size(), 1);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (const sim::Allocation& each : allocated) {
      std::size_t at = std::size_t{lane} * columns + each.column;
      for (const sim::CellState& cell :
           sim::cells_of(machine, block, lane, each.column, each.columns)) {
        cells[at] = cell.bits;
        masks[at++] = cell.undefined != 0;
      }
    }
  }
  out.tensor = masked(std::move(cells), std::move(masks), {lanes, columns},
                      element(nb::dlpack::dtype_code::UInt, 32));
  return out;
}

void define_memory(nb::module_& module) {
  nb::class_<BlockMemory>(module, "BlockMemory", "What the memory of a CTA held at a time.")
      .def_ro("block", &BlockMemory::block, nb::sig("def block(self) -> tuple[int, int, int]"))
      .def_ro("when", &BlockMemory::when, "The time in words.")
      .def_ro("shared", &BlockMemory::shared, nb::sig("def shared(self) -> Any"),
              "Shared memory: a masked array of uint8; what nobody has written is masked.")
      .def_ro("tensor", &BlockMemory::tensor, nb::sig("def tensor(self) -> Any"),
              "TMEM: a masked array of uint32, (128 lanes, 512 columns); what is not allocated or "
              "not written is masked. None: nothing is allocated then.")
      .def_ro("parts", &BlockMemory::parts, nb::sig("def parts(self) -> list[dict[str, Any]]"),
              "What lies where in shared memory, as the window's memory view names it: tiles of "
              "tensors, mbarriers, what threads wrote;\nbegin and end in bytes; of a tile that TMA "
              "brings or takes its array, row by row, whatever its swizzle.")
      .def("__repr__", [](const BlockMemory& self) {
        const nb::object size = self.shared.attr("size");
        return fmt::format("<BlockMemory of CTA {} at {}: {} bytes of shared memory{}>",
                           str_of(self.block), self.when, str_of(size),
                           self.tensor.is_none() ? "" : ", and TMEM");
      });
}

}  // namespace tilescope::python
