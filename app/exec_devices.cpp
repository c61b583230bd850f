// The device that a program under `tilescope exec` finds: what `--device` says of it, and the
// limits that every chip since compute capability 8.0 has (CUDA C++ Programming Guide, "Compute
// Capabilities").
#include "app/exec_calls.h"

namespace tilescope {
namespace {

struct ChipLimit {
  int attribute;  // CUdevice_attribute
  std::int32_t value;
};

// Besides what the description says.
constexpr ChipLimit chip_limits[] = {
    {1, 1024},         // threads of a block
    {2, 1024},         // x of a block
    {3, 1024},         // y
    {4, 64},           // z
    {5, 2147483647},   // x of a grid
    {6, 65535},        // y
    {7, 65535},        // z
    {8, 49152},        // shared memory of a block that does not ask for more
    {9, 65536},        // constant memory
    {10, 32},          // threads of a warp
    {11, 2147483647},  // pitch
    {14, 512},         // alignment of textures
    {15, 1},           // copies beside kernels
    {19, 1},           // the host's memory can be mapped
    {21, 131072},      // textures and surfaces, to 74
    {22, 131072},     {23, 65536},   {24, 16384},     {25, 16384},
    {26, 16384},      {27, 32768},   {28, 32768},     {29, 2048},
    {30, 512},        {31, 1},  // kernels beside each other
    {32, 1},                    // ECC
    {33, 1},                    // PCI bus
    {40, 3},                    // copy engines
    {41, 1},                    // one address space
    {42, 32768},      {43, 2048},    {45, 32768},     {46, 32768},
    {51, 32},         {52, 32768},   {53, 32768},     {54, 2046},
    {55, 32768},      {56, 131072},  {57, 65536},     {58, 16384},
    {59, 16384},      {60, 16384},   {61, 32768},     {62, 2048},
    {63, 32768},      {64, 32768},   {65, 2048},      {66, 32768},
    {67, 32768},      {68, 2046},    {69, 268435456}, {70, 131072},
    {71, 65000},      {72, 2097120}, {73, 32768},     {74, 32768},
    {77, 32768},      {78, 1},   // priorities of streams
    {79, 1},                     // global memory in L1
    {80, 1},                     // local memory in L1
    {82, 65536},                 // registers of an SM
    {83, 1},                     // managed memory
    {87, 2},                     // single to double precision
    {90, 1},                     // preemption
    {91, 1},                     // registered memory at its own address
    {95, 1},                     // cooperative launch
    {98, 1},          {99, 1},   // registering the host's memory
    {102, 1},                    // virtual memory management
    {109, 134217728},            // the largest window of L2 with a policy
    {115, 1},                    // pools
    {126, 4},         {129, 1},  // pointers to functions are the same everywhere
};

}  // namespace

DriverResult ExecCalls::device_name(wire::Reader&, CallAnswer& answer) {
  answer.out.put_text(device_.description().name);
  return DriverResult::success;
}

DriverResult ExecCalls::device_attribute(wire::Reader& in, CallAnswer& answer) {
  const DeviceDescription& d = device_.description();
  const auto attribute = in.get<std::int32_t>();
  const auto number = [](double value) { return static_cast<std::int32_t>(value); };
  if (attribute <= 0 || attribute > 200) return DriverResult::invalid_value;
  std::int32_t value = 0;
  for (const ChipLimit& limit : chip_limits) {
    if (limit.attribute == attribute) value = limit.value;
  }
  switch (attribute) {
    case 12:  // registers of a block
    case 82:
      value = number(d.registers);
      break;
    case 13:  // kHz
      value = number(d.times.clock * 1e6);
      break;
    case 16:
      value = number(d.processors);
      break;
    case 36:  // kHz of memory, by which and by the width of its bus programs compute a bandwidth:
      value = number(d.times.memory_bandwidth * 1e6 / (2 * 5120 / 8.0));
      break;
    case 37:
      value = 5120;
      break;
    case 38:
      value = number(d.times.l2_size);
      break;
    case 39:
      value = number(d.threads);
      break;
    case 75:
      value = d.major;
      break;
    case 76:
      value = d.minor;
      break;
    case 81:
      value = number(d.shared);
      break;
    case 97:
      value = number(d.block_shared);
      break;
    case 106:
      value = number(d.blocks);
      break;
    case 108:  // what of L2 may persist
      value = number(d.times.l2_size * (d.major >= 9 ? 0.625 : 0.75));
      break;
    case 111:
      value = number(d.reserved);
      break;
    case 120:  // clusters
    case 127:  // tensor maps
      value = d.major >= 9;
      break;
    default:
      break;
  }
  answer.out.put(value);
  return DriverResult::success;
}

DriverResult ExecCalls::device_memory(wire::Reader&, CallAnswer& answer) {
  const sim::DeviceMemory& memory = device_.memory();
  answer.out.put(memory.limit() - std::min(memory.limit(), memory.used())).put(memory.limit());
  return DriverResult::success;
}

}  // namespace tilescope
