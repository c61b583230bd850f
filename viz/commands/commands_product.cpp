// One product of tensor cores: which is open, and which element of its D.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/commands/command_table.h"
#include "viz/scene/command_text.h"
#include "viz/session/product_session.h"
#include "viz/session/theatre_session.h"

namespace tilescope {
namespace {

Answer show(Session& session, std::size_t number) {
  session.state.product.number = number;
  session.state.view = ViewName::product;
  session.product.playing = false;
  const auto view = product_of(session);
  if (!view) return Error{ErrorKind::mismatch, session.product.problem, ""};
  return product_sentence(*view) + ".";
}

// Along the sum, and behind its end to the next product of the CTA.
Answer step(Session& session, const ProductIndex& index, bool forward) {
  const std::size_t now = product_number(session, index);
  if (const auto view = product_of(session)) {
    const std::size_t last = view->sum().size() - 1;
    if (forward ? view->at < last : view->at > 0) {
      const std::size_t next = view->numbers[forward ? view->at + 1 : view->at - 1];
      if (next < index.size()) return show(session, next);
    }
  }
  if (forward ? now + 1 >= index.size() : now == 0) {
    return Error{ErrorKind::mismatch,
                 fmt::format("There is no {} product of this {}.", forward ? "later" : "earlier",
                             index.async() ? "CTA" : "warp"),
                 ""};
  }
  return show(session, forward ? now + 1 : now - 1);
}

Answer element(Session& session, std::string_view arguments) {
  const std::vector<std::string> words = split_words(arguments);
  const auto row = words.size() == 2 ? number_in(words[0]) : std::nullopt,
             column = words.size() == 2 ? number_in(words[1]) : std::nullopt;
  if (!row || !column || *row < 0 || *column < 0) {
    return usage_error("`product element` takes a row and a column of D: `product element 5 9`.");
  }
  const auto view = product_of(session);
  if (!view) return Error{ErrorKind::mismatch, session.product.problem, ""};
  const sim::ProductSeen& p = view->seen();
  if (*row >= p.m || *column >= p.n) {
    return Error{ErrorKind::mismatch,
                 fmt::format("D is {} x {}, counted from 0: it has no element {}, {}.", p.m, p.n,
                             *row, *column),
                 ""};
  }
  session.state.view = ViewName::product;
  session.state.product.row = static_cast<std::uint32_t>(*row);
  session.state.product.column = static_cast<std::uint32_t>(*column);
  session.state.product.number_first = true;
  const ProductShown shown = product_shown(session, *view);
  const sim::ElementTrace& t = shown.traces[view->at];
  return fmt::format("D[{}, {}]: {} before, {} after. {}.", *row, *column,
                     number_text(t.before_value), number_text(t.after_value),
                     place_text(*view, view->place(shown.row, shown.column)));
}

// Which of the two that may not have room side by side.
Answer show_part(Session& session, std::string_view which) {
  if (which != "number" && which != "descriptors") {
    return usage_error(
        "`product show` takes descriptors or number: which of them is there where there is no room "
        "for both.");
  }
  session.state.view = ViewName::product;
  session.state.product.number_first = which == "number";
  return fmt::format(
      "Where there is no room for both, {}.",
      which == "number" ? "how the number came about is shown" : "the descriptors are shown");
}

// Where there is nothing to open yet, or at all, the choice is kept, and the view says why.
Answer choose(Session& session, std::string_view what, std::string_view how) {
  ProductChoice& choice = session.state.product;
  const std::vector<std::string> words = split_words(how);
  const auto number = number_in(what);
  if (number && *number >= 0 && words.empty()) {
    choice.number = static_cast<std::size_t>(*number);
  } else if (what == "element" && words.size() == 2 && number_in(words[0]) && number_in(words[1])) {
    choice.row = static_cast<std::uint32_t>(std::max<std::int64_t>(0, *number_in(words[0])));
    choice.column = static_cast<std::uint32_t>(std::max<std::int64_t>(0, *number_in(words[1])));
    choice.number_first = true;
  } else if (what == "show" && (how == "number" || how == "descriptors")) {
    choice.number_first = how == "number";
  } else {
    return Error{ErrorKind::mismatch,
                 "No product of tensor cores is open: of a kernel that has some, `run` makes them.",
                 ""};
  }
  session.state.view = ViewName::product;
  return std::string("It is opened once there is a machine that comes to it.");
}

Answer run_product(Session& session, Backend&, std::string_view arguments) {
  if (!session.state.timeline) {
    return usage_error("There is no product to open: `open` a kernel and `run` it.");
  }
  const auto index = product_index(session);
  const auto [what, how] = first_word(arguments);
  if (!index || index->size() == 0) return choose(session, what, how);
  if (what == "element") return element(session, how);
  if (what == "show") return show_part(session, how);
  if (how.empty()) {
    if (what == "next" || what == "back") return step(session, *index, what == "next");
    if (what == "first") return show(session, 0);
    if (what == "last") return show(session, index->size() - 1);
    if (what == "play") {
      session.state.view = ViewName::product;
      session.product.playing = true;
      session.product.played = 0;
      return std::string("Playing the products of this sum.");
    }
    if (what == "pause") {
      session.product.playing = false;
      return std::string("Paused.");
    }
    const auto number = number_in(what);
    if (number && *number >= 0) {
      if (static_cast<std::size_t>(*number) < index->size()) {
        return show(session, static_cast<std::size_t>(*number));
      }
      return Error{ErrorKind::mismatch,
                   fmt::format("There is no product {}: this {} has {}, counted from 0.", what,
                               index->async() ? "CTA" : "warp", index->size()),
                   ""};
    }
  }
  return usage_error(
      "`product` takes a number, next, back, first, last, play, pause, element ROW COLUMN, or show "
      "descriptors or number: `product 3`.");
}

constexpr std::array kProductCommands = {
    WindowCommand{
        "product",
        "N | next | back | first | last | play | pause | element ROW COLUMN | show descriptors | "
        "show number",
        "opens a product of tensor cores: bits, bytes, sums, and one number term by term",
        "product 3", "", run_product, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> product_commands() {
  return kProductCommands;
}

}  // namespace tilescope
