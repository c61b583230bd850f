// Slices of grids with more than two modes: which are shown, and which modes are rows and columns.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/layout/layout_slices.h"
#include "viz/scene/command_text.h"
#include "viz/session/open.h"

namespace tilescope {
namespace {

Error wrong_slice() {
  return usage_error(
      "`slice` takes next, previous, all, a number, a slice as CuTe writes it, or rows M and "
      "columns "
      "M, and the grid where there are several: `slice (_,3,_)`, `slice rows 2 grid 1`.");
}

// What the words choose of a panel, beginning at what is chosen now.
Outcome<SliceChoice> chosen(const Panel& panel, SliceChoice now,
                            const std::vector<std::string>& words) {
  const int rank = panel.layout.rank();
  const std::int64_t all = slices_of(panel, now);
  if (words.size() == 2 && (words[0] == "rows" || words[0] == "columns")) {
    const auto mode = number_in(words[1]);
    if (!mode || *mode < 0 || *mode >= rank) {
      return usage_error(fmt::format("{} has the modes 0 to {}.", panel.formula, rank - 1));
    }
    int& own = words[0] == "rows" ? now.rows : now.columns;
    int& other = words[0] == "rows" ? now.columns : now.rows;
    if (other == *mode) other = own;
    own = static_cast<int>(*mode);
    now.at = now.at < 0 ? -1 : 0;
    return now;
  }
  if (words.size() != 1) return wrong_slice();
  const std::string& word = words[0];
  if (word.front() == '(') {
    Outcome<SliceChoice> read = slice_in(panel, word);
    if (read) read->grid = now.grid;
    return read;
  }
  const auto number = number_in(word);
  const std::int64_t to = word == "all"        ? -1
                          : word == "next"     ? now.at + 1
                          : word == "previous" ? now.at - 1
                          : number             ? *number
                                               : -2;
  if (to == -2 && word != "previous") return wrong_slice();
  if (word == "next" && to >= all) return usage_error("This is the last slice.");
  if (word == "previous" && to < 0) {
    return usage_error(now.at < 0 ? "All slices are shown; `slice next` shows the first alone."
                                  : "This is the first slice.");
  }
  if (number && (to < 0 || to >= all)) {
    return usage_error(fmt::format("There is no slice {}: there are 0 to {}.", to, all - 1));
  }
  now.at = to;
  return now;
}

Answer run_slice(Session& session, Backend&, std::string_view arguments) {
  if (!session.state.layout) return usage_error("There is no layout: open one first.");
  const LayoutView& view = *session.state.layout;
  LayoutStudy study = session.state.study;
  std::vector<std::string> words = split_words(arguments);
  SliceChoice now = study.slice;
  if (now.grid < 0) now.grid = sliced_grid(view);
  if (words.size() >= 2 && words[words.size() - 2] == "grid") {
    const auto grid = number_in(words.back());
    const auto grids = static_cast<std::int64_t>(view.panels().size());
    if (!grid || *grid < 0 || *grid >= grids) {
      return usage_error(fmt::format("There is no such grid: there are 0 to {}.", grids - 1));
    }
    if (*grid != now.grid) now = {static_cast<int>(*grid), 0, 1, -1};
    words.resize(words.size() - 2);
  }
  const bool flat = sliced_grid(view) < 0;
  if (flat && words == std::vector<std::string>{"all"}) {
    return std::string("Its grids have one slice each; all of them is shown.");
  }
  if (now.grid < 0 || view.panels()[static_cast<std::size_t>(now.grid)].layout.rank() < 3) {
    return usage_error(
        "This grid has no slices: they are of layouts with more than two modes, such as "
        "(4,8,16):(1,4,32).");
  }
  const Panel& panel = view.panels()[static_cast<std::size_t>(now.grid)];
  const Outcome<SliceChoice> to = chosen(panel, now, words);
  if (!to) return to.error();
  study.slice = *to;
  const bool usual = to->at < 0 && to->rows == 0 && to->columns == 1;
  if (usual) study.slice = {};
  const std::string text = slice_text(panel, *to);
  const std::int64_t all = slices_of(panel, *to);
  if (auto error = show_study(session, study)) return *error;
  if (to->at >= 0) return fmt::format("Slice {}, {} of {}.", text, to->at + 1, all);
  return fmt::format("All {} slices, mode {} down and mode {} across.", all, to->rows, to->columns);
}

constexpr std::array kSliceCommands = {
    WindowCommand{"slice", "next | previous | all | N | (_,3,_) | rows M | columns M [grid N]",
                  "shows one slice of many, or other modes as rows and columns", "slice all",
                  "Ctrl+Right next, Ctrl+Left previous", run_slice, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> slice_commands() {
  return kSliceCommands;
}

}  // namespace tilescope
