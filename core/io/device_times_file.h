// The times of a device file: how long things take on a chip (core/run/device_times.h). Used by
// device_file.cpp only.
//
//     [clock]          frequency, launch, block_start
//     [power]          what the clock falls by; may be left out
//     [issue]          schedulers, branch; integer = { lanes = 64, latency = 4 } and other units
//     [waiting]        barriers, and from 9.0 on clusters
//     [memory]         latencies and bandwidths of shared memory, L1, L2 and memory
//     [copies]         from 9.0 on: TMA
//     [tensor]         tensor cores
//     [tensor_memory]  10.x and 11.x
//
// A file without any of these tables describes a chip whose times are not known. One that has some
// of them has all, with every key that a chip of its compute capability needs; others may be there.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/toml_reader.h"
#include "core/run/device_description.h"

namespace tilescope {

// The names of these tables, as keys of the file.
const std::vector<std::string_view>& tables_of_times();

// Every figure by table and key, as "memory.l2_size" or "issue.integer.lanes".
std::vector<std::pair<std::string, double*>> figures_of(DeviceTimes& times);

// Sets device.times; the device's capability is known. Mistakes go to the reader.
void read_times(TomlReader& toml, const toml::table& root, DeviceDescription& device);

}  // namespace tilescope
