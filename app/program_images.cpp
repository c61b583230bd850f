#include "app/program_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <span>
#include <utility>

#include "app/descriptions.h"
#include "core/io/fatbin.h"

namespace tilescope {
namespace {

constexpr int elf_bytes = 4;
constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// PTX that this chip does not run: why, and which chip of the program's own would.
std::string for_another_chip(const Error& why, std::string_view ptx) {
  for (const auto& [name, device] : described_devices()) {
    if (target_for(device, ptx)) {
      return fmt::format("{} It runs with --device {}.", why.sentence, name);
    }
  }
  return why.sentence;
}

// Of a fat binary the PTX that a driver would take: the newest that the chip runs.
std::optional<std::string> newest_ptx(std::vector<FatbinEntry> entries,
                                      const DeviceDescription& device, std::string& name,
                                      std::string& wrong) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const FatbinEntry& a, const FatbinEntry& b) { return a.chip > b.chip; });
  std::string chips;
  for (FatbinEntry& entry : entries) {
    if (entry.kind == FatbinEntry::Kind::machine_code) {
      if (entry.chip) chips += fmt::format("{}sm_{}", chips.empty() ? "" : ", ", entry.chip);
    }
    if (entry.kind != FatbinEntry::Kind::ptx) continue;
    const Outcome<std::string> target = target_for(device, entry.text);
    if (target) {
      if (!entry.name.empty()) name = entry.name;
      return std::move(entry.text);
    }
    if (wrong.empty()) wrong = for_another_chip(target.error(), entry.text);
  }
  if (wrong.empty()) {
    wrong = fmt::format(
        "it holds machine code{} and no PTX, which is what runs here. Build it with PTX: nvcc's "
        "-arch=sm_{}{} has both, and so has -gencode arch=compute_NN,code=compute_NN beside what "
        "is "
        "there.",
        chips.empty() ? "" : " for " + chips, device.major, device.minor);
  }
  return {};
}

constexpr int newest_version = 9;  // of PTX, without what is behind its point

// Of a text of PTX; nothing: it is none.
std::optional<int> version_of(std::string_view ptx) {
  static const std::regex form(R"((^|\s)\.version\s+(\d{1,4})\.)");
  std::cmatch found;
  if (!std::regex_search(ptx.data(), ptx.data() + ptx.size(), found, form)) return {};
  return std::stoi(found[2]);
}

// The PTX of one image: a text, or what a fat binary has; nothing, and why.
std::optional<std::string> image_text(std::string_view image, const DeviceDescription& device,
                                      std::string& name, ReadImages& out) {
  std::string& wrong = out.wrong;
  if (image.substr(0, elf_bytes) == elf_magic) {
    FatbinEntry code;
    code.kind = FatbinEntry::Kind::machine_code;
    return newest_ptx({code}, device, name, wrong);
  }
  if (fatbin_bytes(bytes_of(image)) == 0) {
    std::string text(image);
    const std::optional<int> version = version_of(text);
    if (!version) {
      out.is_nothing = true;
      wrong = "this is no PTX: there is no .version directive";
      return {};
    }
    if (*version > newest_version) {
      out.is_new = true;
      wrong = fmt::format("PTX of version {}.x is not known.", *version);
      return {};
    }
    const Outcome<std::string> target = target_for(device, text);
    if (target) return text;
    wrong = for_another_chip(target.error(), text);
    out.is_ptx = true;
    return {};
  }
  out.is_text = false;
  Outcome<std::vector<FatbinEntry>> entries = read_fatbin(bytes_of(image), name);
  if (!entries) {
    wrong = entries.error().sentence;
    return {};
  }
  return newest_ptx(std::move(*entries), device, name, wrong);
}

}  // namespace

ReadImages read_images(const std::vector<std::string_view>& images, const DeviceDescription& device,
                       const std::function<std::string()>& next_name) {
  ReadImages out;
  out.is_text = true;
  for (const std::string_view image : images) {
    std::string name = next_name();
    std::optional<std::string> text = image_text(image, device, name, out);
    if (!text) continue;
    if (!out.program) {
      out.program = Program{std::move(name), std::move(*text)};
    } else {
      out.program->linked.push_back({std::move(name), std::move(*text)});
    }
  }
  return out;
}

}  // namespace tilescope
