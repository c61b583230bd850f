#include "core/sim/machine/grid.h"

#include <algorithm>

namespace tilescope::sim {
namespace {

// Where forgotten results go, behind the registers.
constexpr std::uint32_t sink_bytes = 16 * lanes;

}  // namespace

std::uint64_t Grid::bytes() const {
  std::uint64_t out = completions.held();
  for (const Region& r : regions) out += r.held();
  for (const Shadow& s : accesses) out += s.held();
  for (const Block& b : blocks) {
    out += sizeof b + b.registers.size() + b.undefined.size() + b.shared.held() + b.local.held() +
           b.order.held() + b.tensor.memory.held() + b.mbarriers.size() * sizeof(Mbarrier);
    for (const Warp& w : b.warps) out += sizeof w + w.pace.moment.size();
    for (const AsyncOperation& o : b.flight.operations) {
      out += sizeof o + o.bytes.size() + o.undefined.size();
    }
  }
  return out;
}

std::uint32_t Grid::local_bytes() const {
  const ptx::Program& p = program();
  return p.local_bytes + (p.recursive || p.allocates ? options.stack_bytes : 0);
}

std::vector<Buffer> Grid::buffers() const {
  std::vector<Buffer> out = shells;
  for (std::size_t b = 0; b < out.size(); ++b) {
    const Region& r = regions[first_buffer + b];
    out[b].bytes.assign(r.data(), r.data() + r.size());
  }
  return out;
}

std::optional<Site> Grid::writer(std::size_t buffer, std::size_t byte) const {
  if (buffer >= shells.size() || byte >= regions[first_buffer + buffer].size()) return {};
  const Writer w = regions[first_buffer + buffer].writer(byte);
  if (!w) return {};
  return site_of(w);
}

Site Grid::site_of(Writer w) const {
  Block block;
  const Dim3 grid = launch.grid;
  block.number = w.block();
  block.index = {static_cast<std::uint32_t>(w.block() % grid.x),
                 static_cast<std::uint32_t>(w.block() / grid.x % grid.y),
                 static_cast<std::uint32_t>(w.block() / grid.x / grid.y)};
  return site(block, w.thread(), w.pc());
}

Site Grid::site(const Block& block, std::uint32_t thread, std::uint32_t pc) const {
  const ptx::Instruction& i = program().code[pc];
  Site s;
  s.kernel = kernel;
  s.source = std::string(program().source_file(i));
  s.source_line = s.source.empty() ? 0 : i.source_line;
  s.caller = std::string(program().caller_file(i));
  s.caller_line = s.caller.empty() ? 0 : i.caller_line;
  s.ptx_line = i.line;
  if (program().module->parts.size() > 1) s.ptx_place = program().module->place(i.line);
  s.block = block.index;
  s.warp = thread / 32;
  s.lane = thread % 32;
  return s;
}

namespace {

// The line of an instruction in the file that everything around it is inlined into.
std::pair<std::string_view, std::uint32_t> outer_line(const ptx::Program& program,
                                                      std::uint32_t pc) {
  const ptx::Instruction& i = program.code[pc];
  const std::string_view caller = program.caller_file(i);
  if (!caller.empty()) return {caller, i.caller_line};
  return {program.source_file(i), i.source_line};
}

}  // namespace

// As with what is inlined, of the calls that are open the innermost one in the entry's own file is
// what a reader looks for.
Site Grid::site_now(const Block& block, const Warp& warp, int lane, std::uint32_t pc) const {
  Site s = site(block, warp.index * 32 + static_cast<std::uint32_t>(lane), pc);
  const auto l = static_cast<std::size_t>(lane);
  const std::uint32_t depth = warp.calls.depth[l];
  if (depth == 0 || s.source.empty()) return s;
  const auto call = [&](std::uint32_t level) {
    return outer_line(program(), warp.calls.levels[level].back[l] - 1);
  };
  const std::string_view own = call(0).first;
  if (own.empty() || outer_line(program(), pc).first == own) return s;
  std::uint32_t level = depth - 1;
  while (call(level).first != own) --level;  // level 0 is in its own file
  s.caller = std::string(call(level).first);
  s.caller_line = call(level).second;
  return s;
}

Region* Grid::region_of(std::uint64_t address) {
  const auto next = std::upper_bound(regions.begin(), regions.end(), address,
                                     [](std::uint64_t a, const Region& r) { return a < r.base(); });
  if (next == regions.begin()) return nullptr;
  Region& r = *(next - 1);
  return address - r.base() < r.size() ? &r : nullptr;
}

const Region* Grid::nearest_region(std::uint64_t address) const {
  const Region* best = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (const Region& r : regions) {
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

Shadow& Grid::accesses_of(const Region& region) {
  const auto index = static_cast<std::size_t>(&region - regions.data());
  if (accesses.size() <= index) accesses.resize(regions.size());
  if (!accesses[index].on()) accesses[index].start(region.size(), true);
  return accesses[index];
}

const Block* Grid::resident(std::uint64_t number) const {
  for (const Block& b : blocks) {
    if (b.number == number) return &b;
  }
  return nullptr;
}

RunStep Grid::step_of(const Block& block, std::uint32_t warp, std::uint32_t pc) const {
  return {block.number, warp, pc, block.warps[warp].executed};
}

std::uint64_t Grid::cluster_number(std::uint64_t block) const {
  const Dim3 grid = launch.grid;
  const std::uint64_t x = block % grid.x, y = block / grid.x % grid.y, z = block / grid.x / grid.y;
  const std::uint64_t columns = grid.x / cluster.x, rows = grid.y / cluster.y;
  return x / cluster.x + columns * (y / cluster.y + rows * (z / cluster.z));
}

std::size_t Grid::register_stride() const {
  return (program().register_bytes + sink_bytes + 63) / 64 * 64;
}

double Grid::now() const {
  return clock ? clock->now() : static_cast<double>(instructions);
}

std::uint64_t Grid::clock_of(const Core& x, ptx::Special special) const {
  if (!clock) return instructions + (x.executed ? *x.executed : 0);
  const double cycles = x.block->time.warps[x.warp->index].slot;
  const bool timer = special == ptx::Special::globaltimer ||
                     special == ptx::Special::globaltimer_lo ||
                     special == ptx::Special::globaltimer_hi;
  return static_cast<std::uint64_t>(timer ? cycles / clock->times().clock : cycles);
}

Block* Grid::member(const Block& block, std::uint32_t rank) {
  if (rank >= cluster_size) return nullptr;
  const auto at = static_cast<std::size_t>(&block - blocks.data());
  return &blocks[at / cluster_size * cluster_size + rank];
}

const Block* Grid::member(const Block& block, std::uint32_t rank) const {
  if (rank >= cluster_size) return nullptr;
  const auto at = static_cast<std::size_t>(&block - blocks.data());
  return &blocks[at / cluster_size * cluster_size + rank];
}

const Block& Grid::issuer(const Block& block, const AsyncOperation& o) const {
  return *member(block, o.issuer);
}

}  // namespace tilescope::sim
