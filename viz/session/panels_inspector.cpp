// The inspector: every number of what is pointed at, selected and open, with its name.
#include "viz/session/panels.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "core/run/report_groups.h"
#include "viz/scene/number_words.h"
#include "viz/session/build_scene.h"
#include "viz/session/comparison.h"
#include "viz/session/diff_panel.h"
#include "viz/session/machine_inspector.h"
#include "viz/session/matrices_tiles.h"
#include "viz/session/memory_panels.h"
#include "viz/session/product_session.h"
#include "viz/session/result_view.h"
#include "viz/session/seek.h"
#include "viz/session/theatre_session.h"
#include "viz/session/timeline_session.h"
#include "viz/timeline/write_time.h"

namespace tilescope {
namespace {

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// The bits of an offset up to the highest that the swizzle touches or that is set.
BitPicture bits_of(const CellInfo::Swizzled& moved) {
  BitPicture out;
  const Swizzle& by = moved.by;
  const int low = by.base + (by.shift < 0 ? -by.shift : 0), high = by.base + std::abs(by.shift);
  const int read = by.shift < 0 ? by.base : high, written = low;
  int count = std::max(read, written) + by.bits;
  while (count < 62 && ((moved.before | moved.after) >> count) > 0) ++count;
  const auto in = [&](int bit, int from) { return bit >= from && bit < from + by.bits; };
  for (int bit = count - 1; bit >= 0; --bit) {
    out.bits.push_back({(moved.before >> bit & 1) != 0, (moved.after >> bit & 1) != 0,
                        in(bit, read), in(bit, written)});
  }
  out.title_before = fmt::format("before {}", moved.before);
  out.title_after = fmt::format("after {}", moved.after);
  return out;
}

InspectorSection cell_section(std::string title, const LayoutView& view, const Cell& cell,
                              int element_bytes) {
  InspectorSection section{std::move(title), {}, ""};
  if (view.panels().size() > 1) {
    section.lines.emplace_back("grid", view.panels()[static_cast<std::size_t>(cell.panel)].title);
  }
  const CellInfo info = view.info(cell, element_bytes);
  for (auto& line : info.lines()) section.lines.push_back(std::move(line));
  if (info.inside && info.swizzled) section.bits = bits_of(*info.swizzled);
  return section;
}

// `owned`: cells belong to threads. What could be read as threads and values, but is looked at as
// offsets, has none.
InspectorSection layout_section(const LayoutView& view, bool owned) {
  InspectorSection section{"Layout", {}, ""};
  for (const Panel& panel : view.panels()) {
    section.lines.emplace_back(panel.title.empty() ? "layout" : panel.title, panel.formula);
    const std::string extent =
        panel.all_slices > 1
            ? fmt::format("{} x {} in {}", panel.rows, panel.columns,
                          plural(static_cast<std::size_t>(panel.all_slices), "slice"))
            : fmt::format("{} x {}", panel.rows, panel.columns);
    section.lines.emplace_back("cells", extent);
  }
  if (view.tiles() > 0) section.lines.emplace_back("tiles", grouped(std::uint64_t(view.tiles())));
  if (!owned) return section;
  if (view.threads() > 0) {
    section.lines.emplace_back("threads", grouped(std::uint64_t(view.threads())));
  }
  if (view.values() > 0) {
    section.lines.emplace_back("values", grouped(std::uint64_t(view.values())));
  }
  return section;
}

void inspect_layout(const Session& session, std::vector<InspectorSection>& out) {
  const ViewState& state = session.state;
  if (!state.layout) return;
  if (state.view == ViewName::bits || state.view == ViewName::lower) {
    // no cells to point at
  } else if (session.hovered.cell && state.layout->exists(*session.hovered.cell)) {
    out.push_back(cell_section("Under the pointer", *state.layout, *session.hovered.cell,
                               state.study.element_bytes));
  } else {
    out.push_back({"Under the pointer", {}, "Point at a cell to see its numbers."});
  }
  if (state.selected && state.layout->exists(*state.selected)) {
    out.push_back(
        cell_section("Selected", *state.layout, *state.selected, state.study.element_bytes));
  }
  const LayoutView& view = *state.layout;
  const ColourBy by = view.colour(layout_choice(session));
  const bool owned = view.kind() == LayoutView::Kind::thread_value || by == ColourBy::thread ||
                     by == ColourBy::warp || by == ColourBy::value;
  out.push_back(layout_section(view, owned));
}

// A warp's accesses in numbers, and what other swizzles would make of them.
void inspect_access(const Session& session, std::vector<InspectorSection>& out) {
  const auto view = access_of(session);
  if (!view) return;
  const AccessView& access = **view;
  const AccessChoice& choice = access.choice();
  InspectorSection all{"All instructions", {}, ""};
  all.lines.emplace_back(access.owned() != nullptr ? "memory" : "layout", text(access.memory()));
  all.lines.emplace_back("instructions", grouped(std::uint64_t(access.instructions())));
  all.lines.emplace_back("bytes a lane", fmt::format("{}", access.width()));
  all.lines.emplace_back("bytes an element", fmt::format("{}", choice.element_bytes));
  if (session.state.view == ViewName::sectors) {
    const Coalescing& found = access.coalesced();
    all.lines.emplace_back("sectors", grouped(std::uint64_t(found.sectors)));
    all.lines.emplace_back("ideal", grouped(std::uint64_t(found.ideal)));
    all.lines.emplace_back("excess", grouped(std::uint64_t(found.excess())));
    all.lines.emplace_back("128-byte lines", grouped(std::uint64_t(found.lines)));
    out.push_back(std::move(all));
    return;
  }
  const BankConflicts& found = access.conflicts();
  all.lines.emplace_back("wavefronts", grouped(std::uint64_t(found.wavefronts)));
  all.lines.emplace_back("ideal", grouped(std::uint64_t(found.ideal)));
  all.lines.emplace_back("excess", grouped(std::uint64_t(found.excess())));
  out.push_back(std::move(all));
  if (access.owned() != nullptr)
    return;  // whose threads are given: another swizzle is another memory
  InspectorSection better{"Swizzles, best first", {}, ""};
  better.lines.emplace_back("wavefronts", "rows, columns");
  const Outcome<SwizzleAdvice> advice = advice_for(session);
  if (!advice) {
    better.lines.clear();
    better.when_empty = advice.error().sentence;
  } else {
    constexpr std::size_t most = 12;
    const std::vector<RankedSwizzle>& ranked = advice->ranked.all;
    const auto row = [&](const RankedSwizzle& each) {
      const bool current = access.memory().swizzle == each.swizzle;
      const std::string name = each.swizzle.identity() ? "none" : text(each.swizzle);
      better.links.push_back({name, fmt::format("{}, {}", each.wavefronts[0], each.wavefronts[1]),
                              fmt::format("open layout {}", advice->expression(each)), current});
    };
    for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) row(ranked[i]);
    for (std::size_t i = most; i < ranked.size(); ++i) {
      if (ranked[i].swizzle.identity()) row(ranked[i]);
    }
    better.lines.emplace_back(
        "ideal", fmt::format("{}, {}", advice->ranked.ideal[0], advice->ranked.ideal[1]));
  }
  out.push_back(std::move(better));
}

InspectorSection kernel_section(const KernelCard& kernel) {
  InspectorSection section{"Kernel", {}, ""};
  section.lines.emplace_back("name", kernel.name);
  section.lines.emplace_back("launch", kernel.launch);
  for (const KernelCard::Tensor& tensor : kernel.tensors) {
    section.lines.emplace_back(tensor.name, fmt::format("{}, {}", tensor.shape, tensor.from));
  }
  section.lines.emplace_back("source", kernel.source);
  return section;
}

// `pointed`: the matrix whose element it is; else it is the output's.
Lines element_lines(const Session& session, Element element,
                    std::optional<std::size_t> pointed = {}) {
  const ViewState& state = session.state;
  if (state.view == ViewName::diff && state.diff) return state.diff->inspect(element);
  if (const auto matrices = matrices_now(session)) {
    Lines lines = matrices->inspect(element, pointed);
    for (auto& line : element_in_memory(session, *matrices, element, pointed)) {
      lines.push_back(std::move(line));
    }
    return lines;
  }
  return {};
}

InspectorSection first_wrong(const DiffReport& report, const std::optional<Element>& selected) {
  InspectorSection section{"First wrong, got minus want", {}, ""};
  const std::int64_t columns = std::max<std::int64_t>(as_matrix(report.shape).cols, 1);
  for (const Mismatch& each : report.first) {
    const Element element{each.index / columns, each.index % columns};
    section.links.push_back(
        {index_text(each.index, report.shape), fmt::format("{:+.3g}", each.got - each.want),
         fmt::format("pick {} {}", element.row, element.column), selected == element});
  }
  return section;
}

// Views in which there is one to point at.
bool has_elements(ViewName view) {
  return view == ViewName::matrices || view == ViewName::diff;
}

// Who wrote the element, when, and from what.
void add_provenance(const Session& session, InspectorSection& section) {
  const ViewState& state = session.state;
  const RunResult& result = *state.result;
  const Buffer& output = *result.matrices[result.output].values;
  const MatrixShape shape = as_matrix(output.shape);
  const Element at = *state.element;
  // The matrices view has told the inputs already.
  const bool told = state.view == ViewName::matrices;
  for (auto& line : provenance(result, at)) {
    if (told && line.first.rfind("from ", 0) == 0) continue;
    section.lines.push_back(std::move(line));
  }
  if (at.row >= shape.rows || at.column >= shape.cols || !result.writer) return;
  const std::optional<Site> writer = result.writer(at.row * shape.cols + at.column);
  if (!writer) return;
  if (state.timeline) {
    for (auto& line : write_time(*state.timeline, *writer)) {
      section.lines.push_back(std::move(line));
    }
  }
  section.links.push_back({"its write", "stops after the store", "go write"});
}

void inspect_kernel(const Session& session, std::vector<InspectorSection>& out) {
  const ViewState& state = session.state;
  if (!state.kernel && state.file.empty()) return;
  if (session.hovered.element) {
    out.push_back({"Under the pointer",
                   element_lines(session, *session.hovered.element, session.hovered.matrix), ""});
  } else if (has_elements(state.view) && !emptiness(session) && !shows_build(session)) {
    out.push_back({"Under the pointer",
                   {},
                   state.kernel ? "Point at an element to see its numbers; click to see who "
                                  "wrote it."
                                : "Point at an element to see its number."});
  }
  if (state.element) {
    InspectorSection section{"Selected", element_lines(session, *state.element), ""};
    if (state.result) add_provenance(session, section);
    out.push_back(std::move(section));
  }
  for (InspectorSection& each : comparison_sections(session)) out.push_back(std::move(each));
  // Of the result as it is at the end, which may not be what is shown.
  const bool at_end = matrices_now(session) == state.matrices;
  if (state.result && state.result->diff && state.view == ViewName::matrices && at_end) {
    out.push_back({"Difference", totals(*state.result->diff), ""});
  }
  if (state.compare.comparison && !state.compare.comparison->report.ok()) {
    out.push_back(first_wrong(state.compare.comparison->report, state.element));
  }
  if (state.result) {
    for (const ReportGroup& group : groups(state.result->reports)) {
      const std::size_t first = group.members.front();
      const Report& report = state.result->reports[first];
      InspectorSection section{std::string(name_of(report.weight)),
                               {{"what", report.sentence}, {"where", text(report.site)}},
                               ""};
      if (group.times > 1) section.lines.emplace_back("seen", text_of_counts(group));
      if (state.live) {
        section.links.push_back({"go there", "", fmt::format("go report {}", first), false});
      }
      out.push_back(std::move(section));
    }
  }
  if (state.kernel) out.push_back(kernel_section(*state.kernel));
}

}  // namespace

std::vector<InspectorSection> inspector(const Session& session) {
  std::vector<InspectorSection> out;
  if (session.state.view == ViewName::course) return course_sections(session);
  if (session.state.view == ViewName::wavefronts || session.state.view == ViewName::sectors) {
    inspect_access(session, out);
  } else if (shows_layout(session.state.view) && session.state.layout) {
    inspect_layout(session, out);
  } else if (shows_machine(session.state.view) && machine_of(session)) {
    inspect_machine(session, out);
    inspect_memory(session, out);
  } else if (session.state.view == ViewName::theatre && session.state.timeline) {
    inspect_theatre(session, out);
  } else if (session.state.view == ViewName::product && session.state.timeline) {
    inspect_product(session, out);
  } else if ((session.state.view == ViewName::timeline || session.state.view == ViewName::why ||
              session.state.view == ViewName::handoffs) &&
             session.state.timeline) {
    inspect_timeline(session, out);
  } else {
    inspect_kernel(session, out);
  }
  return out;
}

}  // namespace tilescope
