// What the theatre shows, as words and as data.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viz/scene/number_words.h"
#include "viz/theatre/theatre_registers.h"
#include "viz/theatre/theatre_scene.h"

namespace tilescope {
namespace {

Json time_json(sim::Cycle at) {
  return at == sim::never_ends ? Json() : Json(at);
}

// What lanes access, where threads move the data.
Json lanes_json(const TheatreShown& shown) {
  const sim::Record& record = shown.view.record();
  const auto& blocks = shown.view.pipeline().blocks;
  const std::uint64_t block = blocks[std::min<std::size_t>(shown.rank, blocks.size() - 1)];
  const LanesNow now = lanes_at(record, shown.view.lanes(), block, shown.warp, shown.now.at);
  Json sectors = Json::array();
  for (const SectorOnItsWay& s : now.sectors) {
    sectors.push_back({{"of", record.buffers[s.buffer].name},
                       {"sector", s.sector},
                       {"writes", s.writes},
                       {"warps", s.warps}});
  }
  Json out = {{"loads", now.loads}, {"stores", now.stores}, {"sectors", std::move(sectors)}};
  out["shared"] = Json::array();
  for (const LanesNow::Shared& one : now.all_shared) {
    const sim::WarpAccess& access = record.accesses[one.access];
    out["shared"].push_back({{"what", access_text(record, one.access)},
                             {"now", one.now},
                             {"wavefronts", access.passes},
                             {"ideal", access.ideal}});
  }
  out["registers"] = Json::array();
  for (const LaneRegister& of :
       registers_at(record, shown.view.lanes(), block, shown.warp, shown.now.at, 8)) {
    Json one = {{"register", of.name}, {"on_its_way", of.on_its_way}};
    if (shown.variable) {
      const std::string name = shown.variable(record.accesses[of.access].pc, of.name);
      if (!name.empty()) one["variable"] = name;
    }
    Json lanes = Json::array(), values = Json::array();
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      lanes.push_back(content_text(record, of, lane));
      if (shown.value) values.push_back(shown.value(shown.warp, of.name, lane));
    }
    one[of.loads ? "holds" : "goes_to"] = std::move(lanes);
    if (shown.value) one["values"] = std::move(values);
    if (!of.instruction.empty()) one[of.loads ? "next" : "by"] = of.instruction;
    out["registers"].push_back(std::move(one));
  }
  if (!now.all_shared.empty()) {
    const SharedRows rows =
        shared_rows(record, shown.view.lanes(), block, now.all_shared.front().access);
    out["written_by"] = {{"warps", rows.writers}, {"unknown_words", rows.unknown}};
  }
  if (now.shuffle) out["shuffle"] = access_text(record, *now.shuffle);
  return out;
}

}  // namespace

std::string life_of(const sim::Filling& f) {
  std::string out;
  const auto add = [&](std::string_view what, sim::Cycle at) {
    if (at == sim::never_ends) return;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, grouped(at));
  };
  add("issued at", f.issued);
  if (f.awaited != sim::never_ends) {
    add("landed at", f.landed);
    add("waited for at", f.awaited);
  }
  add("there at", f.full);
  add("read from", f.read_begin);
  add("to", f.read_end);
  add("free at", f.freed);
  return out;
}

std::string stage_text(const TheatreView& view, std::size_t stage) {
  for (const sim::Ring& ring : view.pipeline().rings) {
    const auto at = std::find(ring.stages.begin(), ring.stages.end(), stage);
    if (at == ring.stages.end()) continue;
    return fmt::format("stage {} of {}", at - ring.stages.begin(),
                       ring.holds.empty() ? "the copies" : ring.holds);
  }
  return fmt::format("stage {}", stage);
}

Json describe_theatre(const TheatreShown& shown) {
  const TheatreNow& now = shown.now;
  const sim::Record& record = shown.view.record();
  const sim::Pipeline& p = shown.view.pipeline();
  Json out = {{"at", now.at}, {"sentence", now.sentence}, {"playing", shown.playing}};
  if (shown.view.moves_by_threads()) out["lanes"] = lanes_json(shown);
  Json copies = Json::array();
  for (const TheatreCopy& copy : now.copies) {
    Json one = {
        {"out", copy.out}, {"queued", copy.queued}, {"share", copy.share}, {"step", copy.step}};
    if (copy.stage) one["stage"] = stage_text(shown.view, *copy.stage);
    if (copy.part) one["what"] = part_text(record, *copy.part);
    if (copy.part && !copy.out && copy.part->asked) {
      one["asked"] = copy.part->asked;
      one["from_memory"] = copy.part->missed;
    }
    copies.push_back(std::move(one));
  }
  out["copies"] = std::move(copies);
  Json l2 = Json::array();
  for (const sim::CachedBuffer& cached : record.cached) {
    l2.push_back(
        {{"of", record.buffers[cached.buffer].name}, {"share", share_in_l2(cached, now.at)}});
  }
  if (!l2.empty()) out["l2"] = std::move(l2);
  Json stages = Json::array();
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    const TheatreStage& stage = now.stages[i];
    Json one = {{"stage", stage_text(shown.view, i)},
                {"cta", p.blocks[p.stages[i].rank]},
                {"state", name_of(stage.state)}};
    if (stage.filling) {
      one["step"] = stage.filling->step;
      one["what"] = parts_text(record, stage.filling->parts);
      one["full"] = time_json(stage.filling->full);
    }
    stages.push_back(std::move(one));
  }
  out["stages"] = std::move(stages);
  Json barriers = Json::array();
  for (std::size_t i = 0; i < now.barriers.size(); ++i) {
    const TheatreBarrier& barrier = now.barriers[i];
    const sim::BarrierPhases& of = p.barriers[i];
    barriers.push_back({{"barrier", barrier_text(record, of, 0)},
                        {"phase", barrier.phase},
                        {"arrivals", barrier.arrivals},
                        {"of", barrier.arrivals_of},
                        {"bytes", barrier.bytes},
                        {"bytes_of", barrier.bytes_of},
                        {"waiting", barrier.waiting.size()}});
  }
  out["barriers"] = std::move(barriers);
  Json sums = Json::array();
  for (const TheatreSum& sum : now.sums) {
    sums.push_back({{"state", name_of(sum.state)},
                    {"told", state_text(sum)},
                    {"done", sum.done},
                    {"of", sum.sum ? sum.sum->products.size() : 0},
                    {"step", sum.step}});
  }
  out["sums"] = std::move(sums);
  Json warps = Json::array();
  for (std::size_t i = 0; i < now.warps.size(); ++i) {
    warps.push_back({{"cta", p.blocks[p.warps[i].rank]},
                     {"warp", p.warps[i].index},
                     {"doing", now.warps[i].doing}});
  }
  out["warps"] = std::move(warps);
  return out;
}

namespace {

// "CTA 3, " where there are several.
std::string cta_text(const sim::Pipeline& p, std::uint8_t rank) {
  return p.blocks.size() > 1 ? fmt::format("CTA {}, ", p.blocks[rank]) : std::string();
}

std::string copy_line(const TheatreShown& shown, const TheatreCopy& copy) {
  std::string out = copy.part ? part_text(shown.view.record(), *copy.part) : std::string("copy");
  if (copy.out) out += ", out";
  if (copy.stage) out += fmt::format(", to {}", stage_text(shown.view, *copy.stage));
  return out + (copy.queued ? ", not under way yet" : fmt::format(", {:.0f}%", 100 * copy.share));
}

std::string stage_line(const TheatreShown& shown, std::size_t number) {
  const TheatreStage& stage = shown.now.stages[number];
  const sim::Pipeline& p = shown.view.pipeline();
  std::string out = fmt::format("{}{}: {}", cta_text(p, p.stages[number].rank),
                                stage_text(shown.view, number), name_of(stage.state));
  if (!stage.filling) return out;
  return out + fmt::format(", k{}, {}", stage.filling->step,
                           parts_text(shown.view.record(), stage.filling->parts));
}

// Neighbours that do the same share a line: "warps 0-1, each: waits for full[0], phase 0".
std::string warp_lines(const TheatreShown& shown) {
  const sim::Pipeline& p = shown.view.pipeline();
  const std::vector<TheatreWarp>& warps = shown.now.warps;
  std::string out;
  for (std::size_t i = 0, end = 0; i < warps.size(); i = end) {
    for (end = i + 1; end < warps.size(); ++end) {
      if (warps[end].doing != warps[i].doing || p.warps[end].rank != p.warps[i].rank) break;
    }
    const std::uint32_t first = p.warps[i].index, last = p.warps[end - 1].index;
    out += fmt::format("  {}{}: {}\n", cta_text(p, p.warps[i].rank),
                       first == last ? fmt::format("warp {}", first)
                                     : fmt::format("warps {}-{}, each", first, last),
                       warps[i].doing);
  }
  return out;
}

}  // namespace

std::string theatre_page(const TheatreShown& shown) {
  const TheatreNow& now = shown.now;
  const sim::Pipeline& p = shown.view.pipeline();
  std::string out =
      fmt::format("Cycle {}. {}\n", grouped(static_cast<std::uint64_t>(now.at)), now.sentence);
  const auto part = [&](std::string_view title, const std::string& lines) {
    if (!lines.empty()) out += fmt::format("\n{}\n{}", title, lines);
  };
  std::string stages, barriers, copies, sums;
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    stages += fmt::format("  {}\n", stage_line(shown, i));
  }
  for (std::size_t i = 0; i < now.barriers.size(); ++i) {
    const std::string name = barrier_text(shown.view.record(), p.barriers[i], shown.rank);
    barriers += fmt::format("  {}\n", dial_text(now.barriers[i], name));
  }
  for (const TheatreCopy& copy : now.copies) {
    copies += fmt::format("  {}\n", copy_line(shown, copy));
  }
  for (const TheatreSum& sum : now.sums) sums += fmt::format("  {}\n", state_text(sum));
  part("Stages", stages);
  part("Warps", warp_lines(shown));  // before lists that may be cut off
  part("Barriers", barriers);
  part("Copies", copies);
  part("Sums", sums);
  return out;
}

Dial dial_of(const TheatreBarrier& barrier) {
  return {barrier.phase, barrier.share(), barrier.used, !barrier.waiting.empty()};
}

std::string dial_text(const TheatreBarrier& now, const std::string& name) {
  std::string out = fmt::format("{}, phase {} (parity {})", name, now.phase, now.phase % 2);
  if (now.over) return out + ", not begun";
  if (now.arrivals && !now.arrivals_of) out += fmt::format(", {} arrived", now.arrivals);
  if (now.arrivals_of) out += fmt::format(", {} of {} arrivals", now.arrivals, now.arrivals_of);
  if (now.bytes_of) {
    out += fmt::format(", {} of {} bytes", grouped(now.bytes), grouped(now.bytes_of));
  }
  const std::size_t waiting = now.waiting.size();
  if (waiting)
    out +=
        fmt::format(", {}", waiting == 1 ? "1 warp waits" : fmt::format("{} warps wait", waiting));
  return out;
}

std::string state_text(const TheatreSum& sum) {
  using State = TheatreSum::State;
  if (sum.state == State::read) return fmt::format("being read, {:.0f}%", 100 * sum.read);
  if (sum.state != State::adding) return std::string(name_of(sum.state));
  const std::vector<std::uint32_t>& steps = sum.sum->steps;
  if (!sum.known_step) return fmt::format("{} of {} products", sum.done, steps.size());
  // Of a step all products are added, or the step is the one that is under way.
  const std::uint32_t added = sum.done < steps.size() ? steps[sum.done] : sum.sum->last_step + 1;
  const std::string before = added == 0   ? ""
                             : added == 1 ? "k0 added"
                                          : fmt::format("k0-k{} added", added - 1);
  if (!sum.under_way) return before.empty() ? "k0 begun" : before;
  return fmt::format("{}{}k{} now", before, before.empty() ? "" : ", ", sum.step);
}

std::string waiting_text(const sim::Pipeline& pipeline, const TheatreBarrier& barrier) {
  if (barrier.waiting.empty()) return "";
  std::uint32_t first = ~0u, last = 0;
  for (const std::size_t warp : barrier.waiting) {
    first = std::min(first, pipeline.warps[warp].index);
    last = std::max(last, pipeline.warps[warp].index);
  }
  const std::size_t count = barrier.waiting.size();
  if (first == last) return fmt::format("warp {} waits", first);
  if (last - first + 1 == count) return fmt::format("warps {}-{} wait", first, last);
  return fmt::format("{} warps wait", count);
}

}  // namespace tilescope
