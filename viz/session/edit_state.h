// A kernel's source that is edited: in the window, or in the reader's own editor.
//
//     edit my.cu      the text is copied to a file where there is none, and opened here
//     edit line 12 "  x = 3;"   the text of the line; `edit insert` and `edit delete` beside it
//     save            writes it; what another program wrote meanwhile is never overwritten unasked
//     rebuild         the file takes the kernel's place: compiled in the background, then opened
//                     with the same options (--source my.cu) and, where it had run, run
//
// What is edited is passing state, but a command that changes the text is a step that undo takes
// back; that the kernel is made of a file is an option of it, so undo,
// shared views and workspaces know it. Text that is not saved is kept by the file's name in
// Session::kept until it is saved or given up (`edit revert`), also over the end of the program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "viz/machine/build.h"

namespace tilescope {

struct Session;
struct Strip;
class Backend;
using KernelOptions = std::map<std::string, std::string>;

// The editor in the source view.
struct SourceEdit {
  std::string path;                   // of the file; empty: nothing is edited
  std::string text;                   // as it is here
  std::string saved;                  // as the file had it when it was read or written last
  std::optional<std::uint32_t> line;  // where the caret is to go

  bool open() const { return !path.empty(); }
  bool unsaved() const { return text != saved; }
};

// What a command did to the text, for undo.
struct TextChange {
  std::string path, before, after;
};

// A compilation in progress, and what is done with what comes out.
struct Building {
  std::string kernel, file;
  KernelOptions options;
  bool opened = false;  // the kernel is open and lacks but its PTX; else it is opened then
  bool runs = false;    // and is run then
};

struct EditState {
  SourceEdit edit;
  std::optional<Building> building;
  std::shared_ptr<const Build> failed;  // the last one, where it does not compile
  std::string changed;  // a file that has other contents than what is open; or empty
  std::map<std::string, std::uint64_t> stamps;  // of files that are watched
  std::shared_ptr<const TextChange> change;     // by the current command
  double next_look = 0;                         // seconds; when these are looked at again
};

// The file that is in the open kernel's place or is to do so: --source, --ptx, a PTX file.
std::string source_file(const Session& session);
// Whether it is a CUDA file, so that there is PTX only once it has been compiled.
bool is_compiled(const KernelOptions& options);
// Why the open kernel has no PTX yet; nothing where it has.
std::optional<Error> not_built(const Session& session);

Outcome<std::string> begin_edit(Session& session, Backend& backend, std::string path);
// Unsaved text stays remembered.
Outcome<std::string> end_edit(Session& session);
Outcome<std::string> revert_edit(Session& session, Backend& backend);
// `over`: also what another program wrote there meanwhile.
Outcome<std::string> save_edit(Session& session, Backend& backend, bool over);
// The same, never over what another program wrote, and nothing else is done.
std::optional<Error> store_edit(Session& session, Backend& backend);
// The text of the editor has become this.
void type_edit(Session& session, const Backend& backend, std::string text);

// Lines from..to (from 1 on, the last one included; to < from: none) become this text. Refused
// where the editor has no such lines.
Outcome<std::string> change_lines(Session& session, Backend& backend, std::size_t from,
                                  std::size_t to, const std::vector<std::string>& lines);
// The text is as it was before (after) a change, in the editor, which is opened where it is not.
// Refused: it has become another one since.
std::optional<Error> change_back(Session& session, Backend& backend, const TextChange& change,
                                 bool before);

// Begins to compile; the answer is for the status line.
Outcome<std::string> begin_build(Session& session, Backend& backend, Building building);
Outcome<std::string> rebuild_kernel(Session& session, Backend& backend);
// Takes what was compiled, once it is there; true if there was something.
bool take_build(Session& session, Backend& backend);
Outcome<std::string> stop_build(Session& session, Backend& backend);

// What is open depends on these files.
std::vector<std::string> watched_files(const Session& session);
// About once a second: whether one of them has changed, which the message says. Where rebuilding is
// the setting, the kernel is to be built anew. `now`: seconds.
struct FilesSeen {
  bool changed = false, to_rebuild = false;
};
FilesSeen look_for_changes(Session& session, Backend& backend, double now);
// For who sleeps: whether there is something to look at, without looking into it.
bool files_changed(const Session& session, const Backend& backend);

// Compiling, and what can be done about what has changed, in the strip below.
void add_edit(const Session& session, const Backend& backend, Strip& strip);

}  // namespace tilescope
