// tilescope: see how GPU tensors are tiled and how a kernel really runs.
#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "app/commands.h"

namespace tilescope {
namespace {

// What the parser says, and where help is. A word that is no command is answered with those that
// are.
std::string usage_sentence(const CLI::App& app, const CLI::ParseError& wrong) {
  std::string hint = "tilescope --help", said = wrong.what();
  if (const auto chosen = app.get_subcommands(); !chosen.empty()) {
    hint = "tilescope " + chosen.back()->get_name() + " --help";
  } else if (const auto left = app.remaining(); !left.empty() && left.front()[0] != '-') {
    std::string names;
    for (const Command& command : commands()) {
      if (!command.hidden) names += fmt::format("{}{}", names.empty() ? "" : ", ", command.name);
    }
    said = fmt::format("There is no command `{}`; there are {}", left.front(), names);
  }
  if (said.back() != '.') said += '.';
  return fmt::format("{} See `{}`.", said, hint);
}

int run_program(int argc, char** argv) {
  CLI::App app("Tilescope: see how GPU tensors are tiled and how a GEMM kernel really runs.",
               "tilescope");
  app.set_version_flag("--version", "tilescope " TILESCOPE_VERSION);
  app.footer(
      "`tilescope COMMAND --help` shows a command's options with an example.\n"
      "Exit: 0 fine, 1 a result differs or an expression is refused, 2 cannot be done as put,\n"
      "3 the kernel faulted, 4 no such device or display, 130 interrupted.\n"
      "Example:\n  tilescope eval 'composition((6,2):(8,2), (4,3):(3,1))'");
  bool json = false;
  app.add_flag("--json", json, "one JSON document on stdout");
  app.fallthrough();  // a command without --json of its own takes it too
  Action chosen;
  define_commands(app, chosen);

  // Known before parsing, so that a usage error under --json is a document too.
  Terminal terminal;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") terminal.use_json();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& wrong) {
    return terminal.fail({ErrorKind::usage, usage_sentence(app, wrong), ""});
  }
  return chosen ? chosen(terminal) : open_window_or_explain(terminal);
}

}  // namespace
}  // namespace tilescope

int main(int argc, char** argv) {
  try {
    return tilescope::run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tilescope: Not enough memory for what was asked; try smaller sizes.\n");
  } catch (const std::exception& unexpected) {
    fmt::print(stderr, "tilescope: Unexpected: {}. Please report it with the command line.\n",
               unexpected.what());
  }
  return 2;
}
