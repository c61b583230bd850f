#include "core/sim/machine/reports.h"

#include "core/sim/checks/undefined.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

std::uint32_t thread_of(const Core& x, int lane) {
  return x.warp->index * 32 + static_cast<std::uint32_t>(lane);
}

}  // namespace

Flow Reports::fault(const Core& x, int lane, std::string kind, std::string sentence,
                    std::string expected, std::string found) {
  fault_at(*x.block, thread_of(x, lane), x.pc, std::move(kind), std::move(sentence),
           std::move(expected), std::move(found));
  reports_.back().site = model_->site_now(*x.block, *x.warp, lane, x.pc);
  return Flow::fault;
}

bool Reports::fault_at(const Block& block, std::uint32_t thread, std::uint32_t pc, std::string kind,
                       std::string sentence, std::string expected, std::string found) {
  Report r;
  r.weight = Weight::fault;
  r.kind = std::move(kind);
  r.sentence = std::move(sentence);
  r.expected = std::move(expected);
  r.found = std::move(found);
  r.site = model_->site(block, thread, pc);
  reports_.push_back(std::move(r));
  model_->recording.record_report(block, thread, pc);
  model_->state = RunState::fault;
  return false;
}

void Reports::hazard(const Core& x, int lane, std::string kind, std::uint32_t other_pc,
                     const std::function<Report()>& tell) {
  tell_once(Weight::hazard, *x.block, thread_of(x, lane), x.pc, {std::move(kind), x.pc, other_pc},
            tell);
}

void Reports::hazard_at(const Block& block, std::uint32_t thread, std::uint32_t pc,
                        std::string kind, std::uint32_t other_pc,
                        const std::function<Report()>& tell) {
  tell_once(Weight::hazard, block, thread, pc, {std::move(kind), pc, other_pc}, tell);
}

void Reports::note(const Core& x, int lane, std::string kind, std::uint32_t other_pc,
                   const std::function<Report()>& tell) {
  tell_once(Weight::note, *x.block, thread_of(x, lane), x.pc, {std::move(kind), x.pc, other_pc},
            tell);
}

void Reports::note_at(const Block& block, std::uint32_t thread, std::uint32_t pc, std::string kind,
                      std::uint32_t other_pc, const std::function<Report()>& tell) {
  tell_once(Weight::note, block, thread, pc, {std::move(kind), pc, other_pc}, tell);
}

void Reports::note_of_place(const Core& x, int lane, std::string kind, std::uint32_t offset,
                            const std::function<Report()>& tell) {
  constexpr std::uint32_t any = ~0u;
  tell_once(Weight::note, *x.block, thread_of(x, lane), x.pc, {std::move(kind), any, offset}, tell);
}

void Reports::tell_once(Weight weight, const Block& block, std::uint32_t thread, std::uint32_t pc,
                        Key key, const std::function<Report()>& tell) {
  const auto [known, added] = hazards_.try_emplace(key, reports_.size());
  if (!added) {
    ++reports_[known->second].count;
    reports_[known->second].warps.add(block.number, thread / 32);
    return;
  }
  Report r = tell();
  r.weight = weight;
  r.kind = std::get<0>(key);
  r.site = model_->site(block, thread, pc);
  r.warps.add(block.number, thread / 32);
  Happened told;
  told.what = Happening::report;
  told.block = block.number;
  told.warp = thread / 32;
  told.pc = pc;
  told.object = static_cast<std::uint32_t>(reports_.size());
  reports_.push_back(std::move(r));
  if (weight == Weight::hazard) model_->recording.record_report(block, thread, pc);
  // What is only worth knowing holds nobody up who did not ask for it.
  if (weight != Weight::note || model_->stops.asks_for_one()) model_->stops.happened(told);
}

// Of a product that made undefined values, its operand says more than the cells where they lay.
void Reports::note_undefined_store(const Core& x) {
  constexpr std::size_t most = 1024;
  stored_undefined_ = true;
  const Origin& o = x.warp->origin;
  const auto key = std::pair{x.block->number, x.pc};
  const std::string& product = x.block->tensor.undefined_read;
  const bool by_product = !product.empty() && (o.in_tensor_memory || !x.block->warpgroups.empty());
  if ((!o.known && !by_product) || undefined_stores_.size() >= most || undefined_stores_.count(key))
    return;
  undefined_stores_[key] = (by_product ? product : origin_text(x)) +
                           (x.unsure ? ", and decided a branch or guard of this store" : "");
}

// Why a byte of a buffer may be undefined: by the store that wrote it; or, where that was a copy,
// by the first of its block.
std::string Reports::undefined_story(Writer writer) const {
  const auto own = undefined_stores_.find({writer.block(), writer.pc()});
  if (own != undefined_stores_.end()) return own->second;
  const auto first = undefined_stores_.lower_bound({writer.block(), 0});
  const bool same = first != undefined_stores_.end() && first->first.first == writer.block();
  return same ? first->second : "";
}

}  // namespace tilescope::sim
