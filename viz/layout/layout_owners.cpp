#include "viz/layout/layout_owners.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope {
namespace {

bool all_share(const Owners& owners, std::int64_t elements) {
  const std::int64_t each = owners.threads;
  if (each < 2 || owners.most != each || owners.shared != elements) return false;
  for (std::int64_t e = 0; e < elements; ++e) {
    const std::span<const Owner> all = owners.of(e);
    if (static_cast<std::int64_t>(all.size()) != each) return false;
    for (const Owner& owner : all) {
      if (owner.value != all[0].value) return false;
    }
  }
  return true;
}

}  // namespace

Owners owners_of(const Layout& layout, std::int64_t elements, const ThreadNames& threads) {
  Owners out;
  const Layout by_thread(layout.modes.mode(0)), by_value(layout.modes.mode(1));
  out.threads = *size(by_thread);
  out.values = *size(by_value);
  const std::int64_t pairs = out.threads * out.values;
  std::vector<std::int64_t> at(static_cast<std::size_t>(pairs));
  const auto name_of = [&](std::int64_t t) {
    return threads.empty() ? static_cast<std::int32_t>(t) : threads[static_cast<std::size_t>(t)];
  };
  // A pair's element is what its thread gives plus what its value gives, before a swizzle.
  std::vector<std::int64_t> from_thread;
  for (std::int64_t t = 0; t < out.threads; ++t) from_thread.push_back(by_thread(t));
  out.begin.assign(static_cast<std::size_t>(elements) + 1, 0);
  for (std::int64_t i = 0, base = 0; i < pairs; ++i) {
    if (i % out.threads == 0) base = layout.offset.value + by_value(i / out.threads);
    const std::int64_t element =
        layout.swizzle(base + from_thread[static_cast<std::size_t>(i % out.threads)]);
    at[static_cast<std::size_t>(i)] = element;
    if (name_of(i % out.threads) < 0) continue;
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
  // By thread, then value: the first owner of an element is the layout's first thread.
  for (std::int64_t t = 0; t < out.threads; ++t) {
    const std::int32_t name = name_of(t);
    if (name < 0) continue;
    for (std::int64_t v = 0; v < out.values; ++v) {
      const std::int64_t element = at[static_cast<std::size_t>(t + out.threads * v)];
      if (element < 0 || element >= elements) continue;
      out.pairs[next[static_cast<std::size_t>(element)]++] = {name, static_cast<std::int32_t>(v)};
    }
  }
  out.everyone = all_share(out, elements);
  if (!threads.empty()) {
    out.taking_part = threads;
    std::erase(out.taking_part, -1);
    std::sort(out.taking_part.begin(), out.taking_part.end());
    const auto end = std::unique(out.taking_part.begin(), out.taking_part.end());
    out.taking_part.erase(end, out.taking_part.end());
    out.threads = out.taking_part.back() + 1;
  }
  return out;
}

std::vector<std::string> Owners::remarks() const {
  std::vector<std::string> out;
  if (everyone) {
    out.push_back(fmt::format("all {} threads share every element.", threads));
  } else if (shared > 0) {
    out.push_back(fmt::format(
        "{} cells have more than one owner, up to {}: those without room are counted as +n.",
        shared, most));
  }
  if (unowned > 0) out.push_back(fmt::format("{} cells have no owner.", unowned));
  if (outside > 0) {
    out.push_back(fmt::format("{} of {} thread/value pairs are outside the tile.", outside,
                              threads * values));
  }
  return out;
}

}  // namespace tilescope
