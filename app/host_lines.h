// Lines of a program on the host, as its symbols and its debugger's lines have them (addr2line, of
// binutils: a machine with a compiler has it). Nothing is known where these or that are not there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

// Of return addresses in a process, the innermost first: the first that is neither CUDA's runtime's
// nor its driver's, "main (vec.cu:12)" or, without lines, "main"; empty where none is known.
std::string host_caller(pid_t process, const std::vector<std::uint64_t>& frames);

// A place in a file, "/home/me/vec, at 0x1234 of it" or "main in /home/me/vec, at 0x1234 of it" (as
// app/cuda/guard.cpp has it): "main (vec.cu:12)", or the same without the folder.
std::string host_line(const std::string& place);

}  // namespace tilescope
