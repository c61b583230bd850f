// All that programs have their devices do, in one trace (core/io/trace_file.h): a row for each
// stream with its launches and copies, by the predicted time of the chip, and what is recorded of a
// launch at its place in that time. Written piece by piece as it comes, into a file of our own, so
// that no more than one launch is held.
//
//   a process   a program's device; then a launch's grid and its blocks, "launch 3: CTA (0,0,0)..."
//   a thread    a stream; then what a launch's own trace has
//   X           a launch, a copy or a memset, from when its stream is free for it; args say grid
//   and
//               block, bytes, what was found. What takes no time here has none
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/scratch.h"
#include "core/error.h"
#include "core/record/record.h"

namespace tilescope {

class ExecTimeline {
 public:
  // What comes of it goes to `path`; `device`: what the chip is called.
  ExecTimeline(std::string path, std::string device);

  // One more program, with a device of its own; its number.
  std::uint32_t add_program(std::string_view name);

  struct Work {
    std::uint32_t program = 0;
    std::uint64_t stream = 0;
    double begin = 0, end = 0;  // seconds of the chip
    std::string name;           // "launch 3: scale", "copy to the host"
    std::string facts;          // members of a JSON object: "\"bytes\":4"
  };
  void add(const Work& work);
  // What is recorded of a launch; `begin`: seconds, when its first cycle is.
  void add_record(const sim::Record& record, std::uint64_t launch, double begin);

  std::uint64_t works() const { return works_; }
  const std::string& path() const { return path_; }
  // Writes the file, whole.
  std::optional<Error> write();

 private:
  std::uint32_t row(std::uint32_t program, std::uint64_t stream);
  void put(std::string_view text) {
    events_.write(text.data(), static_cast<std::streamsize>(text.size()));
  }

  std::string path_, device_;
  Scratch scratch_;
  std::ofstream events_;
  std::uint32_t numbers_ = 0, flows_ = 0;
  std::uint64_t works_ = 0;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> rows_;
};

}  // namespace tilescope
