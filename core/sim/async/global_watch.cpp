// Global memory that operations in flight use, and what other proxies have been told of it.
//
// A region that no operation uses costs its accesses one look; what was written when is remembered
// only in programs with bulk copies.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 map_bytes = 128;

const char* verb_of(GlobalUse use) {
  return use == GlobalUse::reads ? "reads" : use == GlobalUse::writes ? "writes" : "updates";
}

const char* verb_of(Shadow::Kind kind) {
  return kind == Shadow::Kind::read ? "reads" : kind == Shadow::Kind::atomic ? "updates" : "writes";
}

// "byte 16 of buffer B"
std::string place_in(const Region& region, u64 address) {
  const bool variable = region.kind() == Region::Kind::variable;
  return fmt::format("byte {} of {} {}", address - region.base(),
                     variable ? "the variable" : "buffer", region.name());
}

// Reductions are atomic among themselves; two that read are no conflict.
bool conflict(GlobalUse a, GlobalUse b) {
  return a != b || a == GlobalUse::writes;
}

std::vector<GlobalRange> pieces_of(const AsyncOperation& o) {
  std::vector<GlobalRange> out;
  o.work->pieces(o, [&](const GlobalRange& piece) {
    out.push_back(piece);
    return true;
  });
  const auto before = [](const GlobalRange& a, const GlobalRange& b) { return a.begin < b.begin; };
  if (!std::is_sorted(out.begin(), out.end(), before)) std::sort(out.begin(), out.end(), before);
  return out;
}

// The first address that is in both; 0 where there is none.
u64 common(const std::vector<GlobalRange>& a, const std::vector<GlobalRange>& b) {
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i].meets(b[k])) return std::max(a[i].begin, b[k].begin);
    ++(a[i].end < b[k].end ? i : k);
  }
  return 0;
}

}  // namespace

bool goes_through_async_proxy(const ptx::Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const ptx::Instruction& i) {
    return i.modifiers.has(ptx::Field::bulk) || i.op == ptx::Op::tcgen05;
  });
}

void GlobalWatch::begin() {
  watches_proxies_ = model_->options.races && goes_through_async_proxy(model_->program());
  const auto& code = model_->program().code;
  const bool has_products = std::any_of(
      code.begin(), code.end(), [](const ptx::Instruction& i) { return i.op == ptx::Op::wgmma; });
  tells_lanes_apart_ = model_->options.races && (watches_proxies_ || has_products);
  for (Region& r : model_->regions) {
    if (!watches_proxies_) break;
    r.remember_times();
    r.set_time(proxies_.now());
  }
}

// ---- proxies ----

void GlobalWatch::fence_global(Core& x, Mask m, Proxy proxy, Scope scope) {
  if (!watches_proxies_) return;
  proxies_.tell(proxy, x.block->number, x.warp->index, m);
  if (proxy == Proxy::tensor_map && x.block->order.on()) {
    map_fences_.release(observer(x), m, scope, proxies_.now());
  }
  for (Region& r : model_->regions) r.set_time(proxies_.now());
}

void GlobalWatch::acquire_map(Core& x, u64 address, Scope scope) {
  if (!watches_proxies_) return;
  proxies_.ask(x.block->number, address);
  if (x.block->order.on()) {
    map_fences_.acquire(observer(x), address, scope, proxies_.now());
  }
  for (Region& r : model_->regions) r.set_time(proxies_.now());
}

// What a bulk copy wrote the async proxy knows; tensormap.cp_fenceproxy tells of what it wrote.
bool GlobalWatch::was_told(Writer writer, u32 time, Proxy proxy) const {
  const ptx::Instruction& by = model_->program().code[writer.pc()];
  if (by.op == ptx::Op::cp) return true;
  const bool replaces = by.modifiers.has(ptx::Field::map_field);
  if (proxy == Proxy::tensor_map && by.op == ptx::Op::tensormap && !replaces) return true;
  return proxies_.has_told(proxy, writer.block(), writer.thread(), time);
}

bool GlobalWatch::is_untold(const Region& region, u64 offset) const {
  const Writer writer = region.writer(offset);
  return writer && !was_told(writer, region.written_at(offset), Proxy::async);
}

// By a fence between the write and here, in whichever thread (8.9.5).
bool GlobalWatch::is_told_on_the_way(const BlockOrder& order, u32 warp, const Region& region,
                                     u64 offset) const {
  if (!region.watched || !order.on()) return false;
  const Observer& who = order.of(warp);
  return model_->accesses_of(region).any_writer(
      offset, offset + 1, [&](u64, u64, const Shadow::Touch& by) {
        return !by.operation && who.is_told_of_global(by.agent, by.epoch);
      });
}

namespace {

enum class Told : std::uint8_t { in_time, too_late, unknown };

// Who wrote has told the async proxy by now: but, where that is another warp, before it let this
// one know?
Told told_in_time(const Core& x, const Region& region, u64 offset) {
  Model& machine = *x.machine;
  const Writer writer = region.writer(offset);
  if (!writer || machine.program().code[writer.pc()].op == ptx::Op::cp) return Told::in_time;
  if (!region.watched || !x.block->order.on()) return Told::unknown;
  const Observer& who = x.block->order.of(x.warp->index);
  Told out = Told::in_time;
  machine.accesses_of(region).any_writer(
      offset, offset + 1, [&](u64, u64, const Shadow::Touch& by) {
        if (by.operation || by.thread / 32 != writer.thread() / 32 ||
            by.home.block != writer.block()) {
          out = Told::unknown;
          return true;
        }
        if (who.is_told_of_global(by.agent, by.epoch) || by.agent == who.me()) return true;
        const u32 until = who.sure().seen.of(by.agent);
        const Block* const home = machine.resident(by.home.block);
        if (until < by.epoch || !home) {  // a race, told as such; or it is no longer known
          out = Told::unknown;
          return true;
        }
        const Mask lane = Mask{1} << writer.thread() % 32;
        const bool in_time = home->order.of(by.agent.slot).has_fenced_global(lane, by.epoch, until);
        out = in_time ? Told::in_time : Told::too_late;
        return true;
      });
  return out;
}

Evidence::Party written_by(const Model& machine, Writer writer, GlobalRange where) {
  Evidence::Party out;
  out.does = fmt::format("{} writes", opcode_text(machine.program().code[writer.pc()].text));
  out.place = place_of(where);
  out.site = machine.site_of(writer);
  return out;
}

}  // namespace

// The async proxy is told of a thread's writes by its own fence.proxy.async (9.7.9.25.2).
void GlobalWatch::watch_untold(Core& x, int lane, const AsyncOperation& o) {
  const Region& region = *model_->region_of(o.global.begin);
  if (!region.was_written()) return;
  o.work->pieces(o, [&](const GlobalRange& piece) {
    for (u64 at = piece.begin; at < piece.end; at += region.grain()) {
      const u64 offset = at - region.base();
      const Writer writer = region.writer(offset);
      const bool told = !is_untold(region, offset);
      const Told when = told ? told_in_time(x, region, offset) : Told::too_late;
      if (when == Told::unknown && model_->order_log) {
        model_->order_log->blind(
            "whether fence.proxy.async comes before what tells of a store to global memory is not "
            "known any more");
      }
      if (when != Told::too_late ||
          is_told_on_the_way(x.block->order, x.warp->index, region, offset)) {
        continue;
      }
      model_->reports.hazard(x, lane, "missing_proxy_fence", writer.pc(), [&] {
        Report r;
        r.sentence = fmt::format(
            "{} {} {} through the async proxy, but {} wrote it and executed {}: the old bytes may "
            "be {}",
            o.work->name, verb_of(o.work->global), place_in(region, at),
            text(model_->site_of(writer)),
            told ? "its fence.proxy.async only behind what was waited for"
                 : "no fence.proxy.async since",
            o.work->global == GlobalUse::writes ? "the last" : "read");
        r.expected = "fence.proxy.async or fence.proxy.async.global by the thread that writes";
        r.found = told ? "a fence behind the signal" : "no fence between";
        r.evidence =
            collision(lane_at(x, lane, fmt::format("{} {}", o.work->name, verb_of(o.work->global)),
                              place_of(piece)),
                      written_by(*model_, writer, {at, at + region.grain()}));
        return r;
      });
      return false;
    }
    return true;
  });
}

// Of the map at `address`, whose byte at `offset` a thread has written and released, and for which
// a thread of this block has asked since.
MapFences::Wrong GlobalWatch::wrong_fences(const Core& x, const Region& region, u64 address,
                                           u64 offset) const {
  MapFences::Wrong out = MapFences::Wrong::nothing;
  if (!region.watched || !x.block->order.on()) return out;
  const Writer writer = region.writer(offset);
  const ptx::Instruction& by = model_->program().code[writer.pc()];
  model_->accesses_of(region).any_writer(
      offset, offset + 1, [&](u64, u64, const Shadow::Touch& touch) {
        const bool same =
            touch.home.block == writer.block() && touch.agent.slot == writer.thread() / 32;
        if (touch.operation || !same) return true;
        MapFences::Write write{touch.agent, touch.home, touch.epoch, region.written_at(offset),
                               writer.thread() % 32};
        write.releases = by.op == ptx::Op::tensormap && !by.modifiers.has(ptx::Field::map_field);
        if (write.releases) write.scope = scope_of(by.modifiers, Scope::cta);
        out = map_fences_.wrong(x.block->order.of(x.warp->index), address, write);
        return true;
      });
  return out;
}

namespace {

// What is wrong with which fence, for the sentence; and what is expected.
std::pair<const char*, const char*> words_of(MapFences::Wrong wrong) {
  using Wrong = MapFences::Wrong;
  switch (wrong) {
    case Wrong::release_scope:
      return {
          "that thread's releasing fence.proxy.tensormap::generic has a scope that does not "
          "include this CTA",
          "a releasing fence.proxy.tensormap::generic with a scope that includes who uses the "
          "map"};
    case Wrong::acquire_scope:
      return {
          "this CTA's acquiring fence.proxy.tensormap::generic has a scope that does not "
          "include that one",
          "an acquiring fence.proxy.tensormap::generic with a scope that includes who wrote "
          "the map"};
    case Wrong::release_late:
      return {
          "that thread executed its releasing fence.proxy.tensormap::generic only behind what "
          "was waited for",
          "fence.proxy.tensormap::generic.release between the map's last change and what "
          "tells of it"};
    case Wrong::acquire_early:
      return {
          "this CTA executed its acquiring fence.proxy.tensormap::generic before it had waited "
          "for what tells of the map",
          "fence.proxy.tensormap::generic.acquire behind the wait, and before the map's use"};
    default:
      return {
          "the acquiring fence.proxy.tensormap::generic was executed by another warp, for which "
          "this one has not waited since",
          "fence.proxy.tensormap::generic.acquire by the thread that uses the map, or a "
          "barrier behind it"};
  }
}

}  // namespace

// A tensor map that this launch has written: the writer tells the proxy that reads maps, and a
// thread of the block that uses it asks for it (9.7.13.4).
void GlobalWatch::watch_map(Core& x, int lane, u64 address) {
  maps_[static_cast<std::size_t>(lane)] = address;
  const Region* region = model_->region_of(address);
  if (!watches_proxies_ || !region || !region->was_written()) return;
  for (u64 at = address; at < address + map_bytes; at += region->grain()) {
    const u64 offset = at - region->base();
    const Writer writer = region->writer(offset);
    if (!writer) continue;
    if (model_->order_log) {
      model_->order_log->blind(
          "whether the fences of a tensor map are in their places in every order is not followed");
    }
    const u32 time = region->written_at(offset);
    const bool told = was_told(writer, time, Proxy::tensor_map);
    const bool asked = told && proxies_.has_asked(x.block->number, address, time);
    const MapFences::Wrong wrong =
        asked ? wrong_fences(x, *region, address, offset) : MapFences::Wrong::nothing;
    if (asked && wrong == MapFences::Wrong::nothing) continue;
    model_->reports.hazard(x, lane, "missing_proxy_fence", writer.pc(), [&] {
      Report r;
      if (asked) {
        const auto [what, wanted] = words_of(wrong);
        r.sentence =
            fmt::format("the tensor map at {} was written by {}, and {}: the old map may be used",
                        place_in(*region, address), text(model_->site_of(writer)), what);
        r.expected = wanted;
        r.found = "a fence that does not order the two";
        r.evidence = collision(lane_at(x, lane, "uses the tensor map",
                                       place_of(GlobalRange{address, address + map_bytes})),
                               written_by(*model_, writer, {at, at + region->grain()}));
        return r;
      }
      r.sentence = fmt::format(
          "the tensor map at {} was written by {}, and {} fence.proxy.tensormap::generic since: "
          "the "
          "old map may be used",
          place_in(*region, address), text(model_->site_of(writer)),
          told ? "this CTA executed no acquiring" : "that thread executed no releasing");
      r.expected =
          told ? "fence.proxy.tensormap::generic.acquire of the map's 128 bytes before its use"
               : "fence.proxy.tensormap::generic.release by the thread that writes the map";
      r.found = "no fence between";
      r.evidence = collision(lane_at(x, lane, "uses the tensor map",
                                     place_of(GlobalRange{address, address + map_bytes})),
                             written_by(*model_, writer, {at, at + region->grain()}));
      return r;
    });
    return;
  }
}

// ---- what is in flight ----

void GlobalWatch::enter_global(Core& x, int lane, AsyncOperation& o) {
  if (model_->program().code[x.pc].modifiers.has(ptx::Field::tensor) && o.order) {
    const u64 address = maps_[static_cast<std::size_t>(lane)];
    Region* const region = model_->region_of(address);
    if (region && region->watched) watch_map_use(x, lane, *region, address - region->base(), o);
  }
  if (!o.work->pieces) return;
  o.global = {~u64{0}, 0};
  o.work->pieces(o, [&](const GlobalRange& piece) {
    o.global = {std::min(o.global.begin, piece.begin), std::max(o.global.end, piece.end)};
    return true;
  });
  if (o.global.begin >= o.global.end) {  // all of the box lies outside
    o.global = {};
    return;
  }
  Region& region = *model_->region_of(o.global.begin);
  if (watches_proxies_) {
    watch_untold(x, lane, o);
    watch_others(x, lane, o);
  }
  ++(o.work->global == GlobalUse::reads ? region.readers : region.writers);
  if (region.watched && x.block->order.on()) watch_operation(x, lane, region, o);
}

void GlobalWatch::leave_global(AsyncOperation& o) {
  const bool reads = o.work->global == GlobalUse::reads;
  if (o.global.end == 0 || o.stage < (reads ? Stage::read : Stage::written)) return;
  Region& region = *model_->region_of(o.global.begin);
  --(reads ? region.readers : region.writers);
  if (o.global_order) model_->completions.finish(o.global_order);
  o.global = {};
}

namespace {

// Is `other`, an operation of the current block, the same store by another lane of this very
// instruction? Cutlass's epilogues have a whole warp store one box: the same bytes from the same
// place, whoever is first.
bool is_same_store(const Core& x, const AsyncOperation& o, const AsyncOperation& other) {
  const Flight& flight = x.block->flight;
  const std::vector<AsyncOperation>& all = flight.operations;
  const bool of_block = &other >= all.data() && &other < all.data() + all.size();
  return of_block && &other >= all.data() + all.size() - flight.fresh && other.pc == x.pc &&
         other.work == o.work && o.work->global == GlobalUse::writes && other.words == o.words &&
         other.global.begin == o.global.begin && other.reads.size() == 1 && o.reads.size() == 1 &&
         other.reads[0].begin == o.reads[0].begin && other.reads[0].end == o.reads[0].end;
}

}  // namespace

// Operations that use the same bytes at the same time, in any block: each is complete when it is,
// and nothing orders them before somebody has waited for one.
void GlobalWatch::watch_others(Core& x, int lane, const AsyncOperation& o) {
  const Region& region = *model_->region_of(o.global.begin);
  if (region.writers == 0 && (o.work->global == GlobalUse::reads || region.readers == 0)) return;
  std::vector<GlobalRange> mine;
  for (const Block& block : model_->blocks) {
    for (const AsyncOperation& other : block.flight.operations) {
      if (!o.global.meets(other.global) || !conflict(o.work->global, other.work->global)) continue;
      if (is_same_store(x, o, other)) continue;
      if (mine.empty()) mine = pieces_of(o);
      const u64 at = common(mine, pieces_of(other));
      if (at == 0) continue;
      model_->reports.hazard(x, lane, "unordered_copies", other.pc, [&] {
        Report r;
        r.sentence =
            fmt::format("{} {} {}, which the {} at {} {}: that is still in flight", o.work->name,
                        verb_of(o.work->global), place_in(region, at), other.work->name,
                        text(model_->site(model_->issuer(block, other), other.thread, other.pc)),
                        verb_of(other.work->global));
        r.expected = other.work->global == GlobalUse::reads
                         ? "a wait for the earlier operation's mbarrier first"
                         : "cp.async.bulk.wait_group, without .read, for the earlier one first";
        r.found = "both in flight: either could be first";
        r.evidence = collision(
            operation_in(*model_, *x.block, o, verb_of(o.work->global), place_of(o.global)),
            operation_in(*model_, block, other, verb_of(other.work->global),
                         place_of(other.global)));
        r.evidence.place = place_of(GlobalRange{at, at + 1});
        return r;
      });
      return;
    }
  }
}

void GlobalWatch::watch_global(Core& x, const MemoryAccess& access, const Region& region) {
  const auto lane_range = [&](int lane) {
    const u64 begin = region.base() + access.offsets[lane];
    return GlobalRange{begin, begin + access.bytes};
  };
  GlobalRange all{~u64{0}, 0};
  for (Mask rest = access.mask; rest; rest &= rest - 1) {
    const GlobalRange r = lane_range(__builtin_ctz(rest));
    all = {std::min(all.begin, r.begin), std::max(all.end, r.end)};
  }
  for (const Block& block : model_->blocks) {
    for (const AsyncOperation& o : block.flight.operations) {
      const GlobalUse use = o.work->global;
      const bool harmless = use == GlobalUse::reads     ? access.kind == Shadow::Kind::read
                            : use == GlobalUse::reduces ? access.kind == Shadow::Kind::atomic
                                                        : false;
      if (harmless || !o.global.meets(all)) continue;
      const std::vector<GlobalRange> pieces = pieces_of(o);
      for (Mask rest = access.mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const u64 at = common({lane_range(lane)}, pieces);
        if (at == 0) continue;
        model_->reports.hazard(x, lane, "copy_not_awaited", o.pc, [&] {
          Report r;
          r.sentence = fmt::format(
              "{} {} {}, which the {} at {} still {}: nobody has waited for it",
              opcode_text(model_->program().code[x.pc].text), verb_of(access.kind),
              place_in(region, at), o.work->name,
              text(model_->site(model_->issuer(block, o), o.thread, o.pc)), verb_of(use));
          r.expected =
              use == GlobalUse::reads
                  ? "a wait for the operation's mbarrier before its source is written"
                  : "cp.async.bulk.wait_group, without .read, by the thread that issued it, "
                    "then a barrier";
          r.found = "an operation in flight";
          r.evidence =
              collision(lane_at(x, lane,
                                fmt::format("{} {}", opcode_text(model_->program().code[x.pc].text),
                                            verb_of(access.kind)),
                                place_of(lane_range(lane))),
                        operation_in(*model_, block, o, verb_of(use), place_of(o.global)));
          r.evidence.place = place_of(GlobalRange{at, at + 1});
          return r;
        });
        return;
      }
    }
  }
}

}  // namespace tilescope::sim
