#include "app/commands.h"

#include <array>

namespace tilescope {
namespace {

constexpr std::array table = {
    Command{"eval", "the value of layout expressions",
            "tilescope eval 'zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)'",
            define_eval},
    Command{"draw", "a picture of a layout expression",
            "tilescope draw 'zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)' -o tiles.svg",
            define_draw},
    Command{"run", "run a kernel's PTX and compare every element with a reference",
            "tilescope run elementwise_add --m 300 --n 200 --out C.npy", define_run},
    Command{"exec", "a CUDA program, its kernels on the simulator", "tilescope exec -- ./vectorAdd",
            define_exec},
    Command{"capture", "launches of a CUDA program on a GPU, kept to be run without one",
            "tilescope capture --launches 3 -- ./program", define_capture},
    Command{"check", "whether a PTX file runs here, what is in it, and a launch file to begin with",
            "tilescope check kernel.ptx", define_check},
    Command{"explain", "the bits of a matrix or instruction descriptor, or of a tensor map",
            "tilescope explain desc 0x4000404000010010", define_explain},
    Command{"lower", "from layouts to instructions: a slice, a partition, down to LLVM",
            "tilescope lower elementwise_add --dynamic", define_lower},
    Command{"compare", "where the time went in one recorded run, and in another",
            "tilescope compare A.tsr B.tsr", define_compare},
    Command{"gui", "the window, or pictures of it without a display",
            "tilescope gui --open 'preset 9x32'", define_gui},
    Command{"course", "kernels to write yourself, judged: right, safe, fast",
            "tilescope course start hgemm_v2", define_course},
    Command{"lesson", "a lesson, step by step, with exercises; or the list of them",
            "tilescope lesson layouts", define_lesson},
    Command{"list", "what there is: kernels, devices, presets, atoms, commands, functions, lessons",
            "tilescope list kernels", define_list},
    Command{"generate", "man page and shell completions, for the build", "tilescope generate man",
            define_generate, true},
};

}  // namespace

std::span<const Command> commands() {
  return table;
}

}  // namespace tilescope
