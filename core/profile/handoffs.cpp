#include "core/profile/handoffs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "core/record/issuer.h"

namespace tilescope::sim {
namespace {

using Row = std::vector<std::string>;

// A Markdown table, its columns as wide as their widest cell.
std::string markdown(const HandoffsTable& table) {
  const Row& head = table.columns;
  const std::vector<Row>& rows = table.rows;
  const std::vector<bool>& right = table.right;
  std::vector<std::size_t> width;
  for (const std::string& cell : head) width.push_back(std::max<std::size_t>(3, cell.size()));
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  const auto line = [&](const Row& row) {
    std::string out = "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += right[i] ? fmt::format(" {:>{}} |", row[i], width[i])
                      : fmt::format(" {:<{}} |", row[i], width[i]);
    }
    return out + "\n";
  };
  std::string out = line(head) + "|";
  for (std::size_t i = 0; i < head.size(); ++i) {
    const std::string dashes(width[i] + (right[i] ? 1 : 2), '-');
    out += dashes + (right[i] ? ":|" : "|");
  }
  out += "\n";
  for (const Row& row : rows) out += line(row);
  return out;
}

std::string cycles(Cycle at) {
  return at == never_ends ? "-" : fmt::format("{}", at);
}

// "0-3, 8"
std::string ranges(const std::set<std::uint32_t>& numbers) {
  std::string out;
  for (auto at = numbers.begin(); at != numbers.end();) {
    auto end = at;
    std::uint32_t last = *at;
    while (++end != numbers.end() && *end == last + 1) last = *end;
    out += out.empty() ? "" : ", ";
    out += last == *at ? fmt::format("{}", *at) : fmt::format("{}-{}", *at, last);
    at = end;
  }
  return out;
}

class Maker {
 public:
  Maker(const Record& record, const Pipeline& pipeline) : record_(record), p_(pipeline) {}

  Handoffs make(std::size_t uses) {
    out_.about = about();
    add_roles();
    if (p_.rings.empty() && p_.accumulators.empty()) {
      out_.nothing =
          "Nothing is handed on by copies that complete on an mbarrier or by groups of cp.async, "
          "and "
          "no tensor core works asynchronously: there are no stages and no accumulators to tell "
          "of.";
      return std::move(out_);
    }
    add_stages();
    add_accumulators();
    add_ledger(uses);
    out_.absent = absent_handoffs(record_, p_);
    return std::move(out_);
  }

 private:
  std::string about() const {
    std::string out;
    if (!record_.what.empty()) out += record_.what + ". ";
    out += p_.blocks.size() == 1
               ? fmt::format("CTA {}", p_.blocks.front())
               : fmt::format("CTAs {} to {}, a cluster", p_.blocks.front(), p_.blocks.back());
    return out + fmt::format("; times in {}.",
                             record_.timed ? "cycles" : "instructions of the whole grid");
  }

  void add_roles() {
    HandoffsTable& table = out_.tables.emplace_back();
    table = {"Roles", {"warps", "do"}, {false, false}, {}, {}, ""};
    for (std::size_t role = 0; role < p_.roles.size(); ++role) {
      std::set<std::uint32_t> warps;
      for (const PipelineWarp& warp : p_.warps) {
        if (warp.role == role) warps.insert(warp.index);
      }
      if (warps.empty()) continue;
      table.rows.push_back({ranges(warps), p_.roles[role]});
      table.events.push_back(no_event);
    }
  }

  std::string barrier(const std::optional<std::size_t>& which, std::uint8_t rank) const {
    return which ? barrier_text(record_, p_.barriers[*which], rank) : "none seen";
  }

  // "warp 0", "warps 4-7", by who issued these operations; of other CTAs than this rank's with
  // their numbers, "warps 8-9 of CTA 0", "warp 0 of each CTA".
  std::string issuers(const std::vector<EventId>& operations, std::uint8_t rank) const {
    std::map<std::uint64_t, std::set<std::uint32_t>> of;  // by CTA
    for (const EventId id : operations) {
      const EventId run = issuer_of(record_, record_.events[id]);
      if (run == no_event) continue;
      const Track& track = record_.tracks[record_.events[run].track];
      if (track.unit != Unit::warp) continue;
      // A wgmma is of the four warps of a warpgroup, whichever came last.
      const Event e = record_.events[id];
      const bool group = e.pc < record_.lines.size() &&
                         record_.lines[e.pc].text.find("wgmma") != std::string::npos;
      const std::uint32_t first = group ? track.index / 4 * 4 : track.index;
      for (std::uint32_t warp = first; warp <= (group ? first + 3 : first); ++warp) {
        of[track.block].insert(warp);
      }
    }
    if (of.empty()) return "-";
    const std::set<std::uint32_t>& first = of.begin()->second;
    const auto text = [](const std::set<std::uint32_t>& warps) {
      return fmt::format("{} {}", warps.size() == 1 ? "warp" : "warps", ranges(warps));
    };
    const bool alike =
        std::all_of(of.begin(), of.end(), [&](const auto& each) { return each.second == first; });
    if (of.size() > 1 && of.size() == p_.blocks.size() && alike) {
      return text(first) + " of each CTA";
    }
    std::string out;
    for (const auto& [block, warps] : of) {
      out += (out.empty() ? "" : ", ") + text(warps);
      if (of.size() > 1 || block != p_.blocks[rank]) out += fmt::format(" of CTA {}", block);
    }
    return out;
  }

  // "tcgen05.mma"
  std::string name_of(std::uint32_t pc) const {
    if (pc >= record_.lines.size()) return "";
    const std::string& text = record_.lines[pc].text;
    const std::size_t from = text.starts_with('@') ? text.find_first_of(" \t") + 1 : 0;
    const std::size_t end = text.find_first_of(". \t", from);
    const std::size_t second = text.find_first_of(". \t", end + 1);
    return text.substr(from, (text[end] == '.' ? second : end) - from);
  }

  // "tcgen05.mma, warp 1"
  std::string readers(const std::vector<EventId>& operations, std::uint8_t rank) const {
    if (operations.empty()) return "threads";
    return name_of(record_.events[operations.front()].pc) + ", " + issuers(operations, rank);
  }

  // Of loads by threads, as far as the record has them: "ldmatrix, warps 0-3"
  std::string readers(const RingStage& s) const {
    std::vector<EventId> operations;
    std::set<std::uint32_t> warps;
    std::uint32_t pc = 0;
    for (const Filling& f : s.fillings) {
      operations.insert(operations.end(), f.readers.begin(), f.readers.end());
      for (const std::uint32_t load : f.loads) {
        const WarpAccess& access = record_.accesses[load];
        if (warps.empty()) pc = access.pc;
        warps.insert(record_.tracks[access.track].index);
      }
    }
    if (s.by_threads && warps.empty() && operations.empty()) return "none seen";
    if (warps.empty() || !operations.empty()) return readers(operations, s.rank);
    std::string name = name_of(pc);
    if (name.ends_with(".sync")) name.resize(name.size() - 5);
    return fmt::format("{}, {} {}", name, warps.size() == 1 ? "warp" : "warps", ranges(warps));
  }

  // "cp.async, warps 0-3"; of bulk copies the warps alone
  std::string fillers(const RingStage& s, const std::vector<EventId>& copies) const {
    return (s.by_threads ? "cp.async, " : "") + issuers(copies, s.rank);
  }

  // "2 x 16384 bytes", "8192 + 32768 bytes"
  std::string sizes_of(const Filling& use) const {
    std::vector<std::uint64_t> sizes;
    for (const EventId id : use.copies) sizes.push_back(record_.events[id].amount);
    const bool equal =
        std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
    if (sizes.empty()) return "-";
    if (equal) return fmt::format("{} x {} bytes", sizes.size(), sizes.front());
    if (sizes.size() > 4) return fmt::format("{}, {} bytes in all", sizes.size(), use.bytes);
    return fmt::format("{} bytes", fmt::join(sizes, " + "));
  }

  static Cycle median(std::vector<Cycle> all) {
    if (all.empty()) return never_ends;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  }

  std::string given_back(const RingStage& s) const {
    if (s.free) return barrier(s.free, s.rank);
    return s.fillings.size() < 2 ? "used once" : s.own ? "its own wait" : "none seen";
  }

  void add_stages() {
    for (const Ring& ring : p_.rings) {
      const RingStage& first = p_.stages[ring.stages.front()];
      HandoffsTable& table = out_.tables.emplace_back();
      table.title = fmt::format("Shared memory{}: {}, {} stage{} of {} bytes",
                                p_.blocks.size() > 1 ? fmt::format(" of CTA {}", ring.rank) : "",
                                ring.holds.empty() ? "copies" : ring.holds, ring.stages.size(),
                                ring.stages.size() == 1 ? "" : "s", first.bytes());
      table.columns = {"stage", "bytes", "filled by", "copies", "full", "read by", "free", "uses"};
      table.right = {true, false, false, false, false, false, false, true};
      for (std::size_t i = 0; i < ring.stages.size(); ++i) {
        const RingStage& s = p_.stages[ring.stages[i]];
        const Filling& use = s.fillings.front();
        std::vector<EventId> copies;
        for (const Filling& f : s.fillings) {
          copies.insert(copies.end(), f.copies.begin(), f.copies.end());
        }
        table.events.push_back(copies.empty() ? no_event : copies.front());
        table.rows.push_back({fmt::format("{}", i), spans_text(s.spans), fillers(s, copies),
                              sizes_of(use), full_text(record_, p_, s), readers(s), given_back(s),
                              fmt::format("{}", s.fillings.size())});
      }
      std::vector<Cycle> fill, wait, read, free;
      for (const std::size_t stage : ring.stages) {
        for (const Filling& f : p_.stages[stage].fillings) {
          if (f.full != never_ends) fill.push_back(f.full - f.issued);
          if (f.read_begin != never_ends && f.full != never_ends && f.read_begin >= f.full) {
            wait.push_back(f.read_begin - f.full);
          }
          if (f.read_end != never_ends) read.push_back(f.read_end - f.read_begin);
          if (f.freed != never_ends && f.read_end != never_ends && f.freed >= f.read_end) {
            free.push_back(f.freed - f.read_end);
          }
        }
      }
      std::string times;
      for (const auto& [what, all] :
           {std::pair("from issue to full", &fill), std::pair("from full to the first read", &wait),
            std::pair("being read", &read), std::pair("from the last read to free", &free)}) {
        if (all->empty()) continue;
        times += fmt::format("{}{} {}", times.empty() ? "" : ", ", what, median(*all));
      }
      if (!times.empty()) table.below = fmt::format("A use, median: {}.", times);
      if (first.groups) {
        const std::string_view none = "No barrier was seen behind the waits. ";
        table.below += fmt::format(
            "{}{}Copies are groups of cp.async, which complete on no mbarrier: each warp waits for "
            "its "
            "own (wait_group N: all but its last N), and a barrier behind that tells the others.",
            table.below.empty() ? "" : " ", first.full ? "" : none);
      }
    }
  }

  std::string where(const MemoryUse& use) const {
    if (use.of == MemoryUse::Of::registers) {
      return fmt::format("registers, warps {}-{}", use.row, use.row + use.rows - 1);
    }
    return fmt::format("TMEM lanes {}-{}, columns {}-{}", use.row, use.row + use.rows - 1,
                       use.column, use.column + use.columns - 1);
  }

  // A pair's sum is in the TMEM of both its CTAs, at the same cells.
  std::string owners(const Accumulator& a) const {
    if (p_.blocks.size() < 2) return "";
    std::set<std::uint8_t> ranks = {a.where.rank};
    for (const Accumulation& sum : a.sums) {
      for (const MemoryUse& use : uses_of(record_.uses, sum.products.front())) {
        if (use.operand == MemoryUse::Operand::d) ranks.insert(use.rank);
      }
    }
    std::string out;
    for (const std::uint8_t rank : ranks) {
      out += fmt::format("{}{}", out.empty() ? "" : " and ", p_.blocks[rank]);
    }
    return fmt::format(" of CTA{} {}", ranks.size() == 1 ? "" : "s", out);
  }

  // Those of the other CTA of a pair with them.
  std::vector<EventId> loads_of(const Accumulator& a) const {
    std::vector<EventId> out;
    const bool both = owners(a).find(" and ") != std::string::npos;
    for (const EventId id : p_.loads) {
      for (MemoryUse use : uses_of(record_.uses, id)) {
        if (both) use.rank = a.where.rank;
        if (!a.where.meets(use)) continue;
        out.push_back(id);
        break;
      }
    }
    return out;
  }

  void add_accumulators() {
    if (p_.accumulators.empty()) return;
    HandoffsTable& table = out_.tables.emplace_back();
    table.title = "Accumulators";
    table.columns = {"where",    "added by", "products", "steps of K",
                     "complete", "read by",  "drained",  "sums"};
    table.right = {false, false, true, true, false, false, false, true};
    for (const Accumulator& a : p_.accumulators) {
      std::vector<EventId> products;
      const std::vector<EventId> loads = loads_of(a);
      std::uint32_t steps = 0;
      for (const Accumulation& sum : a.sums) {
        products.insert(products.end(), sum.products.begin(), sum.products.end());
        steps = std::max(steps, sum.last_step + 1);
      }
      const bool registers = a.where.of == MemoryUse::Of::registers;
      table.events.push_back(products.empty() ? no_event : products.front());
      table.rows.push_back({where(a.where) + owners(a), readers(products, a.where.rank),
                            fmt::format("{}", a.sums.front().products.size()),
                            fmt::format("{}", steps),
                            registers ? "its own wait" : barrier(a.complete, a.where.rank),
                            loads.empty() ? (registers ? "its own warps" : "-")
                                          : "tcgen05.ld, " + issuers(loads, a.where.rank),
                            registers           ? "-"
                            : a.sums.size() > 1 ? barrier(a.drained, a.where.rank)
                                                : "-",
                            fmt::format("{}", a.sums.size())});
    }
  }

  void add_ledger(std::size_t most) {
    for (const Ring& ring : p_.rings) {
      struct Use {
        std::size_t stage;
        const Filling* filling;
      };
      std::vector<Use> uses;
      for (std::size_t i = 0; i < ring.stages.size(); ++i) {
        for (const Filling& f : p_.stages[ring.stages[i]].fillings) uses.push_back({i, &f});
      }
      std::sort(uses.begin(), uses.end(),
                [](const Use& a, const Use& b) { return a.filling->issued < b.filling->issued; });
      const std::size_t all = uses.size();
      if (uses.size() > most) uses.resize(most);
      HandoffsTable& table = out_.tables.emplace_back();
      table.title =
          fmt::format("Ledger of {}{}{}", ring.holds.empty() ? "copies" : ring.holds,
                      p_.blocks.size() > 1 ? fmt::format(", CTA {}", ring.rank) : "",
                      all > most ? fmt::format(": the first {} of {} uses", most, all) : "");
      const bool groups = p_.stages[ring.stages.front()].groups;
      table.columns = {"stage",  "phase", "parity",    "what",    "bytes",
                       "issued", "full",  "read from", "read to", "free"};
      if (groups) table.columns[1] = "group", table.columns[2] = "awaited";
      table.right = {true, true, true, false, true, true, true, true, true, true};
      for (const Use& use : uses) {
        const Filling& f = *use.filling;
        table.events.push_back(f.copies.empty() ? no_event : f.copies.front());
        table.rows.push_back(
            {fmt::format("{}", use.stage), fmt::format("{}", f.phase),
             groups ? cycles(f.awaited) : fmt::format("{}", f.phase % 2),
             groups && f.parts.empty() ? std::string("zeros") : parts_text(record_, f.parts),
             fmt::format("{}", f.bytes), cycles(f.issued), cycles(f.full), cycles(f.read_begin),
             cycles(f.read_end), cycles(f.freed)});
      }
    }
  }

  const Record& record_;
  const Pipeline& p_;
  Handoffs out_;
};

}  // namespace

namespace {

// Did a barrier complete from one time to another?
bool anything_completes(const Record& record, const Pipeline& pipeline, Cycle from, Cycle to) {
  return std::any_of(pipeline.barriers.begin(), pipeline.barriers.end(), [&](const auto& barrier) {
    const auto phase =
        std::partition_point(barrier.phases.begin(), barrier.phases.end(),
                             [&](EventId id) { return record.events[id].end < from; });
    return phase != barrier.phases.end() && record.events[*phase].end <= to;
  });
}

}  // namespace

std::vector<std::string> absent_handoffs(const Record& record, const Pipeline& pipeline) {
  std::vector<std::string> out;
  for (const Ring& ring : pipeline.rings) {
    for (std::size_t i = 0; i < ring.stages.size(); ++i) {
      const RingStage& stage = pipeline.stages[ring.stages[i]];
      if (stage.own) continue;  // its wait for its own products is no barrier
      // Each warp fills its own part, and may know by itself that this is free.
      if (stage.by_threads) continue;
      for (std::size_t use = 0; use + 1 < stage.fillings.size(); ++use) {
        const Filling& f = stage.fillings[use];
        const Cycle next = stage.fillings[use + 1].issued;
        if (f.read_end == never_ends ||
            (f.read_end <= next && anything_completes(record, pipeline, f.read_end, next))) {
          continue;
        }
        out.push_back(fmt::format(
            "Stage {} of {}{} (bytes {}) is read until {}, and the next copies into it are issued "
            "at "
            "{}: no barrier of the cluster completes between, so that nothing seen here keeps {} "
            "from overwriting what is still read.",
            i, ring.holds, pipeline.blocks.size() > 1 ? fmt::format(", CTA {},", ring.rank) : "",
            spans_text(stage.spans), f.read_end, next,
            stage.full
                ? barrier_text(record, pipeline.barriers[*stage.full], stage.rank) + "'s copies"
                : "the copies"));
        break;
      }
    }
  }
  return out;
}

Handoffs handoffs_of(const Record& record, const Pipeline& pipeline, std::size_t uses) {
  return Maker(record, pipeline).make(uses);
}

std::string handoffs_text(const Record& record, const Pipeline& pipeline, std::size_t uses) {
  const Handoffs all = handoffs_of(record, pipeline, uses);
  std::string out = fmt::format("# {}\n\n{}\n", record.kernel, all.about);
  for (const HandoffsTable& table : all.tables) {
    out += fmt::format("\n## {}\n\n{}", table.title, markdown(table));
    if (!table.below.empty()) out += "\n" + table.below + "\n";
  }
  if (!all.nothing.empty()) out += "\n" + all.nothing + "\n";
  if (!all.absent.empty()) out += "\n## Absent\n\n";
  for (const std::string& sentence : all.absent) out += "- " + sentence + "\n";
  return out;
}

}  // namespace tilescope::sim
