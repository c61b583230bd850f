// tilescope generate man|bash|zsh
#include "app/generate.h"

#include <map>
#include <memory>

#include "app/commands.h"

namespace tilescope {

Action define_generate(CommandOptions& app) {
  using Writer = std::string (*)(const std::vector<CommandText>&);
  static const std::map<std::string, Writer> writers = {
      {"man", manual_page}, {"bash", bash_completion}, {"zsh", zsh_completion}};
  const auto what = std::make_shared<std::string>();
  app.add_option("WHAT", *what, "the manual page, or a shell's completion")
      .required()
      .one_of({"man", "bash", "zsh"});
  return [what](Terminal& terminal) {
    terminal.print(writers.at(*what)(describe_commands()));
    return 0;
  };
}

}  // namespace tilescope
