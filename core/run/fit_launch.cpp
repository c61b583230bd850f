#include "core/run/fit_launch.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope {
namespace {

std::string shown(const ptx::Function& f) {
  std::string out;
  for (const ptx::Parameter& p : f.parameters) {
    if (!out.empty()) out += ", ";
    out += p.bytes == static_cast<std::uint32_t>(ptx::bytes_of(p.type))
               ? fmt::format("{} {}", ptx::name_of(p.type), p.name)
               : fmt::format("{} bytes {}", p.bytes, p.name);
  }
  return out.empty() ? "none" : out;
}

Dim3 dim_of(const std::array<std::uint32_t, 3>& d) {
  return {d[0], d[1], d[2]};
}

// What is wrong with the grid and the block, in words; empty where nothing is.
std::string wrong_size(const ptx::Function& entry, const Launch& launch) {
  const Dim3 block = launch.block, grid = launch.grid;
  if (block.count() == 0 || grid.count() == 0) {
    return fmt::format("a launch of {} with grid {} and block {} has no threads", entry.name,
                       text(grid), text(block));
  }
  if (block.count() > 1024 || block.x > 1024 || block.y > 1024 || block.z > 64) {
    return fmt::format(
        "a CTA of {} threads {} is too large: at most 1024 threads, 1024 in x and y, 64 in z",
        block.count(), text(block));
  }
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    return fmt::format("a grid of {} is too large: at most 2147483647 CTAs, 65535 in y and z",
                       text(grid));
  }
  const auto& asked = entry.required_block;
  if (asked[0] && dim_of(asked) != block) {
    return fmt::format(
        "{} asks for CTAs of {} threads (.reqntid), but the launch has {}: block = "
        "[{}, {}, {}] would fit",
        entry.name, text(dim_of(asked)), text(block), asked[0], asked[1], asked[2]);
  }
  const Dim3 most = dim_of(entry.maximum_block);
  if (most.x && block.count() > most.count()) {
    return fmt::format(
        "{} allows CTAs of at most {} threads (.maxntid), but the launch has {}: "
        "block = [{}, {}, {}] would fit",
        entry.name, most.count(), block.count(), most.x, most.y, most.z);
  }
  return "";
}

}  // namespace

std::string text(const Dim3& d) {
  return fmt::format("({},{},{})", d.x, d.y, d.z);
}

bool waits_for_launches_before(const ptx::Module& module, const ptx::Function& entry) {
  const Outcome<ptx::Body> body = ptx::parse_body(module, entry);
  return body &&
         std::any_of(body->statements.begin(), body->statements.end(), [](const ptx::Statement& s) {
           return s.opcode == "griddepcontrol" && s.modifiers.size() == 1 &&
                  s.modifiers[0] == "wait";
         });
}

Dim3 cluster_of(const ptx::Function& entry, const Launch& launch) {
  if (launch.cluster) return *launch.cluster;
  return entry.required_cluster[0] ? dim_of(entry.required_cluster) : Dim3{};
}

std::optional<Error> misfit(const ptx::Function& entry, const Launch& launch,
                            const std::string& where) {
  std::string wrong = wrong_size(entry, launch);
  const Dim3 cluster = cluster_of(entry, launch);
  if (wrong.empty() && entry.required_cluster[0] && cluster != dim_of(entry.required_cluster)) {
    wrong = fmt::format(
        "{} asks for clusters of {} CTAs (.reqnctapercluster), but the launch has {}: "
        "cluster = [{}, {}, {}] would fit, and so does none",
        entry.name, text(dim_of(entry.required_cluster)), text(cluster), entry.required_cluster[0],
        entry.required_cluster[1], entry.required_cluster[2]);
  }
  if (wrong.empty()) return std::nullopt;
  return Error{ErrorKind::mismatch, std::move(wrong), where};
}

std::optional<Error> misfit(const ptx::Function& entry, const std::vector<Argument>& arguments,
                            std::size_t buffers, const std::string& where) {
  const auto no = [&](std::string sentence) {
    return Error{ErrorKind::mismatch, std::move(sentence), where};
  };
  const std::size_t wanted = entry.parameters.size();
  if (arguments.size() != wanted) {
    return no(fmt::format("{} has {} parameter{} ({}), but the launch gives {} argument{}",
                          entry.name, wanted, wanted == 1 ? "" : "s", shown(entry),
                          arguments.size(), arguments.size() == 1 ? "" : "s"));
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    const ptx::Parameter& p = entry.parameters[i];
    const Argument& a = arguments[i];
    if (a.bytes.size() != p.bytes) {
      return no(fmt::format("parameter {} of {} ({}) has {} bytes ({}), but its argument has {}", i,
                            entry.name, p.name, p.bytes, ptx::name_of(p.type), a.bytes.size()));
    }
    for (const Argument::Address& at : a.addresses) {
      if (at.buffer >= buffers) {
        return no(fmt::format("argument {} of {} points to buffer number {}, but there are {}", i,
                              entry.name, at.buffer, buffers));
      }
      if (std::uint64_t{at.at} + 8 > a.bytes.size()) {
        return no(fmt::format("argument {} of {} has no room for an address at byte {}", i,
                              entry.name, at.at));
      }
    }
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    for (const Argument::Map& m : arguments[i].maps) {
      if (m.map.buffer >= buffers) {
        return no(
            fmt::format("argument {} of {} has a tensor map over buffer number {}, but there "
                        "are {}",
                        i, entry.name, m.map.buffer, buffers));
      }
      if (std::uint64_t{m.at} + map_bytes > arguments[i].bytes.size()) {
        return no(fmt::format("argument {} of {} has no room for a tensor map at byte {}", i,
                              entry.name, m.at));
      }
    }
    for (const Argument::Handle& h : arguments[i].handles) {
      if (h.texture.buffer < buffers && std::uint64_t{h.at} + 8 <= arguments[i].bytes.size())
        continue;
      return no(
          fmt::format("argument {} of {} has a texture at byte {} over buffer number {}, and "
                      "it has {} bytes, and there are {} buffers",
                      i, entry.name, h.at, h.texture.buffer, arguments[i].bytes.size(), buffers));
    }
  }
  return std::nullopt;
}

}  // namespace tilescope
