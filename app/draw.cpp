// tilescope draw EXPR -o F.{svg,png,pdf,tex,txt}, or -o - for text on stdout
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/stills.h"

namespace tilescope {
namespace {

struct Options {
  std::string expression;
  StillOptions still;
  bool json = false;
};

int draw(const Options& options, Terminal& terminal) {
  const std::string& output = options.still.output;
  const Outcome<std::vector<std::byte>> picture = still_of(options.expression, options.still);
  if (!picture) return terminal.fail(picture.error());
  if (output == "-") {
    terminal.print({reinterpret_cast<const char*>(picture->data()), picture->size()});
  } else if (const std::optional<Error> error = write_file(output, std::span(*picture))) {
    return terminal.fail(*error);
  }
  if (terminal.json()) {
    nlohmann::ordered_json body{{"file", output}, {"bytes", picture->size()}};
    if (output == "-") {
      body["text"] = std::string(reinterpret_cast<const char*>(picture->data()), picture->size());
    }
    terminal.document(std::move(body));
  }
  return 0;
}

}  // namespace

Action define_draw(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("EXPR", options->expression,
                 "a layout expression, or 'preset NAME' (see `tilescope list presets`)")
      .required();
  app.add_option("-o,--output", options->still.output,
                 "where to: F.svg, F.png, F.pdf, F.tex, F.txt, or - for text on stdout")
      .type_name("FILE")
      .required();
  app.add_option("--colour,--color", options->still.colour,
                 "what a cell's colour means (default: what suits the layout)")
      .type_name(colour_names("|"));
  app.add_option("--size", options->still.size,
                 "in pixels, each side 64 to 32000, a PNG at most 268 million (default: as large "
                 "as the content needs)")
      .type_name("WxH");
  app.add_option("--theme", options->still.theme, "default: light").type_name("light|dark");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return draw(*options, terminal); };
}

}  // namespace tilescope
