#include "viz/session/layout_study.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/layout/access_owners.h"
#include "viz/layout/layout_derivation.h"
#include "viz/layout/layout_statements.h"
#include "viz/session/session.h"

namespace tilescope {

Outcome<LayoutView> study_view(std::string_view expression, const LayoutStudy& study) {
  if (!study.beside.empty()) return LayoutView::beside(expression, study.beside);
  if (!study.derivation) return LayoutView::of_expression(expression);
  const Derivation& steps = *study.derivation;
  Outcome<LayoutView> linked = LayoutView::derived(expression, steps, study.step);
  if (linked) return linked;
  const DerivationStep* step =
      study.step > 0 && study.step < steps.size() ? &steps[study.step] : nullptr;
  if (step == nullptr || !step->layout) {
    Outcome<LayoutView> view = LayoutView::of_expression(expression);
    if (view && step != nullptr) {
      view->remark(fmt::format("{}: {}", step_text(*step), step->sentence));
    }
    return view;
  }
  Outcome<LayoutView> alone = LayoutView::of_value(*step->layout, step_text(*step));
  if (!alone) return LayoutView::of_expression(expression);
  alone->remark(step->sentence);
  return alone;
}

namespace {

bool shows_owners(const Session& session) {
  const auto& view = session.state.layout;
  return view && !view->panels().empty() && view->kind() == LayoutView::Kind::thread_value;
}

// The grid whose owners' accesses are shown.
int accessed_grid(const Session& session) {
  const LayoutView& view = *session.state.layout;
  const int asked = session.state.study.access_grid;
  return asked >= 0 && asked < static_cast<int>(view.panels().size()) ? asked
                                                                      : first_accessed(view);
}

int element_bytes_of(const Session& session) {
  constexpr int bits = 8, usual = 32;
  const LayoutView& view = *session.state.layout;
  if (session.state.study.element_bytes > 0) return session.state.study.element_bytes;
  const int own = shows_owners(session)
                      ? view.panels()[static_cast<std::size_t>(accessed_grid(session))].element_bits
                      : 0;
  return std::max(1, (own > 0 ? own : view.bits_of_element().value_or(usual)) / bits);
}

AccessCache& cached(const Session& session) {
  const LayoutStudy& study = session.state.study;
  AccessCache& cache = session.access;
  AccessChoice choice;
  choice.walk = study.walk;
  choice.width = study.access_bytes;
  choice.element_bytes = element_bytes_of(session);
  if (cache.of != session.state.layout || !(cache.choice == choice) ||
      cache.grid != study.access_grid || cache.through != study.access_through) {
    cache = {session.state.layout, choice, study.access_grid, study.access_through, {}, {}, {}, {}};
  }
  return cache;
}

// Nothing where none is given.
Outcome<std::optional<Layout>> memory_given(const Session& session) {
  const std::string& text = session.state.study.access_through;
  if (text.empty()) return std::optional<Layout>();
  const Outcome<Layout> layout = layout_given(text);
  if (!layout) return layout.error();
  return std::optional<Layout>(*layout);
}

}  // namespace

Result<std::int64_t> reach_of(const Session& session) {
  AccessCache& cache = cached(session);
  if (!cache.reach) cache.reach = cosize(session.state.layout->panels().back().layout);
  return *cache.reach;
}

Outcome<Layout> layout_given(std::string_view expression) {
  Scope scope;
  const std::optional<Evaluated> value = scope.evaluate(expression);
  if (value && std::holds_alternative<Problem>(*value)) {
    const Problem& problem = std::get<Problem>(*value);
    return Error{ErrorKind::refused, problem.sentence, caret(expression, problem)};
  }
  const std::optional<Layout> layout = value ? placed(std::get<Value>(*value)) : std::nullopt;
  if (layout && layout->concrete() && !layout->modes.empty()) return *layout;
  return Error{ErrorKind::refused,
               fmt::format("`{}` is no memory: that is a layout whose numbers are known, from "
                           "coordinates to offsets, such as (64,32):(32,1).",
                           expression),
               ""};
}

Outcome<Layout> memory_of(const Session& session) {
  const auto& view = session.state.layout;
  if (!view || view->panels().empty() || shows_owners(session) || view->shows_places() ||
      view->panels().back().through) {
    return Error{ErrorKind::mismatch,
                 "This layout does not say where elements are in memory, so it has no banks and "
                 "sectors; a layout such as (32,32):(32,1) has.",
                 ""};
  }
  const Layout& own = view->panels().back().layout;
  const Outcome<std::optional<Layout>> given = memory_given(session);
  if (!given) return given.error();
  if (!*given) return own;
  const Result<Layout> both = composition(**given, own);
  if (!both) return Error{ErrorKind::refused, sentence(both.refusal), ""};
  return *both;
}

Outcome<std::shared_ptr<const AccessView>> access_of(const Session& session) {
  if (!session.state.layout) return memory_of(session).error();
  AccessCache& cache = cached(session);
  if (cache.view) return *cache.view;
  if (shows_owners(session)) {
    const Outcome<std::optional<Layout>> given = memory_given(session);
    if (!given) return given.error();
    cache.view = accesses_of(*session.state.layout, accessed_grid(session), *given, cache.choice);
  } else {
    const Outcome<Layout> memory = memory_of(session);
    if (!memory) return memory.error();
    cache.view = AccessView::of(*memory, cache.choice);
  }
  return *cache.view;
}

Outcome<SwizzleAdvice> advice_for(const Session& session) {
  const Outcome<Layout> memory = memory_of(session);
  if (!memory) return memory.error();
  if (!memory->concrete()) return Error{ErrorKind::mismatch, "", ""};
  AccessCache& cache = cached(session);
  if (!cache.advice) cache.advice = advise(*memory, cache.choice);
  return *cache.advice;
}

Outcome<BitMatrix> bit_matrix_of(const Session& session) {
  if (!session.state.layout) return memory_of(session).error();
  AccessCache& cache = cached(session);
  if (cache.bits) return *cache.bits;
  if (shows_owners(session)) {
    const Outcome<std::optional<Layout>> given = memory_given(session);
    if (!given) return given.error();
    cache.bits = bits_of(*session.state.layout, accessed_grid(session), *given);
    return *cache.bits;
  }
  const Outcome<Layout> memory = memory_of(session);
  if (!memory) {
    return Error{ErrorKind::mismatch,
                 session.state.study.access_through.empty()
                     ? "This layout does not send coordinates to offsets, so it is no matrix of "
                       "bits; a layout such as (8,8):(8,1) is."
                     : memory.error().sentence,
                 ""};
  }
  cache.bits = bits_of(*memory);
  return *cache.bits;
}

}  // namespace tilescope
