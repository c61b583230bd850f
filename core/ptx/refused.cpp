#include "core/ptx/refused.h"

#include <algorithm>

namespace tilescope::ptx {
namespace {

constexpr std::string_view textures =
    "of textures and surfaces arrays of 1 to 3 dimensions, layers of them and cubes are simulated, "
    "through 64-bit handles (tex, txq, suld.b, sust.b): no mipmaps, gathering, sampler references "
    "or "
    "reductions. What is loaded from an array would be loaded from a buffer with ld.global.nc";
constexpr std::string_view video =
    "video instructions are not simulated: CUDA 13 makes none but vabsdiff2 and vabsdiff4, which "
    "are. Ordinary integer instructions, or those of u16x2 and s16x2, do the same";

}  // namespace

const std::vector<Refused>& refused() {
  static const std::vector<Refused> rows = {
      {{"multimem"},
       "",
       "multimem works on memory of several GPUs at once (a multicast object, NVLink SHARP), and "
       "one GPU is simulated. The kernel of a single GPU, with ld, st and red, would work",
       "9.7.9.14, 9.7.9.26, 9.7.9.27"},
      {{"tld4", "istypep", "sured", "suq"}, "", textures, "9.7.10, 9.7.11"},
      {{"tex"}, "!v4", textures, "9.7.10.3"},
      {{"tex"}, "base", textures, "9.7.10.3"},
      {{"tex"}, "level", textures, "9.7.10.3"},
      {{"tex"}, "grad", textures, "9.7.10.3"},
      {{"tex"}, "f16", textures, "9.7.10.3"},
      {{"tex"}, "*2dms", textures, "9.7.10.3"},
      {{"sust"}, "p", textures, "9.7.11.2"},
      {{"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"},
       "",
       video,
       "9.7.18.1"},
      {{"vadd2", "vsub2", "vavrg2", "vmin2", "vmax2", "vset2", "vadd4", "vsub4", "vavrg4", "vmin4",
        "vmax4", "vset4"},
       "",
       video,
       "9.7.18.2"},
      {{"cvt"},
       "e*x4",
       "which of the random bits go to which of four elements only a figure of the PTX ISA says "
       "(figures 40 and 41). cvt.rs to f16x2 and bf16x2 is executed, and cvt.rn to pairs of this "
       "type",
       "9.7.9.21"},
      {{"fma"},
       "oob",
       "which NaN .oob takes for one of a place outside of a tensor the PTX ISA does not say. "
       "Without .oob it is executed",
       "9.7.4.4"},
      {{"vote", "shfl"},
       "!sync",
       "without .sync it is for chips before sm_70. The same with .sync and a mask of lanes is "
       "executed",
       "9.7.9.5, 9.7.13.8"},
  };
  return rows;
}

const Refused* refused_instruction(std::string_view opcode,
                                   const std::vector<std::string_view>& modifiers) {
  for (const Refused& row : refused()) {
    if (std::find(row.opcodes.begin(), row.opcodes.end(), opcode) == row.opcodes.end()) continue;
    if (row.word.empty()) return &row;
    const bool lacks = row.word[0] == '!';
    const std::size_t star = row.word.find('*');
    const bool found = std::any_of(modifiers.begin(), modifiers.end(), [&](std::string_view m) {
      if (star == std::string_view::npos) return m == row.word.substr(lacks ? 1 : 0);
      return m.starts_with(row.word.substr(0, star)) && m.ends_with(row.word.substr(star + 1));
    });
    if (found != lacks) return &row;
  }
  return nullptr;
}

std::string_view refused_function(std::string_view name) {
  if (name.starts_with("cudaLaunchDevice") || name.starts_with("cudaGetParameterBuffer") ||
      name.starts_with("__cudaCDP") || name.starts_with("cudaGraphLaunch")) {
    return "the kernel launches kernels itself (dynamic parallelism), and only the host does so "
           "here. Launched one after the other from the host, the same kernels run";
  }
  if (name.starts_with("cuda")) {
    return "it is the CUDA runtime's on the device (cudadevrt), which is not here. Called from the "
           "host, it works";
  }
  return "";
}

std::string_view refused_register(std::string_view name) {
  if (name.starts_with("%envreg")) {
    return "what the driver puts there is not documented; of %envreg it is known for 1 and 2, "
           "where cooperative groups find what grid.sync() needs";
  }
  if (name.starts_with("%pm")) {
    return "performance counters are not simulated. `tilescope run --stats` counts what it counts";
  }
  if (name == "%is_explicit_cluster") {
    return "whether a launch gave its cluster itself is not known here; %cluster_nctarank is";
  }
  return "";
}

}  // namespace tilescope::ptx
