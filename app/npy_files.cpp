#include "app/npy_files.h"

#include <algorithm>
#include <string_view>

#include "app/files.h"

namespace tilescope {

bool is_npy(const std::string& path) {
  constexpr std::string_view magic = "\x93NUMPY";
  const Outcome<FileFront> front = read_front(path, magic.size());
  return front && std::equal(magic.begin(), magic.end(), front->bytes.begin(), front->bytes.end(),
                             [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
}

Outcome<NpyFacts> facts_of_npy(const std::string& path, std::optional<DType> as) {
  const Outcome<FileFront> front = read_front(path, npy_front);
  if (!front) return front.error();
  return npy_facts(front->bytes, front->size, path, as);
}

Outcome<Buffer> read_npy_file(const std::string& path, std::optional<DType> as) {
  if (const auto facts = facts_of_npy(path, as); !facts) return facts.error();
  const Outcome<std::vector<std::byte>> bytes = read_file(path);
  if (!bytes) return bytes.error();
  return read_npy(*bytes, path, as);
}

}  // namespace tilescope
