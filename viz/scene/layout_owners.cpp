#include "viz/scene/layout_owners.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope {

Owners owners_of(const Layout& layout, std::int64_t elements) {
  Owners out;
  const Layout by_thread(layout.modes.mode(0)), by_value(layout.modes.mode(1));
  out.threads = *size(by_thread);
  out.values = *size(by_value);
  const std::int64_t pairs = out.threads * out.values;
  std::vector<std::int64_t> at(static_cast<std::size_t>(pairs));
  // A pair's element is what its thread gives plus what its value gives, before a swizzle.
  std::vector<std::int64_t> from_thread;
  for (std::int64_t t = 0; t < out.threads; ++t) from_thread.push_back(by_thread(t));
  out.begin.assign(static_cast<std::size_t>(elements) + 1, 0);
  for (std::int64_t i = 0, base = 0; i < pairs; ++i) {
    if (i % out.threads == 0) base = layout.offset.value + by_value(i / out.threads);
    const std::int64_t element =
        layout.swizzle(base + from_thread[static_cast<std::size_t>(i % out.threads)]);
    at[static_cast<std::size_t>(i)] = element;
    if (element < 0 || element >= elements) {
      ++out.outside;
    } else {
      ++out.begin[static_cast<std::size_t>(element) + 1];
    }
  }
  for (std::size_t e = 0; e < static_cast<std::size_t>(elements); ++e) {
    out.unowned += out.begin[e + 1] == 0;
    out.shared += out.begin[e + 1] > 1;
    out.most = std::max<std::int64_t>(out.most, out.begin[e + 1]);
    out.begin[e + 1] += out.begin[e];
  }
  out.pairs.resize(out.begin.back());
  std::vector<std::uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  // By thread, then value: the first owner of an element is the lowest thread.
  for (std::int64_t t = 0; t < out.threads; ++t) {
    for (std::int64_t v = 0; v < out.values; ++v) {
      const std::int64_t element = at[static_cast<std::size_t>(t + out.threads * v)];
      if (element < 0 || element >= elements) continue;
      out.pairs[next[static_cast<std::size_t>(element)]++] = {static_cast<std::int32_t>(t),
                                                              static_cast<std::int32_t>(v)};
    }
  }
  return out;
}

std::vector<std::string> Owners::remarks() const {
  std::vector<std::string> out;
  if (shared > 0) {
    out.push_back(fmt::format(
        "{} cells have more than one owner, up to {}: those without room are counted as +n.",
        shared, most));
  }
  if (unowned > 0) out.push_back(fmt::format("{} cells have no owner.", unowned));
  if (outside > 0) {
    out.push_back(fmt::format("{} of {} thread/value pairs lie outside the tile.", outside,
                              threads * values));
  }
  return out;
}

}  // namespace tilescope
