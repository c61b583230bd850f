// What the command `open` does: makes views of layouts, presets and kernels, and puts them into
// the session's choices. The field shows what is open, in the words that open it again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "viz/session/session.h"

namespace tilescope {

// Each answers the sentence for the status line. The choices change only where it is not refused.
Outcome<std::string> open_layout(Session& session, std::string_view expression);
Outcome<std::string> open_preset_named(Session& session, std::string_view name);
// "elementwise_add --m 300 --n 200"
Outcome<std::string> open_kernel(Session& session, Backend& backend, std::string_view words);

// Another kernel or file takes the place of the open one: its run, where its machine stands and
// what was chosen of them go.
void forget_run(Session& session);

// The kernel of this card becomes the open one, as it is before its first instruction.
void show_kernel(Session& session, KernelCard card, KernelOptions options);

// Shows the open layout at another step of its derivation, or its grids with other numbers. What
// was selected stays where the grids stay. Refused where nothing can be shown so.
std::optional<Error> show_study(Session& session, const LayoutStudy& study);

// What is wrong with an expression, with the place; nothing where it has a value.
std::optional<FieldProblem> problem_in(std::string_view expression);
// Whether a text is, or may become while it is being typed, the name of a kernel.
bool may_name_kernel(const Backend& backend, std::string_view text);

// Puts into the field what the open view was opened with.
void show_in_field(Session& session);
// The words that `open` takes for the open kernel: "elementwise_add --m 300".
std::string kernel_words(const ViewState& state);
std::string kernel_words(const RunResult& run);

// What a run that has ended opens: the theatre of one that is right and hands something on; of any
// other the difference, or the kernel's page.
ViewName view_after_run(const ViewState& state);
// The result of a run becomes what the diff and matrices views show.
void show_result(Session& session, FinishedRun run);

}  // namespace tilescope
