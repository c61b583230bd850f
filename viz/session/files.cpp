#include "viz/session/files.h"

#include <fmt/format.h>

#include "viz/scene/command_text.h"
#include "viz/session/open.h"
#include "viz/session/result_view.h"

namespace tilescope {
namespace {}  // namespace

bool names_file(std::string_view word) {
  for (std::string_view end : {".npy", ".ptx", ".cu", ".toml", ".json"}) {
    if (word.ends_with(end)) return true;
  }
  return false;
}

Outcome<std::string> open_npy(Session& session, Backend& backend, const std::string& path) {
  Outcome<std::shared_ptr<const Buffer>> values = backend.matrix(path);
  if (!values) return values.error();
  const std::size_t rank = (*values)->shape.size();
  ViewState& state = session.state;
  forget_run(session);
  state.kernel.reset();
  state.options.clear();
  state.file = path;
  state.matrices = matrices_of(path, *values);
  state.view = ViewName::matrices;
  forget_passing(session);
  show_in_field(session);
  const MatricesView::Matrix& matrix = state.matrices->matrices().front();
  const std::string flat =
      rank > 2 ? fmt::format(", shown as {} x {}: a row for each index of the first {} dimensions",
                             matrix.rows, matrix.columns, rank - 1)
               : "";
  return fmt::format("Opened {}: {}{}.", path, matrix.detail, flat);
}

Outcome<std::string> kernel_of_files(Backend& backend, const std::string& path) {
  const bool ptx = path.ends_with(".ptx");
  const std::vector<std::string> beside = backend.beside(path, ptx ? ".toml" : ".ptx");
  const std::string_view missing = ptx ? "launch file" : "PTX";
  if (beside.empty()) {
    if (const auto text = backend.read_text(path); !text) return text.error();  // it is not there
    return Error{
        ErrorKind::usage,
        fmt::format(
            "{} needs its {}, and there is none beside it: `open {} --launch {}` names both.", path,
            missing, ptx ? path : "F.ptx", ptx ? "F.toml" : path),
        ""};
  }
  if (beside.size() > 1) {
    return Error{
        ErrorKind::usage,
        fmt::format("{} needs its {}, and {} are beside it: `open {} --launch {}` says "
                    "which.",
                    path, missing, beside.size(), ptx ? path : beside[0], ptx ? beside[0] : path),
        ""};
  }
  return fmt::format("{} --launch {}", quoted_word(ptx ? path : beside[0]),
                     quoted_word(ptx ? beside[0] : path));
}

namespace {

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

Outcome<std::string> kernel_of_source(const Session& session, Backend& backend,
                                      const std::string& path) {
  const auto text = backend.read_text(path);
  if (!text) return text.error();
  const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
  std::vector<std::string> named;
  for (const KernelName& kernel : backend.kernels()) {
    if (file == kernel.name + ".cu") {
      return fmt::format("{} --source {}", kernel.name, quoted_word(path));
    }
    if (has_word(*text, kernel.name)) named.push_back(kernel.name);
  }
  const KernelCard* open = session.state.kernel.get();
  if (named.size() != 1 && open && !names_file(open->name)) named = {open->name};
  if (named.size() == 1) return fmt::format("{} --source {}", named[0], quoted_word(path));
  return Error{ErrorKind::usage,
               fmt::format("A CUDA file takes the place of a kernel of the catalog: `open K "
                           "--source {}` says of which.",
                           path),
               ""};
}

std::vector<std::string> dropped(const std::vector<std::string>& paths) {
  std::string ptx, launch;
  std::vector<std::string> lines;
  for (const std::string& path : paths) {
    std::string* part = path.ends_with(".ptx") ? &ptx : path.ends_with(".toml") ? &launch : nullptr;
    if (part && part->empty()) {
      *part = path;
    } else if (path.ends_with(".json")) {
      lines.push_back(fmt::format("open workspace {}", quoted_word(path)));
    } else {
      lines.push_back(fmt::format("open {}", quoted_word(path)));
    }
  }
  if (!ptx.empty() && !launch.empty()) {
    lines.push_back(fmt::format("open {} --launch {}", quoted_word(ptx), quoted_word(launch)));
  } else if (!ptx.empty() || !launch.empty()) {
    lines.push_back(fmt::format("open {}", quoted_word(ptx.empty() ? launch : ptx)));
  }
  return lines;
}

}  // namespace tilescope
