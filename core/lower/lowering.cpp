#include "core/lower/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "core/lower/build.h"

namespace tilescope::lowering {
namespace {

// Products of many unknown numbers and long lists help nobody.
constexpr std::size_t most_steps = 16;

std::optional<Error> objection(const Request& request) {
  const Layout& layout = request.tensor.layout;
  if (layout.modes.empty())
    return refused("A place for elements alone is no tensor: give a layout.");
  if (!layout.plain()) {
    return refused(fmt::format(
        "{} has a swizzle or an offset of its own: in CuTe's IR both are the pointer's, and "
        "lowering follows plain layouts.",
        text(layout)));
  }
  for (int i = 0; i < layout.leaves(); ++i) {
    const Mode& m = layout.modes.leaf[i];
    if (!m.stride.axis.none()) {
      return refused(
          fmt::format("{} has strides on axes: only offsets in memory are lowered.", text(layout)));
    }
    constexpr std::int64_t most = INT32_MAX;
    if (m.shape.value > most || m.stride.value > most || m.stride.value < -most) {
      return refused(fmt::format("{} has a number of more than 32 bits, which the IR has as i64.",
                                 text(layout)));
    }
  }
  const Memory memory = request.tensor.memory;
  if (memory != Memory::gmem && memory != Memory::smem && memory != Memory::rmem) {
    return refused("Lowering knows tensors in gmem, smem and rmem.");
  }
  if (bits_of(request.tensor.type) < 8) {
    return refused(fmt::format("{} is less than a byte: its addresses are not lowered.",
                               name_of(request.tensor.type)));
  }
  if (request.align < 0 || (request.align & (request.align - 1)) != 0) {
    return refused(fmt::format("An alignment of {}: a power of two is wanted.", request.align));
  }
  if (request.steps.size() > most_steps) {
    return refused(fmt::format("{} operations, one in the other: {} are the most.",
                               request.steps.size(), most_steps));
  }
  return std::nullopt;
}

void name_memrefs(Lowering& l) {
  for (const Level& level : l.levels) {
    for (const Statement& s : level.statements) {
      if (s.type.kind != Type::Kind::memref) continue;
      const bool known = std::any_of(l.memrefs.begin(), l.memrefs.end(), [&](const Type& t) {
        return t.layout == s.type.layout && t.align == s.type.align;
      });
      if (!known) l.memrefs.push_back(s.type);
    }
  }
}

void keep(Lowering& l, Build build, std::string_view title, std::string_view pass,
          std::string_view says) {
  build.level.title = title;
  build.level.pass = pass;
  build.level.says = says;
  name_all(build.level);
  l.levels.push_back(std::move(build.level));
}

}  // namespace

Outcome<Lowering> lower(const Request& request) {
  if (const std::optional<Error> error = objection(request)) return *error;
  Lowering l;
  l.tensor = request.tensor;
  l.align = request.align <= bits_of(request.tensor.type) / 8 ? 0 : request.align;
  l.steps = request.steps;
  Request asked = request;
  asked.align = l.align;
  for (const Step& step : request.steps) {
    if (step.kind != Step::Kind::partition) continue;
    if (l.copy) return refused("Two partitions, one in the other: lowering follows one.");
    l.copy = step.copy;
  }
  Outcome<Build> build = written(asked);
  if (!build) return build.error();
  const Statement& answered =
      build->level.statements[static_cast<std::size_t>(build->level.outcome.back().statement)];
  l.outcome = answered.type;
  keep(l, std::move(*build), "as written", "", "The operations of the program, one a statement.");
  build = sliced(l, l.levels.back());
  if (!build) return build.error();
  keep(l, std::move(*build), "slices expanded", "cute-desugar",
       "A slice is a layout, and a pointer moved by the offset of its coordinate: make_view joins "
       "the two.");
  build = arithmetic(l, l.levels.back());
  if (!build) return build.error();
  keep(l, std::move(*build), "arithmetic", "cute-expand-ops",
       "Layouts are made of the numbers that are not known; a thread's offset is quotients, "
       "remainders and products.");
  build = to_llvm(l, l.levels.back());
  if (!build) return build.error();
  keep(l, std::move(*build), "LLVM", "convert-to-llvm",
       "A tensor is a struct of its pointer and of the numbers that are not known; what is known "
       "has gone into the code.");
  keep(l, folded(l.levels.back()), "folded LLVM", "canonicalize, cse",
       "What was put into a struct and taken out again is used directly, the same thing is "
       "computed once.");
  name_memrefs(l);
  return l;
}

std::vector<int> became(const Lowering& l, int from, int statement, int to) {
  std::vector<int> now{statement};
  for (int level = from; level < to; ++level) {
    const std::vector<Statement>& next = l.levels[static_cast<std::size_t>(level + 1)].statements;
    std::vector<int> then;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const bool comes = std::any_of(next[i].from.begin(), next[i].from.end(), [&](int source) {
        return std::find(now.begin(), now.end(), source) != now.end();
      });
      if (comes) then.push_back(static_cast<int>(i));
    }
    now = std::move(then);
  }
  for (int level = from; level > to; --level) {
    std::vector<int> then;
    for (const int s : now) {
      const std::vector<int>& sources =
          l.levels[static_cast<std::size_t>(level)].statements[static_cast<std::size_t>(s)].from;
      then.insert(then.end(), sources.begin(), sources.end());
    }
    std::sort(then.begin(), then.end());
    then.erase(std::unique(then.begin(), then.end()), then.end());
    now = std::move(then);
  }
  return now;
}

std::string partition_formula(const Lowering& l) {
  constexpr std::size_t arithmetic_level = 2;
  if (!l.copy || l.levels.size() <= arithmetic_level) return {};
  const Level& level = l.levels[arithmetic_level];
  for (std::size_t i = level.statements.size(); i-- > 0;) {
    const Statement& s = level.statements[i];
    if (s.op == Op::make_int_tuple) return formula(level, {static_cast<int>(i), 0});
  }
  return {};
}

}  // namespace tilescope::lowering
