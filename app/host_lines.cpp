#include "app/host_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>

#include "app/process.h"

namespace tilescope {
namespace {

using u64 = std::uint64_t;

std::string_view without_folder(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

struct HostLine {
  std::string function;  // "main", "void run<int>"; empty: not known
  std::string file;      // without its folder; empty: not known
  u64 line = 0;
};

std::string text(const HostLine& l) {
  if (l.file.empty()) return l.function;
  const std::string place = fmt::format("{}:{}", l.file, l.line);
  return l.function.empty() ? place : fmt::format("{} ({})", l.function, place);
}

// Without parameters: "main", "std::sort<int*>"; of what is inside of a function, that.
std::string name_of(std::string function) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = function.find(unnamed)) != std::string::npos;) {
    function.erase(at, unnamed.size());
  }
  function.resize(std::min(function.size(), function.find("::{lambda")));
  return function.substr(0, function.find('('));
}

// What lies at these offsets of a file; as many, or none.
std::vector<HostLine> lines_of(const std::string& file, const std::vector<u64>& offsets) {
  static const std::string program = on_path("addr2line");
  if (program.empty()) return {};
  ProcessPlan plan;
  plan.words = {program, "-C", "-f", "-e", file};
  for (const u64 offset : offsets) plan.words.push_back(fmt::format("0x{:x}", offset));
  // A library of a gigabyte has more lines than somebody waits for.
  const auto begun = std::chrono::steady_clock::now();
  const auto ended = run_process(
      plan, [&] { return std::chrono::steady_clock::now() - begun < std::chrono::seconds(3); });
  if (!ended || ended->exit_code != 0) return {};
  std::vector<HostLine> out;
  std::istringstream in(ended->said);
  for (std::string function, place; std::getline(in, function) && std::getline(in, place);) {
    HostLine l;
    if (!function.starts_with("??")) l.function = name_of(std::move(function));
    const std::size_t colon = place.rfind(':');
    if (!place.starts_with("??") && colon != std::string::npos) {
      l.line = std::strtoull(place.c_str() + colon + 1, nullptr, 10);
      if (l.line) l.file = without_folder(place.substr(0, colon));
      if (l.file.starts_with("tmpxft_")) l.file.clear();  // nvcc's own
    }
    out.push_back(std::move(l));
  }
  return out.size() == offsets.size() ? out : std::vector<HostLine>();
}

struct Mapping {
  u64 begin = 0, end = 0;
  std::string file;
};

std::vector<Mapping> mappings_of(pid_t process) {
  std::vector<Mapping> out;
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {  // proc_pid_maps(5)
    std::istringstream words(line);
    Mapping m;
    char dash = 0;
    std::string access, offset, device, inode;
    if (!(words >> std::hex >> m.begin >> dash >> m.end)) continue;
    if (!(words >> access >> offset >> device >> inode >> m.file)) continue;
    if (m.file.starts_with('/')) out.push_back(std::move(m));
  }
  return out;
}

// Whether its addresses are those that it is loaded at (ET_EXEC).
bool is_fixed(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  char head[18] = {};
  return in.read(head, sizeof head) && head[16] == 2;
}

// CUDA's own: nobody wrote these lines.
bool is_of_cuda(const HostLine& l) {
  for (const char* part : {"cuda", "__cudart", "libcudart_static", "cuMem"}) {
    if (l.function.starts_with(part)) return true;
  }
  return l.function.find("cudaMalloc") != std::string::npos || l.file.starts_with("cuda_runtime");
}

}  // namespace

std::string host_caller(pid_t process, const std::vector<u64>& frames) {
  const std::vector<Mapping> all = mappings_of(process);
  const auto mapping = [&](u64 at) {
    return std::find_if(all.begin(), all.end(),
                        [&](const Mapping& m) { return at >= m.begin && at < m.end; });
  };
  for (std::size_t i = 0; i < frames.size();) {
    const auto in = mapping(frames[i]);
    const std::string_view name = in == all.end() ? "" : without_folder(in->file);
    if (name.empty() || name.starts_with("libcuda.so") || name.starts_with("libcudart")) {
      ++i;
      continue;
    }
    const auto first =
        std::find_if(all.begin(), all.end(), [&](const Mapping& m) { return m.file == in->file; });
    const u64 base = is_fixed(in->file) ? 0 : first->begin;
    std::vector<u64> offsets;
    // Where a call comes back to is behind it.
    for (; i < frames.size(); ++i) {
      const auto other = mapping(frames[i]);
      if (other == all.end() || other->file != in->file) break;
      offsets.push_back(frames[i] - base - 1);
    }
    for (const HostLine& l : lines_of(in->file, offsets)) {
      if (!text(l).empty() && !is_of_cuda(l)) return text(l);
    }
  }
  return "";
}

std::string host_line(const std::string& place) {
  const std::size_t at = place.rfind(", at 0x"), in = place.find(" in /");
  if (at == std::string::npos) return place;
  const std::size_t begin = in < at ? in + 4 : 0;
  const std::string file = place.substr(begin, at - begin);
  const u64 offset = std::strtoull(place.c_str() + at + 5, nullptr, 16);
  const std::vector<HostLine> lines = lines_of(file, {offset});
  if (!lines.empty() && !lines[0].file.empty()) return text(lines[0]);
  return fmt::format("{}{}{}", place.substr(0, begin), without_folder(file), place.substr(at));
}

}  // namespace tilescope
