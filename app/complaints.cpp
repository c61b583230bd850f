// What nvcc says, line by line. Its front end writes
//
//     /dir/my.cu(12): error: identifier "y" is undefined
//       p[0] = y;
//              ^
//               detected during instantiation of "void f<T>() [with T=int]" at line 40 of
//               /dir/my.cu
//
// and the preprocessor, which is the host's compiler, /dir/my.cu:1:10: fatal error: ...
#include <algorithm>
#include <charconv>

#include "app/compiler.h"

namespace tilescope {
namespace {

using Weight = Complaint::Weight;

struct Word {
  std::string_view text;
  Weight weight;
};
constexpr Word kWords[] = {{"fatal error", Weight::error},    {"catastrophic error", Weight::error},
                           {"internal error", Weight::error}, {"error", Weight::error},
                           {"warning", Weight::warning},      {"note", Weight::note},
                           {"remark", Weight::note}};

std::optional<std::uint32_t> number_at(std::string_view text) {
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end == text.data()) return {};
  return out;
}

// The file and line before ": error": "FILE(12)", "FILE:12:10", "FILE:12".
bool read_place(std::string_view place, Complaint& out, std::string_view& file) {
  if (place.ends_with(')')) {
    const std::size_t open = place.rfind('(');
    const auto line = open == place.npos ? std::nullopt : number_at(place.substr(open + 1));
    if (!line) return false;
    out.line = *line;
    file = place.substr(0, open);
    return true;
  }
  for (int i = 0; i < 2; ++i) {
    const std::size_t colon = place.rfind(':');
    const auto number = colon == place.npos ? std::nullopt : number_at(place.substr(colon + 1));
    if (!number) break;
    out.line = *number;
    file = place = place.substr(0, colon);
  }
  return out.line > 0;
}

// "error #20-D: text", "error: text" behind a place; false where the line is no complaint.
bool read_words(std::string_view rest, Complaint& out) {
  for (const Word& word : kWords) {
    if (rest.substr(0, word.text.size()) != word.text) continue;
    const std::size_t colon = rest.find(':');
    if (colon == rest.npos) return false;
    std::string_view between = rest.substr(word.text.size(), colon - word.text.size());
    if (!between.empty() && between.front() != ' ') return false;
    out.weight = word.weight;
    out.text = rest.substr(std::min(colon + 2, rest.size()));
    return true;
  }
  return false;
}

std::optional<Complaint> read(std::string_view line, std::string_view& file) {
  // The place has no ": " in it; a path may have.
  for (std::size_t at = line.find(": "); at != line.npos; at = line.find(": ", at + 1)) {
    Complaint out;
    if (!read_words(line.substr(at + 2), out)) continue;
    file = {};
    if (line.substr(0, at) == "At end of source" || read_place(line.substr(0, at), out, file)) {
      return out;
    }
    if (at == line.find(": ")) {  // "nvcc fatal   : ..." and its like have no place
      out.text = line;
      return out;
    }
  }
  if (line.substr(0, 10) == "nvcc fatal" || line.substr(0, 10) == "nvcc error") {
    return Complaint{Weight::error, "", 0, std::string(line)};
  }
  return {};
}

// "   detected during ... at line 40 of /dir/my.cu": where the text asks for what is wrong.
std::optional<Complaint> read_cause(std::string_view line, std::string_view& file) {
  const std::size_t word = line.find_first_not_of(' ');
  const std::size_t at = line.rfind(" at line "), of = line.rfind(" of ");
  if (word == line.npos || word < 6 || at == line.npos || of == line.npos || of < at) return {};
  const auto number = number_at(line.substr(at + 9));
  if (!number) return {};
  file = line.substr(of + 4);
  if (const std::size_t end = file.find_first_of("\" "); end == 0) file.remove_prefix(1);
  file = file.substr(0, file.find('"'));
  return Complaint{Weight::note, "", *number, std::string(line.substr(word, at - word))};
}

}  // namespace

std::vector<Complaint> complaints_in(std::string_view said,
                                     const std::function<std::string(std::string_view)>& name_of) {
  std::vector<Complaint> out;
  for (const std::string& line : lines_of_text(said)) {
    std::string_view file;
    auto found = read(line, file);
    if (!found && !out.empty()) found = read_cause(line, file);
    if (!found) continue;
    if (!file.empty()) found->file = name_of(file);
    out.push_back(std::move(*found));
  }
  // Errors first: warnings and notes can wait.
  std::stable_sort(out.begin(), out.end(), [](const Complaint& a, const Complaint& b) {
    const auto rank = [](const Complaint& c) {
      return c.weight == Complaint::Weight::error ? 0 : 1;
    };
    return rank(a) < rank(b);
  });
  return out;
}

}  // namespace tilescope
