// The manual page, in roff as man-pages(7) lays it out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/generate.h"

namespace tilescope {
namespace {

// As text: no character is taken for a request or an escape, and a hyphen stays one when copied.
std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '.' && (out.empty() || out.back() == '\n'))
      out += "\\&.";
    else
      out += c;
  }
  return out;
}

std::string synopsis(const CommandText& command) {
  std::string line = fmt::format("\\fBtilescope {}\\fR", roff(command.name));
  bool has_options = false;
  for (const OptionText& option : command.options) {
    if (option.positional)
      line += fmt::format(" \\fI{}\\fR", roff(option.names.front()));
    else
      has_options = true;
  }
  return line + (has_options ? " [\\fIOPTIONS\\fR]" : "");
}

std::string option_item(const OptionText& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += fmt::format("{}\\f{}{}\\fR", names.empty() ? "" : ", ", option.positional ? 'I' : 'B',
                         roff(name));
  }
  const std::string value = option.value.empty() || option.positional
                                ? ""
                                : fmt::format(" \\fI{}\\fR", roff(option.value));
  return fmt::format(".TP\n{}{}\n{}\n", names, value, roff(option.help));
}

std::string section(const CommandText& command) {
  std::string out = fmt::format(".SS {}\n{}\n.PP\n{}\n", roff(command.name), synopsis(command),
                                roff(command.help));
  for (const OptionText& option : command.options) out += option_item(option);
  return out + fmt::format(".PP\nExample:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff(command.example));
}

struct Item {
  std::string_view name, text;
};

// design: the contract of exit codes.
constexpr Item exit_codes[] = {
    {"0", "fine"},
    {"1", "a result differs, or an expression is refused (eval -: any line)"},
    {"2",
     "wrong usage or input: an unknown name, shapes that do not fit, a file or an opcode that is "
     "not understood"},
    {"3", "the kernel faulted"},
    {"4", "no such device or display"},
    {"130", "interrupted"},
};

constexpr Item environment[] = {
    {"TILESCOPE_ASSETS",
     "A folder whose files are read before those inside the program: ptx/, kernels/, font/, "
     "devices/, presets/, lessons/."},
    {"DISPLAY, WAYLAND_DISPLAY",
     "Where the window opens. Without one, gui --headless draws the same views to files."},
};

template <std::size_t N>
std::string items(const Item (&list)[N]) {
  std::string out;
  for (const Item& item : list) {
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(item.name), roff(item.text));
  }
  return out;
}

}  // namespace

std::string manual_page(const std::vector<CommandText>& commands) {
  std::string out =
      fmt::format(".TH TILESCOPE 1 \"\" \"tilescope {}\" \"User Commands\"\n", TILESCOPE_VERSION);
  out +=
      ".SH NAME\ntilescope \\- see how GPU tensors are tiled and how a kernel really runs\n"
      ".SH SYNOPSIS\n\\fBtilescope\\fR [\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n"
      "Tilescope evaluates and draws layouts in CuTe's notation, runs kernels' PTX on a simulator, "
      "and compares every element of what they compute with a reference.\n"
      "Without a command it opens its window.\n"
      ".PP\nResults go to standard output, all else to standard error.\n"
      "With \\fB\\-\\-json\\fR standard output is exactly one JSON document, on failure too.\n"
      ".SH COMMANDS\n";
  for (const CommandText& command : commands) out += section(command);
  out += ".SH EXIT STATUS\n" + items(exit_codes);
  out += ".SH ENVIRONMENT\n" + items(environment);
  return out;
}

}  // namespace tilescope
