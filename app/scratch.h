// A folder of our own for files on their way, gone with this value.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace tilescope {

class Scratch {
 public:
  Scratch() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "tilescope-XXXXXX").string();
    if (!error && ::mkdtemp(name.data())) folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  // Empty where none could be made.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace tilescope
