#include "core/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tilescope {
namespace {

template <class T>
Argument plain(T value) {
  Argument argument;
  argument.bytes.resize(sizeof value);
  std::memcpy(argument.bytes.data(), &value, sizeof value);
  return argument;
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += fmt::format("{}", shape[i]);
  }
  return out + (shape.size() == 1 ? ",)" : ")");
}

std::int64_t Buffer::elements() const {
  // What stands before a 0 may be beyond 64 bits.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t n = 1;
  for (std::int64_t extent : shape) n *= extent;
  return n;
}

Argument Argument::pointer(std::uint32_t buffer, std::int64_t offset) {
  Argument argument = plain(std::uint64_t{0});
  argument.addresses.push_back({0, buffer, offset});
  return argument;
}

Argument Argument::tensor_map(TensorMap map, std::uint32_t bytes) {
  Argument argument;
  argument.bytes.resize(bytes);
  argument.maps.push_back({0, std::move(map)});
  return argument;
}

Argument Argument::handle(const Texture& texture) {
  Argument out;
  out.bytes.resize(8);
  out.handles.push_back({0, texture});
  return out;
}

Argument Argument::i32(std::int32_t value) {
  return plain(value);
}
Argument Argument::u64(std::uint64_t value) {
  return plain(value);
}

std::string place_text(const Site& site) {
  const std::string ptx = !site.ptx_place.empty() ? site.ptx_place
                          : site.ptx_line         ? fmt::format("PTX line {}", site.ptx_line)
                                                  : "";
  if (!site.source_line) return ptx;
  std::string out = fmt::format("{}:{}", site.source, site.source_line);
  if (site.caller_line) out = fmt::format("{}:{}, through {}", site.caller, site.caller_line, out);
  if (!ptx.empty()) out += fmt::format(" ({})", ptx);
  return out;
}

std::string text(const Site& site) {
  const std::string place = place_text(site);
  if (place.empty()) return site.kernel;  // of the kernel as a whole
  return fmt::format("{}, {}", site.kernel, place) +
         fmt::format(", CTA ({},{},{}), warp {}, lane {}", site.block.x, site.block.y, site.block.z,
                     site.warp, site.lane);
}

std::string_view name_of(Weight weight) {
  switch (weight) {
    case Weight::note:
      return "note";
    case Weight::hazard:
      return "hazard";
    case Weight::fault:
      return "fault";
  }
  return "";
}

}  // namespace tilescope
