// Control flow: basic blocks, and an order of them in which every loop is one piece.
//
// Lanes of a warp that went different ways meet again when the machine always runs the lanes that
// are furthest behind in an order where (a) a block comes before what it leads to, loops apart,
// and (b) nothing that follows a loop comes before the loop's last block: "thread frontiers"
// (Diamos et al., SIMD Re-Convergence at Thread Frontiers, MICRO 2011). Such an order is a weak
// topological order (Bourdoncle 1993): order the strongly connected components, put the head of
// each first, and order the rest of it in the same way. Compilers often lay blocks out like that,
// but not always: rarely taken blocks go to the end.
#include <algorithm>

#include "core/ptx/program.h"

namespace tilescope::ptx {
namespace {

using Blocks = std::vector<std::uint32_t>;

// Strongly connected components of the graph among `nodes`, in topological order; the first node
// of each is the one it was entered by. Tarjan's algorithm without recursion: text decides the
// depth.
class Components {
 public:
  explicit Components(const std::vector<Block>& blocks)
      : blocks_(blocks),
        index_(blocks.size()),
        low_(blocks.size()),
        stamp_(blocks.size(), 0),
        done_(blocks.size(), 0) {}

  std::vector<Blocks> of(const Blocks& nodes) {
    ++round_;
    counter_ = 0;
    found_.clear();
    for (std::uint32_t node : nodes) stamp_[node] = round_, index_[node] = unseen, done_[node] = 0;
    for (std::uint32_t node : nodes) {
      if (index_[node] == unseen) walk(node);
    }
    std::reverse(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  static constexpr std::uint32_t unseen = ~0u;
  struct Visit {
    std::uint32_t node;
    std::size_t next;
  };

  void enter(std::uint32_t node) {
    index_[node] = low_[node] = counter_++;
    path_.push_back({node, blocks_[node].next.size()});
    open_.push_back(node);
  }

  void walk(std::uint32_t start) {
    enter(start);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      if (visit.next > 0) {
        const std::uint32_t to = blocks_[visit.node].next[--visit.next];
        if (stamp_[to] != round_ || done_[to]) continue;
        if (index_[to] == unseen) {
          enter(to);
        } else {
          low_[visit.node] = std::min(low_[visit.node], index_[to]);
        }
        continue;
      }
      const std::uint32_t node = visit.node;
      path_.pop_back();
      if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
      if (low_[node] == index_[node]) close(node);
    }
  }

  void close(std::uint32_t head) {
    const auto begin = std::find(open_.rbegin(), open_.rend(), head).base() - 1;
    Blocks component(begin, open_.end());
    for (std::uint32_t node : component) done_[node] = 1;
    open_.erase(begin, open_.end());
    found_.push_back(std::move(component));
  }

  const std::vector<Block>& blocks_;
  std::vector<std::uint32_t> index_, low_, stamp_;
  std::vector<char> done_;
  std::vector<Visit> path_;
  Blocks open_;
  std::vector<Blocks> found_;
  std::uint32_t round_ = 0, counter_ = 0;
};

void rank_blocks(std::vector<Block>& blocks) {
  Components components(blocks);
  Blocks all(blocks.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  std::uint32_t rank = 0;
  std::vector<Blocks> waiting{all};
  while (!waiting.empty()) {
    const Blocks nodes = std::move(waiting.back());
    waiting.pop_back();
    if (nodes.size() == 1) {
      blocks[nodes[0]].rank = rank++;
      continue;
    }
    std::vector<Blocks> parts = components.of(nodes);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->size() == 1) {
        waiting.push_back(std::move(*part));
        continue;
      }
      // A loop: its head, then the rest of it without the edges back to the head.
      const std::uint32_t head = part->front();
      waiting.emplace_back(part->begin() + 1, part->end());
      waiting.push_back({head});
    }
  }
}

bool leaves(const Instruction& i) {
  return i.op == Op::bra || i.op == Op::brx || i.op == Op::ret || i.op == Op::exit ||
         i.op == Op::trap || i.op == Op::brkpt;
}

// The instructions that a branch may go to.
std::vector<std::uint32_t> targets_of(const Program& program, const Instruction& i) {
  if (i.op == Op::bra) return {program.operands_of(i)[0].index};
  std::vector<std::uint32_t> out;
  if (i.op != Op::brx) return out;
  const Operand& list = program.operands_of(i)[1];
  for (std::uint32_t k = 0; k < list.value; ++k) {
    out.push_back(program.elements[list.index + k].index);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

void find_blocks(Program& program) {
  const auto count = static_cast<std::uint32_t>(program.code.size());
  std::vector<char> leader(count + 1, 0);
  leader[0] = 1;
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    const Instruction& i = program.code[pc];
    for (std::uint32_t to : targets_of(program, i)) leader[to] = 1;
    if (leaves(i) || i.op == Op::call) leader[pc + 1] = 1;
  }
  for (const Routine& r : program.routines) leader[r.first] = 1;
  std::vector<std::uint32_t> block_of(count);
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    if (leader[pc]) program.blocks.emplace_back().first = pc;
    program.blocks.back().end = pc + 1;
    block_of[pc] = static_cast<std::uint32_t>(program.blocks.size()) - 1;
  }
  for (Block& block : program.blocks) {
    const Instruction& last = program.code[block.end - 1];
    if ((!leaves(last) || last.guarded) && block.end < count) {
      block.next.push_back(block_of[block.end]);
    }
    for (std::uint32_t to : targets_of(program, last)) block.next.push_back(block_of[to]);
  }
  rank_blocks(program.blocks);
  program.rank.resize(count);
  program.ends_block.assign(count, false);
  for (const Block& block : program.blocks) {
    for (std::uint32_t pc = block.first; pc < block.end; ++pc) program.rank[pc] = block.rank;
    program.ends_block[block.end - 1] = true;
  }
}

}  // namespace tilescope::ptx
