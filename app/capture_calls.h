// What the shim in front of the CUDA driver tells of a program's launches
// (app/cuda_capture/wire.h), made into the folders that `exec --capture` writes as well: what a
// launch was given, and what the chip left.
//
// The shim is part of a process that may do anything: what it says is read as what a stranger says.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/cuda_capture/wire.h"
#include "app/program_images.h"
#include "app/socket_server.h"
#include "app/terminal.h"
#include "core/run/device_description.h"

namespace tilescope {

struct CaptureOptions {
  std::string folder;                                // gets one for each launch
  std::optional<std::regex> only;                    // kernels
  std::uint64_t first = 0, end = ~std::uint64_t{0};  // launches, counted from 0
  std::uint64_t most = ~std::uint64_t{0};            // of them that are captured
  bool quiet = false;
};

// The same for all processes of a program.
struct Captures {
  Captures(CaptureOptions asked_for, Terminal& to) : options(std::move(asked_for)), terminal(to) {}

  struct Captured {
    std::uint64_t number = 0;  // of the launch, counted from 1
    std::string kernel, folder;
    std::string result;  // "CUDA_ERROR_...", where it did not go well; "": it did
    bool came_back = false;
    bool dropped = false;  // it was begun, and could not be captured after all
  };

  // Each sentence once.
  void say_once(const std::string& sentence);

  CaptureOptions options;
  Terminal& terminal;
  std::uint64_t launches = 0, programs = 0;
  std::vector<Captured> all;

 private:
  std::set<std::string> told_;
};

// One of these for each process.
class CaptureCalls {
 public:
  // `captures` lives longer. `program`: what sentences call it.
  CaptureCalls(std::string program, Captures& captures);
  ~CaptureCalls();

  SocketAnswer answer(std::uint32_t what, std::string_view operands);

 private:
  struct Pending;  // a launch, from what it is given to what it left

  // False: it is refused.
  bool launch(wire::Reader& in, wire::Writer& out);
  bool image(wire::Reader& in);
  bool parameters(wire::Reader& in);
  bool variable(wire::Reader& in);
  bool region(wire::Reader& in);
  bool bytes(wire::Reader& in);
  bool given();
  bool left(wire::Reader& in);
  bool skipped(wire::Reader& in);

  const ReadImages& program_of(std::uint64_t image, const DeviceDescription& device);
  bool write(const std::map<std::uint64_t, std::vector<std::byte>>* left);

  std::string program_;
  Captures& captures_;
  std::map<std::uint64_t, std::vector<std::string>> images_;  // by the shim's numbers
  std::map<std::uint64_t, ReadImages> read_;                  // those of them that were launched
  std::unique_ptr<Pending> pending_;
};

}  // namespace tilescope
