#include "core/diff/ranking.h"

#include <algorithm>
#include <cstring>

namespace tilescope {
namespace {

struct Candidate {
  double badness;
  std::int64_t index;
};

bool worse(const Candidate& a, const Candidate& b) {
  return a.badness > b.badness || (a.badness == b.badness && a.index < b.index);
}

}  // namespace

std::vector<Mismatch> worst(const Buffer& got, const Buffer& want, const DiffOptions& options,
                            Measured by, std::size_t most) {
  const std::size_t width = bytes_of(got.dtype);
  const std::int64_t count = got.elements();
  std::vector<Candidate> heap;  // the least bad in front
  for (std::int64_t i = 0; most > 0 && i < count; ++i) {
    const std::byte* a = got.bytes.data() + static_cast<std::size_t>(i) * width;
    const std::byte* b = want.bytes.data() + static_cast<std::size_t>(i) * width;
    // Nearly all are: the same bits are the same value, but for NaN where two are not equal.
    if (options.nan_equal && std::memcmp(a, b, width) == 0) continue;
    const Measure m = measure(got.dtype, a, b, options.tolerance, options.nan_equal);
    if (!m.wrong) continue;
    const Candidate candidate{badness(m, by), i};
    if (heap.size() == most) {
      if (!worse(candidate, heap.front())) continue;
      std::pop_heap(heap.begin(), heap.end(), worse);
      heap.back() = candidate;
    } else {
      heap.push_back(candidate);
    }
    std::push_heap(heap.begin(), heap.end(), worse);
  }
  std::sort(heap.begin(), heap.end(), worse);
  std::vector<Mismatch> out;
  out.reserve(heap.size());
  for (const Candidate& each : heap) out.push_back(mismatch_at(got, want, options, each.index));
  return out;
}

}  // namespace tilescope
