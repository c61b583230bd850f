// What is around the view, as data: the field's meaning above, outline left, inspector right,
// strip below. The window draws these and --describe writes them, so both say the same.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viz/scene/describe.h"
#include "viz/session/session.h"

namespace tilescope {

// What the text in the field stands for: the value of an expression, what a kernel does.
struct Meaning {
  std::string text;
  bool code = false;  // a layout, not words
};
Meaning meaning_of_field(const Session& session);

struct OutlineItem {
  std::string label;
  std::string detail;   // shown on hover and beside the label where there is room
  std::string command;  // what a click does
  int level = 0;        // 0: under the heading, 1: belongs to the item above
  bool current = false;
  std::optional<bool> open = {};  // of what folds those below it
};
struct OutlineSection {
  std::string title;
  std::vector<OutlineItem> items;
};
std::vector<OutlineSection> outline(const Session& session, const Backend& backend);

// A number's bits before and after a swizzle, the highest first.
struct BitPicture {
  struct Bit {
    bool before = false, after = false;
    bool read = false;     // a bit that the swizzle XORs into another
    bool written = false;  // that other
  };
  std::vector<Bit> bits;
  std::string title_before, title_after;  // "before 59"
};
// A line that does something: a swizzle that can be applied.
struct InspectorLink {
  std::string label, value, command;
  bool current = false;
};
struct InspectorSection {
  std::string title;
  Lines lines;             // name, value
  std::string when_empty;  // what could be here
  std::optional<BitPicture> bits = {};
  std::vector<InspectorLink> links = {};
};
std::vector<InspectorSection> inspector(const Session& session);

// What can be clicked, with its command.
struct Tab {
  std::string label, command;
  bool current = false;
  bool alarm = false;  // it leads to what is wrong
};

// What the field offers under it while it is typed in.
struct Assistance {
  Completions completions;
  std::optional<Signature> signature;
  // The problem is about what is being typed, or is still to come: the signature says more.
  bool unfinished = false;
};
Assistance assistance(const Session& session, const Backend& backend);

// Steps of a derivation, or of a run: where we are in it.
struct StripStep {
  std::string title, value;
  bool current = false;
  std::string command = {};  // what a click does; empty: nothing
};
struct Strip {
  bool apart = false;             // no step leads to the next
  std::vector<StripStep> steps;   // where they do not fit, those around the current one are shown
  std::vector<Tab> actions = {};  // before them: back, next, play
  std::optional<double> share;    // of a run in progress: 0 to 1
  std::string progress;           // "12 of 64 blocks, 1.2 s"
};
Strip strip(const Session& session, const Backend& backend);

// The view shows something whose colours a legend at its foot explains.
bool offers_legend(const Session& session);

// The views that can be chosen.
std::vector<Tab> tabs(const Session& session);

// One of several choices that are beside each other: "Colour  tile | offset | bank".
struct Choice {
  std::string title;
  std::vector<Tab> options;
};
std::vector<Choice> view_choices(const Session& session);

// A size of the open kernel as a field; the command with `{}` replaced by the number opens it so.
struct SizeField {
  std::string name;
  std::int64_t value = 0;
};
std::vector<SizeField> size_fields(const Session& session);
// The command that opens the kernel with one size changed.
std::string with_size(const ViewState& state, const std::string& name, const std::string& value);

}  // namespace tilescope
