// What is opened: layouts, presets, kernels.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "core/tensor/catalog.h"
#include "viz/commands/link.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/share.h"
#include "viz/commands/workspace.h"
#include "viz/layout/presets.h"
#include "viz/scene/command_text.h"
#include "viz/session/files.h"
#include "viz/session/open.h"

namespace tilescope {
namespace {

Answer open_share(Session& session, Backend& backend, std::string_view text) {
  const auto lines = read_share(text);
  if (!lines) return lines.error();
  return rebuild(session, backend, *lines);
}

Answer open_workspace(Session& session, Backend& backend, std::string_view path) {
  if (path.empty()) return usage_error("`open workspace` needs a file's name.");
  const auto text = backend.read_text(std::string(path));
  if (!text) return text.error();
  auto answer = open_workspace_text(session, backend, *text);
  if (answer) return answer;
  Error error = answer.error();
  error.sentence = fmt::format("{}: {}", path, error.sentence);
  return error;
}

Answer open_file(Session& session, Backend& backend, const std::string& path) {
  const std::string_view end = std::string_view(path).substr(path.rfind('.'));
  if (end == ".json") return open_workspace(session, backend, path);
  if (end == ".npy") return open_npy(session, backend, path);
  const auto words =
      end == ".cu" ? kernel_of_source(session, backend, path) : kernel_of_files(backend, path);
  if (!words) return words.error();
  return open_kernel(session, backend, *words);
}

Answer run_open(Session& session, Backend& backend, std::string_view arguments) {
  const auto [what, rest] = first_word(arguments);
  if (what.empty()) {
    return usage_error(
        "`open` needs what to open: `layout EXPR`, `preset NAME` or a kernel's name.");
  }
  if (what == "layout") return open_layout(session, unquoted(rest));
  if (what == "preset") return open_preset_named(session, unquoted(rest));
  if (is_link(arguments)) return open_link(session, backend, arguments);
  if (what == "share") return open_share(session, backend, rest);
  if (what == "workspace") return open_workspace(session, backend, unquoted(rest));
  if (const std::vector<std::string> words = split_words(arguments);
      words.size() == 1 && names_file(words[0])) {
    return open_file(session, backend, words[0]);
  }
  if (what == "lesson") {
    return usage_error(
        fmt::format("A lesson is begun by the command of its own: `lesson{}{}` (`gui --do 'lesson "
                    "layouts'` from a terminal).",
                    rest.empty() ? "" : " ", rest));
  }
  // Blanks in a file's name part it into words.
  if (const std::vector<std::string> words = split_words(arguments);
      words.size() > 1 && names_file(words.back()) && !names_file(words[0]) &&
      arguments.find(" --") == arguments.npos) {
    return usage_error(
        fmt::format("A file name with blanks goes in quotes: `open \"{}\"`.", arguments));
  }
  return open_kernel(session, backend, arguments);
}

std::vector<Suggestion> suggest_open(const Session& session, const Backend& backend) {
  std::vector<Suggestion> out;
  for (const Preset& preset : presets()) {
    out.push_back({fmt::format("preset {}", preset.name), std::string(preset.title)});
  }
  for (const KernelName& kernel : backend.kernels()) out.push_back({kernel.name, kernel.help});
  if (!session.state.kernel) return out;
  for (const KernelCard::OwnLayout& own : session.state.kernel->layouts) {
    out.push_back({"layout " + own.expression, fmt::format("{}: {}", own.name, own.help)});
  }
  return out;
}

// A list of the outline, not a choice: nothing to undo.
Answer run_atoms(Session& session, Backend&, std::string_view arguments) {
  if (arguments == "none") {
    session.atoms.clear();
    return std::string("No atoms are listed.");
  }
  for (const AtomFamily& family : atom_families()) {
    const std::string group = family.example.substr(0, family.example.find_first_of("_<"));
    if (group != arguments) continue;
    session.atoms = group;
    return fmt::format("The atoms of {}.", group);
  }
  return usage_error(
      fmt::format("There are no atoms of `{}`; SM80 and SM90 have some.", arguments));
}

constexpr std::array kOpenCommands = {
    WindowCommand{"atoms", "SM80 | SM90 | ... | none",
                  "lists an architecture's atoms in the outline", "atoms SM80", "", run_atoms},
    WindowCommand{"open",
                  "layout EXPR | preset NAME | share STRING | tilescope://LINK | workspace F.json "
                  "| F.npy | F.ptx "
                  "[--launch F.toml] | F.toml | KERNEL [--m M] [--n N] [--a "
                  "F.npy] [--b F.npy] "
                  "[--dtype T] [--seed S] [--grid N] [--ptx F.ptx | --source F.cu] [--device D] "
                  "[--schedule S] "
                  "[--lazy on] [--numerics fast] | F.cu",
                  "opens a layout expression, a preset, a kernel, a matrix, or a view that was "
                  "shared or saved",
                  "open layout zipped_divide((8,8):(8,1), <4,4>)", "", run_open, suggest_open,
                  true},
};

}  // namespace

std::span<const WindowCommand> open_commands() {
  return kOpenCommands;
}

}  // namespace tilescope
