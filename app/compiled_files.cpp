#include "app/compiled_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "app/assets.h"
#include "app/files.h"
#include "assets/embedded.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

// How many are kept: the last ones that were used.
constexpr std::size_t kMostKept = 64;

// The names in `#include "..."`, wherever such a line stands.
std::vector<std::string> included_in(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto skip = [&](std::string_view word) {
      const std::size_t at = std::min(line.find_first_not_of(" \t"), line.size());
      line.remove_prefix(at);
      if (line.substr(0, word.size()) != word) return false;
      line.remove_prefix(word.size());
      return true;
    };
    if (!skip("#") || !skip("include") || !skip("\"")) continue;
    out.emplace_back(line.substr(0, line.find('"')));
  }
  return out;
}

bool carried(const std::string& name) {
  if (!asset(name).empty()) return true;
  const char* folder = std::getenv("TILESCOPE_ASSETS");
  std::error_code ignored;
  return folder && *folder && fs::is_regular_file(fs::path(folder) / name, ignored);
}

// Where a header lies: beside the file; of those that the program carries, also in the tree that
// the file is of, which is a changed copy of ours. Empty: in neither.
fs::path place_of(const std::string& name, const std::string& folder) {
  std::error_code ignored;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (fs::is_regular_file(at / name, ignored)) return at / name;
    if (!carried(name) || at == at.parent_path()) break;
  }
  return {};
}

// Adds what a text includes, and what that includes.
void add_headers(std::string_view text, const fs::path& below, CudaFiles& files) {
  for (const std::string& asked : included_in(text)) {
    const std::string beside = (below / asked).lexically_normal().string();
    for (const std::string& name : {beside, fs::path(asked).lexically_normal().string()}) {
      if (files.headers.count(name)) break;
      CudaHeader header;
      const fs::path path = place_of(name, files.folder);
      if (!path.empty()) {
        const Outcome<std::string> read = read_text(path.string());
        if (!read) break;
        header = {*read, path.string(), false};
      } else if (carried(name)) {
        const Outcome<Asset> own = load_asset(name);
        if (!own) break;
        header = {std::string(own->text()), "", true};
      } else {
        continue;
      }
      const std::string inner = header.text;
      files.headers.emplace(name, std::move(header));
      add_headers(inner, fs::path(name).parent_path(), files);
      break;
    }
  }
}

// FNV-1a in 128 bits (draft-eastlake-fnv), of parts that know their lengths.
class Hash {
 public:
  void add(std::string_view part) {
    bytes(fmt::format("{}:", part.size()));
    bytes(part);
  }
  std::string text() const {
    return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(state_ >> 64),
                       static_cast<std::uint64_t>(state_));
  }

 private:
  __extension__ using Wide = unsigned __int128;
  void bytes(std::string_view all) {
    for (const char c : all) {
      state_ ^= static_cast<unsigned char>(c);
      state_ *= (Wide{1} << 88) + 0x13b;
    }
  }
  Wide state_ = (Wide{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
};

// $XDG_CACHE_HOME, or ~/.cache (XDG Base Directory Specification 0.8). Empty: there is no home.
fs::path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && fs::path(cache).is_absolute()) return fs::path(cache) / "tilescope" / "ptx";
  const char* home = std::getenv("HOME");
  return home && *home ? fs::path(home) / ".cache" / "tilescope" / "ptx" : fs::path();
}

// The oldest go.
void let_old_ones_go(const fs::path& folder) {
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  for (const auto& each : fs::directory_iterator(folder, ignored)) {
    if (each.path().extension() == ".ptx") all.emplace_back(each.last_write_time(ignored), each);
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i + kMostKept < all.size(); ++i) {
    fs::remove(all[i].second, ignored);
    fs::remove(fs::path(all[i].second).replace_extension(".said"), ignored);
  }
}

}  // namespace

std::string name_in_ptx(const std::string& path) {
  std::string out = fs::path(path).filename().string();
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '.' && c != '-') c = '_';
  }
  return out;
}

Outcome<CudaFiles> cuda_files(const std::string& path) {
  if (!path.ends_with(".cu")) {
    return Error{
        ErrorKind::usage,
        fmt::format("--source takes a CUDA file, F.cu; {} is none. PTX goes with --ptx.", path),
        ""};
  }
  Outcome<std::string> text = read_text(path);
  if (!text) return text.error();
  return cuda_text(path, fs::path(path).parent_path().string(), std::move(*text));
}

CudaFiles cuda_text(const std::string& name, const std::string& folder, std::string text) {
  CudaFiles out;
  out.name = name_in_ptx(name);
  std::error_code error;
  const fs::path place = fs::path(folder.empty() ? "." : folder) / "file";
  out.folder = fs::absolute(place, error).lexically_normal().parent_path().string();
  out.text = std::move(text);
  add_headers(out.text, "", out);
  return out;
}

Outcome<CudaFiles> own_cuda_files(const std::string& name) {
  const Outcome<Asset> text = load_asset(name);
  if (!text) return text.error();
  CudaFiles out;
  out.name = name;
  out.text = text->text();
  add_headers(out.text, "", out);
  return out;
}

std::string key_of(const CudaFiles& files, std::string_view architecture, std::string_view compiler,
                   const Defines& defines) {
  Hash hash;
  for (std::string_view part : {std::string_view("1"), compiler, architecture,
                                std::string_view(files.name), std::string_view(files.text)}) {
    hash.add(part);
  }
  for (const auto& [name, header] : files.headers) {
    hash.add(name);
    hash.add(header.text);
  }
  for (const auto& [name, value] : defines) {
    hash.add(name);
    hash.add(value);
  }
  return hash.text();
}

std::optional<KeptPtx> kept_ptx(const std::string& key) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  const fs::path file = folder / (key + ".ptx");
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return {};
  Outcome<std::string> ptx = read_text(file.string());
  if (!ptx || ptx->empty()) return {};
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  Outcome<std::string> said = read_text((folder / (key + ".said")).string());
  return KeptPtx{std::move(*ptx), said ? std::move(*said) : ""};
}

void keep_ptx(const std::string& key, const KeptPtx& kept) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const fs::path said = folder / (key + ".said");
  fs::remove(said, ignored);
  if (!kept.said.empty()) (void)write_file(said.string(), kept.said);
  (void)write_file((folder / (key + ".ptx")).string(), kept.ptx);
  let_old_ones_go(folder);
}

}  // namespace tilescope
