#include "viz/session/product_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/number_words.h"
#include "viz/session/seek.h"
#include "viz/session/theatre_session.h"

namespace tilescope {
namespace {

constexpr double seconds_of_step = 0.7;

std::string bits_of(const sim::BitField& f) {
  return f.count == 1 ? fmt::format("bit {}", f.low)
                      : fmt::format("bits {}-{}", f.low, f.low + f.count - 1);
}

// Is this product one of the sum that is open? Then it needs no run.
std::optional<std::size_t> step_of(const ProductCache& cache, std::size_t number) {
  if (!cache.view) return {};
  const auto& all = cache.view->numbers;
  const auto at = std::find(all.begin(), all.end(), number);
  if (at == all.end()) return {};
  return static_cast<std::size_t>(at - all.begin());
}

}  // namespace

std::shared_ptr<const ProductIndex> product_index(const Session& session) {
  const ViewState& state = session.state;
  const auto theatre = theatre_of(session);
  if (!theatre || !state.live || session.running) return nullptr;
  ProductCache& cache = session.product;
  const bool same = cache.of == state.timeline && cache.live == state.live &&
                    cache.block == state.spot.block && cache.index &&
                    (cache.index->async() || cache.warp == state.spot.warp);
  if (same) return cache.index;
  cache = {};
  cache.of = state.timeline;
  cache.live = state.live;
  cache.block = state.spot.block;
  cache.warp = state.spot.warp;
  const sim::Machine& start = state.live->stepper.checkpoints().all().begin()->second.machine;
  cache.index = std::make_shared<const ProductIndex>(
      products_of(theatre->record(), theatre->pipeline(), cache.block, cache.warp, start));
  return cache.index;
}

std::optional<std::size_t> selected_product(const Session& session, const ProductIndex& index) {
  const sim::EventId event = session.state.timeline_choice.selected;
  return event == sim::no_event ? std::nullopt : index.number_of(event);
}

std::size_t product_number(const Session& session, const ProductIndex& index) {
  const ViewState& state = session.state;
  if (state.product.number) return *state.product.number;
  if (const auto selected = selected_product(session, index)) return *selected;
  const auto theatre = theatre_of(session);
  return theatre ? index.at(theatre->record(), theatre_time(session, *theatre)) : 0;
}

std::shared_ptr<const ProductView> product_of(const Session& session) {
  const auto index = product_index(session);
  ProductCache& cache = session.product;
  if (!index || index->size() == 0) return nullptr;
  const std::size_t number = product_number(session, *index);
  if (cache.number == number) return cache.view;
  cache.number = number;
  cache.problem.clear();
  const auto theatre = theatre_of(session);
  if (number >= index->size()) {
    cache.view = nullptr;
    cache.problem = fmt::format("There is no product {}: the {} has {}, counted from 0.", number,
                                index->async() ? "CTA" : "warp", index->size());
  } else if (const auto step = step_of(cache, number)) {
    cache.view = at_step(*cache.view, theatre->record(), *index, *step);
  } else {
    auto opened = open_product(theatre->record(), theatre->pipeline(), *index, number,
                               session.state.live->stepper);
    cache.view = opened ? *opened : nullptr;
    if (!opened) cache.problem = opened.error().sentence;
    cache.traces = nullptr;
  }
  return cache.view;
}

ProductShown product_shown(const Session& session, const ProductView& view) {
  ProductCache& cache = session.product;
  const ProductChoice& choice = session.state.product;
  const std::uint32_t row = std::min(choice.row, view.seen().m - 1),
                      column = std::min(choice.column, view.seen().n - 1);
  if (!cache.traces || cache.row != row || cache.column != column) {
    cache.row = row;
    cache.column = column;
    cache.traces = std::make_shared<const std::vector<sim::ElementTrace>>(view.traces(row, column));
  }
  ProductShown out{view, *cache.traces, session.theme(), row, column};
  out.number_first = choice.number_first;
  out.hovered = session.hovered.product;
  out.images = &cache.images;
  return out;
}

bool play_product(Session& session, double seconds) {
  ProductCache& play = session.product;
  if (!play.playing) return false;
  const auto view = session.state.view == ViewName::product ? product_of(session) : nullptr;
  if (!view) {
    play.playing = false;
    return true;
  }
  play.played += std::min(seconds, 0.1);
  if (play.played < seconds_of_step) return false;
  play.played = 0;
  if (view->at + 1 >= view->sum().size() || view->numbers[view->at + 1] >= view->count) {
    play.playing = false;
    return true;
  }
  session.state.product.number = view->numbers[view->at + 1];
  return true;
}

void inspect_product(const Session& session, std::vector<InspectorSection>& out) {
  const auto view = product_of(session);
  if (!view) return;
  const ProductShown shown = product_shown(session, *view);
  const sim::ProductSeen& p = view->seen();
  if (shown.hovered) {
    out.push_back({"Under the pointer", {{"", spot_text(*view, *shown.hovered)}}, ""});
  }
  const sim::ElementTrace& t = shown.traces[view->at];
  InspectorSection element{fmt::format("D[{}, {}]", shown.row, shown.column), {}, ""};
  element.lines.emplace_back("before", number_text(t.before_value));
  element.lines.emplace_back("after", number_text(t.after_value));
  element.lines.emplace_back("bits", pattern_text(p, t.after));
  element.lines.emplace_back("place", place_text(*view, view->place(shown.row, shown.column)));
  if (!t.source.empty()) element.lines.emplace_back("rule from", std::string(t.source));
  out.push_back(std::move(element));
  InspectorSection one{"This product", {}, ""};
  one.lines.emplace_back("number", counted_text(view->number, view->count));
  one.lines.emplace_back("of this sum", counted_text(view->at, view->sum().size()));
  if (std::string step = k_step_text(*view); !step.empty()) {
    one.lines.emplace_back("k-step", std::move(step));
  }
  one.lines.emplace_back("begins", grouped(view->begin));
  one.lines.emplace_back("ends", grouped(view->end));
  one.lines.emplace_back("PTX line", fmt::format("{}", view->ptx_line));
  if (view->timed) {
    one.links.push_back({"go", "bring the machine here", fmt::format("go {}", view->begin), false});
    one.links.push_back(
        {"theatre", "see it in the theatre", fmt::format("theatre at {}", view->begin), false});
  }
  out.push_back(std::move(one));
  for (const DescriptorView& d : view->descriptors) {
    InspectorSection section{d.name, {}, ""};
    section.lines.emplace_back("value", fmt::format("0x{:0{}x}", d.bits, d.width / 4));
    for (std::size_t i = 0; i < d.fields.size(); ++i) {
      const sim::BitField& f = d.fields[i];
      section.lines.emplace_back(fmt::format("{}, {}", f.name, bits_of(f)),
                                 fmt::format("{}. Otherwise: {}", f.meaning, d.otherwise[i]));
    }
    out.push_back(std::move(section));
  }
}

Strip product_strip(const Session& session) {
  Strip out;
  out.actions = {{"Back", "product back", false},
                 {"Next", "product next", false},
                 session.product.playing ? Tab{"Pause", "product pause", false}
                                         : Tab{"Play", "product play", false},
                 {"First", "product first", false},
                 {"Last", "product last", false}};
  return out;
}

std::vector<std::string> product_lines(const ViewState& state) {
  std::vector<std::string> out;
  if (!state.timeline) return out;
  const ProductChoice& choice = state.product;
  if (choice.number) out.push_back(fmt::format("product {}", *choice.number));
  if (choice.row || choice.column) {
    out.push_back(fmt::format("product element {} {}", choice.row, choice.column));
  }
  const bool told = choice.row || choice.column;  // an element is asked for its number
  if (choice.number_first != told) {
    out.push_back(choice.number_first ? "product show number" : "product show descriptors");
  }
  return out;
}

}  // namespace tilescope
