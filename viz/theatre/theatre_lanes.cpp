#include "viz/theatre/theatre_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/layout/banks.h"

namespace tilescope {
namespace {

using sim::Record;
using sim::WarpAccess;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 sector_bytes = 32;

std::uint64_t bytes_of_buffer(const sim::RecordedBuffer& buffer) {
  return static_cast<u64>(std::max<std::int64_t>(0, buffer.rows() * buffer.columns())) *
         static_cast<u64>(bytes_of(buffer.dtype));
}

// Calls f(byte) for the first byte of each lane that takes part.
template <class F>
void each_lane(const Record& record, const WarpAccess& access, F f) {
  for (u32 rest = access.mask; rest; rest &= rest - 1) {
    const auto lane = static_cast<u32>(__builtin_ctz(rest));
    f(lane, access.at(lane, record.lane_offsets));
  }
}

std::vector<BankWord> words_of_access(const Record& record, const WarpAccess& access) {
  std::map<std::pair<u32, u32>, std::vector<u32>> found;
  const auto together = static_cast<u32>(lanes_in_phase(access.bytes));
  u32 before = 0;
  for (u32 from = 0; from < 32; from += together) {
    BankWords words;
    u32 most = 0;
    for (u32 lane = from; lane < from + together; ++lane) {
      if (!(access.mask >> lane & 1)) continue;
      const u64 at = access.at(lane, record.lane_offsets) / bank_bytes;
      for (u64 w = 0; w < static_cast<u64>(words_of(access.bytes)); ++w) {
        const BankWords::Given given = words.ask(at + w);
        most = std::max(most, given.wavefront + 1);
        std::vector<u32>& lanes = found[{before + given.wavefront, static_cast<u32>(given.bank)}];
        if (lanes.empty() || lanes.back() != lane) lanes.push_back(lane);
      }
    }
    before += most;
  }
  std::vector<BankWord> out;
  for (auto& [where, lanes] : found) {
    out.push_back({where.first, where.second, std::move(lanes)});
  }
  return out;
}

std::string names_of(const Record& record, const std::vector<SectorOnItsWay>& sectors,
                     bool writes) {
  std::vector<u32> seen;
  std::string out;
  for (const SectorOnItsWay& s : sectors) {
    if (s.writes != writes || std::count(seen.begin(), seen.end(), s.buffer)) continue;
    seen.push_back(s.buffer);
    out += (out.empty() ? "" : ", ") + record.buffers[s.buffer].name;
  }
  return out;
}

std::string bytes_a_lane(u32 bytes) {
  return fmt::format("{} byte{} a lane", bytes, bytes == 1 ? "" : "s");
}

// Of the loads, or stores, of global memory that are under way: where all lanes move as much.
std::string width_text(const Record& record, const std::vector<u32>& under_way, bool writes) {
  u32 bytes = 0;
  for (const u32 i : under_way) {
    const WarpAccess& access = record.accesses[i];
    const bool store =
        access.kind == WarpAccess::Kind::store || access.kind == WarpAccess::Kind::atomic;
    if (access.of != WarpAccess::Of::global || store != writes) continue;
    if (bytes != 0 && bytes != access.bytes) return "";
    bytes = access.bytes;
  }
  return bytes == 0 ? "" : " of " + bytes_a_lane(bytes);
}

std::string sentence_of(const Record& record, const LanesNow& now,
                        const std::vector<u32>& under_way) {
  std::string out;
  const auto count = [&](bool writes) {
    return std::count_if(now.sectors.begin(), now.sectors.end(),
                         [&](const SectorOnItsWay& s) { return s.writes == writes; });
  };
  const auto shared_by_several =
      std::count_if(now.sectors.begin(), now.sectors.end(),
                    [](const SectorOnItsWay& s) { return s.warps.size() > 1; });
  if (now.loads && count(false)) {
    out += fmt::format("{} load{}{} {} under way: {} sectors of {}", now.loads,
                       now.loads == 1 ? "" : "s", width_text(record, under_way, false),
                       now.loads == 1 ? "is" : "are", count(false),
                       names_of(record, now.sectors, false));
    if (shared_by_several) out += fmt::format(", {} of them for several warps", shared_by_several);
    out += ". ";
  }
  if (now.stores && count(true)) {
    out += fmt::format("{} store{}{} {} under way, to {}. ", now.stores, now.stores == 1 ? "" : "s",
                       width_text(record, under_way, true), now.stores == 1 ? "is" : "are",
                       names_of(record, now.sectors, true));
  }
  if (!now.all_shared.empty() && now.all_shared[0].now) {
    const WarpAccess& access = record.accesses[now.all_shared[0].access];
    out +=
        fmt::format("Warp {} goes through the banks {} time{}", record.tracks[access.track].index,
                    access.passes, access.passes == 1 ? "" : "s");
    if (access.passes > access.ideal) out += fmt::format(", where {} would do", access.ideal);
    out += ". ";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace

LaneAccesses::LaneAccesses(const Record& record, const std::vector<u64>& blocks) {
  std::map<u32, std::size_t> place;
  for (u32 i = 0; i < record.accesses.size(); ++i) {
    const WarpAccess& access = record.accesses[i];
    if (access.track >= record.tracks.size()) continue;
    const u64 block = record.tracks[access.track].block;
    if (std::find(blocks.begin(), blocks.end(), block) == blocks.end()) continue;
    all_.push_back(i);
    any_[static_cast<std::size_t>(access.of)] = true;
    longest_ = std::max(longest_, access.end - access.begin);
    if (access.of != WarpAccess::Of::global || access.buffer >= record.buffers.size()) continue;
    const auto [at, fresh] = place.try_emplace(access.buffer, touched_.size());
    if (fresh) {
      touched_.push_back({access.buffer, false, false,
                          bytes_of_buffer(record.buffers[access.buffer]),
                          std::vector<sim::Cycle>(buckets, sim::never_ends)});
    }
    Touched& t = touched_[at->second];
    const bool reads =
        access.kind == WarpAccess::Kind::load || access.kind == WarpAccess::Kind::copy;
    t.reads = t.reads || reads;
    t.writes = t.writes || !reads;
    if (t.bytes == 0) continue;
    each_lane(record, access, [&](u32, u64 byte) {
      const auto bucket = static_cast<std::size_t>(std::min<u64>(
          buckets - 1,
          static_cast<u64>(static_cast<double>(byte) / static_cast<double>(t.bytes) * buckets)));
      t.first[bucket] = std::min(t.first[bucket], access.begin);
    });
  }
  std::stable_sort(all_.begin(), all_.end(), [&](u32 a, u32 b) {
    return record.accesses[a].begin < record.accesses[b].begin;
  });
  std::sort(touched_.begin(), touched_.end(),
            [](const Touched& a, const Touched& b) { return a.buffer < b.buffer; });
}

std::vector<u32> LaneAccesses::under_way(const Record& record, u64 block, double at) const {
  std::vector<u32> out;
  auto from = std::upper_bound(all_.begin(), all_.end(), at, [&](double time, u32 i) {
    return time < static_cast<double>(record.accesses[i].begin);
  });
  while (from != all_.begin()) {
    const WarpAccess& access = record.accesses[*--from];
    if (static_cast<double>(access.begin + longest_) <= at) break;
    if (static_cast<double>(access.end) <= at || record.tracks[access.track].block != block) {
      continue;
    }
    out.push_back(*from);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<u32> LaneAccesses::last(const Record& record, u64 block, WarpAccess::Of of, double at,
                                      double ago, std::optional<u32> warp) const {
  auto from = std::upper_bound(all_.begin(), all_.end(), at, [&](double time, u32 i) {
    return time < static_cast<double>(record.accesses[i].begin);
  });
  while (from != all_.begin()) {
    const WarpAccess& access = record.accesses[*--from];
    if (static_cast<double>(access.begin) + ago < at) break;
    const sim::Track& track = record.tracks[access.track];
    if (access.of != of || track.block != block || (warp && track.index != *warp)) continue;
    return *from;
  }
  return {};
}

LanesNow lanes_at(const Record& record, const LaneAccesses& accesses, u64 block, u32 warp,
                  double at) {
  constexpr double ago = 400;  // cycles that the last one stays to be looked at
  LanesNow now;
  std::map<std::tuple<u32, u64, bool>, std::vector<u32>> sectors;
  for (const u32 i : accesses.under_way(record, block, at)) {
    const WarpAccess& access = record.accesses[i];
    if (access.of != WarpAccess::Of::global || access.buffer >= record.buffers.size()) continue;
    const bool writes =
        access.kind == WarpAccess::Kind::store || access.kind == WarpAccess::Kind::atomic;
    ++(writes ? now.stores : now.loads);
    now.from_memory += access.from_memory;
    const u32 by = record.tracks[access.track].index;
    each_lane(record, access, [&](u32, u64 byte) {
      const u64 last = byte + std::max<u64>(1, access.bytes) - 1;
      for (u64 s = byte / sector_bytes; s <= last / sector_bytes; ++s) {
        std::vector<u32>& warps = sectors[{access.buffer, s, writes}];
        if (!std::count(warps.begin(), warps.end(), by)) warps.push_back(by);
      }
    });
  }
  for (auto& [where, warps] : sectors) {
    std::sort(warps.begin(), warps.end());
    now.sectors.push_back(
        {std::get<0>(where), std::get<1>(where), std::get<2>(where), std::move(warps)});
  }
  const auto find = [&](WarpAccess::Of of) {
    const auto own = accesses.last(record, block, of, at, ago, warp);
    return own ? own : accesses.last(record, block, of, at, ago);
  };
  const auto add = [&](u32 i) {
    const WarpAccess& access = record.accesses[i];
    for (const LanesNow::Shared& known : now.all_shared) {
      if (record.accesses[known.access].track == access.track) return;
    }
    now.all_shared.push_back(
        {i, static_cast<double>(access.end) > at, words_of_access(record, access)});
  };
  if (const auto first = find(WarpAccess::Of::shared)) add(*first);
  constexpr std::size_t most_shown = 4;
  for (const u32 i : accesses.under_way(record, block, at)) {
    if (now.all_shared.size() == most_shown) break;
    if (record.accesses[i].of == WarpAccess::Of::shared) add(i);
  }
  now.shuffle = find(WarpAccess::Of::lanes);
  now.sentence = sentence_of(record, now, accesses.under_way(record, block, at));
  return now;
}

std::string access_text(const Record& record, u32 number) {
  const WarpAccess& access = record.accesses[number];
  std::string out = fmt::format("warp {}", record.tracks[access.track].index);
  if (access.pc >= record.lines.size()) return out;
  const sim::RecordedLine& line = record.lines[access.pc];
  const std::size_t from =
      !line.text.empty() && line.text[0] == '@' ? line.text.find_first_of(" \t") + 1 : 0;
  out += ": " + line.text.substr(from, line.text.find_first_of(" \t", from) - from);
  if (access.of != WarpAccess::Of::lanes) out += fmt::format(", {}", bytes_a_lane(access.bytes));
  const bool called = line.caller_line != 0;
  const u32 file = called ? line.caller_file : line.file;
  const u32 row = called ? line.caller_line : line.line;
  if (!row || file >= record.sources.size())
    return out + fmt::format(", PTX line {}", line.ptx_line);
  const std::string& path = record.sources[file];
  return out + fmt::format(", {}:{}", path.substr(path.rfind('/') + 1), row);
}

}  // namespace tilescope
