#include "viz/machine/build.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope {

std::string text(const Complaint& complaint) {
  if (complaint.file.empty()) return complaint.text;
  if (complaint.line == 0) return fmt::format("{}: {}", complaint.file, complaint.text);
  return fmt::format("{}:{}: {}", complaint.file, complaint.line, complaint.text);
}

std::size_t Build::count(Complaint::Weight weight) const {
  return static_cast<std::size_t>(
      std::count_if(complaints.begin(), complaints.end(),
                    [weight](const Complaint& c) { return c.weight == weight; }));
}

std::string warnings_of(const Build& build) {
  const std::size_t count = build.count(Complaint::Weight::warning);
  if (count == 0) return "";
  const auto first =
      std::find_if(build.complaints.begin(), build.complaints.end(),
                   [](const Complaint& c) { return c.weight == Complaint::Weight::warning; });
  const std::string where = first->line == 0 ? ""
                            : first->file == build.name
                                ? fmt::format(" in line {}", first->line)
                                : fmt::format(" in {}:{}", first->file, first->line);
  return fmt::format("{} warning{}, {}{}: {}", count, count == 1 ? "" : "s",
                     count == 1 ? "it is" : "the first", where, first->text);
}

std::string what_is_wrong(const Build& build) {
  if (build.compiled()) return "";
  const std::size_t errors = build.errors();
  if (errors == 0) return fmt::format("{} does not compile.", build.name);
  const Complaint& first = build.complaints.front();
  const std::string where = first.line == 0 ? ""
                            : first.file == build.name
                                ? fmt::format(" in line {}", first.line)
                                : fmt::format(" in {}:{}", first.file, first.line);
  const std::string end = first.text.ends_with('.') ? "" : ".";
  if (errors == 1) {
    return fmt::format("{} does not compile: an error{}: {}{}", build.name, where, first.text, end);
  }
  return fmt::format("{} does not compile: {} errors, the first{}: {}{}", build.name, errors, where,
                     first.text, end);
}

std::vector<std::string> lines_with_ends(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::vector<std::string> lines_of_text(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace tilescope
