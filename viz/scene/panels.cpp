#include "viz/scene/panels.h"
#include "viz/scene/machine_inspector.h"
#include "viz/scene/standing.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/layout/text.h"
#include "core/tensor/catalog.h"
#include "viz/scene/build_scene.h"
#include "viz/scene/command_text.h"
#include "viz/scene/comparison.h"
#include "viz/scene/diff_panel.h"
#include "viz/scene/lesson_panel.h"
#include "viz/scene/matrices_tiles.h"
#include "viz/scene/memory_panels.h"
#include "viz/scene/number_words.h"
#include "viz/scene/open.h"
#include "viz/scene/presets.h"
#include "viz/scene/result_view.h"
#include "viz/scene/timeline_session.h"
#include "viz/scene/timeline_words.h"
#include "viz/scene/tour.h"

namespace tilescope {
namespace {

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

OutlineSection layouts_of(const Session& session) {
  OutlineSection section{"Layouts", {}};
  const Choices& choices = session.choices;
  for (const Preset& preset : presets()) {
    OutlineItem item;
    item.label = preset.name;
    item.detail = preset.title;
    item.command = fmt::format("open preset {}", preset.name);
    item.current =
        shows_layout(choices.view) && choices.layout_text == fmt::format("preset {}", preset.name);
    section.items.push_back(std::move(item));
  }
  return section;
}

// The catalog's atoms by architecture; a click lists those of one.
OutlineSection atoms_of(const Session& session) {
  OutlineSection section{"Atoms", {}};
  const auto group_of = [](const AtomFamily& family) {
    return family.example.substr(0, family.example.find_first_of("_<"));
  };
  std::vector<std::string> groups;
  for (const AtomFamily& family : atom_families()) {
    const std::string group = group_of(family);
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  for (const std::string& group : groups) {
    const bool open = group == session.atoms;
    OutlineItem item;
    item.label = group;
    item.detail = "matrix products and copies, as owners of their operands";
    item.command = open ? "atoms none" : fmt::format("atoms {}", group);
    section.items.push_back(std::move(item));
    for (const AtomFamily& family : atom_families()) {
      if (!open || group_of(family) != group) continue;
      OutlineItem atom;
      // Below the group's name, so that what tells them apart has room.
      atom.label =
          family.example.substr(family.example.rfind(group + "_", 0) == 0 ? group.size() + 1 : 0);
      atom.detail = family.varies.empty() ? family.example
                                          : fmt::format("{}; {}", family.example, family.varies);
      atom.command = fmt::format("open layout {}", family.example);
      atom.level = 1;
      atom.current =
          shows_layout(session.choices.view) && session.choices.layout_text == family.example;
      section.items.push_back(std::move(atom));
    }
  }
  return section;
}

// The ways to look at the open layout.
OutlineSection views_of(const Session& session) {
  OutlineSection section{"Open layout", {}};
  struct Way {
    ViewName view;
    const char* label;
    const char* detail;
  };
  for (const Way& way :
       {Way{ViewName::layout, "grid", "cells with their offsets or owners"},
        Way{ViewName::wavefronts, "banks",
            "wavefronts of a warp in shared memory, and swizzles that do better"},
        Way{ViewName::sectors, "sectors", "32-byte sectors of global memory that a warp touches"},
        Way{ViewName::bits, "bits",
            "bits of the coordinate to bits of the offset: a matrix over GF(2)"}}) {
    OutlineItem item;
    item.label = way.label;
    item.detail = way.detail;
    item.command = fmt::format("select {}", name_of(way.view));
    item.current = session.choices.view == way.view;
    section.items.push_back(std::move(item));
  }
  return section;
}

// What was opened, the latest first.
OutlineSection recent_of(const Session& session) {
  constexpr std::size_t most = 8;
  OutlineSection section{"Recent", {}};
  const std::vector<std::string>& all = opened_before(session);
  for (std::size_t i = all.size(); i-- > 0 && section.items.size() < most;) {
    if (first_word(all[i]).first == "preset") continue;  // these are listed above
    OutlineItem item;
    item.label = item.detail = all[i];
    item.command = fmt::format("open layout {}", all[i]);
    item.current = shows_layout(session.choices.view) && session.choices.layout_text == all[i];
    section.items.push_back(std::move(item));
  }
  return section;
}

void add_open_kernel(OutlineSection& section, const Choices& choices) {
  for (ViewName view : {ViewName::matrices, ViewName::diff}) {
    OutlineItem item;
    item.label = view == ViewName::matrices ? "matrices" : "difference";
    item.detail = view == ViewName::matrices ? "inputs, output and reference as heat maps"
                                             : "output against reference, element by element";
    item.command = fmt::format("select {}", name_of(view));
    item.level = 1;
    item.current = choices.view == view;
    section.items.push_back(std::move(item));
  }
  for (const KernelCard::OwnLayout& own : choices.kernel->layouts) {
    OutlineItem item;
    item.label = own.name;
    item.detail =
        own.help.empty() ? own.expression : fmt::format("{}: {}", own.help, own.expression);
    item.command = fmt::format("open layout {}", own.expression);
    item.level = 1;
    item.current = shows_layout(choices.view) && choices.layout_text == own.expression;
    section.items.push_back(std::move(item));
  }
}

OutlineSection kernels_of(const Session& session, const Workshop& workshop) {
  OutlineSection section{"Kernels", {}};
  const Choices& choices = session.choices;
  bool listed = false;
  for (const KernelName& kernel : workshop.kernels()) {
    const bool open = choices.kernel && choices.kernel->name == kernel.name;
    OutlineItem item;
    item.label = kernel.name;
    item.detail = kernel.help;
    item.command = open ? "select matrices" : fmt::format("open {}", kernel.name);
    section.items.push_back(std::move(item));
    if (open) add_open_kernel(section, choices);
    listed = listed || open;
  }
  if (choices.kernel && !listed) {  // from a file
    OutlineItem item;
    item.label = choices.kernel->name;
    item.detail = choices.kernel->help;
    item.command = "select matrices";
    section.items.push_back(std::move(item));
    add_open_kernel(section, choices);
  }
  return section;
}

OutlineSection lessons_of(const Session& session) {
  OutlineSection section{"Lessons", {}};
  const LessonPlace& place = session.choices.lesson;
  const std::vector<Lesson>& lessons = session.shelf->lessons;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    OutlineItem item;
    item.label = lessons[i].title;
    const std::string progress = progress_words(session.progress, lessons[i]);
    item.detail =
        progress.empty() ? lessons[i].about : fmt::format("{} ({})", lessons[i].about, progress);
    item.command = fmt::format("lesson {}", lessons[i].name);
    item.current = place.open() && place.lesson == i;
    section.items.push_back(std::move(item));
  }
  return section;
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
  const Choices& choices = session.choices;
  if (!choices.layout) return;
  if (choices.view == ViewName::bits) {
    // no cells to point at
  } else if (session.hover && choices.layout->exists(*session.hover)) {
    out.push_back(cell_section("Under the pointer", *choices.layout, *session.hover,
                               choices.study.element_bytes));
  } else {
    out.push_back({"Under the pointer", {}, "Point at a cell to see its numbers."});
  }
  if (choices.selected && choices.layout->exists(*choices.selected)) {
    out.push_back(
        cell_section("Selected", *choices.layout, *choices.selected, choices.study.element_bytes));
  }
  const LayoutView& view = *choices.layout;
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
  if (session.choices.view == ViewName::sectors) {
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

Lines element_lines(const Session& session, Element element) {
  const Choices& choices = session.choices;
  if (choices.view == ViewName::diff && choices.diff) return choices.diff->inspect(element);
  if (const auto matrices = matrices_now(session)) {
    Lines lines = matrices->inspect(element);
    for (auto& line : element_in_memory(session, element)) lines.push_back(std::move(line));
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

void inspect_kernel(const Session& session, std::vector<InspectorSection>& out) {
  const Choices& choices = session.choices;
  if (!choices.kernel && choices.file.empty()) return;
  if (session.hover_element) {
    out.push_back({"Under the pointer", element_lines(session, *session.hover_element), ""});
  } else if (!emptiness(session) && !shows_build(session)) {
    out.push_back({"Under the pointer",
                   {},
                   choices.kernel ? "Point at an element to see its numbers; click to see who "
                                    "wrote it."
                                  : "Point at an element to see its number."});
  }
  if (choices.element) {
    InspectorSection section{"Selected", element_lines(session, *choices.element), ""};
    if (choices.result) {
      // The matrices view has told the inputs already.
      const bool told = choices.view == ViewName::matrices;
      for (auto& line : provenance(*choices.result, *choices.element)) {
        if (told && line.first.rfind("from ", 0) == 0) continue;
        section.lines.push_back(std::move(line));
      }
      section.links.push_back({"its write", "in the source", "go write"});
    }
    out.push_back(std::move(section));
  }
  for (InspectorSection& each : comparison_sections(session)) out.push_back(std::move(each));
  if (choices.result && choices.result->diff && choices.view == ViewName::matrices) {
    out.push_back({"Difference", totals(*choices.result->diff), ""});
  }
  if (choices.compare.comparison && !choices.compare.comparison->report.ok()) {
    out.push_back(first_wrong(choices.compare.comparison->report, choices.element));
  }
  if (choices.result) {
    for (std::size_t i = 0; i < choices.result->reports.size(); ++i) {
      const Report& report = choices.result->reports[i];
      InspectorSection section{std::string(name_of(report.weight)),
                               {{"what", report.sentence}, {"where", text(report.site)}},
                               ""};
      if (choices.live) {
        section.links.push_back({"go there", "", fmt::format("go report {}", i), false});
      }
      out.push_back(std::move(section));
    }
  }
  if (choices.kernel) out.push_back(kernel_section(*choices.kernel));
}

std::string compared_words(const Choices& choices) {
  if (!choices.compare.comparison) return "not yet";
  const DiffReport& report = choices.compare.comparison->report;
  return report.ok()
             ? fmt::format("all {} agree", grouped(report.compared))
             : fmt::format("{} of {} wrong", grouped(report.wrong), grouped(report.compared));
}

Strip run_strip(const Session& session, const Workshop& workshop) {
  const Choices& choices = session.choices;
  Strip out;
  if (!choices.kernel) {
    const bool compared = choices.compare.comparison != nullptr;
    if (!choices.file.empty()) out.steps.push_back({"File", choices.file, !compared});
    if (compared) out.steps.push_back({"Compare", compared_words(choices), true});
    return out;
  }
  const RunResult* result = choices.result.get();
  out.steps.push_back({"Inputs", choices.kernel->launch, !result && !session.running});
  if (session.running) {
    const RunProgress now = workshop.progress();
    out.share = now.total ? double(now.done) / double(now.total) : 0;
    out.progress = now.total ? fmt::format("{} of {} blocks, {}", grouped(now.done),
                                           grouped(now.total), duration(now.seconds))
                             : "making the inputs";
    out.steps.push_back({"Run", "running", true});
  } else {
    out.steps.push_back(
        {"Run",
         result ? fmt::format("{} block{}, {} warp instructions{}", grouped(result->progress.done),
                              result->progress.done == 1 ? "" : "s",
                              grouped(result->progress.instructions),
                              session.show_times ? ", " + duration(result->progress.seconds) : "")
                : "not yet",
         result && !result->diff});
  }
  out.steps.push_back(
      {"Compare", compared_words(choices), choices.compare.comparison && !session.running});
  return out;
}

Strip with_edit(Strip strip, const Session& session, const Workshop& workshop) {
  add_edit(session, workshop, strip);
  return strip;
}

// A tiled copy or product is told in several lines, for which the strip has no room.
std::string in_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == '\n' || c == ' ';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

// Which slice is shown, where one is.
void add_slice(const Session& session, Strip& out) {
  const SliceChoice& slice = session.choices.study.slice;
  if (slice.grid < 0 || slice.at < 0) return;
  const Panel& panel = session.choices.layout->panels()[static_cast<std::size_t>(slice.grid)];
  out.steps.push_back(
      {"Slice",
       fmt::format("{}, {} of {}", slice_text(panel, slice), slice.at + 1, slices_of(panel, slice)),
       true, "slice all"});
  if (!out.actions.empty()) return;  // those of a derivation
  out.actions = {{"Previous", "slice previous", false}, {"Next", "slice next", false}};
}

// The modes of a grid with more than two, as its rows and as its columns.
void add_modes(const Session& session, std::vector<Choice>& out) {
  const LayoutView& view = *session.choices.layout;
  const SliceChoice& now = session.choices.study.slice;
  const int grid = now.grid >= 0 ? now.grid : sliced_grid(view);
  if (grid < 0) return;
  const int rank = view.panels()[static_cast<std::size_t>(grid)].layout.rank();
  for (const bool rows : {true, false}) {
    const char* word = rows ? "rows" : "columns";
    Choice choice{rows ? "Rows" : "Columns", {}};
    for (int mode = 0; mode < rank; ++mode) {
      choice.options.push_back({fmt::format("{}", mode),
                                fmt::format("slice {} {} grid {}", word, mode, grid),
                                mode == (rows ? now.rows : now.columns)});
    }
    out.push_back(std::move(choice));
  }
}

Strip derivation_strip(const Session& session) {
  Strip out;
  const LayoutStudy& study = session.choices.study;
  out.actions = {
      {"Back", "derive back", false},
      {"Next", "derive next", false},
      session.playing ? Tab{"Stop", "derive stop", false} : Tab{"Play", "derive play", false}};
  for (std::size_t i = 1; i <= study.steps(); ++i) {
    const DerivationStep& step = (*study.derivation)[i];
    std::string value = step.operands;
    if (!step.result.empty()) value += (value.empty() ? "= " : " = ") + step.result;
    out.steps.push_back({fmt::format("{} {}", i, step.operation), in_one_line(value),
                         study.step == i, fmt::format("derive {}", i)});
  }
  out.steps.push_back(
      {"Result", in_one_line(study.derivation->front().result), study.step == 0, "derive result"});
  add_slice(session, out);
  return out;
}

Json lines_json(const Lines& lines) {
  Json out = Json::array();
  for (const auto& [name, value] : lines) out.push_back({{"name", name}, {"value", value}});
  return out;
}

Json outline_json(const Session& session, const Workshop& workshop) {
  Json out = Json::array();
  for (const OutlineSection& section : outline(session, workshop)) {
    Json items = Json::array();
    for (const OutlineItem& item : section.items) {
      Json each = {{"label", item.label}, {"detail", item.detail}, {"command", item.command}};
      if (item.current) each["current"] = true;
      items.push_back(std::move(each));
    }
    out.push_back({{"title", section.title}, {"items", std::move(items)}});
  }
  return out;
}

Json bits_json(const BitPicture& picture) {
  std::string before, after, moved;
  for (const BitPicture::Bit& bit : picture.bits) {
    before += bit.before ? '1' : '0';
    after += bit.after ? '1' : '0';
    moved += bit.before != bit.after ? '^' : bit.read ? 'r' : bit.written ? 'w' : '.';
  }
  return {{picture.title_before, before}, {picture.title_after, after}, {"moved", moved}};
}

Json assistance_json(const Assistance& help) {
  Json all = Json::array();
  for (const Completion& each : help.completions.all) {
    all.push_back({{"text", each.text}, {"kind", name_of(each.kind)}, {"detail", each.detail}});
  }
  Json out = {{"completions", std::move(all)}};
  if (!help.signature) return out;
  const Signature& call = *help.signature;
  out["signature"] = std::string(call.name) + std::string(call.parameters);
  out["parameter"] = call.parameters.substr(call.begin, call.end - call.begin);
  return out;
}

Json inspector_json(const Session& session) {
  Json out = Json::array();
  for (const InspectorSection& section : inspector(session)) {
    Json each = {{"title", section.title}, {"lines", lines_json(section.lines)}};
    if (section.lines.empty()) each["text"] = section.when_empty;
    for (const InspectorLink& link : section.links) {
      each["links"].push_back(
          {{"label", link.label}, {"value", link.value}, {"command", link.command}});
    }
    if (section.bits) each["bits"] = bits_json(*section.bits);
    out.push_back(std::move(each));
  }
  return out;
}

Json timeline_json(const Session& session, const Picture& picture) {
  Json out = describe(*session.choices.timeline, timeline_choice_of(session), *picture.timeline,
                      picture.scene);
  const auto pair = timeline_pair(session);
  if (!pair || !picture.timeline_above) return out;
  Json above = describe(*pair->above.view, pair->above.choice, *picture.timeline_above, Scene{});
  above.erase("picture");  // it is in the other one's
  out["baseline"] = std::move(above);
  return out;
}

Json view_json(const Session& session, const Picture& picture) {
  if (const auto empty = emptiness(session)) {
    return {{"empty", empty->sentence}, {"button", empty->button}, {"command", empty->command}};
  }
  if (shows_build(session) && session.edit.edit.open()) return describe_build(session);
  const Choices& choices = session.choices;
  switch (choices.view) {
    case ViewName::layout:
      return describe(*choices.layout, layout_choice(session), picture.scene);
    case ViewName::diff:
      if (!picture.diff) break;
      return describe(*choices.diff, diff_choice(session, true), picture.scene);
    case ViewName::timeline:
      if (!picture.timeline) break;
      return timeline_json(session, picture);
    case ViewName::wavefronts:
    case ViewName::sectors:
    case ViewName::bits:
    default:
      break;
  }
  return describe(picture.scene);
}

}  // namespace

Meaning meaning_of_field(const Session& session) {
  const Choices& choices = session.choices;
  if (!shows_layout(choices.view)) {
    if (!choices.kernel && choices.matrices) return {choices.matrices->matrices()[0].detail, false};
    return {choices.kernel ? choices.kernel->help : "", false};
  }
  if (!choices.layout || choices.layout->panels().empty()) return {};
  const Panel& result = choices.layout->panels().back();
  if (result.formula != choices.layout_text) return {"= " + result.formula, true};
  const Result<std::int64_t> elements = size(result.layout), reach = reach_of(session);
  if (!elements || !reach) return {};
  return {fmt::format("{} elements, offsets below {}", grouped(std::uint64_t(*elements)),
                      grouped(std::uint64_t(*reach))),
          false};
}

Assistance assistance(const Session& session, const Workshop& workshop) {
  Assistance out{offered(session, workshop), signature(session), false};
  out.unfinished = session.problem && session.problem->end >= session.editor.caret;
  return out;
}

std::vector<OutlineSection> outline(const Session& session, const Workshop& workshop) {
  std::vector<OutlineSection> out;
  if (session.choices.layout) out.push_back(views_of(session));
  out.push_back(layouts_of(session));
  OutlineSection recent = recent_of(session);
  if (recent.items.size() > 1) out.push_back(std::move(recent));
  if (session.shelf && !session.shelf->lessons.empty()) out.push_back(lessons_of(session));
  out.push_back(kernels_of(session, workshop));
  out.push_back(atoms_of(session));
  return out;
}

std::vector<InspectorSection> inspector(const Session& session) {
  std::vector<InspectorSection> out;
  if (session.choices.view == ViewName::wavefronts || session.choices.view == ViewName::sectors) {
    inspect_access(session, out);
  } else if (shows_layout(session.choices.view)) {
    inspect_layout(session, out);
  } else if (shows_machine(session.choices.view) && machine_of(session)) {
    inspect_machine(session, out);
    inspect_memory(session, out);
  } else if (session.choices.view == ViewName::timeline && session.choices.timeline) {
    inspect_timeline(session, out);
  } else {
    inspect_kernel(session, out);
  }
  return out;
}

Strip strip(const Session& session, const Workshop& workshop) {
  const Choices& choices = session.choices;
  const bool stands = shows_machine(choices.view) ||
                      (choices.view == ViewName::timeline && choices.live != nullptr);
  if (stands && !session.running) return with_edit(machine_strip(session), session, workshop);
  if (!shows_layout(choices.view) || session.running) {
    return with_edit(run_strip(session, workshop), session, workshop);
  }
  Strip out;
  if (!choices.layout) return out;
  if (choices.study.steps() > 0) return derivation_strip(session);
  const std::vector<Panel>& panels = choices.layout->panels();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Panel& panel = panels[i];
    const bool current = session.hover && static_cast<std::size_t>(session.hover->panel) == i;
    out.steps.push_back({panel.title.empty() ? "Layout" : panel.title, panel.formula, current});
  }
  add_slice(session, out);
  return out;
}

std::vector<Tab> tabs(const Session& session) {
  const Choices& choices = session.choices;
  std::vector<Tab> out;
  if (!choices.kernel && choices.diff) {  // two files
    return {{"Matrix", "select matrices", choices.view == ViewName::matrices},
            {"Difference", "select diff", choices.view == ViewName::diff}};
  }
  if (!choices.kernel) return out;
  constexpr std::pair<ViewName, const char*> all[] = {
      {ViewName::layout, "Layout"},     {ViewName::timeline, "Timeline"},
      {ViewName::source, "Source"},     {ViewName::registers, "Registers"},
      {ViewName::barriers, "Barriers"}, {ViewName::memory, "Memory"},
      {ViewName::tmem, "TMEM"},         {ViewName::matrices, "Matrices"},
      {ViewName::diff, "Difference"},   {ViewName::compare, "Compare"}};
  // TMEM where the kernel has any, as far as is known.
  const bool tensor = choices.live && choices.live->stepper.machine().program().cta_group;
  for (const auto& [view, label] : all) {
    if (view == ViewName::tmem && !tensor && choices.view != view) continue;
    if (view == ViewName::compare && !choices.baseline && choices.view != view) continue;
    out.push_back({label, fmt::format("select {}", name_of(view)), choices.view == view});
  }
  return out;
}

std::vector<Choice> view_choices(const Session& session) {
  const Choices& choices = session.choices;
  std::vector<Choice> out;
  if (choices.view == ViewName::layout && choices.layout) {
    const ColourBy shown = choices.layout->colour(layout_choice(session));
    Choice colour{"Colour", {}};
    for (ColourBy by : choices.layout->colours()) {
      colour.options.push_back(
          {std::string(name_of(by)), fmt::format("colour {}", name_of(by)), by == shown});
    }
    out.push_back(std::move(colour));
    out.push_back({"Label",
                   {{"contents", "label contents", !choices.coordinates},
                    {"coordinates", "label coordinates", choices.coordinates}}});
    add_modes(session, out);
  }
  if (choices.view == ViewName::timeline && choices.timeline) {
    const bool arrows = choices.timeline_choice.arrows;
    out.push_back(
        {"Arrows",
         {{"selected", "timeline arrows off", !arrows}, {"all", "timeline arrows on", arrows}}});
    if (choices.baseline == choices.result || !choices.baseline_timeline) {
      const bool pinned = choices.baseline && choices.baseline == choices.result;
      out.push_back({"Baseline",
                     {{"none", "baseline off", !choices.baseline}, {"this", "baseline", pinned}}});
    } else {
      const bool beside = choices.beside_baseline;
      out.push_back(
          {"Baseline",
           {{"hidden", "timeline beside off", !beside}, {"above", "timeline beside on", beside}}});
    }
  }
  for (Choice& each : comparison_choices(session)) out.push_back(std::move(each));
  add_memory_choices(session, out);
  return out;
}

std::vector<SizeField> size_fields(const Session& session) {
  std::vector<SizeField> out;
  const Choices& choices = session.choices;
  if (!choices.kernel || shows_layout(choices.view)) return out;
  for (const KernelCard::Size& size : choices.kernel->sizes) out.push_back({size.name, size.value});
  return out;
}

std::string with_size(const Choices& choices, const std::string& name, const std::string& value) {
  Choices changed = choices;
  changed.options[name] = value;
  return "open " + kernel_words(changed);
}

Json describe(const Session& session, const Workshop& workshop, const Picture& picture) {
  Json out;
  out["schema"] = 1;
  out["field"] = session.field;
  out["meaning"] = meaning_of_field(session).text;
  if (session.problem) out["problem"] = session.problem->sentence;
  if (session.editor.active) out["assistance"] = assistance_json(assistance(session, workshop));
  out["theme"] = session.choices.dark ? "dark" : "light";
  out["view"] = name_of(session.choices.view);
  out["outline"] = outline_json(session, workshop);
  Json choices = Json::array();
  for (const Choice& choice : view_choices(session)) {
    for (const Tab& option : choice.options) {
      if (option.current) choices.push_back({{"name", choice.title}, {"value", option.label}});
    }
  }
  for (const SizeField& field : size_fields(session)) {
    choices.push_back({{"name", field.name}, {"value", field.value}});
  }
  out["choices"] = std::move(choices);
  out["picture"] = view_json(session, picture);
  if (const auto lesson = lesson_panel(session); lesson && session.choices.lesson.shown) {
    out["lesson"] = describe(*lesson);
  }
  out["inspector"] = inspector_json(session);
  Json steps = Json::array();
  for (const StripStep& step : strip(session, workshop).steps) {
    steps.push_back({{"title", step.title}, {"value", step.value}});
    if (step.current) steps.back()["current"] = true;
  }
  out["strip"] = std::move(steps);
  out["status"] = session.message.text;
  if (!session.copied.empty()) out["copied"] = session.copied;
  if (session.tour) {
    const TourStep& step = tour_steps()[*session.tour];
    out["tour"] = {{"title", step.title}, {"text", step.text}, {"step", *session.tour + 1}};
  }
  if (session.overlay.open()) out["overlay"] = describe_overlay(session, workshop);
  return out;
}

}  // namespace tilescope
