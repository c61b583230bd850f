#include "app/compiler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/compiled_files.h"
#include "app/files.h"
#include "app/process.h"
#include "app/scratch.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

std::optional<Error> lay_out(const fs::path& file, std::string_view text) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  return write_file(file.string(), text);
}

// How the compiler's paths become names in the PTX.
struct Names {
  fs::path scratch, file, folder;  // ours; the text in it; that of the user's file
  std::string name;

  std::string operator()(std::string_view path) const {
    const fs::path normal = fs::path(path).lexically_normal();
    if (normal == file) return name;
    const auto below = [&](const fs::path& root) {
      const std::string rest = normal.lexically_relative(root).string();
      return rest.compare(0, 2, "..") == 0 ? "" : rest;
    };
    if (const std::string ours = below(scratch); !ours.empty()) return ours;
    const std::string text = normal.string();
    const std::size_t targets = text.find("/targets/"), include = text.find("/include/");
    if (targets != text.npos && include != text.npos && targets < include) {
      return "cuda/" + text.substr(include + 9);
    }
    if (text.compare(0, 13, "/usr/include/") == 0) return "system/" + text.substr(13);
    const std::string beside = below(folder);
    return beside.empty() ? text : beside;
  }
};

// -lineinfo writes paths into the lines `.file N "path"`; they get our names.
std::string with_names(std::string_view ptx, const Names& name_of) {
  std::string out;
  out.reserve(ptx.size());
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    const std::string_view line = ptx.substr(0, end);
    const std::size_t word = line.find_first_not_of(" \t");
    const std::size_t from = line.find('"'), to = line.find('"', from + 1);
    const bool names = word != line.npos && line.compare(word, 5, ".file") == 0 && to != line.npos;
    out += names ? fmt::format("{}{}{}", line.substr(0, from + 1),
                               name_of(line.substr(from + 1, to - from - 1)), line.substr(to))
                 : std::string(line);
    ptx.remove_prefix(end);
  }
  return out;
}

// The compiler's version, in its own words: another one may make other PTX.
Outcome<std::string> version_of(const std::string& nvcc, const KeepOn& keep_on) {
  const Outcome<ProcessEnd> end = run_process({{nvcc, "--version"}, {}, 4096}, keep_on);
  if (!end) return end.error();
  if (end->exit_code == 0) return end->said;
  return Error{ErrorKind::unsupported,
               fmt::format("{} --version ends with {}: it is no compiler that works here.", nvcc,
                           end->exit_code),
               nvcc};
}

// The compiler failed and no line of what it said names an error.
Complaint no_words(const ProcessEnd& end) {
  std::vector<std::string> lines = lines_of_text(end.said);
  constexpr std::size_t most = 3;
  std::string last;
  for (std::size_t i = lines.size() - std::min(lines.size(), most); i < lines.size(); ++i) {
    if (!lines[i].empty()) last += (last.empty() ? "" : " ") + lines[i];
  }
  if (last.empty()) last = "it said nothing";
  return {Complaint::Weight::error, "", 0,
          fmt::format("nvcc ended with {}: {}", end.exit_code, last)};
}

// Runs nvcc on the texts; `build` gets PTX or complaints.
std::optional<Error> translate(const std::string& nvcc, const std::string& architecture,
                               const CudaFiles& texts, const Defines& defines,
                               const std::vector<std::string>& options, const KeepOn& keep_on,
                               Build& build) {
  const Scratch scratch;
  if (scratch.folder().empty()) {
    return Error{ErrorKind::unreadable,
                 "The compiler needs a folder for its temporary files, and none can be made; "
                 "$TMPDIR names another place for it.",
                 ""};
  }
  const fs::path root = scratch.folder(), file = root / "edited" / build.name;
  if (auto error = lay_out(file, texts.text)) return error;
  for (const auto& [name, header] : texts.headers) {
    // What lies below the file's folder the compiler finds; ours, and those of the tree, in `root`.
    if (!header.ours && fs::path(header.path) == fs::path(texts.folder) / name) continue;
    if (auto error = lay_out(root / name, header.text)) return error;
  }
  const fs::path folder = texts.folder.empty() ? file.parent_path() : fs::path(texts.folder);
  const Names name_of{root, file, folder, build.name};
  const fs::path out = root / "out.ptx";
  ProcessPlan plan;
  plan.words = {nvcc,
                "-ptx",
                "-x",
                "cu",
                "-lineinfo",
                "--expt-relaxed-constexpr",
                "-I",
                folder.string(),
                "-I",
                root.string(),
                "-arch=" + architecture};
  const auto says_standard = [](const std::string& word) {
    return word.starts_with("-std") || word.starts_with("--std");
  };
  if (std::none_of(options.begin(), options.end(), says_standard))
    plan.words.push_back("-std=c++20");
  plan.words.insert(plan.words.end(), options.begin(), options.end());
  for (const auto& [name, value] : defines) {
    plan.words.push_back(fmt::format("-D{}={}", name, value));
  }
  for (std::string word : {file.string(), std::string("-o"), out.string()}) {
    plan.words.push_back(std::move(word));
  }
  plan.environment = {{"TMPDIR", root.string()}};
  const Outcome<ProcessEnd> end = run_process(plan, keep_on);
  if (!end) return end.error();
  build.complaints = complaints_in(end->said, name_of);
  const Outcome<std::string> ptx = read_text(out.string());
  if (end->exit_code == 0 && ptx && !ptx->empty()) {
    build.ptx = with_names(*ptx, name_of);
  } else if (build.errors() == 0) {
    build.complaints.insert(build.complaints.begin(), no_words(*end));
  }
  return {};
}

// As complaints_in() reads them again.
std::string said_of(const std::vector<Complaint>& complaints) {
  std::string out;
  for (const Complaint& each : complaints) {
    const std::string_view weight = each.weight == Complaint::Weight::warning ? "warning" : "note";
    if (each.line == 0 || each.weight == Complaint::Weight::error) continue;
    out += fmt::format("{}({}): {}: {}\n", each.file, each.line, weight, each.text);
  }
  return out;
}

Outcome<Build> compile_texts(Build build, const CudaFiles& texts, const std::string& architecture,
                             const Defines& defines, const KeepOn& keep_on,
                             const std::vector<std::string>& options = {}) {
  build.name = texts.name;
  build.sources[build.name] = lines_of_text(texts.text);
  for (const auto& [name, header] : texts.headers) {
    if (header.ours) continue;
    build.sources[name] = lines_of_text(header.text);
    build.files.push_back(header.path);
  }
  const Outcome<std::string> nvcc = find_nvcc();
  if (!nvcc) return nvcc.error();
  const Outcome<std::string> version = version_of(*nvcc, keep_on);
  if (!version) return version.error();
  const std::string key = key_of(texts, architecture, *version, defines);
  if (auto kept = options.empty() ? kept_ptx(key) : std::nullopt) {
    build.ptx = std::move(kept->ptx);
    build.complaints =
        complaints_in(kept->said, [](std::string_view name) { return std::string(name); });
    return build;
  }
  if (auto error = translate(*nvcc, architecture, texts, defines, options, keep_on, build)) {
    return *error;
  }
  if (build.compiled() && options.empty()) keep_ptx(key, {build.ptx, said_of(build.complaints)});
  return build;
}

}  // namespace

Outcome<std::string> find_nvcc() {
  if (std::string found = on_path("nvcc"); !found.empty()) return found;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* folder = std::getenv(variable);
    const std::string file = std::string(folder ? folder : "") + "/bin/nvcc";
    if (folder && *folder && ::access(file.c_str(), X_OK) == 0) return file;
  }
  const std::string usual = "/usr/local/cuda/bin/nvcc";
  if (::access(usual.c_str(), X_OK) == 0) return usual;
  return Error{
      ErrorKind::unsupported,
      "A CUDA file is compiled by nvcc, which is not here: it is looked for in $PATH, $CUDA_HOME, "
      "$CUDA_PATH and /usr/local/cuda. Install the CUDA Toolkit (no GPU is needed), or compile it "
      "elsewhere with `nvcc -ptx -lineinfo` and name what comes out with --ptx F.ptx.",
      ""};
}

std::string architecture_of(std::string_view ptx) {
  const std::string_view word = "\n.target sm_";
  const std::size_t at = ptx.find(word);
  if (at == ptx.npos) return "compute_80";
  const std::string_view rest = ptx.substr(at + word.size());
  return fmt::format("compute_{}", rest.substr(0, rest.find_first_of(", \t\r\n")));
}

Outcome<Build> compile(const std::string& path, const std::string& architecture,
                       const Defines& defines, const KeepOn& keep_on) {
  const Outcome<CudaFiles> texts = cuda_files(path);
  if (!texts) return texts.error();
  Build build;
  build.file = path;
  build.files = {path};
  return compile_texts(std::move(build), *texts, architecture, defines, keep_on);
}

Outcome<Build> compile_text(const CudaText& text, const std::string& architecture,
                            const KeepOn& keep_on) {
  Build build;
  build.file = text.name;
  return compile_texts(std::move(build), cuda_text(text.name, text.folder, text.text), architecture,
                       {}, keep_on, text.options);
}

Outcome<Build> compile_own(const std::string& source, const std::string& architecture,
                           const Defines& defines, const KeepOn& keep_on) {
  const Outcome<CudaFiles> texts = own_cuda_files(source);
  if (!texts) return texts.error();
  Build build;
  build.file = source;
  return compile_texts(std::move(build), *texts, architecture, defines, keep_on);
}

}  // namespace tilescope
