#include "core/sim/machine/schedule_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace tilescope::sim {
namespace {

constexpr std::string_view no_waits = "refuse-waits", no_grants = "refuse-grants";

template <class T>
std::optional<T> number(std::string_view text) {
  T value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0.4@1250"
std::optional<Hold> parse_hold(std::string_view text) {
  const std::size_t dot = text.find('.'), at = text.find('@');
  if (dot == text.npos || at == text.npos || at < dot) return std::nullopt;
  const auto block = number<std::uint64_t>(text.substr(0, dot));
  const auto warp = number<std::uint32_t>(text.substr(dot + 1, at - dot - 1));
  const auto executed = number<std::uint64_t>(text.substr(at + 1));
  if (!block || !warp || !executed) return std::nullopt;
  return Hold{*block, *warp, *executed};
}

}  // namespace

std::string words_of_schedule(std::string_view file) {
  std::string out, word;
  const auto end_word = [&] {
    if (!word.empty()) out += (out.empty() ? "" : ",") + word;
    word.clear();
  };
  bool comment = false;
  for (const char c : file) {
    comment = c != '\n' && (comment || c == '#');
    if (comment || c == '\n' || c == '\r' || c == ' ' || c == '\t' || c == ',') {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return out;
}

Outcome<Schedule> parse_schedule(std::string_view text) {
  Schedule out;
  std::size_t begin = 0;
  for (bool first = true; begin <= text.size(); first = false) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    if (const auto seed = number<std::uint64_t>(part); seed && first) {
      out.seed = *seed;
    } else if (part == no_waits) {
      out.refuses_waits = true;
    } else if (part == no_grants) {
      out.refuses_grants = true;
    } else if (const auto hold = parse_hold(part)) {
      out.holds.push_back(*hold);
    } else {
      return Error{ErrorKind::usage,
                   fmt::format("--schedule {}: '{}' is no order; there are a seed, as 7, warps "
                               "that are held back, as 0.4@1250 (CTA 0's warp 4, when it has "
                               "executed 1250 instructions), refuse-waits and refuse-grants, with "
                               "commas between them, or a file that has these.",
                               text, part),
                   ""};
    }
  }
  return out;
}

std::string schedule_text(const Schedule& schedule) {
  std::string out;
  const auto add = [&](std::string_view word) {
    out += out.empty() ? "" : ",";
    out += word;
  };
  if (schedule.seed) add(fmt::to_string(schedule.seed));
  if (schedule.refuses_waits) add(no_waits);
  if (schedule.refuses_grants) add(no_grants);
  for (const Hold& h : schedule.holds) add(fmt::format("{}.{}@{}", h.block, h.warp, h.at));
  return out.empty() ? "0" : out;
}

}  // namespace tilescope::sim
