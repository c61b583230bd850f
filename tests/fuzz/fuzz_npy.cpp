// The .npy reader: any bytes get a tensor or a sentence, and a tensor that was read is written and
// read again as the same. The first byte chooses the type that the caller expects.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "core/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilescope;
  if (size == 0) return 0;
  // The magic begins with 0x93, so that a whole .npy file asks for no type.
  const std::optional<DType> as = data[0] <= static_cast<std::uint8_t>(DType::i64)
                                      ? std::optional<DType>(static_cast<DType>(data[0]))
                                      : std::nullopt;
  const std::size_t skip = as ? 1 : 0;
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data) + skip,
                                        size - skip);
  const Outcome<Buffer> tensor = read_npy(file, "fuzz.npy", as);
  if (!tensor) {
    if (tensor.error().sentence.empty() || tensor.error().where != "fuzz.npy") std::abort();
    return 0;
  }
  if (as && tensor->dtype != *as) std::abort();
  const Outcome<Buffer> again = read_npy(write_npy(*tensor), "fuzz.npy", tensor->dtype);
  if (!again || again->shape != tensor->shape || again->bytes != tensor->bytes) std::abort();
  return 0;
}
