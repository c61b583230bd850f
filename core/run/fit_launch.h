// Whether a launch and its arguments fit the entry that they are for, before any device is asked:
// the simulator and the GPU refuse the same jobs with the same sentences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/ptx/module.h"
#include "core/run/job.h"

namespace tilescope {

// "(4,1,1)"
std::string text(const Dim3& d);

// The cluster of a launch: what it says, else what the entry asks for (.reqnctapercluster), else 1.
// CTAs of a cluster: 8 on every chip that has clusters (compute capability 9.0 and later), 16 where
// a kernel allows what is not portable (CUDA C++ Programming Guide, "Thread Block Clusters").
constexpr std::uint64_t portable_cluster = 8, most_cluster = 16;
Dim3 cluster_of(const ptx::Function& entry, const Launch& launch);

// Its threads wait for the launches before this one by an instruction (griddepcontrol.wait, PTX ISA
// 9.7.13.13), so that a launch may begin before those have ended.
bool waits_for_launches_before(const ptx::Module& module, const ptx::Function& entry);

// Grid, block and cluster: the limits that every chip since compute capability 3.0 has (CUDA C++
// Programming Guide, "Compute Capabilities"), and what the entry's directives ask for (PTX ISA
// 11.4). `where` is the entry's place in its file.
std::optional<Error> misfit(const ptx::Function& entry, const Launch& launch,
                            const std::string& where);

// The arguments: as many as the entry has parameters, of their sizes, with addresses of buffers
// that exist.
std::optional<Error> misfit(const ptx::Function& entry, const std::vector<Argument>& arguments,
                            std::size_t buffers, const std::string& where);

}  // namespace tilescope
