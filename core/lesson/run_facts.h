// What tasks may ask of a run besides its result. The record, the machine and the program around
// them are known elsewhere (viz/session/lesson_facts.h fills this in); here they are plain values
// and questions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace tilescope {

// Of CTA 0, whose pipeline is looked at. Times are the record's cycles.
struct RunFacts {
  struct Barrier {
    std::string name;                  // "full[0]", as the program shows it
    std::uint64_t arrivals = 0;        // that complete a phase; 0: not known
    std::vector<std::uint64_t> bytes;  // that each phase waits for, from phase 0
  };
  std::vector<Barrier> barriers;
  std::uint64_t stages = 0;  // of the ring; 0: it has none
  std::uint64_t end = 0;     // of the run

  struct Moment {
    std::optional<std::int64_t> stage, step;  // that the product under way reads
    struct Wait {
      std::uint32_t warp = 0;
      std::string barrier;
    };
    std::vector<Wait> waits;
    std::vector<std::pair<std::string, std::uint32_t>> phases;  // by barrier: the one that runs
  };
  std::function<Moment(std::uint64_t cycle)> at;  // empty: the run has no times

  std::string bound;       // "load latency": of the sentence "Bound by load latency: ..."
  std::string bound_says;  // that sentence

  // Of a deadlock: what somebody waits for, and who.
  struct Stuck {
    std::string barrier;
    std::vector<std::uint32_t> warps;
    bool cause = false;     // nobody waits for it only because others wait
    std::string because{};  // where it is none: "warps 5-7 would arrive, and wait for free"
  };
  std::vector<Stuck> stuck;

  // The first fault, else the first hazard, in the kernel's own file. 0: there is none.
  std::uint32_t told_line = 0;
  std::string told;                 // its sentence
  std::string source_name;          // "kernels/lessons/swapped_tiles.cu"; empty: not known
  std::vector<std::string> source;  // its lines
};

// A run that was made only to be judged.
struct Trial {
  bool right = false;   // it ended, agrees with what was expected, without fault and hazard
  double seconds = 0;   // predicted; 0: there is no time
  std::string problem;  // where it is not right, why: a sentence
};

// What a task may have done for it. Each may be empty: then nobody is there who could.
struct Workshop {
  // "hgemm_v8 --m 256 --tile 128x256", as `open` takes it.
  std::function<Outcome<Trial>(std::string_view kernel)> run_kernel;
  // PTX with its launch file.
  std::function<Outcome<Trial>(std::string_view ptx, std::string_view launch)> run_program;
  // A file that lies beside the lessons ("order.ptx"), or a source ("kernels/.../add.cu").
  std::function<Outcome<std::string>(std::string_view name)> file;
};

}  // namespace tilescope
