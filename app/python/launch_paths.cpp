#include "app/python/launch_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "app/python/values.h"

namespace tilescope::python {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}
bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The files of a folder with this ending, by name.
std::vector<fs::path> files_in(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    if (each.path().extension() == ending && is_file(each.path()))
      out.push_back(folder / each.path().filename());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string names_of(const std::vector<fs::path>& paths) {
  std::string out;
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < paths.size() && i < most; ++i)
    out += (i ? ", " : "") + paths[i].filename().string();
  return paths.size() > most ? out + ", ..." : out;
}

std::string launch_in(const fs::path& folder) {
  if (is_file(folder / "launch.toml")) return (folder / "launch.toml").string();
  const std::vector<fs::path> all = files_in(folder, ".toml");
  if (all.size() == 1) return all[0].string();
  if (!all.empty()) {
    refuse(fmt::format("{} has several launch files and no launch.toml: name one of {}.",
                       folder.string(), names_of(all)));
  }
  std::vector<fs::path> inner;
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator(folder, ignored)) {
    if (is_file(each.path() / "launch.toml")) inner.push_back(each.path());
  }
  std::sort(inner.begin(), inner.end());
  refuse(inner.empty()
             ? fmt::format("{} has no launch file: launch.toml is looked for, or another .toml.",
                           folder.string())
             : fmt::format("{} has folders of several launches: name one of {}.", folder.string(),
                           names_of(inner)));
}

std::string ptx_of(const fs::path& launch) {
  const fs::path folder = launch.parent_path();
  for (const fs::path& path : {folder / "kernel.ptx", fs::path(launch).replace_extension(".ptx")}) {
    if (is_file(path)) return path.string();
  }
  const std::vector<fs::path> all = files_in(folder, ".ptx");
  if (all.size() == 1) return all[0].string();
  refuse(all.empty()
             ? fmt::format("There is no PTX beside {}: ptx=\"F.ptx\" names it.", launch.string())
             : fmt::format("Which PTX {} is for cannot be told: ptx= names one of {}.",
                           launch.string(), names_of(all)));
}

std::string path_taken(nb::dict& words, const char* name) {
  if (!words.contains(name)) return "";
  const nb::object value = words[name];
  nb::del(words[name]);
  return value.is_none() ? "" : path_of(value);
}

}  // namespace

bool is_launch_path(const std::string& text) {
  return text.ends_with(".toml") || text.ends_with(".ptx") || text.find('/') != text.npos ||
         is_folder(text);
}

LaunchPaths launch_paths(const std::string& path, nb::dict words) {
  LaunchPaths out{path_taken(words, "ptx"), path_taken(words, "launch")};
  if (words.size() != 0) {
    refuse(
        fmt::format("run() of files has no {}=: sizes and inputs are the launch file's. It takes "
                    "ptx, launch, check and how a run is to go.",
                    str_of(words.keys()[0])));
  }
  if (path.ends_with(".ptx")) {
    if (!out.ptx.empty())
      refuse(fmt::format("{} and ptx=\"{}\": one PTX is needed.", path, out.ptx));
    out.ptx = path;
    if (out.launch.empty()) {
      refuse(
          fmt::format("{} needs a launch file that says grid, block, buffers and arguments: "
                      "launch=\"F.toml\". ts.launch() takes arrays.",
                      path));
    }
    return out;
  }
  if (!out.launch.empty()) {
    refuse(fmt::format("launch=\"{}\" goes with a .ptx file, and {} is none.", out.launch, path));
  }
  if (!is_folder(path) && !is_file(path)) refuse(fmt::format("There is no {}.", path));
  if (!is_folder(path) && !path.ends_with(".toml")) {
    refuse(fmt::format("{} is no launch file, F.toml, nor a folder with one.", path));
  }
  out.launch = is_folder(path) ? launch_in(path) : path;
  if (out.ptx.empty()) out.ptx = ptx_of(out.launch);
  return out;
}

}  // namespace tilescope::python
