// A text that does not compile, as a picture: what is wrong as a list, and the text with each error
// below its line. A click on either opens the editor there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/machine/build.h"
#include "viz/scene/describe.h"
#include "viz/scene/table_scene.h"
#include "viz/session/session.h"

namespace tilescope {

// The source view shows a text instead of the machine: it is edited, or does not compile.
bool shows_build(const Session& session);

// Answers how far it can be scrolled. What is edited is the window's to draw: an empty scene.
std::optional<double> draw_build_of(Session& session, Scene& scene, Size size);

// What the compiler had to say of the text that it had last: errors, or warnings of one that
// compiles. Null: nothing.
const Build* complained_of(const Session& session);
// "my.cu does not compile: 2 errors."; "my.cu compiles, with 1 warning."
std::string heading_of(const Build& build);

// Where a complaint about the file is in the text as it has become meanwhile: the line of the
// same contents that is nearest. Nothing: it is of another file, or there is no such line any more.
std::optional<std::uint32_t> line_now(const Build& build, const Complaint& complaint,
                                      const std::vector<std::string>& lines);

// The same, as what is to be read: for --describe.
Json describe_build(const Session& session);

}  // namespace tilescope
