#include "core/run/report_groups.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace tilescope {
namespace {

struct Line {
  std::string_view file;  // empty: a line of the PTX
  std::uint32_t number = 0;
};

Line line_of(const Site& site) {
  if (site.caller_line) return {site.caller, site.caller_line};
  if (site.source_line) return {site.source, site.source_line};
  return {{}, site.ptx_line};
}

// What is counted once in a group.
struct Seen {
  std::set<std::uint32_t> ptx_lines;
  WarpSet warps;
  using Block = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::set<Block> blocks_of_sites;
  std::set<std::tuple<Block, std::uint32_t>> warps_of_sites;

  void add(const Report& r) {
    if (r.site.ptx_line) ptx_lines.insert(r.site.ptx_line);
    if (!r.warps.empty()) {
      warps.add(r.warps);
      return;
    }
    const Block block{r.site.block.x, r.site.block.y, r.site.block.z};
    blocks_of_sites.insert(block);
    warps_of_sites.insert({block, r.site.warp});
  }
};

std::string number_of(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

std::vector<ReportGroup> groups(const std::vector<Report>& reports) {
  using Key =
      std::tuple<Weight, std::string_view, std::string_view, std::string_view, std::uint32_t>;
  std::map<Key, std::size_t> known;
  std::vector<ReportGroup> out;
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& r = reports[i];
    const Line line = line_of(r.site);
    std::size_t at = out.size();
    if (!r.pair.empty()) {
      at = known.try_emplace({r.weight, r.kind, r.site.kernel, r.pair, 0}, at).first->second;
    } else if (line.number) {
      at = known.try_emplace({r.weight, r.kind, r.site.kernel, line.file, line.number}, at)
               .first->second;
    }
    if (at == out.size()) {
      out.emplace_back().pair = r.pair;
      seen.emplace_back();
    }
    out[at].members.push_back(i);
    out[at].times += r.count;
    seen[at].add(r);
  }
  for (std::size_t at = 0; at < out.size(); ++at) {
    out[at].places = seen[at].ptx_lines.size();
    out[at].warps = seen[at].warps.warps() + seen[at].warps_of_sites.size();
    out[at].blocks = seen[at].warps.blocks() + seen[at].blocks_of_sites.size();
  }
  return out;
}

std::string text_of_counts(const ReportGroup& group) {
  if (group.times <= 1) return "";
  if (!group.places) return fmt::format("{} times", group.times);
  return fmt::format("{} times {}: {}, {} of {}", group.times,
                     group.pair.empty() || group.places == 1 ? "at this line" : group.pair,
                     number_of(group.places, "PTX line"), number_of(group.warps, "warp"),
                     number_of(group.blocks, "CTA"));
}

}  // namespace tilescope
