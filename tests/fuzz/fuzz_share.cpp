// Share strings: any text gets lines or a sentence; lines made into one come back as they were; and
// what lines say, be it nonsense with a checksum that is right, is done in a window or refused with
// a sentence that changes nothing.
//
// An input is pasted as it is, and then taken as the lines of a share string.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/viz/ui_backend.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/share.h"

namespace {

using namespace tilescope;

constexpr std::size_t most_lines = 24;

void open(const std::vector<std::string>& lines) {
  test::FakeBackend backend;
  Session session;
  const ViewState before = session.state;
  const Outcome<std::string> done = rebuild(session, backend, lines);
  if (done) return;
  if (done.error().sentence.empty() || !(session.state == before)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Outcome<std::vector<std::string>> pasted = read_share(text);
  if (!pasted && pasted.error().sentence.empty()) std::abort();
  if (pasted && pasted->empty()) std::abort();

  std::vector<std::string> lines;
  for (std::size_t at = 0; at < size && lines.size() < most_lines;) {
    const std::size_t end = std::min(text.find('\n', at), size);
    std::string line(text.substr(at, end - at));
    for (char& c : line) c = c == '\x1e' ? ' ' : c;  // which stands between two lines
    // As `share` writes it: what an earlier one left out is added when it is read.
    if (!line.empty()) lines.push_back(migrated(std::move(line), share_version));
    at = end + 1;
  }
  if (lines.empty()) return 0;
  const Outcome<std::vector<std::string>> again = read_share(share_string(lines));
  if (!again || *again != lines) std::abort();
  open(lines);
  return 0;
}
