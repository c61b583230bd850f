// How much of memory each lane of a load or store moves.
#pragma once

#include <string>
#include <string_view>

namespace tilescope {

// "16 bytes a lane", of an instruction as it stands in PTX: ld, st, atom, red (not of parameters
// or constants), cp.async, ldmatrix and stmatrix. Empty: it is none of these.
std::string access_words(std::string_view instruction);

}  // namespace tilescope
