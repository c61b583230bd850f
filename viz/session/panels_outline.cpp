// The outline: what can be opened, and what is open.
#include "viz/session/panels.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/catalog.h"
#include "viz/layout/presets.h"
#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

OutlineSection layouts_of(const Session& session) {
  OutlineSection section{"Layouts", {}};
  const ViewState& state = session.state;
  for (const Preset& preset : presets()) {
    OutlineItem item;
    item.label = preset.name;
    item.detail = preset.title;
    item.command = fmt::format("open preset {}", preset.name);
    item.current =
        shows_layout(state.view) && state.layout_text == fmt::format("preset {}", preset.name);
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
    item.detail = "MMAs and copies, as owners of their operands";
    item.command = open ? "atoms none" : fmt::format("atoms {}", group);
    item.open = open;
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
          shows_layout(session.state.view) && session.state.layout_text == family.example;
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
            "bits of the coordinate to bits of the offset: a matrix over GF(2)"},
        Way{ViewName::lower, "instructions",
            "how slicing it becomes arithmetic and LLVM, level by level"}}) {
    OutlineItem item;
    item.label = way.label;
    item.detail = way.detail;
    item.command = fmt::format("select {}", name_of(way.view));
    item.current = session.state.view == way.view;
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
    item.current = shows_layout(session.state.view) && session.state.layout_text == all[i];
    section.items.push_back(std::move(item));
  }
  return section;
}

void add_open_kernel(OutlineSection& section, const ViewState& state) {
  for (ViewName view : {ViewName::matrices, ViewName::diff}) {
    OutlineItem item;
    item.label = view == ViewName::matrices ? "matrices" : "difference";
    item.detail = view == ViewName::matrices ? "inputs, output and reference as heat maps"
                                             : "output against reference, element by element";
    item.command = fmt::format("select {}", name_of(view));
    item.level = 1;
    item.current = state.view == view;
    section.items.push_back(std::move(item));
  }
  for (const KernelCard::OwnLayout& own : state.kernel->layouts) {
    OutlineItem item;
    item.label = own.name;
    item.detail =
        own.help.empty() ? own.expression : fmt::format("{}: {}", own.help, own.expression);
    item.command = fmt::format("open layout {}", own.expression);
    item.level = 1;
    item.current = shows_layout(state.view) && state.layout_text == own.expression;
    section.items.push_back(std::move(item));
  }
}

OutlineSection kernels_of(const Session& session, const Backend& backend) {
  OutlineSection section{"Kernels", {}};
  const ViewState& state = session.state;
  bool listed = false;
  for (const KernelName& kernel : backend.kernels()) {
    const bool open = state.kernel && state.kernel->name == kernel.name;
    OutlineItem item;
    item.label = kernel.name;
    item.detail = kernel.help;
    item.command = open ? "select kernel" : fmt::format("open {}", kernel.name);
    section.items.push_back(std::move(item));
    if (open) add_open_kernel(section, state);
    listed = listed || open;
  }
  if (state.kernel && !listed) {  // from a file
    OutlineItem item;
    item.label = state.kernel->name;
    item.detail = state.kernel->help;
    item.command = "select kernel";
    section.items.push_back(std::move(item));
    add_open_kernel(section, state);
  }
  return section;
}

// Behind the lessons: what there is to write.
OutlineItem course_item(const Session& session) {
  const std::vector<CourseExercise>& all = session.course.index->exercises;
  const auto passed = std::count_if(all.begin(), all.end(), [&](const CourseExercise& each) {
    return standing_of(session, each) == CourseStanding::passed;
  });
  OutlineItem item;
  item.label = "Write it yourself";
  item.detail =
      fmt::format("kernels of which a part is left out: {} of {} passed", passed, all.size());
  item.command = "course";
  item.current = session.state.view == ViewName::course;
  return item;
}

OutlineSection lessons_of(const Session& session) {
  OutlineSection section{"Lessons", {}};
  const LessonPlace& place = session.state.lesson;
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
  if (session.course.index && !session.course.index->exercises.empty()) {
    section.items.push_back(course_item(session));
  }
  return section;
}

}  // namespace

std::vector<OutlineSection> outline(const Session& session, const Backend& backend) {
  std::vector<OutlineSection> out;
  if (session.state.layout) out.push_back(views_of(session));
  out.push_back(layouts_of(session));
  OutlineSection recent = recent_of(session);
  if (recent.items.size() > 1) out.push_back(std::move(recent));
  if (session.shelf && !session.shelf->lessons.empty()) out.push_back(lessons_of(session));
  out.push_back(kernels_of(session, backend));
  out.push_back(atoms_of(session));
  return out;
}

}  // namespace tilescope
