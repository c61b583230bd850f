#include "core/sim/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/undefined.h"

namespace tilescope::sim {
namespace {

constexpr std::uint32_t sink_bytes = 8 * lanes;  // where forgotten results go, behind the registers

std::size_t register_stride(const ptx::Program& program) {
  return (program.register_bytes + sink_bytes + 63) / 64 * 64;
}

Mask lanes_below(std::uint32_t n) {
  return n >= 32 ? ~Mask{0} : (Mask{1} << n) - 1;
}

}  // namespace

Progress Machine::progress() const {
  return {finished_, total_, instructions_};
}

std::vector<Buffer> Machine::buffers() const {
  std::vector<Buffer> out = shells_;
  for (std::size_t b = 0; b < out.size(); ++b) {
    const Region& r = regions_[first_buffer_ + b];
    out[b].bytes.assign(r.data(), r.data() + r.size());
  }
  return out;
}

std::optional<Site> Machine::writer(std::size_t buffer, std::size_t byte) const {
  if (buffer >= shells_.size() || byte >= regions_[first_buffer_ + buffer].size()) return {};
  const Writer w = regions_[first_buffer_ + buffer].writer(byte);
  if (!w) return {};
  Block block;
  const Dim3 grid = launch_.grid;
  block.number = w.block();
  block.index = {static_cast<std::uint32_t>(w.block() % grid.x),
                 static_cast<std::uint32_t>(w.block() / grid.x % grid.y),
                 static_cast<std::uint32_t>(w.block() / grid.x / grid.y)};
  return site(block, w.thread(), w.pc());
}

Site Machine::site(const Block& block, std::uint32_t thread, std::uint32_t pc) const {
  const ptx::Instruction& i = program().code[pc];
  Site s;
  s.kernel = kernel_;
  s.source = std::string(program().source_file(i));
  s.source_line = s.source.empty() ? 0 : i.source_line;
  s.ptx_line = i.line;
  s.block = block.index;
  s.warp = thread / 32;
  s.lane = thread % 32;
  return s;
}

Flow Machine::fault(const Core& x, int lane, std::string kind, std::string sentence,
                    std::string expected, std::string found) {
  Report r;
  r.weight = Weight::fault;
  r.kind = std::move(kind);
  r.sentence = std::move(sentence);
  r.expected = std::move(expected);
  r.found = std::move(found);
  r.site = site(*x.block, x.warp->index * 32 + static_cast<std::uint32_t>(lane), x.pc);
  reports_.push_back(std::move(r));
  state_ = RunState::fault;
  return Flow::fault;
}

const Region* Machine::nearest_region(std::uint64_t address) const {
  const Region* best = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (const Region& r : regions_) {
    if (r.kind() == Region::Kind::parameters) continue;
    const std::uint64_t end = r.base() + r.size();
    const std::uint64_t away = address < r.base() ? r.base() - address
                               : address < end    ? 0
                                                  : address - end;
    if (away < least) {
      least = away;
      best = &r;
    }
  }
  return best;
}

// --- blocks -------------------------------------------------------------------------------------

void Machine::fill_specials(Block& block, Warp& warp) {
  using ptx::Special;
  const Dim3 n = launch_.block, grid = launch_.grid;
  const auto threads = static_cast<std::uint32_t>(n.count());
  std::byte* file = block.registers.data() + warp.index * register_stride(program());
  for (const auto& [special, reg] : program().specials) {
    const std::uint32_t place = program().registers[reg].place;
    if (place == ptx::no_register) continue;
    for (std::uint32_t l = 0; l < lanes; ++l) {
      const std::uint32_t t = warp.index * 32 + l;
      std::uint32_t v = 0;
      switch (special) {
        case Special::tid_x:
          v = t % n.x;
          break;
        case Special::tid_y:
          v = t / n.x % n.y;
          break;
        case Special::tid_z:
          v = t / n.x / n.y;
          break;
        case Special::ntid_x:
          v = n.x;
          break;
        case Special::ntid_y:
          v = n.y;
          break;
        case Special::ntid_z:
          v = n.z;
          break;
        case Special::ctaid_x:
          v = block.index.x;
          break;
        case Special::ctaid_y:
          v = block.index.y;
          break;
        case Special::ctaid_z:
          v = block.index.z;
          break;
        case Special::nctaid_x:
          v = grid.x;
          break;
        case Special::nctaid_y:
          v = grid.y;
          break;
        case Special::nctaid_z:
          v = grid.z;
          break;
        case Special::laneid:
          v = l;
          break;
        case Special::warpid:
          v = warp.index;
          break;
        case Special::nwarpid:
          v = (threads + 31) / 32;
          break;
        case Special::smid:
          v = static_cast<std::uint32_t>(block.number % options_.processors);
          break;
        case Special::nsmid:
          v = options_.processors;
          break;
        case Special::warpsize:
          v = 32;
          break;
        case Special::lanemask_eq:
          v = 1u << l;
          break;
        case Special::lanemask_lt:
          v = (1u << l) - 1;
          break;
        case Special::lanemask_le:
          v = (2u << l) - 1;
          break;
        case Special::lanemask_gt:
          v = ~((2u << l) - 1);
          break;
        case Special::lanemask_ge:
          v = ~((1u << l) - 1);
          break;
        case Special::dynamic_smem_size:
          v = launch_.dynamic_shared;
          break;
        case Special::total_smem_size:
          v = static_cast<std::uint32_t>(block.shared.size());
          break;
        default:
          break;  // %gridid is 0: one grid
      }
      if (ptx::bits_of(special) == 64) {
        const std::uint64_t wide = v;
        std::memcpy(file + place + l * 8, &wide, 8);
      } else {
        std::memcpy(file + place + l * 4, &v, 4);
      }
    }
  }
}

void Machine::start_block(Block& block, std::uint64_t number) {
  const ptx::Program& p = program();
  const Dim3 grid = launch_.grid;
  const auto threads = static_cast<std::uint32_t>(launch_.block.count());
  const std::uint32_t warps = (threads + 31) / 32;
  block.number = number;
  block.index = {static_cast<std::uint32_t>(number % grid.x),
                 static_cast<std::uint32_t>(number / grid.x % grid.y),
                 static_cast<std::uint32_t>(number / grid.x / grid.y)};
  block.live_threads = threads;
  block.next_warp = 0;
  block.warp_turn_left = 0;
  block.barriers = {};
  // Registers keep what earlier blocks left: whatever may be read before it is written is
  // undefined.
  block.registers.resize(warps * register_stride(p));
  block.predicates.assign(std::size_t{warps} * p.predicate_count, 0);
  block.undefined.clear();
  block.undefined_units.clear();
  block.undefined_predicates.clear();
  const std::uint32_t align = p.dynamic_shared_align;
  const std::uint32_t dynamic_at = p.wants_dynamic_shared || launch_.dynamic_shared
                                       ? (p.shared_bytes + align - 1) / align * align
                                       : p.shared_bytes;
  block.shared = Region(Region::Kind::shared, "shared", 0,
                        std::vector<std::byte>(dynamic_at + launch_.dynamic_shared));
  block.shared.make_undefined();
  if (p.local_bytes) {
    block.local = Region(Region::Kind::local, "local", 0,
                         std::vector<std::byte>(std::size_t{warps} * lanes * p.local_bytes));
    block.local.make_undefined();
  }
  block.warps.assign(warps, {});
  for (std::uint32_t w = 0; w < warps; ++w) {
    Warp& warp = block.warps[w];
    warp.index = w;
    warp.live = lanes_below(threads - w * 32);
    Split all;
    all.mask = warp.live;
    warp.splits.push_back(all);
    block.predicates[std::size_t{w} * p.predicate_count] = ~Mask{0};
    fill_specials(block, warp);
    Core x = core_of(block, warp);
    for (std::uint32_t reg : p.undefined_at_start) {
      const ptx::Register& r = p.registers[reg];
      if (r.type == ptx::Type::pred) {
        undefine_predicate(x, r.place, ~Mask{0}, ~Mask{0});
      } else {
        undefine(x, r.place, std::max(2, ptx::bytes_of(r.type)), ~Mask{0});
      }
    }
  }
}

// A barrier is complete when as many threads have arrived as it is for. Threads that have exited
// hold up nobody (PTX ISA 9.7.12.7).
void Machine::finish_barriers(Block& block) {
  for (std::uint32_t id = 0; id < block.barriers.size(); ++id) {
    Barrier& b = block.barriers[id];
    const std::uint32_t wanted = b.expected ? b.expected : block.live_threads;
    if (b.arrived == 0 || b.arrived < wanted) continue;
    b = {};
    for (Warp& w : block.warps) {
      for (Split& s : w.splits) {
        if (s.wait == Wait::barrier && s.barrier == id) s.wait = Wait::none;
      }
    }
  }
}

// --- execution ----------------------------------------------------------------------------------

Core Machine::core_of(Block& block, Warp& warp) {
  const ptx::Program& p = program();
  Core x;
  x.bank[0] = block.registers.data() + warp.index * register_stride(p);
  // Handlers only read this bank.
  x.bank[1] = const_cast<std::byte*>(image_->bound.constants.data());
  x.predicates = block.predicates.data() + std::size_t{warp.index} * p.predicate_count;
  x.live = warp.live;
  x.elements = image_->bound.elements.data();
  x.regions = regions_.data();
  x.region_count = static_cast<std::uint32_t>(regions_.size());
  x.parameters = &regions_[0];
  x.local_bytes = p.local_bytes;
  x.machine = this;
  x.block = &block;
  x.warp = &warp;
  x.code = image_->bound.code.data();
  return x;
}

namespace {

// Splits that stand at the same instruction become one.
void unite(std::vector<Split>& splits) {
  for (std::size_t i = 0; i < splits.size(); ++i) {
    for (std::size_t k = i + 1; k < splits.size();) {
      const bool meet = splits[i].pc == splits[k].pc && splits[i].wait == Wait::none &&
                        splits[k].wait == Wait::none;
      if (!meet) {
        ++k;
        continue;
      }
      splits[i].mask |= splits[k].mask;
      splits[i].ran = std::min(splits[i].ran, splits[k].ran);
      splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

}  // namespace

// Gives a split of this warp its turn. False if all wait.
bool Machine::choose_split(Warp& warp) {
  unite(warp.splits);
  const auto& rank = program().rank;
  warp.fair = warp.unfair_for >= options_.split_turn;
  const Split* best = nullptr;
  for (const Split& s : warp.splits) {
    if (s.wait != Wait::none) continue;
    const auto behind = [&](const Split& a, const Split& b) {
      return rank[a.pc] != rank[b.pc] ? rank[a.pc] < rank[b.pc] : a.pc < b.pc;
    };
    if (!best || (warp.fair ? s.ran < best->ran : behind(s, *best))) best = &s;
  }
  if (!best) return false;
  warp.current = static_cast<std::int32_t>(best - warp.splits.data());
  warp.splits[static_cast<std::size_t>(warp.current)].ran = ++clock_;
  const bool company = warp.splits.size() > 1;
  if (warp.fair || !company) warp.unfair_for = 0;
  warp.turn_left = company ? options_.split_turn : ~std::uint64_t{0};
  return true;
}

// Runs one split until it waits, ends or divides (`ended`), or has executed `limit` instructions;
// in company also until the end of a block, where it may meet another.
std::uint64_t Machine::run_split(Core& x, std::uint64_t limit, bool stop_at_block_end,
                                 bool& ended) {
  std::uint64_t executed = 0;
  Warp& warp = *x.warp;
  Mask mask = warp.splits[x.split].mask;
  std::uint32_t pc = warp.splits[x.split].pc;
  ended = false;
  while (executed < limit && !ended) {
    const Code& c = x.code[pc];
    const Mask m = mask & (x.predicates[c.guard] ^ c.guard_flip);
    x.pc = pc;
    ++executed;
    Flow flow = Flow::next;
    if (warp.undefined_registers) {
      flow = run_carefully(x, c, mask, m);
    } else if (m) {
      flow = c.run(x, c, m);
    }
    if (flow == Flow::next) {
      ++pc;
      ended = stop_at_block_end && c.ends_block;
      continue;
    }
    ended = flow != Flow::moved || stop_at_block_end;
    if (flow != Flow::moved) return executed;  // the handler has left the splits as they are to be
    mask = warp.splits[x.split].mask;
    pc = warp.splits[x.split].pc;
  }
  warp.splits[x.split].pc = pc;
  return executed;
}

// Fewer than `budget` instructions: the warp waits or has ended.
std::uint64_t Machine::run_warp(Block& block, Warp& warp, std::uint64_t budget) {
  std::uint64_t executed = 0;
  while (executed < budget && state_ == RunState::running) {
    if (warp.current < 0 && !choose_split(warp)) break;
    Core x = core_of(block, warp);
    x.split = static_cast<std::uint32_t>(warp.current);
    const bool company = warp.splits.size() > 1;
    bool ended = false;
    const std::uint64_t ran =
        run_split(x, std::min(budget - executed, warp.turn_left), company && !warp.fair, ended);
    executed += ran;
    instructions_ += ran;
    warp.turn_left -= ran;
    if (company) warp.unfair_for += ran;
    if (ended || warp.turn_left == 0) warp.current = -1;
  }
  return executed;
}

// Lets the warps of a block take turns until the block is done, its turn or the budget is over.
RunState Machine::run_block(Block& block, std::uint64_t& budget) {
  const auto count = static_cast<std::uint32_t>(block.warps.size());
  std::uint32_t idle = 0;
  while (budget && turn_left_ && block.live_threads) {
    if (block.warp_turn_left == 0) block.warp_turn_left = options_.warp_turn;
    const std::uint64_t most = std::min({budget, turn_left_, block.warp_turn_left});
    const std::uint64_t ran = run_warp(block, block.warps[block.next_warp], most);
    if (state_ == RunState::fault) return state_;
    budget -= ran;
    turn_left_ -= ran;
    block.warp_turn_left -= ran;
    idle = ran ? 0 : idle + 1;
    if (idle == count) {
      report_deadlock(block);
      return state_;
    }
    if (ran < most || block.warp_turn_left == 0) {
      block.next_warp = (block.next_warp + 1) % count;
      block.warp_turn_left = 0;
    }
  }
  return block.live_threads ? RunState::running : RunState::done;
}

// The next resident block's turn, or that of one that starts now.
void Machine::next_turn() {
  turn_left_ = options_.block_turn;
  if (blocks_.size() < options_.resident_blocks && started_ < total_) {
    current_ = blocks_.size();
    start_block(blocks_.emplace_back(), started_++);
  } else {
    current_ = (current_ + 1) % blocks_.size();
  }
}

RunState Machine::run(std::uint64_t budget) {
  while (state_ == RunState::running) {
    if (finished_ == total_) {
      finish_grid();
      break;
    }
    if (budget == 0) return RunState::running;
    if (blocks_.empty() || turn_left_ == 0) next_turn();
    const RunState state = run_block(blocks_[current_], budget);
    if (state == RunState::fault) break;
    if (state != RunState::done) continue;
    ++finished_;
    turn_left_ = options_.block_turn;
    if (started_ < total_) {
      start_block(blocks_[current_], started_++);
    } else {
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(current_));
      if (current_ >= blocks_.size()) current_ = 0;
    }
  }
  return state_;
}

// Every block has exited: what lies in the buffers is the result, so it must mean something.
void Machine::finish_grid() {
  state_ = RunState::done;
  for (std::size_t b = 0; b < shells_.size(); ++b) {
    const Region& r = regions_[first_buffer_ + b];
    if (!r.undefined_bits()) continue;
    const std::uint64_t element = bytes_of(shells_[b].dtype);
    std::uint64_t never = 0, first_never = 0;
    for (std::uint64_t at = 0; at < r.size(); ++at) {
      while (at < r.size() && at % 8 == 0 && r.undefined_bits()[at / 8] == 0) at += 8;
      if (at >= r.size()) break;
      if (!r.is_undefined(at)) continue;
      if (!r.writer(at)) {
        if (never++ == 0) first_never = at;
        continue;
      }
      Report fault;
      fault.kind = "undefined_output";
      fault.sentence = fmt::format(
          "element {} of buffer {} was written with a value that depends on memory or registers "
          "nobody had written",
          at / element, shells_[b].name);
      fault.expected = "a defined value";
      fault.found = fmt::format("byte {} of the element is undefined", at % element);
      fault.site = *writer(b, at);
      reports_.push_back(std::move(fault));
      state_ = RunState::fault;
      return;
    }
    if (!never) continue;
    Report note;
    note.weight = Weight::note;
    note.kind = "unwritten";
    note.sentence =
        fmt::format("{} of the {} bytes of buffer {} were never written, from element {} on", never,
                    r.size(), shells_[b].name, first_never / element);
    note.site.kernel = kernel_;
    reports_.push_back(std::move(note));
  }
}

}  // namespace tilescope::sim
