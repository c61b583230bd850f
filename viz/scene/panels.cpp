#include "viz/scene/panels.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "viz/scene/lesson_panel.h"
#include "viz/scene/number_words.h"
#include "viz/scene/open.h"
#include "viz/scene/presets.h"
#include "viz/scene/result_view.h"
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
    item.current = choices.view == ViewName::layout &&
                   choices.layout_text == fmt::format("preset {}", preset.name);
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
    item.current = choices.view == ViewName::layout && choices.layout_text == own.expression;
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

InspectorSection cell_section(std::string title, const LayoutView& view, const Cell& cell) {
  InspectorSection section{std::move(title), {}, ""};
  if (view.panels().size() > 1) {
    section.lines.emplace_back("grid", view.panels()[static_cast<std::size_t>(cell.panel)].title);
  }
  for (auto& line : view.info(cell).lines()) section.lines.push_back(std::move(line));
  return section;
}

InspectorSection layout_section(const LayoutView& view) {
  InspectorSection section{"Layout", {}, ""};
  for (const Panel& panel : view.panels()) {
    section.lines.emplace_back(panel.title.empty() ? "layout" : panel.title, panel.formula);
    const std::string extent =
        panel.slices > 1 ? fmt::format("{} x {} in {}", panel.rows, panel.columns,
                                       plural(static_cast<std::size_t>(panel.slices), "slice"))
                         : fmt::format("{} x {}", panel.rows, panel.columns);
    section.lines.emplace_back("cells", extent);
  }
  if (view.tiles() > 0) section.lines.emplace_back("tiles", grouped(std::uint64_t(view.tiles())));
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
  if (session.hover && choices.layout->exists(*session.hover)) {
    out.push_back(cell_section("Under the pointer", *choices.layout, *session.hover));
  } else {
    out.push_back({"Under the pointer", {}, "Point at a cell to see its numbers."});
  }
  if (choices.selected && choices.layout->exists(*choices.selected)) {
    out.push_back(cell_section("Selected", *choices.layout, *choices.selected));
  }
  out.push_back(layout_section(*choices.layout));
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

Lines element_lines(const Choices& choices, Element element) {
  if (choices.view == ViewName::diff && choices.diff) return choices.diff->inspect(element);
  if (choices.matrices) return choices.matrices->inspect(element);
  return {};
}

InspectorSection first_wrong(const DiffReport& report) {
  InspectorSection section{"First wrong, got minus want", {}, ""};
  for (const Mismatch& each : report.first) {
    section.lines.emplace_back(index_text(each.index, report.shape),
                               fmt::format("{:+.3g}", each.got - each.want));
  }
  return section;
}

void inspect_kernel(const Session& session, std::vector<InspectorSection>& out) {
  const Choices& choices = session.choices;
  if (!choices.kernel && choices.file.empty()) return;
  if (session.hover_element) {
    out.push_back({"Under the pointer", element_lines(choices, *session.hover_element), ""});
  } else if (!emptiness(session)) {
    out.push_back({"Under the pointer",
                   {},
                   choices.kernel ? "Point at an element to see its numbers; click to see who "
                                    "wrote it."
                                  : "Point at an element to see its number."});
  }
  if (choices.element) {
    InspectorSection section{"Selected", element_lines(choices, *choices.element), ""};
    if (choices.result) {
      // The matrices view has told the inputs already.
      const bool told = choices.view == ViewName::matrices;
      for (auto& line : provenance(*choices.result, *choices.element)) {
        if (told && line.first.rfind("from ", 0) == 0) continue;
        section.lines.push_back(std::move(line));
      }
    }
    out.push_back(std::move(section));
  }
  if (choices.result && choices.result->diff && choices.view == ViewName::matrices) {
    out.push_back({"Difference", totals(*choices.result->diff), ""});
  }
  if (choices.result && choices.result->diff && !choices.result->diff->ok()) {
    out.push_back(first_wrong(*choices.result->diff));
  }
  if (choices.result) {
    for (const Report& report : choices.result->reports) {
      out.push_back({std::string(name_of(report.weight)),
                     {{"what", report.sentence}, {"where", text(report.site)}},
                     ""});
    }
  }
  if (choices.kernel) out.push_back(kernel_section(*choices.kernel));
}

Strip run_strip(const Session& session, const Workshop& workshop) {
  const Choices& choices = session.choices;
  Strip out;
  if (!choices.kernel) {
    if (!choices.file.empty()) out.steps.push_back({"File", choices.file, true});
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
  std::string compared = "not yet";
  if (result && result->diff) {
    compared = result->diff->ok() ? fmt::format("all {} agree", grouped(result->diff->compared))
                                  : fmt::format("{} of {} wrong", grouped(result->diff->wrong),
                                                grouped(result->diff->compared));
  }
  out.steps.push_back({"Compare", compared, result && result->diff && !session.running});
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

Json inspector_json(const Session& session) {
  Json out = Json::array();
  for (const InspectorSection& section : inspector(session)) {
    Json each = {{"title", section.title}, {"lines", lines_json(section.lines)}};
    if (section.lines.empty()) each["text"] = section.when_empty;
    out.push_back(std::move(each));
  }
  return out;
}

Json view_json(const Session& session, const Picture& picture) {
  if (const auto empty = emptiness(session)) {
    return {{"empty", empty->sentence}, {"button", empty->button}, {"command", empty->command}};
  }
  const Choices& choices = session.choices;
  switch (choices.view) {
    case ViewName::layout:
      return describe(*choices.layout, layout_choice(session), picture.scene);
    case ViewName::diff:
      return describe(*choices.diff, diff_choice(session, true), picture.scene);
    case ViewName::matrices:
      break;
  }
  return describe(picture.scene);
}

}  // namespace

Meaning meaning_of_field(const Session& session) {
  const Choices& choices = session.choices;
  if (choices.view != ViewName::layout) {
    if (!choices.kernel && choices.matrices) return {choices.matrices->matrices()[0].detail, false};
    return {choices.kernel ? choices.kernel->help : "", false};
  }
  if (!choices.layout || choices.layout->panels().empty()) return {};
  const Panel& result = choices.layout->panels().back();
  if (result.formula != choices.layout_text) return {"= " + result.formula, true};
  const Result<std::int64_t> elements = size(result.layout), reach = cosize(result.layout);
  if (!elements || !reach) return {};
  return {fmt::format("{} elements, offsets below {}", grouped(std::uint64_t(*elements)),
                      grouped(std::uint64_t(*reach))),
          false};
}

std::vector<OutlineSection> outline(const Session& session, const Workshop& workshop) {
  std::vector<OutlineSection> all = {layouts_of(session), kernels_of(session, workshop)};
  if (session.shelf && !session.shelf->lessons.empty()) all.push_back(lessons_of(session));
  return all;
}

std::vector<InspectorSection> inspector(const Session& session) {
  std::vector<InspectorSection> out;
  if (session.choices.view == ViewName::layout) {
    inspect_layout(session, out);
  } else {
    inspect_kernel(session, out);
  }
  return out;
}

Strip strip(const Session& session, const Workshop& workshop) {
  const Choices& choices = session.choices;
  if (choices.view != ViewName::layout || session.running) return run_strip(session, workshop);
  Strip out;
  if (!choices.layout) return out;
  const std::vector<Panel>& panels = choices.layout->panels();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Panel& panel = panels[i];
    const bool current = session.hover && static_cast<std::size_t>(session.hover->panel) == i;
    out.steps.push_back({panel.title.empty() ? "Layout" : panel.title, panel.formula, current});
  }
  return out;
}

std::vector<Tab> tabs(const Session& session) {
  const Choices& choices = session.choices;
  std::vector<Tab> out;
  if (!choices.kernel) return out;
  for (ViewName view : {ViewName::layout, ViewName::matrices, ViewName::diff}) {
    const char* label = view == ViewName::layout     ? "Layout"
                        : view == ViewName::matrices ? "Matrices"
                                                     : "Difference";
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
  }
  if (choices.view == ViewName::diff && choices.diff) {
    out.push_back({"Show",
                   {{"all", "show all", !choices.only_wrong},
                    {"only wrong", "show wrong", choices.only_wrong}}});
  }
  return out;
}

std::vector<SizeField> size_fields(const Session& session) {
  std::vector<SizeField> out;
  const Choices& choices = session.choices;
  if (!choices.kernel || choices.view == ViewName::layout) return out;
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
