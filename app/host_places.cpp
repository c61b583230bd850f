#include "app/host_places.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "app/cuda/wire.h"

namespace tilescope {

std::string host_place(pid_t process, const std::string& program, std::uint64_t address) {
  if (process <= 0 || wire::on_device(address)) return "";
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {  // proc_pid_maps(5)
    std::istringstream words(line);
    std::uint64_t begin = 0, end = 0;
    char dash = 0;
    if (!(words >> std::hex >> begin >> dash >> end) || address < begin || address >= end) continue;
    std::string access, offset, device, inode, name;
    words >> access >> offset >> device >> inode >> name;
    if (access.compare(0, 1, "r") != 0) return "";
    if (name == "[stack]") return fmt::format("on the host: the stack of {}", program);
    if (name.empty() || name == "[heap]") return fmt::format("on the host: memory of {}", program);
    const std::string file = name.substr(name.rfind('/') + 1);
    return file.starts_with(program) ? fmt::format("on the host: a variable of {}", program)
                                     : fmt::format("on the host: {} is loaded there", file);
  }
  return "";
}

}  // namespace tilescope
