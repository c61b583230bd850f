#include "viz/product/product_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/record/issuer.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/matrix/operand.h"
#include "core/sim/tcgen05/move_shape.h"
#include "core/sim/wgmma/form.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

using sim::ProductSeen;
using sim::ProductUnit;
using u32 = std::uint32_t;

// Numbers of D that are kept of a sum, with those before them.
constexpr std::size_t most_numbers = 24'000'000;

bool writes_into(const sim::Record& record, sim::EventId id, std::uint8_t rank) {
  for (const sim::MemoryUse& use : uses_of(record.uses, id)) {
    if (use.writes && use.rank == rank && use.operand == sim::MemoryUse::Operand::d) return true;
  }
  return false;
}

// The window begins with what the system keeps; all other offsets are the CTA's own.
std::string address_text(u32 at) {
  std::string out = fmt::format("0x{:x} = {} of the window", at, grouped(at));
  if (at >= ptx::system_shared) {
    out += fmt::format(": byte {} of the CTA's own", grouped(at - ptx::system_shared));
  }
  return out;
}

DescriptorView matrix_bits(const ProductSeen& p, bool of_a) {
  const sim::ProductOperand& o = of_a ? p.a_from : p.b_from;
  DescriptorView out;
  out.name = fmt::format("Descriptor of {}", of_a ? "A" : "B");
  out.bits = o.bits;
  out.fields = p.issue.unit == ProductUnit::wgmma ? sim::wgmma_matrix_fields(o.bits)
                                                  : sim::tcgen05_matrix_fields(o.bits);
  for (sim::BitField& f : out.fields) {
    out.otherwise.push_back(otherwise(f, *o.matrix));
    if (f.low == 0) f.meaning = address_text(static_cast<u32>(f.value << 4));
    // Of what a stride means to matrices of either order, that of this one.
    const std::size_t k_major = f.meaning.find("; K-major: "), mn = f.meaning.find("; MN-major: ");
    if (k_major == std::string::npos || mn == std::string::npos) continue;
    f.meaning = f.meaning.substr(0, k_major) + ", " +
                (o.matrix->k_major ? f.meaning.substr(k_major + 11, mn - k_major - 11)
                                   : f.meaning.substr(mn + 12));
  }
  return out;
}

std::vector<DescriptorView> descriptors_of(const ProductSeen& p) {
  std::vector<DescriptorView> out;
  if (p.issue.unit == ProductUnit::warp) return out;
  if (p.a_from.matrix) out.push_back(matrix_bits(p, true));
  if (p.b_from.matrix) out.push_back(matrix_bits(p, false));
  if (p.issue.unit != ProductUnit::tcgen05) return out;
  DescriptorView d;
  d.name = "Instruction descriptor";
  d.bits = p.instruction;
  d.width = 32;
  d.fields = sim::instruction_fields(p.instruction, p.kind);
  for (const sim::BitField& f : d.fields) d.otherwise.push_back(otherwise(f));
  out.push_back(std::move(d));
  return out;
}

// The accumulator that a product adds to, as the record tells it, and which of its sums that is.
// The record does not always know where a sum ends: the numbers do (sim::sum_of).
struct Among {
  const sim::Accumulator* accumulator = nullptr;
  std::size_t sum = 0;
};
Among among(const sim::Pipeline& pipeline, sim::EventId event) {
  for (const sim::Accumulator& a : pipeline.accumulators) {
    for (std::size_t i = 0; i < a.sums.size(); ++i) {
      const auto& all = a.sums[i].products;
      if (std::find(all.begin(), all.end(), event) != all.end()) return {&a, i};
    }
  }
  return {};
}

// The products of sums [first, end) of it, and the first behind them; the nearest so many.
std::vector<sim::EventId> candidates(const Among& in, std::size_t first, std::size_t end,
                                     sim::EventId event, std::size_t most) {
  if (!in.accumulator) return {event};
  std::vector<sim::EventId> out;
  const auto& sums = in.accumulator->sums;
  for (std::size_t i = first; i < end; ++i) {
    out.insert(out.end(), sums[i].products.begin(), sums[i].products.end());
  }
  if (end < sums.size()) out.push_back(sums[end].products.front());
  if (out.size() <= most) return out;
  const auto at = static_cast<std::size_t>(std::find(out.begin(), out.end(), event) - out.begin());
  const std::size_t from = std::min(at > most / 2 ? at - most / 2 : 0, out.size() - most);
  return {out.begin() + static_cast<std::ptrdiff_t>(from),
          out.begin() + static_cast<std::ptrdiff_t>(from + most)};
}

// Where the record knows the step of K of every one of them.
void put_k_steps(ProductView& view, const Among& in, const ProductIndex& index) {
  if (!in.accumulator) return;
  const sim::Accumulation& sum = in.accumulator->sums[in.sum];
  if (sum.steps.size() != sum.products.size()) return;
  for (const std::size_t number : view.numbers) {
    const auto at = number < index.events.size()
                        ? std::find(sum.products.begin(), sum.products.end(), index.events[number])
                        : sum.products.end();
    if (at == sum.products.end()) return view.k_steps.clear();
    view.k_steps.push_back(sum.steps[static_cast<std::size_t>(at - sum.products.begin())]);
  }
  view.last_k_step = sum.last_step;
  for (const std::uint32_t step : view.k_steps) view.last_k_step = std::max(view.last_k_step, step);
}

std::vector<ProductLoad> loads_of(const sim::Record& record, const sim::Pipeline& pipeline,
                                  std::uint8_t rank, sim::EventId event) {
  std::vector<ProductLoad> out;
  for (const sim::Accumulator& a : pipeline.accumulators) {
    for (const sim::Accumulation& s : a.sums) {
      if (std::find(s.products.begin(), s.products.end(), event) == s.products.end()) continue;
      for (const sim::EventId id : s.loads) {
        const sim::Event e = record.events[id];
        ProductLoad load;
        load.event = id;
        load.pc = e.pc;
        const sim::EventId run = issuer_of(record, e);
        if (run != sim::no_event) load.warp = record.tracks[record.events[run].track].index;
        bool own = true;
        for (const sim::MemoryUse& use : uses_of(record.uses, id)) {
          own = own && use.rank == rank;
          load.cells.push_back({use.row, use.rows, use.column, use.columns});
        }
        const bool known = std::any_of(out.begin(), out.end(), [&](const ProductLoad& other) {
          return other.event == load.event;
        });
        if (own && !known) out.push_back(std::move(load));
      }
    }
  }
  return out;
}

// The name of register r of an instruction's first operand.
std::string register_name(const ptx::Program& program, u32 pc, u32 r) {
  const ptx::Operand& vector = program.operands_of(program.code[pc])[0];
  if (r >= vector.count) return "";
  const ptx::Operand& one = program.elements[vector.index + r];
  if (one.kind == ptx::Operand::Kind::sink) return "_";
  return one.kind == ptx::Operand::Kind::reg ? program.name_of_register(one.index) : "";
}

// Lane and element of a fragment at a place of its matrix.
std::optional<std::pair<u32, u32>> holder(const sim::Fragment& f, u32 place) {
  const auto at = std::find(f.place.begin(), f.place.end(), static_cast<std::uint16_t>(place));
  if (at == f.place.end()) return {};
  const auto index = static_cast<u32>(at - f.place.begin());
  return std::pair(index % 32, index / 32);
}

sim::Fragment fragment_of(const ProductView& view) {
  const ProductSeen& p = view.seen();
  return p.issue.unit == ProductUnit::wgmma
             ? sim::group_d_fragment(sim::group_form(*view.program, view.program->code[p.issue.pc]))
             : sim::mma_forms()[p.form].d_fragment;
}

void find_owners(ProductView& view) {
  const ProductSeen& p = view.seen();
  view.owners.assign(std::size_t{p.m} * p.n, ProductView::nobody);
  if (p.issue.unit == ProductUnit::warp) {
    const sim::Mma& mma = sim::mma_forms()[p.form];
    const auto lanes_of = [](const sim::Fragment& f, u32 count) {
      std::vector<std::uint16_t> out(count, ProductView::nobody);
      for (std::size_t i = 0; i < f.place.size(); ++i) {
        if (f.place[i] < count) out[f.place[i]] = static_cast<std::uint16_t>(i % 32);
      }
      return out;
    };
    // Of a sparse A what is stored has no column of its own, and four products share their B.
    if (!mma.sparse && !mma.four) {
      view.a_lanes = lanes_of(mma.a_fragment, p.m * p.k);
      view.b_lanes = lanes_of(mma.b_fragment, p.k * p.n);
    }
  }
  if (p.issue.unit != ProductUnit::tcgen05) {
    const sim::Fragment fragment = fragment_of(view);
    const bool group = p.issue.unit == ProductUnit::wgmma;
    for (u32 w = 0; w < (group ? 4u : 1u); ++w) {
      const u32 warp = group ? p.issue.group * 4 + w : p.issue.warp;
      for (std::size_t i = 0; i < fragment.place.size(); ++i) {
        const std::size_t at = std::size_t{w} * sim::warp_rows * p.n + fragment.place[i];
        if (at < view.owners.size()) {
          view.owners[at] = static_cast<std::uint16_t>(warp * 32 + i % 32);
        }
      }
    }
    return;
  }
  // Cells of TMEM, by the loads that take them.
  std::vector<std::uint16_t> cells(128 * 512, ProductView::nobody);
  for (auto load = view.loads.rbegin(); load != view.loads.rend(); ++load) {
    const ptx::Instruction& i = view.program->code[load->pc];
    const auto shape = static_cast<sim::MoveShape>(i.modifiers[ptx::Field::cells]);
    const sim::CellRange& first = load->cells.front();
    const u32 split = load->cells.size() > 1 ? load->cells[1].column - first.column : 0;
    const u32 packed = i.modifiers.has(ptx::Field::packing) ? 2 : 1;
    for (u32 r = 0; r < view.program->operands_of(i)[0].count; ++r) {
      for (u32 l = 0; l < 32; ++l) {
        const sim::MovedCell at = sim::moved_cell(shape, l, r, split, packed);
        for (u32 half = 0; half < packed; ++half) {
          const u32 lane = first.lane + at.row, column = first.column + at.column + half;
          if (lane < 128 && column < 512) {
            cells[lane * 512 + column] = static_cast<std::uint16_t>(load->warp * 32 + l);
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < p.parts.size(); ++i) {
    const sim::SumPart& part = p.parts[i];
    for (u32 r = 0; r < part.rows; ++r) {
      for (u32 c = 0; c < part.columns; ++c) {
        view.owners[std::size_t{part.row + r} * p.n + part.column + c] =
            cells[(p.cells[i].lane + r) % 128 * 512 + (p.cells[i].column + c) % 512];
      }
    }
  }
}

void name_it(ProductView& view, const sim::Record& record, u32 pc) {
  if (pc >= record.lines.size()) return;
  const sim::RecordedLine& line = record.lines[pc];
  view.text = line.text;
  view.ptx_line = line.ptx_line;
  const bool called = line.caller_line != 0;
  const u32 file = called ? line.caller_file : line.file,
            number = called ? line.caller_line : line.line;
  if (number) view.site = fmt::format("{}:{}", record.sources[file], number);
}

// `before` is what the last one left: the first one's alone is kept.
void put_sum(ProductView& view, std::vector<ProductSeen>& all, std::size_t one) {
  const std::vector<std::size_t> which = sim::sum_of(all, one);
  auto sum = std::make_shared<std::vector<ProductSeen>>();
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (which[i] == one) view.at = i;
    sum->push_back(std::move(all[which[i]]));
  }
  for (std::size_t i = 1; i < sum->size(); ++i) (*sum)[i].before = {};
  const ProductSeen& first = sum->front();
  const bool zeros =
      std::all_of(first.before.begin(), first.before.end(), [](std::uint64_t p) { return p == 0; });
  view.whole = !first.accumulate || (first.issue.unit != ProductUnit::tcgen05 && zeros);
  view.products = std::move(sum);
}

// What is of one product alone.
void put_one(ProductView& view, const sim::Record& record, const ProductIndex& index) {
  const ProductSeen& p = view.seen();
  view.issued = view.begin = static_cast<sim::Cycle>(std::max(0.0, p.issue.begin));
  view.end = static_cast<sim::Cycle>(std::max(0.0, p.issue.end));
  if (index.async() && view.number < index.size()) {
    const sim::Event e = record.events[index.events[view.number]];
    view.issued = e.issue;
    view.begin = e.begin;
    view.end = e.end == sim::never_ends ? record.end : e.end;
  }
  view.descriptors = descriptors_of(p);
  name_it(view, record, p.issue.pc);
}

}  // namespace

std::size_t ProductIndex::at(const sim::Record& record, double time) const {
  std::size_t out = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const double begin =
        async() ? static_cast<double>(record.events[events[i]].begin) : (*of_warp)[i].issue.begin;
    if (begin <= time) out = i;
  }
  return out;
}

std::optional<std::size_t> ProductIndex::number_of(sim::EventId event) const {
  const auto at = std::find(events.begin(), events.end(), event);
  if (!async() || at == events.end()) return {};
  return static_cast<std::size_t>(at - events.begin());
}

ProductIndex products_of(const sim::Record& record, const sim::Pipeline& pipeline,
                         std::uint64_t block, std::uint32_t warp, const sim::Machine& start,
                         const std::function<bool()>& keep_on) {
  ProductIndex out;
  out.block = block;
  out.warp = warp;
  const auto own = std::find(pipeline.blocks.begin(), pipeline.blocks.end(), block);
  if (own != pipeline.blocks.end()) {
    const auto rank = static_cast<std::uint8_t>(own - pipeline.blocks.begin());
    for (const sim::EventId id : pipeline.products) {
      if (writes_into(record, id, rank)) out.events.push_back(id);
    }
  }
  if (out.events.empty() && sim::multiplies_in_warps(start.program())) {
    out.of_warp = std::make_shared<const std::vector<ProductSeen>>(
        sim::seen_products(start, block, warp, sim::most_of_warp, keep_on));
  }
  return out;
}

Outcome<std::shared_ptr<const ProductView>> open_product(
    const sim::Record& record, const sim::Pipeline& pipeline, const ProductIndex& index,
    std::size_t number, const sim::Stepper& stepper, const std::function<bool()>& keep_on) {
  auto view = std::make_shared<ProductView>();
  view->block = index.block;
  view->number = number;
  view->count = index.size();
  view->kernel = record.kernel;
  view->timed = record.timed;
  view->program = sim::program_of(stepper.machine());
  if (index.of_warp) {
    std::vector<ProductSeen> all = *index.of_warp;
    view->numbers = sim::sum_of(all, number);
    put_sum(*view, all, number);
    put_one(*view, record, index);
    find_owners(*view);
    return std::shared_ptr<const ProductView>(std::move(view));
  }
  const sim::EventId event = index.events[number];
  const sim::Event e = record.events[event];
  const std::size_t numbers_each = 2 * std::max<std::size_t>(1, e.amount / 16);
  const std::size_t most = std::max<std::size_t>(8, most_numbers / numbers_each);
  const Among in = among(pipeline, event);
  // Further sums of the record are looked at while this one goes on into them.
  std::size_t first = in.sum, end = in.sum + 1;
  std::vector<ProductSeen> all;
  std::vector<sim::EventId> events;  // without a clock: of each of them
  std::size_t one = 0;
  for (;;) {
    const sim::WantedProducts wanted{&record, candidates(in, first, end, event, most), index.block};
    all = sim::seen_products(sim::machine_before(stepper, wanted), wanted, keep_on);
    // Which of them it is: by when it was over.
    one = all.size();
    if (record.timed) {
      one = static_cast<std::size_t>(std::find_if(all.begin(), all.end(),
                                                  [&](const ProductSeen& p) {
                                                    return p.issue.pc == e.pc &&
                                                           static_cast<sim::Cycle>(
                                                               std::max(0.0, p.issue.end)) == e.end;
                                                  }) -
                                     all.begin());
    } else if (all.size() == wanted.events.size()) {
      one = static_cast<std::size_t>(std::find(wanted.events.begin(), wanted.events.end(), event) -
                                     wanted.events.begin());
    }
    if (one >= all.size()) {
      return Error{ErrorKind::mismatch,
                   fmt::format("Product {} was not come to again: the machine that is open is not "
                               "that of the record.",
                               number),
                   ""};
    }
    if (!record.timed) events = wanted.events;
    if (!in.accumulator || wanted.events.size() >= most) break;
    const std::vector<std::size_t> sum = sim::sum_of(all, one);
    const ProductSeen& begin = all[sum.front()];
    const bool before = begin.accumulate && first > 0 &&
                        std::any_of(begin.before.begin(), begin.before.end(),
                                    [](std::uint64_t p) { return p != 0; });
    const bool behind = sum.back() + 1 == all.size() && end < in.accumulator->sums.size();
    if (!before && !behind) break;
    const std::size_t more = end - first;
    if (before) first -= std::min(first, more);
    if (behind) end = std::min(in.accumulator->sums.size(), end + more);
  }
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!record.timed) {
      numbers.push_back(i < events.size() ? index.number_of(events[i]).value_or(index.size())
                                          : index.size());
      continue;
    }
    const sim::ProductIssue& issue = all[i].issue;
    const auto found = std::find_if(index.events.begin(), index.events.end(), [&](sim::EventId id) {
      const sim::Event other = record.events[id];
      return other.pc == issue.pc &&
             other.end == static_cast<sim::Cycle>(std::max(0.0, issue.end)) &&
             other.begin >= static_cast<sim::Cycle>(std::max(0.0, issue.begin));
    });
    numbers.push_back(static_cast<std::size_t>(found - index.events.begin()));
  }
  for (const std::size_t i : sim::sum_of(all, one)) view->numbers.push_back(numbers[i]);
  put_sum(*view, all, one);
  put_k_steps(*view, in, index);
  const auto own = std::find(pipeline.blocks.begin(), pipeline.blocks.end(), index.block);
  view->loads =
      loads_of(record, pipeline, static_cast<std::uint8_t>(own - pipeline.blocks.begin()),
               view->numbers.back() < index.size() ? index.events[view->numbers.back()] : event);
  put_one(*view, record, index);
  find_owners(*view);
  return std::shared_ptr<const ProductView>(std::move(view));
}

std::shared_ptr<const ProductView> at_step(const ProductView& view, const sim::Record& record,
                                           const ProductIndex& index, std::size_t step) {
  auto out = std::make_shared<ProductView>(view);
  out->at = step;
  out->number = view.numbers[step];
  put_one(*out, record, index);
  return out;
}

ElementPlace ProductView::place(u32 row, u32 column) const {
  ElementPlace out;
  const ProductSeen& p = seen();
  if (p.issue.unit == ProductUnit::tcgen05) {
    for (std::size_t i = 0; i < p.parts.size(); ++i) {
      const sim::SumPart& part = p.parts[i];
      if (row < part.row || row >= part.row + part.rows || column < part.column ||
          column >= part.column + part.columns) {
        continue;
      }
      out.cell = sim::TensorAddress{p.cells[i].lane + row - part.row,
                                    p.cells[i].column + column - part.column};
    }
    if (!out.cell) return out;
    for (std::size_t i = 0; i < loads.size() && !out.lane; ++i) {
      const ProductLoad& load = loads[i];
      for (const sim::CellRange& c : load.cells) {
        if (!c.meets({out.cell->lane, 1, out.cell->column, 1})) continue;
        const sim::CellRange& first = load.cells.front();
        const u32 split = load.cells.size() > 1 ? load.cells[1].column - first.column : 0;
        const auto mover =
            sim::mover_of(*program, program->code[load.pc], out.cell->lane - first.lane,
                          out.cell->column - first.column, split);
        if (!mover) continue;
        out.warp = load.warp;
        out.lane = mover->lane;
        out.reg = register_name(*program, load.pc, mover->reg);
        out.load = i;
        break;
      }
    }
    return out;
  }
  const bool group = p.issue.unit == ProductUnit::wgmma;
  const sim::Fragment fragment = fragment_of(*this);
  const u32 own = group ? row % sim::warp_rows : row;
  const auto found = holder(fragment, own * p.n + column);
  if (!found) return out;
  out.warp = group ? p.issue.group * 4 + row / sim::warp_rows : p.issue.warp;
  out.lane = found->first;
  out.reg =
      register_name(*program, p.issue.pc, found->second / static_cast<u32>(fragment.in_register));
  return out;
}

sim::ElementTrace ProductView::trace(std::size_t which, u32 row, u32 column) const {
  const ProductSeen& p = sum()[which];
  if (!p.before.empty()) return trace_of(p, row, column);
  return trace_of(p, row, column, sum()[which - 1].after[std::size_t{row} * p.n + column]);
}

std::vector<sim::ElementTrace> ProductView::traces(u32 row, u32 column) const {
  std::vector<sim::ElementTrace> out;
  for (std::size_t i = 0; i < sum().size(); ++i) out.push_back(trace(i, row, column));
  return out;
}

std::vector<ProductView::Piece> ProductView::pieces(bool of_a) const {
  std::vector<Piece> out;
  const sim::ProductOperand& o = of_a ? seen().a_from : seen().b_from;
  if (!o.matrix) return out;
  const u32 elements = 16 / sim::width_of(o.stored);
  const u32 lines = o.matrix->k_major ? o.rows : o.row_bytes / sim::width_of(o.stored);
  const u32 count = o.matrix->k_major ? o.row_bytes / 16 : o.rows / elements;
  for (u32 line = 0; line < lines; ++line) {
    for (u32 piece = 0; piece < count; ++piece) {
      const u32 at = o.matrix->piece(line, piece);
      if (o.matrix->k_major) {
        out.push_back({at, line, 1, piece * elements});
      } else {
        out.push_back({at, piece * elements, elements, line});
      }
    }
  }
  return out;
}

std::string ProductView::instruction_name() const {
  switch (seen().issue.unit) {
    case ProductUnit::tcgen05:
      return "tcgen05.mma";
    case ProductUnit::wgmma:
      return "wgmma.mma_async";
    default:
      return text.find("wmma") != std::string::npos ? "wmma.mma" : "mma.sync";
  }
}

std::string bits_text(const sim::BitField& f) {
  return f.count == 1 ? fmt::format("{}", f.low) : fmt::format("{}-{}", f.low, f.low + f.count - 1);
}

std::string value_text(const sim::BitField& f) {
  return f.value < 10 ? fmt::format("{}", f.value) : fmt::format("0x{:x}", f.value);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const auto narrow = static_cast<float>(value);
  return static_cast<double>(narrow) == value ? fmt::format("{}", narrow)
                                              : fmt::format("{}", value);
}

std::string pattern_text(const ProductSeen& p, std::uint64_t pattern) {
  const std::string_view type = d_type(p);
  return fmt::format("0x{:0{}x}", pattern, type == "f16" ? 4 : type == "f64" ? 16 : 8);
}

}  // namespace tilescope
