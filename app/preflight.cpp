#include "app/preflight.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "app/demangle.h"
#include "app/descriptions.h"
#include "app/process.h"
#include "core/io/elf.h"
#include "core/io/fatbin.h"
#include "core/ptx/program.h"
#include "core/run/modules.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// A file's bytes without reading them: a library of products has a gigabyte of machine code.
class MappedFile {
 public:
  static Outcome<MappedFile> open(const std::string& path) {
    const auto refuse = [&](int reason) {
      return Error{ErrorKind::unreadable,
                   fmt::format("Cannot read {}: {}.", path, std::strerror(reason)), path};
    };
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return refuse(errno);
    struct stat about {};
    const bool known = ::fstat(file, &about) == 0;
    MappedFile out;
    if (!known || !S_ISREG(about.st_mode)) {
      ::close(file);
      return refuse(known ? EISDIR : errno);
    }
    out.size_ = static_cast<std::size_t>(about.st_size);
    if (out.size_ > 0) {
      out.bytes_ = ::mmap(nullptr, out.size_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    const int reason = errno;
    ::close(file);
    if (out.bytes_ == MAP_FAILED) {
      out.bytes_ = nullptr;
      return refuse(reason);
    }
    return out;
  }
  MappedFile(MappedFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (bytes_) ::munmap(bytes_, size_);
  }
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(bytes_), bytes_ ? size_ : 0};
  }

 private:
  MappedFile() = default;
  void* bytes_ = nullptr;
  std::size_t size_ = 0;
};

struct Kernel {
  std::string name, target;
  std::string refused;  // why; empty: it runs
};

// What one file holds.
struct Holdings {
  std::string path;
  std::uint64_t images = 0;
  std::vector<Kernel> kernels;                   // of images with PTX
  std::map<std::string, std::uint64_t> refused;  // sentences, with how many images they are of
  std::uint64_t without_ptx = 0;                 // images
  std::set<std::uint32_t> chips;                 // that these are for
  bool runs() const {
    return refused.empty() && without_ptx == 0 &&
           std::all_of(kernels.begin(), kernels.end(),
                       [](const Kernel& k) { return k.refused.empty(); });
  }
};

// Does it call what another file defines? Whether that is there only linking shows. What CUDA
// itself provides is none of that.
bool is_part(const ptx::Module& module) {
  constexpr std::string_view provided[] = {"vprintf", "malloc", "free", "__assertfail"};
  return std::any_of(module.functions.begin(), module.functions.end(), [&](const auto& f) {
    return !f.entry && !f.body_line &&
           std::find(std::begin(provided), std::end(provided), f.name) == std::end(provided);
  });
}

void look_at_ptx(std::string text, const std::string& name, const std::string& target,
                 bool relocatable, Holdings& out) {
  Outcome<ptx::Module> parsed = module_of(Program{name, std::move(text)});
  if (!parsed) {
    ++out.refused[parsed.error().sentence];
    return;
  }
  const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  relocatable = relocatable || is_part(*module);
  for (const ptx::Function& f : module->functions) {
    if (!f.entry || !f.body_line) continue;
    Kernel kernel{std::string(f.name), target, ""};
    if (!relocatable) {
      const Outcome<ptx::Program> decoded = ptx::decode(module, f);
      if (!decoded) kernel.refused = decoded.error().sentence;
    }
    out.kernels.push_back(std::move(kernel));
  }
}

// One fat binary: what a driver would take of it is the newest PTX that the chip runs.
void look_at_image(std::vector<FatbinEntry> entries, const DeviceDescription& device,
                   const std::string& name, bool relocatable, Holdings& out) {
  std::erase_if(entries, [](const FatbinEntry& e) {
    return e.kind == FatbinEntry::Kind::other ||
           (e.kind == FatbinEntry::Kind::machine_code && !e.has_functions);
  });
  if (entries.empty()) return;
  ++out.images;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const FatbinEntry& a, const FatbinEntry& b) { return a.chip > b.chip; });
  std::string wrong;
  std::set<std::uint32_t> chips;
  for (FatbinEntry& entry : entries) {
    if (entry.kind == FatbinEntry::Kind::machine_code) chips.insert(entry.chip);
    if (entry.kind != FatbinEntry::Kind::ptx) continue;
    const Outcome<std::string> target = target_for(device, entry.text);
    if (target) {
      return look_at_ptx(std::move(entry.text), entry.name.empty() ? name : entry.name, *target,
                         relocatable, out);
    }
    if (wrong.empty()) wrong = target.error().sentence;
  }
  if (!wrong.empty()) {
    ++out.refused[wrong];
    return;
  }
  ++out.without_ptx;
  out.chips.insert(chips.begin(), chips.end());
}

std::optional<Error> look_at_section(const ElfSection& section, const DeviceDescription& device,
                                     const std::string& name, Holdings& out) {
  constexpr std::size_t step = 8;  // fat binaries begin at multiples of it
  for (std::size_t at = 0; at + fatbin_header_bytes <= section.bytes.size();) {
    const auto rest = section.bytes.subspan(at);
    const std::uint64_t bytes = fatbin_bytes(rest);
    if (bytes == 0) {
      at += step;
      continue;
    }
    if (bytes > rest.size()) {
      return Error{ErrorKind::unreadable,
                   fmt::format("{} ends in the middle of a fat binary.", name), name};
    }
    Outcome<std::vector<FatbinEntry>> entries =
        read_fatbin(rest.first(static_cast<std::size_t>(bytes)), name);
    if (!entries) return entries.error();
    look_at_image(std::move(*entries), device, name, section.name == "__nv_relfatbin", out);
    at += static_cast<std::size_t>((bytes + step - 1) / step * step);
  }
  return {};
}

// Folders that the system's loader looks into after those that a file names (ld.so(8)).
std::vector<std::string> system_folders() {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator("/etc/ld.so.conf.d", ignored)) {
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('/')) out.push_back(line);
    }
  }
  std::sort(out.begin(), out.end());
  for (const char* folder :
       {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
    out.emplace_back(folder);
  }
  return out;
}

class Preflight {
 public:
  explicit Preflight(const DeviceDescription& device) : device_(device), system_(system_folders()) {
    if (const char* all = std::getenv("LD_LIBRARY_PATH")) {
      std::string_view list = all;
      while (!list.empty()) {
        const std::size_t end = std::min(list.find(':'), list.size());
        if (end > 0) named_.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
      }
    }
  }

  // The program, or a library that it needs, and all that this one needs.
  std::optional<Error> look_at(const std::string& path) {
    const Outcome<MappedFile> file = MappedFile::open(path);
    if (!file) return file.error();
    const auto bytes = file->bytes();
    if (bytes.size() > 2 && static_cast<char>(bytes[0]) == '#' &&
        static_cast<char>(bytes[1]) == '!') {
      return Error{ErrorKind::unsupported,
                   fmt::format("{} is a script: which kernels its interpreter loads is not known "
                               "before it runs.",
                               path),
                   path};
    }
    const Outcome<ElfFile> elf = read_elf(bytes, path);
    if (!elf) return elf.error();
    Holdings holdings;
    holdings.path = path;
    for (const ElfSection& section : elf->sections) {
      if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
      if (auto error = look_at_section(section, device_, path, holdings)) return error;
    }
    if (holdings.images > 0 || found_.empty()) found_.push_back(std::move(holdings));
    for (const std::string& name : elf->needed) {
      if (name == "libcuda.so.1" || !seen_.insert(name).second) continue;  // that is the stand-in
      const std::string library = library_at(name, path, *elf);
      if (library.empty()) {
        missing_.push_back(name);
      } else if (auto error = look_at(library)) {
        broken_.push_back(error->sentence);
      }
    }
    return {};
  }

  bool all_runs() const {
    return missing_.empty() && broken_.empty() &&
           std::all_of(found_.begin(), found_.end(), [](const Holdings& h) { return h.runs(); });
  }

  std::string text() const {
    std::string out = fmt::format("on {}:\n", device_.name);
    for (const Holdings& h : found_) {
      std::uint64_t run = 0;
      for (const Kernel& k : h.kernels) run += k.refused.empty();
      if (h.images == 0) {
        out += fmt::format("{}: no kernels in it\n", h.path);
        continue;
      }
      out += fmt::format("{}: {} image{}, {} kernel{} with PTX that run{}\n", h.path, h.images,
                         h.images == 1 ? "" : "s", run, run == 1 ? "" : "s", run == 1 ? "s" : "");
      constexpr std::size_t most = 20;
      std::size_t told = 0;
      for (const Kernel& k : h.kernels) {
        if (k.refused.empty() && ++told > most) continue;
        out += k.refused.empty()
                   ? fmt::format("  {} ({})\n", short_name(k.name), k.target)
                   : fmt::format("  {} is refused: {}\n", short_name(k.name), k.refused);
      }
      if (told > most) out += fmt::format("  and {} more\n", told - most);
      for (const auto& [why, images] : refusals(h)) {
        out +=
            fmt::format("  {} image{} refused: {}\n", images, images == 1 ? " is" : "s are", why);
      }
    }
    for (const std::string& name : missing_) {
      out += fmt::format("{}: not found where the loader looks for it\n", name);
    }
    for (const std::string& sentence : broken_) out += sentence + "\n";
    const bool any =
        std::any_of(found_.begin(), found_.end(), [](const Holdings& h) { return h.images > 0; });
    out += !all_runs() ? "not all of this runs here"
           : any       ? "all of this runs here"
                       : "no kernels to look at";
    out += "; what the program loads from files while it runs was not looked at\n";
    return out;
  }

  ordered_json json() const {
    ordered_json files = ordered_json::array();
    for (const Holdings& h : found_) {
      ordered_json kernels = ordered_json::array(), refused = ordered_json::array();
      for (const Kernel& k : h.kernels) {
        kernels.push_back(
            {{"kernel", k.name},
             {"target", k.target},
             {"refused", k.refused.empty() ? ordered_json(nullptr) : ordered_json(k.refused)}});
      }
      for (const auto& [why, images] : refusals(h)) {
        refused.push_back({{"images", images}, {"why", why}});
      }
      files.push_back({{"file", h.path},
                       {"images", h.images},
                       {"kernels", std::move(kernels)},
                       {"refused", std::move(refused)}});
    }
    return {{"ok", all_runs()},
            {"device", device_.name},
            {"files", std::move(files)},
            {"missing", missing_},
            {"unreadable", broken_}};
  }

 private:
  static std::map<std::string, std::uint64_t> refusals(const Holdings& h) {
    std::map<std::string, std::uint64_t> out = h.refused;
    if (h.without_ptx == 0) return out;
    std::string chips;
    for (const std::uint32_t chip : h.chips) {
      chips += fmt::format("{}sm_{}", chips.empty() ? "" : ", ", chip);
    }
    out[fmt::format("machine code alone, for {}", chips)] = h.without_ptx;
    return out;
  }

  // Where a library that `file` needs lies; empty: nowhere that is looked at.
  std::string library_at(const std::string& name, const std::string& file,
                         const ElfFile& elf) const {
    std::error_code ignored;
    if (name.find('/') != std::string::npos) return fs::exists(name, ignored) ? name : "";
    const std::string origin = fs::absolute(file, ignored).parent_path().string();
    const auto in = [&](const std::vector<std::string>& folders) -> std::string {
      for (std::string folder : folders) {
        for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
          const std::size_t at = folder.find(word);
          if (at != std::string::npos) folder.replace(at, word.size(), origin);
        }
        const fs::path path = fs::path(folder) / name;
        if (fs::exists(path, ignored)) return path.string();
      }
      return "";
    };
    for (const auto& folders : {elf.runpath.empty() ? elf.rpath : std::vector<std::string>(),
                                named_, elf.runpath, system_}) {
      if (std::string path = in(folders); !path.empty()) return path;
    }
    return "";
  }

  const DeviceDescription& device_;
  std::vector<std::string> system_, named_;
  std::set<std::string> seen_;
  std::vector<Holdings> found_;
  std::vector<std::string> missing_, broken_;
};

}  // namespace

int preflight(const std::vector<std::string>& words, const DeviceDescription& device,
              Terminal& terminal) {
  const std::string path = words[0].find('/') == std::string::npos ? on_path(words[0]) : words[0];
  if (path.empty()) {
    return terminal.fail({ErrorKind::unknown,
                          fmt::format("There is no program {} in the folders of PATH; one in this "
                                      "folder is ./{}.",
                                      words[0], words[0]),
                          words[0]});
  }
  Preflight look(device);
  if (const auto error = look.look_at(path)) return terminal.fail(*error);
  if (terminal.json()) {
    ordered_json document = look.json();
    if (!look.all_runs()) {
      document["error"] = {{"kind", "refused"},
                           {"sentence", fmt::format("Not all that {} holds runs here.", path)},
                           {"where", path}};
    }
    terminal.document(std::move(document));
  } else {
    terminal.print(readable(look.text()));
  }
  return look.all_runs() ? 0 : 1;
}

}  // namespace tilescope
