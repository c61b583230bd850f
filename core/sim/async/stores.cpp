#include "core/sim/async/stores.h"

#include <algorithm>
#include <cstring>

#include "core/sim/async/copies.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

AsyncOperation with_store(const Work& work, const AsyncStore& s) {
  AsyncOperation o;
  o.work = &work;
  o.words[0] = s.to;
  o.words[1] = static_cast<u64>(s.how);
  o.words[2] = static_cast<u64>(s.dtype);
  return o;
}

Writer writer_of(const Model& machine, const Block& block, const AsyncOperation& o) {
  return Writer::of(machine.issuer(block, o).number, o.thread, o.pc);
}

// An element that is undefined, in memory or in the register, makes the sum undefined.
void put(const AsyncOperation& o, Region& to, u64 offset, Writer writer) {
  const auto bytes = static_cast<u32>(o.bytes.size());
  const auto how = static_cast<ptx::Operation>(o.words[1]);
  if (how == ptx::Operation::none) {
    to.write(offset, o.bytes.data(), o.undefined.empty() ? nullptr : o.undefined.data(), bytes,
             writer);
    return;
  }
  std::byte element[8];
  std::memcpy(element, to.data() + offset, bytes);
  reduction_of(how, static_cast<DType>(o.words[2]))(element, o.bytes.data());
  const bool undefined =
      to.any_undefined(offset, bytes) ||
      std::any_of(o.undefined.begin(), o.undefined.end(), [](std::uint8_t v) { return v != 0; });
  constexpr std::uint8_t hidden[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  to.write_atomically(offset, element, undefined ? hidden : nullptr, bytes, writer);
}

bool put_shared(Model& machine, Block& block, AsyncOperation& o) {
  put(o, block.shared, o.words[0], writer_of(machine, block, o));
  return true;
}

bool put_global(Model& machine, Block& block, AsyncOperation& o) {
  Region* to = machine.region_of(o.words[0]);
  put(o, *to, o.words[0] - to->base(), writer_of(machine, block, o));
  return true;
}

constexpr Work shared_store{"st.async", nullptr, put_shared};
constexpr Work shared_sum{"red.async",     nullptr, put_shared, nullptr,
                          GlobalUse::none, nullptr, true};
constexpr Work global_store{"st.async", nullptr, put_global};
constexpr Work global_sum{"red.async", nullptr, put_global};

}  // namespace

AsyncOperation store_to_shared(const AsyncStore& store, u32 bytes) {
  const bool adds = store.how != ptx::Operation::none;
  AsyncOperation o = with_store(adds ? shared_sum : shared_store, store);
  const auto at = static_cast<u32>(store.to);
  o.writes.push_back({at, at + bytes});
  return o;
}

AsyncOperation store_to_global(const AsyncStore& store) {
  return with_store(store.how != ptx::Operation::none ? global_sum : global_store, store);
}

}  // namespace tilescope::sim
