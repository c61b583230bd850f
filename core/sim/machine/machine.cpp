// What a Machine tells: progress, buffers, writers, faults, and what is wrong with a result.
#include "core/sim/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/evidence.h"

namespace tilescope::sim {

Machine::Machine() = default;
Machine::Machine(const Machine&) = default;
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(const Machine&) = default;
Machine& Machine::operator=(Machine&&) noexcept = default;
Machine::~Machine() = default;

Progress Machine::progress() const {
  return {finished_, total_, instructions_};
}

std::uint64_t Machine::bytes() const {
  std::uint64_t out = sizeof *this;
  for (const Region& r : regions_) out += r.held();
  for (const Block& b : blocks_) {
    out += sizeof b + b.registers.size() + b.undefined.size() + b.shared.held() + b.local.held() +
           b.races.held() + b.tensor.memory.held() + b.mbarriers.size() * sizeof(Mbarrier);
    for (const Warp& w : b.warps) out += sizeof w + w.pace.moment.size();
    for (const AsyncOperation& o : b.flight.operations) {
      out += sizeof o + o.bytes.size() + o.undefined.size();
    }
  }
  return out;
}

std::uint32_t Machine::local_bytes() const {
  const ptx::Program& p = program();
  return p.local_bytes + (p.recursive ? options_.stack_bytes : 0);
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
  return site_of(w);
}

Site Machine::site_of(Writer w) const {
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
  s.caller = std::string(program().caller_file(i));
  s.caller_line = s.caller.empty() ? 0 : i.caller_line;
  s.ptx_line = i.line;
  s.block = block.index;
  s.warp = thread / 32;
  s.lane = thread % 32;
  return s;
}

Flow Machine::fault(const Core& x, int lane, std::string kind, std::string sentence,
                    std::string expected, std::string found) {
  fault_at(*x.block, x.warp->index * 32 + static_cast<std::uint32_t>(lane), x.pc, std::move(kind),
           std::move(sentence), std::move(expected), std::move(found));
  return Flow::fault;
}

bool Machine::fault_at(const Block& block, std::uint32_t thread, std::uint32_t pc, std::string kind,
                       std::string sentence, std::string expected, std::string found) {
  Report r;
  r.weight = Weight::fault;
  r.kind = std::move(kind);
  r.sentence = std::move(sentence);
  r.expected = std::move(expected);
  r.found = std::move(found);
  r.site = site(block, thread, pc);
  reports_.push_back(std::move(r));
  record_report(block, thread, pc);
  state_ = RunState::fault;
  return false;
}

Region* Machine::region_of(std::uint64_t address) {
  const auto next = std::upper_bound(regions_.begin(), regions_.end(), address,
                                     [](std::uint64_t a, const Region& r) { return a < r.base(); });
  if (next == regions_.begin()) return nullptr;
  Region& r = *(next - 1);
  return address - r.base() < r.size() ? &r : nullptr;
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

std::uint64_t Machine::cluster_number(std::uint64_t block) const {
  const Dim3 grid = launch_.grid;
  const std::uint64_t x = block % grid.x, y = block / grid.x % grid.y, z = block / grid.x / grid.y;
  const std::uint64_t columns = grid.x / cluster_.x, rows = grid.y / cluster_.y;
  return x / cluster_.x + columns * (y / cluster_.y + rows * (z / cluster_.z));
}

// Its place is another's as soon as all of it have.
bool Machine::has_exited(std::uint64_t cluster) const {
  for (const Block& b : blocks_) {
    if (cluster_number(b.number) == cluster) return false;
  }
  const std::uint64_t first = cluster * cluster_size_;
  return first < started_ &&
         std::find(to_begin_.begin(), to_begin_.end(), first) == to_begin_.end();
}

// Every block has exited: what lies in the buffers is the result, so it must mean something.
void Machine::finish_grid() {
  state_ = RunState::done;
  for (std::size_t b = 0; b < shells_.size(); ++b) {
    if (shells_[b].tile.empty()) continue;
    tell_of_tiles_written_twice(b);
    if (find_missing_tile(b)) return;
  }
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
          "nobody had written{}",
          at / element, shells_[b].name, undefined_story(r.writer(at)));
      fault.expected = "a defined value";
      fault.found = fmt::format("byte {} of the element is undefined", at % element);
      fault.site = *writer(b, at);
      fault.evidence = evidence_at(place_of(
          GlobalRange{r.base() + at / element * element, r.base() + (at / element + 1) * element}));
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
    note.evidence = evidence_at(place_of(
        GlobalRange{r.base() + first_never, r.base() + first_never / element * element + element}));
    reports_.push_back(std::move(note));
  }
}

}  // namespace tilescope::sim
