// Copies that are only another name. Compilers that write each value into a register of its own
// (LLVM: Triton, CuTeDSL) copy the accumulators of a wgmma by mov between one product and the next,
// while the first is still writing them. An assembler gives both names one register, and no
// instruction remains: so does place_registers(), of registers that a wgmma uses and those that mov
// leads to or from, where the values never live side by side.
//
// Chaitin's aggressive coalescing (1982): liveness by blocks, interference at each definition, then
// each copy whose two sides do not interfere unites them.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/ptx/bits.h"
#include "core/ptx/flights.h"

namespace tilescope::ptx {
namespace {

using Index = std::uint32_t;  // among the registers that are looked at

struct Copy {
  std::uint32_t to = 0, from = 0;  // registers
};

class Coalescer {
 public:
  explicit Coalescer(Program& program) : program_(program) {}

  void run() {
    collect();
    if (copies_.empty()) return;
    find_liveness();
    find_interference();
    unite();
  }

 private:
  static constexpr std::size_t most = 8192;  // registers: beyond, copies stay copies

  std::optional<Copy> copy_at(const Instruction& i) const {
    if (i.op != Op::mov || i.guarded || i.count != 2) return std::nullopt;
    const Operand* o = program_.operands_of(i);
    if (o[0].kind != Operand::Kind::reg || o[1].kind != Operand::Kind::reg) return std::nullopt;
    const auto bits = [&](const Operand& x) { return bits_of(program_.registers[x.index].type); };
    if (bits(o[0]) != 32 || bits(o[1]) != 32 || is_special(o[1].index)) return std::nullopt;
    return Copy{o[0].index, o[1].index};
  }

  bool is_special(std::uint32_t reg) const {
    return std::any_of(program_.specials.begin(), program_.specials.end(),
                       [&](const auto& special) { return special.second == reg; });
  }

  // The registers of products, and those that copies lead to and from.
  void collect() {
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> next;  // by copies
    std::vector<Copy> all;
    std::vector<std::uint32_t> open;
    for (const Instruction& i : program_.code) {
      if (is_group_product(i)) {
        each_in_flight(program_, i, [&](std::uint32_t reg, std::uint32_t) { open.push_back(reg); });
      }
    }
    if (open.empty()) return;
    for (const Instruction& i : program_.code) {
      if (const auto copy = copy_at(i)) {
        all.push_back(*copy);
        next[copy->to].push_back(copy->from);
        next[copy->from].push_back(copy->to);
      }
    }
    while (!open.empty()) {
      const std::uint32_t reg = open.back();
      open.pop_back();
      if (!index_.try_emplace(reg, static_cast<Index>(registers_.size())).second) continue;
      registers_.push_back(reg);
      if (const auto at = next.find(reg); at != next.end()) {
        open.insert(open.end(), at->second.begin(), at->second.end());
      }
    }
    if (registers_.size() > most) return;
    for (const Copy& copy : all) {
      if (index_.count(copy.to)) copies_.push_back(copy);
    }
  }

  // Calls read(i) and then write(i, kills) for the registers of an instruction that are looked at.
  template <class Read, class Write>
  void each_use(const Instruction& i, Read read, Write write) const {
    const auto one = [&](const Operand& o, bool written) {
      const bool has = (o.kind == Operand::Kind::reg || o.kind == Operand::Kind::address) &&
                       o.index != no_register;
      const auto at = has ? index_.find(o.index) : index_.end();
      if (at == index_.end() || o.written != written) return;
      written ? write(at->second, !i.guarded) : read(at->second);
    };
    for (const bool written : {false, true}) {
      for (std::uint32_t k = 0; k < i.count; ++k) {
        const Operand& o = program_.operands_of(i)[k];
        if (o.kind != Operand::Kind::vector) one(o, written);
        for (std::uint32_t e = 0; o.kind == Operand::Kind::vector && e < o.count; ++e) {
          one(program_.elements[o.index + e], written);
        }
      }
      if (!written && is_group_product(i) && adds_to_registers(program_, i)) {
        const Operand& d = program_.operands_of(i)[0];
        for (std::uint32_t e = 0; e < d.count; ++e) {
          read(index_.at(program_.elements[d.index + e].index));
        }
      }
    }
  }

  void find_liveness() {
    const std::size_t blocks = program_.blocks.size(), count = registers_.size();
    live_out_.assign(blocks, Bits(count));
    std::vector<Bits> reads(blocks, Bits(count)), kills(blocks, Bits(count)),
        in(blocks, Bits(count));
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::uint32_t pc = program_.blocks[b].first; pc < program_.blocks[b].end; ++pc) {
        each_use(
            program_.code[pc],
            [&](Index i) {
              if (!kills[b].has(i)) reads[b].set(i);
            },
            [&](Index i, bool always) {
              if (always) kills[b].set(i);
            });
      }
    }
    for (bool more = true; more;) {
      more = false;
      for (std::size_t b = blocks; b-- > 0;) {
        for (const std::uint32_t next : program_.blocks[b].next) {
          more = live_out_[b].add(in[next]) || more;
        }
        Bits before = live_out_[b];
        before.remove(kills[b]);
        before.add(reads[b]);
        more = in[b].add(before) || more;
      }
    }
  }

  // What a product only reads is in use as long as it is in flight, whoever still wants it.
  std::vector<std::vector<std::pair<Stretch, Index>>> operands_in_flight() const {
    std::vector<std::uint32_t> block_of(program_.code.size());
    for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) {
      for (std::uint32_t pc = program_.blocks[b].first; pc < program_.blocks[b].end; ++pc) {
        block_of[pc] = b;
      }
    }
    std::vector<std::vector<std::pair<Stretch, Index>>> out(program_.blocks.size());
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      if (!is_group_product(program_.code[pc])) continue;
      std::vector<Index> held;
      each_in_flight(program_, program_.code[pc], [&](std::uint32_t reg, std::uint32_t operand) {
        if (operand != 0) held.push_back(index_.at(reg));
      });
      if (held.empty()) continue;
      for (const Stretch& stretch : flight_of(program_, block_of, pc)) {
        for (const Index i : held) out[stretch.block].emplace_back(stretch, i);
      }
    }
    return out;
  }

  void find_interference() {
    const std::size_t count = registers_.size();
    interferes_.assign(count, Bits(count));
    const auto flying = operands_in_flight();
    for (std::size_t b = 0; b < program_.blocks.size(); ++b) {
      Bits live = live_out_[b];
      for (std::uint32_t pc = program_.blocks[b].end; pc-- > program_.blocks[b].first;) {
        const Instruction& i = program_.code[pc];
        const auto copy = copy_at(i);
        const auto meet = [&](Index written, Index other) {
          if (other == written || (copy && registers_[other] == copy->from)) return;
          interferes_[written].set(other);
          interferes_[other].set(written);
        };
        std::vector<Index> written;
        each_use(
            i, [](Index) {}, [&](Index w, bool) { written.push_back(w); });
        for (const Index w : written) {
          live.each([&](Index other) { meet(w, other); });
          for (const auto& [stretch, held] : flying[b]) {
            if (stretch.from < pc && pc <= stretch.to) meet(w, held);
          }
          for (const Index other : written) meet(w, other);
        }
        each_use(
            i, [](Index) {},
            [&](Index w, bool always) {
              if (always) live.clear(w);
            });
        each_use(
            i, [&](Index r) { live.set(r); }, [](Index, bool) {});
      }
    }
  }

  Index first_of(Index i) {
    while (first_[i] != i) i = first_[i] = first_[first_[i]];
    return i;
  }

  void unite() {
    const std::size_t count = registers_.size();
    std::vector<Bits> members(count, Bits(count));
    for (Index i = 0; i < count; ++i) {
      first_.push_back(i);
      members[i].set(i);
    }
    for (const Copy& copy : copies_) {
      const Index a = first_of(index_.at(copy.to)), b = first_of(index_.at(copy.from));
      if (a == b || interferes_[a].meets(members[b])) continue;
      first_[b] = a;
      members[a].add(members[b]);
      interferes_[a].add(interferes_[b]);
    }
    for (Index i = 0; i < count; ++i)
      program_.registers[registers_[i]].same = registers_[first_of(i)];
  }

  Program& program_;
  std::unordered_map<std::uint32_t, Index> index_;
  std::vector<std::uint32_t> registers_;  // by Index
  std::vector<Copy> copies_;
  std::vector<Bits> live_out_;  // of each block
  std::vector<Bits>
      interferes_;  // of each register; of the first of several that are one, theirs too
  std::vector<Index> first_;
};

}  // namespace

void unite_copies(Program& program) {
  Coalescer(program).run();
}

}  // namespace tilescope::ptx
