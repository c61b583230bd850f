#include "viz/session/edit_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "viz/scene/command_text.h"
#include "viz/session/open.h"
#include "viz/session/panels.h"
#include "viz/session/seek.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

std::string option(const KernelOptions& options, const char* name) {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

std::string kept_under(const Backend& backend, const std::string& path) {
  return "unsaved " + backend.whole_path(path);
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

// The file is opened where there is one; else the kernel's own text is copied there. Answers what
// was done.
Outcome<std::string> provide(Session& session, Backend& backend, const std::string& path,
                             std::string& text) {
  const KernelCard& kernel = *session.state.kernel;
  std::string done = fmt::format("Opened {}", path);
  if (backend.stamp(path) == 0) {
    if (!path.ends_with(".cu")) {
      return usage_error(fmt::format("There is no file {} that could be edited.", path));
    }
    const auto source = backend.kernel_source(kernel.name);
    if (!source) return source.error();
    if (auto error = backend.write_text(path, *source)) return *error;
    done = fmt::format("Copied the source of {} to {}", kernel.name, path);
  }
  auto read = backend.read_text(path);
  if (!read) return read.error();
  if (path.ends_with(".cu") && read->find(kernel.name) == std::string::npos) {
    return usage_error(
        fmt::format("{} is there already, and nothing in it is called {}: `edit F.cu` names "
                    "another file to copy the kernel to.",
                    path, kernel.name));
  }
  text = std::move(*read);
  return done;
}

// Writes what stands in the editor.
std::optional<Error> store(Session& session, Backend& backend, bool over) {
  SourceEdit& edit = session.edit.edit;
  if (backend.stamp(edit.path) != 0 && !over) {
    const auto there = backend.read_text(edit.path);
    if (!there) return there.error();
    if (*there != edit.saved && *there != edit.text) {
      return Error{ErrorKind::mismatch,
                   fmt::format("{} was written by another program since it was opened here: `save "
                               "over` puts this text in its place, `edit revert` takes the file's.",
                               edit.path),
                   ""};
    }
  }
  if (auto error = backend.write_text(edit.path, edit.text)) return error;
  edit.saved = edit.text;
  session.kept.erase(kept_under(backend, edit.path));
  session.edit.stamps[edit.path] = backend.stamp(edit.path);
  return {};
}

// The texts that the compiler had last; null: none.
const Build* last_build(const Session& session) {
  if (session.edit.failed) return session.edit.failed.get();
  return session.state.kernel ? session.state.kernel->built.get() : nullptr;
}

// Whether the contents are others than those that what is open was made from.
bool differs(const Session& session, const std::string& path, const std::string& text,
             bool seen_before) {
  const Build* build = last_build(session);
  if (build) {
    for (std::size_t i = 0; i < build->files.size(); ++i) {
      if (build->files[i] != path) continue;
      const std::vector<std::string> lines = lines_of_text(text);
      return std::none_of(build->sources.begin(), build->sources.end(),
                          [&](const auto& each) { return each.second == lines; });
    }
  }
  return seen_before;
}

std::string say_changed(const Session& session, const std::string& path) {
  const std::string way = is_compiled(session.state.options) ? "compiles it" : "opens it anew";
  return fmt::format("{} has changed: `rebuild` {}.", path, way);
}

// The editor shows what the file holds now, unless it holds text of its own.
std::optional<std::string> reload(Session& session, const std::string& path,
                                  const std::string& text) {
  SourceEdit& edit = session.edit.edit;
  if (edit.path != path || text == edit.saved) return {};
  if (edit.unsaved() && text != edit.text) {
    return fmt::format(
        "{} was written by another program, and the text here is not saved: `save over` puts it in "
        "the file's place, `edit revert` takes the file's.",
        path);
  }
  edit.text = edit.saved = text;
  return {};
}

void show_failed(Session& session, std::shared_ptr<const Build> build) {
  session.message = {what_is_wrong(*build), true};
  // The editor, where it is open, goes to the first error of its text.
  SourceEdit& edit = session.edit.edit;
  for (const Complaint& each : build->complaints) {
    if (edit.path != build->file || each.file != build->name || each.line == 0) continue;
    edit.line = each.line;
    break;
  }
  session.edit.failed = std::move(build);
  session.state.view = ViewName::source;
  session.scrolls.erase(ViewName::source);
  session.script = {};
}

// What breakpoints are found again by, of what is open.
BuiltBefore built_before(const ViewState& state) {
  BuiltBefore out;
  const KernelCard& kernel = *state.kernel;
  if (state.live) {
    out.sources = state.live->sources;
    out.barriers = state.live->stepper.machine().barrier_names();
  } else if (kernel.built) {
    out.sources = kernel.built->sources;
  }
  out.was = kernel.built ? kernel.built->name : kernel.source;
  return out;
}

// Answers what to say of those that are gone; empty: none is.
std::string carry_breakpoints(Session& session, Backend& backend, BuiltBefore before,
                              const std::vector<Breakpoint>& all) {
  ViewState& state = session.state;
  if (all.empty()) return "";
  const auto live = live_run(session, backend);
  if (!live) return "";
  const KernelCard& kernel = *state.kernel;
  before.own = kernel.built ? kernel.built->name : kernel.source;
  CarriedBreakpoints now = carried(all, before, **live);
  state.breakpoints = std::move(now.all);
  if (now.gone.empty()) return "";
  std::string gone;
  for (const std::string& each : now.gone) gone += (gone.empty() ? "" : ", ") + each;
  return fmt::format(" Gone with what {} at: the breakpoint{} {}.",
                     now.gone.size() == 1 ? "it was" : "they were", now.gone.size() == 1 ? "" : "s",
                     gone);
}

// The kernel is opened as it is built now; what was looked at stays, and so does the view. Answers
// what is to be said of breakpoints.
Outcome<std::string> reopen(Session& session, Backend& backend, const std::string& kernel,
                            const KernelOptions& options, std::shared_ptr<const Build> build) {
  auto card = backend.kernel(kernel, options);
  if (!card) return card.error();
  card->built = std::move(build);
  if (session.running) backend.cancel();  // of what it was before
  session.running = false;
  const ViewState before = session.state;
  BuiltBefore built = built_before(before);
  show_kernel(session, std::move(*card), options);
  ViewState& state = session.state;
  state.view = before.view;
  state.spot.block = before.spot.block;
  state.spot.warp = before.spot.warp;
  state.spot.lane = before.spot.lane;
  session.past.push_back({"rebuild", before, false});
  session.future.clear();
  std::string said = carry_breakpoints(session, backend, std::move(built), before.breakpoints);
  let_old_machines_go(session);
  return said;
}

void run_it(Session& session, Backend& backend) {
  const ViewState& state = session.state;
  if (const auto error = backend.start(*state.kernel, state.options)) {
    session.message = {error->sentence, true};
    return;
  }
  session.running = true;
  session.view_at_run = session.state.view;
}

// Undo may have brought another kernel than the one whose source is edited.
bool edits_open_kernel(const Session& session) {
  const SourceEdit& edit = session.edit.edit;
  const KernelCard* kernel = session.state.kernel.get();
  return kernel && edit.open() &&
         (!edit.path.ends_with(".cu") || edit.text.find(kernel->name) != std::string::npos);
}

bool is_open(const ViewState& state, const Building& building) {
  return state.kernel && state.kernel->name == building.kernel && state.options == building.options;
}

}  // namespace

std::string source_file(const Session& session) {
  const ViewState& state = session.state;
  if (!state.kernel) return "";
  for (const char* name : {"source", "ptx"}) {
    if (std::string file = option(state.options, name); !file.empty()) return file;
  }
  return state.kernel->name.ends_with(".ptx") ? state.kernel->name : "";
}

bool is_compiled(const KernelOptions& options) {
  return options.count("source") != 0;
}

std::optional<Error> not_built(const Session& session) {
  const ViewState& state = session.state;
  if (!state.kernel || !is_compiled(state.options) || state.kernel->built) return {};
  const std::string file = option(state.options, "source");
  if (session.edit.building) {
    return Error{ErrorKind::usage,
                 fmt::format("{} is being compiled; its machine comes when that is done.", file),
                 ""};
  }
  if (session.edit.failed) {
    return Error{ErrorKind::unsupported, what_is_wrong(*session.edit.failed), file};
  }
  return Error{ErrorKind::usage,
               fmt::format("{} is not compiled yet: `rebuild` compiles it.", file), ""};
}

Outcome<std::string> begin_edit(Session& session, Backend& backend, std::string path) {
  ViewState& state = session.state;
  SourceEdit& edit = session.edit.edit;
  if (!state.kernel) {
    return usage_error(
        "There is no kernel to edit: open one first, for example `open elementwise_add`.");
  }
  const std::string& name = state.kernel->name;
  if (path.empty()) path = edits_open_kernel(session) ? edit.path : source_file(session);
  if (path.empty()) path = name + ".cu";
  const bool of_catalog = !name.ends_with(".ptx");
  if (!(of_catalog && path.ends_with(".cu")) && !path.ends_with(".ptx")) {
    return usage_error(
        of_catalog ? fmt::format("`edit` takes a CUDA file, F.cu; {} is none.", path)
                   : fmt::format("{} is PTX: `edit` opens it, and no CUDA file is compiled for it.",
                                 name));
  }
  state.view = ViewName::source;
  if (edit.path == path) return fmt::format("Editing {}.", path);
  std::string text;
  auto done = provide(session, backend, path, text);
  if (!done) return done;
  edit = {path, text, std::move(text), {}};
  session.edit.stamps[path] = backend.stamp(path);
  const auto kept = session.kept.find(kept_under(backend, path));
  if (kept != session.kept.end()) {
    edit.text = joined_lines(kept->second);
    return fmt::format(
        "{} with text that was not saved: `save` writes it, `edit revert` gives it "
        "up.",
        *done);
  }
  return fmt::format("{}: edit it here or in your own editor, then `rebuild`.", *done);
}

Outcome<std::string> end_edit(Session& session) {
  SourceEdit& edit = session.edit.edit;
  if (!edit.open()) return usage_error("Nothing is edited.");
  const SourceEdit was = std::exchange(edit, {});
  if (!was.unsaved()) return fmt::format("{} is closed.", was.path);
  return fmt::format("{} is closed. What was not saved is kept: `edit {}` shows it.", was.path,
                     was.path);
}

Outcome<std::string> revert_edit(Session& session, Backend& backend) {
  SourceEdit& edit = session.edit.edit;
  if (!edit.open()) return usage_error("Nothing is edited.");
  auto text = backend.read_text(edit.path);
  if (!text) return text.error();
  session.edit.change = std::make_shared<const TextChange>(TextChange{edit.path, edit.text, *text});
  edit.text = edit.saved = std::move(*text);
  session.kept.erase(kept_under(backend, edit.path));
  return fmt::format("The text of {} is that of the file again.", edit.path);
}

Outcome<std::string> save_edit(Session& session, Backend& backend, bool over) {
  const SourceEdit& edit = session.edit.edit;
  if (!edit.open()) {
    return usage_error(
        "Nothing is edited here: `edit` opens the kernel's source, `save workspace F.json` keeps "
        "what is open.");
  }
  if (auto error = store(session, backend, over)) return *error;
  if (session.state.settings.rebuilds) return rebuild_kernel(session, backend);
  if (!differs(session, edit.path, edit.text, true)) return fmt::format("Saved {}.", edit.path);
  session.edit.changed = edit.path;
  return fmt::format("Saved {}: `rebuild` puts it in the kernel's place.", edit.path);
}

std::optional<Error> store_edit(Session& session, Backend& backend) {
  return store(session, backend, false);
}

void type_edit(Session& session, const Backend& backend, std::string text) {
  SourceEdit& edit = session.edit.edit;
  if (!edit.open()) return;
  edit.text = std::move(text);
  const std::string name = kept_under(backend, edit.path);
  if (edit.unsaved()) {
    session.kept[name] = lines_with_ends(edit.text);
  } else {
    session.kept.erase(name);
  }
}

Outcome<std::string> begin_build(Session& session, Backend& backend, Building building) {
  const ViewState& state = session.state;
  auto card = building.opened ? Outcome<KernelCard>(*state.kernel)
                              : backend.kernel(building.kernel, building.options);
  if (!card) return card.error();
  if (auto error = backend.start_build(*card, building.options)) return *error;
  session.edit.failed.reset();
  session.edit.changed.clear();
  const std::string file = building.file;
  session.edit.building = std::move(building);
  return fmt::format("Compiling {}.", file);
}

Outcome<std::string> rebuild_kernel(Session& session, Backend& backend) {
  const ViewState& state = session.state;
  const SourceEdit& edit = session.edit.edit;
  const std::string file = edits_open_kernel(session) ? edit.path : source_file(session);
  if (!state.kernel || file.empty()) {
    return usage_error(
        "There is no file to build the kernel from: `edit` copies its source to one, `open K "
        "--source F.cu` takes yours.");
  }
  if (edit.path == file && edit.unsaved()) {
    if (auto error = store(session, backend, false)) return *error;
  }
  const bool ran = state.result != nullptr || session.running;
  KernelOptions options = state.options;
  if (file.ends_with(".cu")) {
    options.erase("ptx");
    options["source"] = file;
    return begin_build(session, backend, {state.kernel->name, file, options, false, ran});
  }
  if (file != state.kernel->name) {
    options.erase("source");
    options["ptx"] = file;
  }
  const auto said = reopen(session, backend, state.kernel->name, options, nullptr);
  if (!said) return said;
  session.edit.failed.reset();
  session.edit.changed.clear();
  if (ran) run_it(session, backend);
  return fmt::format("Opened {} anew.{}", file, *said);
}

bool take_build(Session& session, Backend& backend) {
  EditState& editing = session.edit;
  if (!editing.building) return false;
  auto result = backend.take_build();
  if (!result) return false;
  const Building building = *std::exchange(editing.building, {});
  if (!*result) {
    session.message = {result->error().sentence, true};
    session.run_error = result->error();
    session.script = {};
    return true;
  }
  session.run_error.reset();
  std::shared_ptr<const Build> build = std::move(**result);
  ViewState& state = session.state;
  const bool still = building.opened ? is_open(state, building)
                                     : state.kernel && state.kernel->name == building.kernel;
  if (!still) return true;  // of one since closed
  if (!build->compiled()) {
    show_failed(session, std::move(build));
    return true;
  }
  std::string said;
  const std::string warnings = warnings_of(*build);
  if (!warnings.empty()) said = fmt::format(" {}.", warnings);
  if (building.opened) {
    KernelCard card = *state.kernel;
    card.built = std::move(build);
    state.kernel = std::make_shared<const KernelCard>(std::move(card));
  } else {
    const auto opened =
        reopen(session, backend, building.kernel, building.options, std::move(build));
    if (!opened) {
      session.message = {opened.error().sentence, true};
      session.run_error = opened.error();
      session.script = {};
      return true;
    }
    said += *opened;
  }
  session.message = {fmt::format("Compiled {}. {} is before its first instruction.{}",
                                 building.file, building.kernel, said),
                     false};
  if (building.runs) {
    run_it(session, backend);
  } else if (shows_machine(state.view)) {
    if (const auto live = live_run(session, backend); !live) {
      session.message = {live.error().sentence, true};
    }
  }
  return true;
}

Outcome<std::string> stop_build(Session& session, Backend& backend) {
  const std::string file = session.edit.building->file;
  backend.cancel_build();
  return fmt::format("Stopping the compilation of {}.", file);
}

std::vector<std::string> watched_files(const Session& session) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& path) {
    if (!path.empty() && std::find(out.begin(), out.end(), path) == out.end()) out.push_back(path);
  };
  add(session.edit.edit.path);
  add(source_file(session));
  add(option(session.state.options, "launch"));
  if (const Build* build = last_build(session)) {
    for (const std::string& file : build->files) add(file);
  }
  return out;
}

bool files_changed(const Session& session, const Backend& backend) {
  if (course_file_changed(session, backend)) return true;
  const auto& known = session.edit.stamps;
  for (const std::string& path : watched_files(session)) {
    const auto found = known.find(path);
    if (found == known.end() || found->second != backend.stamp(path)) return true;
  }
  return false;
}

FilesSeen look_for_changes(Session& session, Backend& backend, double now) {
  constexpr double pause = 1;  // seconds
  EditState& editing = session.edit;
  if (now < editing.next_look || editing.building) return {};
  editing.next_look = now + pause;
  bool found = false;
  for (const std::string& path : watched_files(session)) {
    const std::uint64_t stamp = backend.stamp(path);
    const auto [known, fresh] = editing.stamps.emplace(path, stamp);
    if (!fresh && known->second == stamp) continue;
    known->second = stamp;
    // An editor that puts another file in its place takes it away for a moment.
    const auto text = stamp ? backend.read_text(path) : Outcome<std::string>(Error{});
    if (!text) continue;
    const bool other = differs(session, path, *text, !fresh);
    const auto conflict = reload(session, path, *text);
    if (!other && !conflict) continue;
    found = true;
    editing.changed = path;
    session.message = {conflict ? *conflict : say_changed(session, path), conflict.has_value()};
    const bool unsaved = editing.edit.open() && editing.edit.unsaved();
    if (!session.state.settings.rebuilds || unsaved || session.running) continue;
    return {true, true};
  }
  return {found, false};
}

void add_edit(const Session& session, const Backend& backend, Strip& strip) {
  const EditState& editing = session.edit;
  if (editing.building) {
    if (not_built(session)) {
      strip.steps = {{"Compile", "in progress", true}};
      strip.actions.clear();
    }
    strip.share = 0;
    strip.progress = fmt::format("compiling {}", editing.building->file);
    if (session.show_times) {
      strip.progress += fmt::format(", {:.0f} s", backend.build_seconds());
    }
    return;
  }
  if (not_built(session)) {
    const std::string state = editing.failed ? "does not compile" : "not yet";
    strip.steps = {{"Compile", state, true}};
    strip.actions = {{"Compile", "rebuild", false}};
  }
  const bool editable = session.state.kernel && session.state.view == ViewName::source;
  const bool asked = !editing.changed.empty() && !not_built(session);
  if (asked) strip.actions.insert(strip.actions.begin(), {"Rebuild", "rebuild"});
  if (editable && !editing.edit.open()) strip.actions.push_back({"Edit", "edit", false});
}

}  // namespace tilescope
