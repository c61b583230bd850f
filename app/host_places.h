// What lies at an address of a program of this machine: for sentences about pointers to the host
// that a kernel was given in place of the device's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace tilescope {

// "on the host: the stack of vectorAdd"; empty where that process has nothing there, or none is
// known.
std::string host_place(pid_t process, const std::string& program, std::uint64_t address);

}  // namespace tilescope
