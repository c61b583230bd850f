#include "tests/conformance/vectors.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace tilescope::conformance {
namespace {

constexpr std::string_view first_line = "tilescope-conformance 1";

std::uint32_t folded(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

}  // namespace

Answer answer_of(const Kernel& kernel, const std::vector<Buffer>& buffers, bool approximate) {
  Answer answer;
  answer.kind = approximate ? '~' : '=';
  for (std::uint32_t batch = 0; batch < batches; ++batch) {
    std::uint64_t hash = batch;
    for (std::uint32_t l = batch * batch_lanes; l < (batch + 1) * batch_lanes; ++l) {
      for (const std::uint64_t value : kernel.values(buffers, l)) hash = mix(hash ^ value);
    }
    answer.hashes[batch] = folded(hash);
  }
  if (!keeps_raw(kernel)) return answer;
  const std::vector<int> widths = kernel.widths();
  for (const std::uint32_t lane : kept_lanes) {
    const std::vector<std::uint64_t> values = kernel.values(buffers, lane);
    for (std::size_t v = 0; v < values.size(); ++v) {
      answer.raw += fmt::format("{:0{}x}", values[v], widths[v] * 2);
    }
  }
  return answer;
}

std::vector<std::uint64_t> kept(const Kernel& kernel, const Answer& answer, std::size_t i) {
  std::vector<std::uint64_t> out;
  std::size_t lane_digits = 0;
  for (const int width : kernel.widths()) lane_digits += static_cast<std::size_t>(width) * 2;
  std::size_t at = i * lane_digits;
  for (const int width : kernel.widths()) {
    const auto digits = static_cast<std::size_t>(width) * 2;
    if (at + digits > answer.raw.size()) return {};
    out.push_back(std::stoull(answer.raw.substr(at, digits), nullptr, 16));
    at += digits;
  }
  return out;
}

std::string line_of(const std::string& keys, const Answer& answer) {
  std::string out = fmt::format("{} {}\t", answer.kind, keys);
  if (answer.kind == '-') out += answer.refusal;
  if (answer.kind == '=') {
    for (const std::uint32_t hash : answer.hashes) out += fmt::format("{:08x}", hash);
    out += ' ';
  }
  if (answer.kind != '-') out += answer.raw;
  return out + '\n';
}

std::string write(const Vectors& v) {
  std::string out =
      fmt::format("{}\nchip {}\ndate {}\ncommit {}\n", first_line, v.chip, v.date, v.commit);
  std::map<std::string, std::string> refused;  // by what was said, so that it is said once
  for (const auto& [key, answer] : v.answers) {
    if (answer.kind != '-') {
      out += line_of(key, answer);
      continue;
    }
    std::string& keys = refused[answer.refusal];
    keys += (keys.empty() ? "" : ";") + key;
  }
  for (const auto& [why, keys] : refused) out += line_of(keys, {'-', {}, "", why});
  return out;
}

Outcome<Vectors> read_vectors(const std::string& text) {
  Vectors out;
  std::istringstream lines(text);
  std::string line;
  std::size_t number = 0;
  const auto broken = [&](const char* why) {
    return Error{ErrorKind::unreadable, fmt::format("line {} of the vectors: {}", number, why), ""};
  };
  while (std::getline(lines, line)) {
    ++number;
    if (number == 1) {
      if (line != first_line) return broken("it is not tilescope-conformance 1");
      continue;
    }
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) return broken("nothing follows the first word");
    const std::string word = line.substr(0, space), rest = line.substr(space + 1);
    if (word == "chip") out.chip = rest;
    if (word == "date") out.date = rest;
    if (word == "commit") out.commit = rest;
    if (word.size() != 1) continue;
    const std::size_t tab = rest.find('\t');
    if (tab == std::string::npos) return broken("there is no tab behind the instruction");
    Answer answer;
    answer.kind = word[0];
    std::string data = rest.substr(tab + 1);
    if (answer.kind == '-') answer.refusal = data;
    if (answer.kind == '=') {
      if (data.size() < batches * 8 + 1) return broken("hashes are missing");
      for (std::uint32_t b = 0; b < batches; ++b) {
        answer.hashes[b] =
            static_cast<std::uint32_t>(std::stoul(data.substr(b * 8, 8), nullptr, 16));
      }
      data = data.substr(batches * 8 + 1);
    }
    if (answer.kind != '-') answer.raw = data;
    std::istringstream keys(rest.substr(0, tab));
    for (std::string key; std::getline(keys, key, ';');) out.answers[key] = answer;
  }
  return out;
}

Outcome<Vectors> vectors_in(const std::string& file) {
  std::ifstream in(file);
  if (!in) return Error{ErrorKind::unreadable, "the file cannot be read", ""};
  std::ostringstream text;
  text << in.rdbuf();
  return read_vectors(text.str());
}

}  // namespace tilescope::conformance
