#include "viz/scene/layout_study.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/commands.h"
#include "viz/scene/layout_derivation.h"
#include "viz/scene/session.h"

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

AccessCache& cached(const Session& session) {
  const LayoutStudy& study = session.choices.study;
  AccessCache& cache = session.access;
  const LayoutView& view = *session.choices.layout;
  AccessChoice choice;
  choice.walk = study.walk;
  choice.width = study.access_bytes;
  choice.element_bytes =
      study.element_bytes > 0 ? study.element_bytes : view.bits_of_element().value_or(32) / 8;
  choice.element_bytes = std::max<std::int64_t>(1, choice.element_bytes);
  if (cache.of != session.choices.layout || !(cache.choice == choice)) {
    cache = {session.choices.layout, choice, {}, {}, {}};
  }
  return cache;
}

}  // namespace

const Layout* memory_of(const Session& session) {
  const auto& view = session.choices.layout;
  if (!view || view->panels().empty() || view->kind() == LayoutView::Kind::thread_value ||
      view->shows_places() || view->panels().back().through) {
    return nullptr;
  }
  return &view->panels().back().layout;
}

Outcome<std::shared_ptr<const AccessView>> access_of(const Session& session) {
  const Layout* memory = memory_of(session);
  if (memory == nullptr) {
    return Error{ErrorKind::mismatch,
                 "This layout does not say where elements lie in memory, so it has no banks and "
                 "sectors; a layout such as (32,32):(32,1) has.",
                 ""};
  }
  AccessCache& cache = cached(session);
  if (!cache.view) cache.view = AccessView::of(*memory, cache.choice);
  return *cache.view;
}

Outcome<SwizzleAdvice> advice_for(const Session& session) {
  const Layout* memory = memory_of(session);
  if (memory == nullptr || !memory->concrete()) return Error{ErrorKind::mismatch, "", ""};
  AccessCache& cache = cached(session);
  if (!cache.advice) cache.advice = advise(*memory, cache.choice);
  return *cache.advice;
}

Outcome<BitMatrix> bit_matrix_of(const Session& session) {
  const Layout* memory = memory_of(session);
  if (memory == nullptr) {
    return Error{ErrorKind::mismatch,
                 "This layout does not send coordinates to offsets, so it is no matrix of bits; a "
                 "layout such as (8,8):(8,1) is.",
                 ""};
  }
  AccessCache& cache = cached(session);
  if (!cache.bits) cache.bits = bits_of(*memory);
  return *cache.bits;
}

bool play_on(Session& session, Workshop& workshop, double seconds) {
  constexpr double pause = 1.2;  // long enough to read a step's sentence
  if (!session.playing) return false;
  session.played += seconds;
  if (session.played < pause) return false;
  session.played = 0;
  const LayoutStudy& study = session.choices.study;
  if (study.step == 0 || !execute(session, workshop, "derive next").ok()) session.playing = false;
  if (study.step == 0) session.playing = false;
  return true;
}

}  // namespace tilescope
