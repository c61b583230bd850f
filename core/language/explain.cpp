#include "core/language/explain.h"

#include <fmt/format.h>

#include "core/language/account.h"
#include "core/layout/text.h"

namespace tilescope {
namespace {

// What the algebra tells as it goes, as steps.
struct Telling : detail::Silent {
  Account account;
  Account in_domain;  // of steps whose values are coordinates of A
  explicit Telling(Account a) : account(a), in_domain(a) {}
  Telling(Account a, const Layout& domain) : account(a), in_domain(a.through(domain)) {}

  void leaf(int i, const Mode& m) {
    in_domain.say(fmt::format("leaf {}", i), "", m,
                  fmt::format("{} steps of {} in A's domain.", text(m.shape), text(m.stride)));
  }
  void along(const Int& stride, const Tree<Mode>& mode) {
    account.deeper().say(fmt::format("axis {}", text(stride.axis)), text(stride), Layout(mode),
                         "B's value is a coordinate of A: this axis moves along this mode of A.");
  }
  void passes(int i, const Mode& m, const Int& before, const Int& after) {
    account.deeper().say(
        fmt::format("digit {}", i), text_of(m),
        fmt::format("The stride {} is a multiple of the extent {}: this digit stays 0, and {} is "
                    "left of the stride.",
                    text(before), text(m.shape), text(after)));
  }
  void takes(int i, const Mode& m, const Mode& part) {
    account.deeper().say(fmt::format("digit {}", i), text_of(m), part,
                         fmt::format("{} of the steps stay below the extent {}; each moves {}.",
                                     text(part.shape), text(m.shape), text(part.stride)));
  }
  void beyond(const Mode& m, const Mode& part) {
    account.deeper().say("last mode", text_of(m), part,
                         fmt::format("It extends without bound and takes the {} steps that are "
                                     "left.",
                                     text(part.shape)));
  }
  void still(const Mode& m) {
    account.deeper().say("still", "", m, "One step, or a stride of 0, never moves.");
  }
  void gap(const Mode& next, const Int& reach, const Mode& fill) {
    account.say("gap", text_of(next), fill,
                fill.shape.is(1)
                    ? fmt::format("{} offsets are covered and the next stride is {}: no gap.",
                                  text(reach), text(next.stride))
                    : fmt::format("{} offsets are covered, the next stride is {}: {} copies of "
                                  "what is covered fill the gap.",
                                  text(reach), text(next.stride), text(fill.shape)));
  }
  void rest(const Int& reach, const Mode& fill) {
    if (fill.shape.is(1)) return;  // the target is reached
    account.say("rest", "", fill,
                fmt::format("{} offsets are covered with the gaps; {} copies reach the target.",
                            text(reach), text(fill.shape)));
  }
  void finds(const Mode& m, const Int& reach, const Mode& inverse) {
    in_domain.say(
        "mode", text_of(m), inverse,
        fmt::format("{} offsets are inverted; this mode has the next stride, {}, and moves "
                    "{} coordinates at a time.",
                    text(reach), text(m.stride), text(inverse.stride)));
  }
  void ends(const Int& reach) {
    account.say("end", "",
                fmt::format("No mode has the stride {}: the inverse ends there.", text(reach)));
  }
};

// A o B, with B's leaves one by one.
void compose_steps(const Layout& a, const Layout& b, bool together, Account account) {
  if (detail::needs_concrete(a, 0,
                             {.swizzle = true, .axes = true, .unknown = true, .negative = true})) {
    return;
  }
  if (detail::needs_concrete(b, 1, {.axes = true, .unknown = true})) return;
  const detail::Digits digits(a.modes, together);
  detail::Leaves shown;
  for (int i = 0; i < digits.count(); ++i) shown.push(digits.mode(i));
  bool offsets = true;  // or coordinates, which are no digits of the whole
  for (int i = 0; i < b.leaves(); ++i) {
    offsets = offsets && b.modes.leaf[i].stride.axis.none();
  }
  if (a.leaves() > 1 && offsets) {
    account.say("left side", text(a), Layout(shown.done()),
                "Coalesced; an offset of B is read as digits in these extents, the last without "
                "bound.");
  }
  (void)detail::compose(a, b, together, Telling(account, a));
}

void complement_steps(const Layout& layout, const Tuple& target, detail::Holes holes,
                      Account account) {
  const Result<Layout> moving = filter(layout);
  if (!moving) return;
  account.say("filter", text(layout), *moving, "Modes that do not move cover nothing.");
  (void)detail::complement_in(layout, target, holes, Telling(account));
}

Account top(Derivation& steps) {
  return {steps, 1};
}

// One mode divided: what the tiler leaves out, and both through the mode.
void divide_steps(const Layout& a, const Layout& tiler, Account account) {
  const Result<Layout> whole = coalesce(a);
  if (!whole) return;
  const Result<Layout> rest = complement(tiler, whole->shape());
  Account counting = account.through(a);
  counting.call("complement", fmt::format("{}, {}", text(tiler), text(whole->shape())), rest,
                "How many tiles there are, and where each begins.");
  complement_steps(tiler, whole->shape(), detail::Holes::refused, counting.deeper());
  if (!rest) return;
  const Layout both = make_layout_of(tiler, *rest);
  account.call("composition", text(a) + " o " + text(both), logical_divide(a, tiler),
               "Tile and rest as coordinates of the layout, turned into its offsets.");
  compose_steps(a, both, true, account.deeper());
}

void product_steps(const Layout& a, const Layout& b, Account account) {
  const Result<Int> block = extent(a);
  const Result<Place> reach = coshape(b);
  if (!block || !reach || !reach->plain()) return;
  bool fits = true;
  const Int target = times(*block, reach->offset(), fits);
  if (!fits) return;
  const Layout plain(a.modes);
  const Result<Layout> room = detail::complement_in(plain, Tuple(target), detail::Holes::left);
  account.call("complement", fmt::format("{}, {}", text(plain), text(target)), room,
               fmt::format("Room for copies: size {} of the block times cosize {}.", text(*block),
                           text(*reach)));
  complement_steps(plain, Tuple(target), detail::Holes::left, account.deeper());
  if (!room) return;
  account.call("composition", text(*room) + " o " + text(b), detail::compose(*room, b, false),
               "The copies in the arrangement that was asked for.");
  compose_steps(*room, b, false, account.deeper());
}

// Mode by mode as a tiler asks for it; `part` explains one mode.
template <class Part>
void by_mode_steps(const Layout& a, const Tiler& tiler, Account account, Part part) {
  if (tiler.keeps_whole()) return account.say("_", text(a), "`_` keeps the mode whole.");
  if (!tiler.by_mode()) return part(a, tiler.part(), account);
  for (int i = 0; i < tiler.rank() && i < a.rank(); ++i) {
    const Layout mode(a.modes.mode(i));
    account.say(fmt::format("mode {}", i), text(tiler.mode(i)), mode,
                "The tiler's part for this mode.");
    by_mode_steps(mode, tiler.mode(i), account.deeper(), part);
  }
  if (tiler.rank() < a.rank()) {
    account.say("others", "", fmt::format("Modes from {} on stay as they are.", tiler.rank()));
  }
}

}  // namespace

DerivationStep step_of(std::string operation, std::string operands, const Value* value,
                       std::string sentence) {
  DerivationStep out;
  out.operation = std::move(operation);
  out.operands = std::move(operands);
  out.sentence = std::move(sentence);
  if (!value) return out;
  out.result = text(*value);
  if (const Layout* layout = std::get_if<Layout>(value)) out.layout = *layout;
  if (const Verdict* verdict = std::get_if<Verdict>(value)) out.sentence = verdict->because;
  return out;
}

void explain_coalesce(const Layout& layout, Derivation& steps) {
  Account account = top(steps);
  detail::Leaves out;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    const int before = out.count();
    const Mode last = before > 0 ? out.back() : Mode{};
    detail::push_coalesced(out, m);
    const std::string name = fmt::format("leaf {}", i);
    if (m.shape.is(1)) {
      account.say(name, text_of(m), "One coordinate: it never moves, and goes.");
    } else if (out.count() == before) {
      account.say(name, text_of(m), out.back(),
                  fmt::format("Goes on where {} ends ({} * {} = {}): one mode.", text_of(last),
                              text(last.shape), text(last.stride), text(m.stride)));
    } else {
      account.say(name, text_of(m), m, before == 0 ? "The first mode." : "A mode of its own.");
    }
  }
}

void explain_composition(const Layout& a, const Layout& b, Derivation& steps) {
  if (b.plain()) return compose_steps(a, b, true, top(steps));
  top(steps).say("swizzle", text(b.swizzle),
                 "The swizzle after A is carried to its front: A's images of the swizzled bits are "
                 "the new swizzle's, checked for every coordinate.");
  compose_steps(a, Layout(b.modes), true, top(steps));
}

void explain_composition_of(const Layout& a, const Value& b, Derivation& steps) {
  if (const Layout* layout = std::get_if<Layout>(&b)) return explain_composition(a, *layout, steps);
  const Tuple* shape = std::get_if<Tuple>(&b);
  const Tiler* tiler = std::get_if<Tiler>(&b);
  if (shape && shape->scalar() && shape->leaf[0].kind != Int::Kind::all) {
    return explain_composition(a, Layout(shape->leaf[0], 1), steps);
  }
  if (!tiler && (!shape || shape->empty())) return;
  by_mode_steps(a, tiler ? *tiler : Tiler(*shape), top(steps),
                [](const Layout& mode, const Layout& part, Account account) {
                  compose_steps(mode, part, true, account);
                });
}

void explain_complement(const Layout& layout, const Tuple& target, Derivation& steps) {
  complement_steps(layout, target, detail::Holes::refused, top(steps));
}

void explain_right_inverse(const Layout& layout, Derivation& steps) {
  (void)detail::right_inverse_of(Layout(layout.modes), Telling(top(steps), layout));
}

void explain_left_inverse(const Layout& layout, Derivation& steps) {
  (void)detail::left_inverse_of(Layout(layout.modes), Telling(top(steps), layout));
}

void explain_divide(const Layout& a, const Tiler& tiler, Derivation& steps) {
  by_mode_steps(a, tiler, top(steps), divide_steps);
}

void explain_product(const Layout& a, const Tiler& tiler, Derivation& steps) {
  by_mode_steps(a, tiler, top(steps), product_steps);
}

void explain_ranked_product(const Layout& a, const Layout& b, Derivation& steps) {
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  const Result<Layout> block = append(a, Layout(1, 0), rank),
                       copies = append(b, Layout(1, 0), rank);
  if (!block || !copies) return;
  Account account = top(steps);
  account.call("logical_product", text(*block) + ", " + text(*copies),
               logical_product(*block, *copies),
               fmt::format("Both brought to rank {}; then the modes are paired one by one.", rank));
  product_steps(*block, *copies, account.deeper());
}

void explain_tile_to_shape(const Layout& block, const Tuple& target, const Tuple& order,
                           Derivation& steps) {
  Account account = top(steps);
  const Result<Layout> whole = append(block, Layout(1, 0), target.rank());
  if (!whole) return;
  Tuple copies;
  for (int i = 0; i < target.rank(); ++i) {
    const Result<Int> have = extent(*get(*whole, i)), want = extent(target.mode(i));
    if (!have || !want || !have->known()) return;
    const bool whole_copies = multiple_of(*want, have->value);
    const Int count = whole_copies ? over(*want, have->value) : Int(0);
    account.say(fmt::format("mode {}", i), text(target.mode(i)),
                fmt::format("{} elements in blocks of {}: {}.", text(*want), text(*have),
                            whole_copies ? text(count) + " copies"
                                         : std::string("no whole number of copies")));
    if (!whole_copies) return;
    copies.push(Tuple(count));
  }
  const Result<Layout> arrangement =
      order.empty() ? make_layout(copies) : make_ordered_layout(copies, order);
  account.call("copies", text(copies), arrangement, "The copies in the order that was asked for.");
  if (!arrangement) return;
  account.call("blocked_product", text(*whole) + ", " + text(*arrangement),
               blocked_product(*whole, *arrangement), "Blocks side by side, mode by mode.");
}

void explain_upcast(const Layout& layout, std::int64_t n, Derivation& steps) {
  Account account = top(steps);
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    const std::string name = fmt::format("leaf {}", i);
    const Result<Layout> wide = upcast(Layout(Tree<Mode>(m)), n);
    if (!wide) return account.say(name, text_of(m), sentence(wide.refusal));
    account.say(name, text_of(m), *wide,
                multiple_of(m.stride, n)
                    ? fmt::format("The stride {} in elements {} times as wide.", text(m.stride), n)
                    : fmt::format("{} of its elements share one that is {} times as wide.",
                                  n / m.stride.value, n));
  }
}

void explain_downcast(const Layout& layout, std::int64_t n, Derivation& steps) {
  Account account = top(steps);
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    const bool adjacent = m.stride.is(1);
    account.say(fmt::format("leaf {}", i), text_of(m),
                adjacent
                    ? fmt::format("Adjacent elements: each is {} adjacent parts.", n)
                    : fmt::format("The stride {} is {} times as many parts.", text(m.stride), n));
  }
}

void explain_thread_value(const Layout& threads, const Layout& values, Derivation& steps) {
  Account account = top(steps);
  const Result<Layout> tile = raked_product(threads, values);
  account.call("raked_product", text(threads) + ", " + text(values), tile,
               "The tile, from its coordinates to (thread, value).");
  if (!tile) return;
  const Result<Layout> owner = right_inverse(*tile);
  account.call("right_inverse", text(*tile), owner,
               "From (thread, value) to the element of the tile.");
  const Result<Int> t = extent(threads), v = extent(values);
  if (!owner || !t || !v) return;
  const Result<Layout> pairs = make_layout(make_tuple_of(*t, *v));
  if (!pairs) return;
  account.call("composition", text(*owner) + " o " + text(*pairs), composition(*owner, *pairs),
               "With one mode for the threads and one for the values.");
}

}  // namespace tilescope
