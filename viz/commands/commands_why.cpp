// Why the run took so long: what if something took less.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "viz/commands/command_table.h"
#include "viz/scene/command_text.h"
#include "viz/scene/number_words.h"
#include "viz/session/why_session.h"

namespace tilescope {
namespace {

// "0.5", "50%"
std::optional<double> share_in(const std::string& text) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return {};
  if (*end == '%') value /= 100, ++end;
  if (*end != '\0' || !(value >= 0 && value <= 1)) return {};
  return value;
}

Answer run_why(Session& session, Backend&, std::string_view arguments) {
  const auto view = why_of(session);
  if (!view) {
    return usage_error("There is no run to ask: `open` a kernel and `run` it.");
  }
  if (const std::string none = sim::without_time(view->record()); !none.empty()) {
    return Error{ErrorKind::mismatch, none, ""};
  }
  const std::vector<std::string> words = split_words(arguments);
  sim::WhatIf asked = session.state.why;
  if (words.size() == 1 && words[0] == "reset") {
    asked = {};
  } else {
    if (words.empty() || words.size() % 2) {
      return usage_error(
          "`why` takes copies, products, barriers or latency, each with the share of its time that "
          "it takes, 0 to 1, or reset: `why copies 0.5` asks what if copies were twice as fast.");
    }
    for (std::size_t i = 0; i < words.size(); i += 2) {
      const auto part = std::find_if(why_parts.begin(), why_parts.end(),
                                     [&](WhyPart p) { return name_of(p) == words[i]; });
      const auto share = share_in(words[i + 1]);
      if (part == why_parts.end()) {
        return usage_error(fmt::format(
            "`why` takes copies, products, barriers, latency or reset; `{}` is none of them.",
            words[i]));
      }
      if (!share) {
        return usage_error(fmt::format(
            "`why {} {}`: it is a share of the time that they take, from 0 (free) to 1 (as it is).",
            words[i], words[i + 1]));
      }
      share_of(asked, *part) = *share;
    }
  }
  session.state.view = ViewName::why;
  session.state.why = asked;
  const double now = view->run().end;
  const std::string unit = view->record().timed ? "cycles" : "instructions";
  const auto count = [](double t) { return grouped(static_cast<std::uint64_t>(t + 0.5)); };
  if (!asked.changes()) return fmt::format("{} {}, as it is.", count(now), unit);
  const WhyAnswer& answer = why_answer(session, *view);
  return fmt::format("With {}: {} {}, {:.1f}% less.", text_of(asked), count(answer.end), unit,
                     now > 0 ? 100 * (now - answer.end) / now : 0);
}

constexpr std::array kWhyCommands = {
    WindowCommand{"why", "copies S | products S | barriers S | latency S | reset",
                  "what the run would take if something took a share S of its time",
                  "why copies 0.5", "", run_why, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> why_commands() {
  return kWhyCommands;
}

}  // namespace tilescope
