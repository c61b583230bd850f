// Two ways to the same bytes: a thread's instructions, and its part of the layout.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/layout/algebra.h"
#include "core/lower/check.h"
#include "core/lower/code_view.h"

namespace tilescope::lowering {
namespace {

using Bytes = std::vector<std::pair<std::int64_t, std::int64_t>>;  // [begin, end), ascending, apart

Bytes joined(Bytes all) {
  std::sort(all.begin(), all.end());
  Bytes out;
  for (const auto& [begin, end] : all) {
    if (!out.empty() && begin <= out.back().second) {
      out.back().second = std::max(out.back().second, end);
    } else {
      out.push_back({begin, end});
    }
  }
  return out;
}

Bytes moved(Bytes all, std::int64_t by) {
  for (auto& [begin, end] : all) begin += by, end += by;
  return all;
}

// What a thread touches through one pointer before any loop has come round, from the pointer on.
Bytes by_instructions(CodeView& view, std::uint64_t pointer, const ptx::ThreadNumbers& numbers) {
  ptx::SliceRun run(view.addresses, numbers);
  Bytes out;
  for (const ptx::Access& a : view.addresses.accesses()) {
    if (a.pointer != pointer || a.kind == ptx::Access::Kind::tensor || a.bytes == 0) continue;
    const auto at = static_cast<std::int64_t>(run.address(a) - view.base(pointer));
    out.push_back({at, at + a.bytes});
  }
  return joined(std::move(out));
}

constexpr std::int64_t most_of_a_part = 1 << 16;

Outcome<Bytes> by_layout(const CodeView& view, const Filling& filling, std::int64_t thread,
                         const std::array<std::int64_t, 3>& block) {
  if (static_cast<int>(filling.unknowns.size()) != unknown_numbers(view.l)) {
    return refused("the layout has numbers that are not known, and none were given for them");
  }
  Inputs inputs{filling.unknowns, thread, block};
  std::size_t last = view.l.levels.size();
  while (last > 0 && view.l.levels[last - 1].instructions) --last;
  const auto got = evaluate(view.l, view.l.levels[last - 1], inputs);
  if (!got) return got.error();
  const Layout layout = lowering::filled(view.l.outcome.layout,
                                         std::vector<std::int64_t>(got->begin() + 1, got->end()));
  const Result<std::int64_t> count = size(layout);
  if (!count) return refused("a layout without a size");
  if (*count > most_of_a_part) {
    return refused(fmt::format("a part of {} elements is larger than is tried", *count));
  }
  Bytes out;
  for (std::int64_t e = 0; e < *count; ++e) {
    const std::int64_t at = ((*got)[0] + layout(e)) * view.element;
    out.push_back({at, at + view.element});
  }
  return joined(std::move(out));
}

std::string range(const Bytes& bytes) {
  if (bytes.empty()) return "none";
  return fmt::format("{} to {}{}", bytes[0].first, bytes[0].second - 1,
                     bytes.size() > 1 ? fmt::format(" and {} pieces more", bytes.size() - 1) : "");
}

// The block whose tile another order of the tiles would give: along the rows, where the layout
// counts down the columns.
std::optional<std::array<std::int64_t, 3>> along_rows(const CodeView& view, const Filling& filling,
                                                      std::int64_t block) {
  const Layout& layout = view.l.tensor.layout;
  if (static_cast<int>(filling.unknowns.size()) != unknown_numbers(view.l)) return std::nullopt;
  if (layout.rank() != 2 || layout.modes.mode(1).rank() != 2) return std::nullopt;
  const Layout tiles(lowering::filled(layout, filling.unknowns).modes.mode(1));
  if (tiles.leaves() != 2) return std::nullopt;
  const std::int64_t down = tiles.modes.leaf[0].shape.value, wide = tiles.modes.leaf[1].shape.value;
  if (down <= 0 || wide <= 0) return std::nullopt;
  return std::array<std::int64_t, 3>{block % wide * down + block / wide % down, 0, 0};
}

// The layout's threads that the kernel's block has.
std::int64_t compared_threads(const CodeView& view) {
  return std::min<std::int64_t>(static_cast<std::int64_t>(view.thread_count()),
                                view.partitioned ? view.partitioned : 1024);
}

struct Finding {
  bool same = true, same_by_rows = true, same_in_tile = true;
  std::string first;       // where the bytes are not the same
  std::string first_tile;  // where a tile does not begin at the same byte
  std::string first_in_tile;
  std::int64_t blocks = 0;
};

std::optional<Error> look(CodeView& view, std::uint64_t pointer, const Filling& filling,
                          std::int64_t block, Finding& out) {
  const auto split = view.numbers(filling, 0, static_cast<std::uint64_t>(block), 0, 1).block;
  const std::array<std::int64_t, 3> own{split[0], split[1], split[2]};
  const auto other = along_rows(view, filling, block);
  std::optional<std::int64_t> ours_begin, theirs_begin;
  const bool all_threads = view.l.copy.has_value();
  const std::int64_t threads = all_threads ? compared_threads(view) : 1;
  for (std::int64_t t = 0; t < threads; ++t) {
    Bytes theirs;
    const auto last = static_cast<std::int64_t>(all_threads ? t + 1 : view.thread_count());
    for (std::int64_t each = t; each < last; ++each) {
      const Bytes part = by_instructions(view, pointer,
                                         view.numbers(filling, static_cast<std::uint64_t>(each),
                                                      static_cast<std::uint64_t>(block), 0, 1));
      theirs.insert(theirs.end(), part.begin(), part.end());
    }
    theirs = joined(std::move(theirs));
    const Outcome<Bytes> ours = by_layout(view, filling, t, own);
    if (!ours) return ours.error();
    if (!ours_begin && !ours->empty() && !theirs.empty()) {
      ours_begin = ours->front().first;
      theirs_begin = theirs.front().first;
      if (*ours_begin != *theirs_begin && out.first_tile.empty()) {
        out.first_tile = fmt::format("block {} begins at byte {} in PTX, at {} in the layout",
                                     block, *theirs_begin, *ours_begin);
      }
    }
    if (*ours != theirs) {
      if (out.same) {
        out.first = fmt::format("thread {} of block {} has bytes {} in PTX, {} in the layout", t,
                                block, range(theirs), range(*ours));
      }
      out.same = false;
    }
    if (ours_begin && moved(*ours, -*ours_begin) != moved(theirs, -*theirs_begin)) {
      if (out.same_in_tile) {
        out.first_in_tile = fmt::format(
            "thread {} of block {} has bytes {} in PTX, {} in the layout, from where thread 0 "
            "begins",
            t, block, range(moved(theirs, -*theirs_begin)), range(moved(*ours, -*ours_begin)));
      }
      out.same_in_tile = false;
    }
    if (out.same_by_rows) {
      const Outcome<Bytes> rows =
          other ? by_layout(view, filling, t, *other) : Outcome<Bytes>(Bytes{});
      out.same_by_rows = other && rows && *rows == theirs;
    }
  }
  ++out.blocks;
  return std::nullopt;
}

}  // namespace

void compare_layout(CodeView& view, Lowered& out) {
  if (!comparable(view.l)) return;
  for (const std::uint64_t pointer : view.pointers()) {
    Finding found;
    std::optional<Error> error;
    for (const Filling& filling : view.fillings) {
      const std::int64_t blocks = std::int64_t{filling.blocks[0]};
      std::vector<std::int64_t> tried{0, 1, 2, blocks / 2, blocks - 1};
      std::sort(tried.begin(), tried.end());
      tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
      for (const std::int64_t block : tried) {
        if (block < 0 || block >= blocks) continue;
        if (!error) error = look(view, pointer, filling, block, found);
      }
    }
    const std::string name = view.parameter(pointer);
    const std::string who =
        !view.l.copy ? std::string("all threads together")
        : compared_threads(view) == static_cast<std::int64_t>(view.thread_count())
            ? fmt::format("all {} threads", view.thread_count())
            : fmt::format("the layout's {} threads (the block has {})", compared_threads(view),
                          view.thread_count());
    const std::string times =
        fmt::format("{} blocks{}", found.blocks,
                    view.fillings.size() > 1
                        ? fmt::format(" with {} choices of the sizes", view.fillings.size())
                        : "");
    out.compared = true;
    if (error) {
      out.agrees = false;
      out.found.push_back(fmt::format("{}: not compared: {}", name, error->sentence));
    } else if (found.same) {
      out.found.push_back(
          fmt::format("{}: the same bytes as in the layout for {}, in {}.", name, who, times));
    } else if (found.same_by_rows) {
      out.found.push_back(fmt::format(
          "{}: the same bytes as in the layout for {}, in {}, where blocks are counted along the "
          "rows of tiles; the layout counts down the columns, so {}.",
          name, who, times, found.first_tile));
    } else if (found.same_in_tile && view.l.copy) {
      out.found.push_back(fmt::format(
          "{}: the same bytes of its tile for {}, in {}; but tiles do not begin alike: {}.", name,
          who, times, found.first_tile));
      out.agrees = false;
    } else {
      out.agrees = false;
      out.found.push_back(fmt::format("{}: not the same bytes: {}.", name,
                                      found.first_tile.empty() || found.first_in_tile.empty()
                                          ? found.first
                                          : found.first_in_tile));
    }
  }
}

void compare_sums(CodeView& view, Lowered& out) {
  // Every thread, unless there is very much to be tried.
  constexpr std::uint64_t most_addresses = 200'000;
  const std::uint64_t threads = view.thread_count();
  const std::uint64_t step = 1 + view.addresses.accesses().size() * threads / most_addresses;
  for (const Filling& filling : view.fillings) {
    for (const std::uint32_t round : {0u, 1u, 3u}) {
      const std::uint64_t block = round * 5 % std::max(1u, filling.blocks[0]);
      for (std::uint64_t t = 0; t < threads; t += round ? 12 + step : step) {
        ptx::SliceRun run(view.addresses, view.numbers(filling, t, block, round, round + 1));
        for (const ptx::Access& a : view.addresses.accesses()) {
          bool same = run.address(a) == run.value(a.address);
          for (std::size_t k = 0; k < a.coordinates.size(); ++k) {
            same = same && run.coordinate(a, k) == run.value(a.coordinates[k]);
          }
          if (same) continue;
          out.sums_agree = false;
          out.sums = fmt::format(
              "The sum of `{}` is not what its instructions compute: thread {} of block {}, round "
              "{}: {:#x} by the instructions, {:#x} by the sum. Somewhere a register overflows, or "
              "bits are cut off.",
              view.words(view.program().code[a.at]), t, block, round, run.address(a),
              run.value(a.address));
          return;
        }
      }
    }
  }
  if (view.addresses.accesses().empty()) return;
  out.sums = fmt::format(
      "Instructions, run one by one, and these sums come to the same addresses: {} accesses of {} "
      "threads, some of them in two rounds more.",
      view.addresses.accesses().size(), (threads + step - 1) / step);
}

// --- what became of what ------------------------------------------------------------------------

Kinship kinship(CodeView& view, const std::vector<std::uint32_t>& slice) {
  Kinship out;
  std::size_t last = view.l.levels.size();
  while (last > 0 && view.l.levels[last - 1].instructions) --last;
  if (last == 0) return out;
  for (const Filling& filling : view.fillings) {
    if (static_cast<int>(filling.unknowns.size()) != unknown_numbers(view.l)) return out;
  }
  const Level& above = view.l.levels[last - 1];
  using Print = std::vector<std::int64_t>;
  std::vector<Print> statements(above.statements.size());
  std::vector<bool> numbers(above.statements.size(), true);
  std::map<std::uint32_t, Print> instructions;
  const std::vector<std::uint64_t> pointers = view.pointers();
  const auto bytes_from_base = [&](std::uint64_t value) {
    for (const std::uint64_t p : pointers) {
      const auto rest = static_cast<std::int64_t>(value - view.base(p));
      if (rest > -(std::int64_t{1} << 34) && rest < std::int64_t{1} << 34) return rest;
    }
    return static_cast<std::int64_t>(value);
  };
  const std::int64_t threads = static_cast<std::int64_t>(view.thread_count());
  for (const Filling& filling : view.fillings) {
    for (const std::int64_t block : {0, 1, 3, 6}) {
      if (block >= filling.blocks[0]) continue;
      for (std::int64_t t = 0; t < threads; t += t % 3 + 5) {
        const auto of_level = values(view.l, above, {filling.unknowns, t, {block, 0, 0}});
        if (!of_level) return out;
        for (std::size_t s = 0; s < statements.size(); ++s) {
          numbers[s] = numbers[s] && (*of_level)[s].has_value();
          statements[s].push_back((*of_level)[s].value_or(0));
        }
        ptx::SliceRun run(view.addresses, view.numbers(filling, static_cast<std::uint64_t>(t),
                                                       static_cast<std::uint64_t>(block), 0, 1));
        for (const std::uint32_t at : slice) {
          const std::uint64_t value = run.written(at);
          const bool wide = value >> 32;
          instructions[at].push_back(
              wide ? bytes_from_base(value)
                   : std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(value))});
        }
      }
    }
  }
  const auto same = [&](const Print& a, const Print& b, std::int64_t times) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i] * times) return false;
    }
    return true;
  };
  for (const std::uint32_t at : slice) {
    if (const auto sum = view.addresses.value(at); sum && sum->atom()) {
      const ptx::Atom& atom = view.addresses.sums().atom(*sum->atom());
      if (atom.kind == ptx::Atom::Kind::parameter && atom.bytes == 8) {
        for (std::size_t s = 0; s < statements.size(); ++s) {
          const Statement& one = above.statements[s];
          if (one.op == Op::extract && one.path == std::vector<int>{0}) {
            out.from[at].push_back(static_cast<int>(s));
          }
        }
        continue;
      }
    }
    const Print& print = instructions[at];
    const bool varies =
        std::any_of(print.begin(), print.end(), [&](std::int64_t n) { return n != print.front(); });
    if (!varies) continue;
    for (const std::int64_t times : {std::int64_t{1}, view.element}) {
      for (std::size_t s = 0; s < statements.size() && out.from[at].empty(); ++s) {
        if (numbers[s] && same(print, statements[s], times)) {
          out.from[at].push_back(static_cast<int>(s));
        }
      }
    }
    if (out.from[at].empty()) out.from.erase(at);
  }
  // What is on the way to something is of that.
  std::map<std::uint32_t, std::vector<std::uint32_t>> users;
  for (const std::uint32_t at : slice) {
    ptx::each_read(view.program(), view.program().code[at], [&](std::uint32_t reg) {
      const ptx::Defined value = view.addresses.definitions().found(view.addresses.before(at, reg));
      if (value.kind == ptx::Defined::Kind::instruction) users[value.at].push_back(at);
    });
  }
  for (auto at = slice.rbegin(); at != slice.rend(); ++at) {
    if (out.from.count(*at)) continue;
    std::vector<int> all;
    for (const std::uint32_t user : users[*at]) {
      const auto known = out.from.find(user);
      if (known != out.from.end()) {
        all.insert(all.end(), known->second.begin(), known->second.end());
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (!all.empty()) out.from[*at] = std::move(all);
  }
  return out;
}

}  // namespace tilescope::lowering
