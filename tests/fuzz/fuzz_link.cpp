// Links of pages: any bytes are a link or a sentence. What is a link has a name that can be no
// file, no option and no second command, or an expression that prints.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "viz/commands/link.h"
#include "viz/layout/layout_view.h"

namespace {

using namespace tilescope;

constexpr std::string_view letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ";

void check(const Link& link) {
  if (link.what.empty() || link.what.size() > most_link) std::abort();
  if (link.to != Link::To::lesson && link.step != 0) std::abort();
  if (link.to != Link::To::layout) {
    if (link.what.find_first_not_of(letters) != std::string::npos) std::abort();
    if (link.what[0] == '-' || link.what.find(" -") != std::string::npos) std::abort();
    return;
  }
  for (const char c : link.what) {
    if (c < ' ' || c > '~') std::abort();
  }
  const auto view = LayoutView::of_expression(link.what);
  if (!view && view.error().sentence.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Outcome<Link> link = read_link(text);
  if (link) {
    if (!is_link(text) || text.find('\0') != text.npos) std::abort();
    check(*link);
  } else if (link.error().sentence.empty() || link.error().kind != ErrorKind::usage) {
    std::abort();
  }
  return 0;
}
