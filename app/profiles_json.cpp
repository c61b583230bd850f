// Statistics and comparisons as JSON (run --stats --json, compare --json).
#include <nlohmann/json.hpp>

#include "app/profiles.h"

namespace tilescope {
namespace {

using nlohmann::ordered_json;

std::string string(std::string_view text) {
  return std::string(text);
}

ordered_json waits_json(const std::vector<sim::Waited>& waits) {
  ordered_json out = ordered_json::array();
  for (const sim::Waited& w : waits) out.push_back({{"for", text(w.key)}, {"share", w.share}});
  return out;
}

ordered_json traffic_json(const sim::Traffic& t) {
  return {{"bytes", t.bytes},
          {"bytes_per_cycle", t.rate},
          {"limit", t.limit > 0 ? ordered_json(t.limit) : ordered_json(nullptr)}};
}

ordered_json counters_json(const sim::LineCounters& c) {
  ordered_json stalled = ordered_json::object();
  for (std::size_t i = 1; i < c.stalled.size(); ++i) {
    if (c.stalled[i]) {
      const sim::WaitKey key{static_cast<sim::Stall>(i), sim::Unit::count_};
      stalled[text(key)] = c.stalled[i];
    }
  }
  return {{"issued", c.issued},
          {"lanes", c.lanes},
          {"stalled", std::move(stalled)},
          {"shared_bytes", c.shared_bytes},
          {"l2_bytes", c.global_bytes},
          {"memory_bytes", c.memory_bytes},
          {"tmem_bytes", c.tensor_bytes},
          {"wavefronts", c.wavefronts},
          {"ideal_wavefronts", c.ideal_wavefronts},
          {"sectors", c.sectors},
          {"ideal_sectors", c.ideal_sectors}};
}

ordered_json line_json(const sim::LineUse& line) {
  ordered_json out = {{"file", line.file.empty() ? ordered_json(nullptr) : ordered_json(line.file)},
                      {"line", line.line},
                      {"ptx_line", line.ptx_line},
                      {"ptx", line.ptx},
                      {"source", source_line(line.file, line.line)},
                      {"stalls", line.stalls}};
  out.update(counters_json(line.counters));
  return out;
}

// What both a run and a comparison say of a record first.
ordered_json head_json(const sim::Statistics& s) {
  const auto timed = [&](double value) {
    return s.known_time ? ordered_json(value) : ordered_json(nullptr);
  };
  return {{"verdict", s.verdict},
          {"kernel", s.kernel},
          {"what", s.what},
          {"device", s.device},
          {"timed", s.known_time},
          {"cycles", timed(static_cast<double>(s.end))},
          {"seconds", timed(s.seconds)},
          {"uncertain", s.uncertain},
          {"clock_ghz", s.clock},
          {"work", s.work},
          {"flops", timed(s.rate)},
          {"peak_flops", s.peak},
          {"peak_of", s.peak_of},
          {"blocks", s.blocks},
          {"blocks_simulated", s.blocks_simulated}};
}

ordered_json pairs_json(const std::vector<sim::Pair>& pairs) {
  ordered_json out = ordered_json::array();
  for (const sim::Pair& p : pairs) out.push_back({{"name", p.name}, {"a", p.a}, {"b", p.b}});
  return out;
}

}  // namespace

ordered_json json_of(const sim::Statistics& s) {
  ordered_json out = head_json(s);
  ordered_json units = ordered_json::array(), roles = ordered_json::array(),
               aside = ordered_json::array(), lines = ordered_json::array();
  for (const sim::PipeUse& p : s.pipes) {
    units.push_back({{"name", string(name_of(p.pipe))}, {"busy", p.busy}, {"cycles", p.cycles}});
  }
  for (const sim::Role& r : s.roles) {
    roles.push_back({{"name", r.name},
                     {"warps", r.warps},
                     {"instructions", r.instructions},
                     {"cycles", r.cycles},
                     {"running", r.running},
                     {"waits", waits_json(r.waits)}});
  }
  for (const sim::UnitUse& u : s.units) {
    aside.push_back({{"name", string(name_of(u.unit))},
                     {"operations", u.operations},
                     {u.bytes ? "bytes" : "amount", u.amount},
                     {"busy", u.busy},
                     {"outside", u.outside},
                     {"in_flight", u.in_flight},
                     {"queued", u.queued},
                     {"worked", u.worked},
                     {"idle_running", u.idle_running},
                     {"idle", waits_json(u.idle)}});
  }
  for (const sim::LineUse& line : s.lines) lines.push_back(line_json(line));
  out["units"] = std::move(units);
  out["roles"] = std::move(roles);
  out["works_aside"] = std::move(aside);
  out["stalls"] = {{"cycles", s.stalled}, {"causes", waits_json(s.stalls)}};
  out["memory"] = {{"tmem", traffic_json(s.tensor)},
                   {"shared", traffic_json(s.shared)},
                   {"l2", traffic_json(s.l2)},
                   {"memory", traffic_json(s.memory)}};
  out["all"] = counters_json(s.sum);
  out["occupancy"] = {{"blocks", s.resident_blocks},
                      {"warps", s.resident_warps},
                      {"warps_at_most", s.warps_at_most},
                      {"limited_by", s.limited_by},
                      {"processors", s.processors},
                      {"processors_used", s.processors_used},
                      {"occupied", s.occupied}};
  out["lines"] = std::move(lines);
  out["folded"] = s.folded;
  out["blocks_recorded_whole"] = s.kept_from ? 0 : s.blocks_looked_at;
  if (s.kept_from) out["kept"] = {{"from", *s.kept_from}, {"to", s.kept_to}};
  return out;
}

ordered_json json_of(const sim::Difference& d) {
  ordered_json roles = ordered_json::array(), lines = ordered_json::array();
  for (const sim::PairTable& role : d.roles) {
    roles.push_back({{"name", role.name}, {"cycles", pairs_json(role.rows)}});
  }
  const auto place = [](const std::string& at) {
    return at.empty() ? ordered_json(nullptr) : ordered_json(at);
  };
  for (const sim::LinePair& line : d.lines) {
    lines.push_back({{"a", place(line.a)},
                     {"b", place(line.b)},
                     {"ptx", line.ptx},
                     {"a_stalls", line.a_stalls},
                     {"b_stalls", line.b_stalls},
                     {"a_issued", line.a_issued},
                     {"b_issued", line.b_issued}});
  }
  return {{"verdict", d.verdict},
          {"ratio", d.known_time ? ordered_json(d.ratio) : ordered_json(nullptr)},
          {"a", head_json(d.a)},
          {"b", head_json(d.b)},
          {"units", pairs_json(d.pipes)},
          {"roles", std::move(roles)},
          {"stalls", pairs_json(d.stalls)},
          {"traffic", pairs_json(d.traffic)},
          {"lines", std::move(lines)}};
}

}  // namespace tilescope
