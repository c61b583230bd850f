#include "viz/product/product_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viz/scene/items.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

std::string operand_text(const ProductView& view, bool of_a) {
  const auto& p = view.seen();
  const auto& o = of_a ? p.a_from : p.b_from;
  const char* name = of_a ? "A" : "B";
  if (o.cells) return fmt::format("{} is in {}", name, cells_text(*o.cells));
  if (!o.matrix) return fmt::format("{} is in registers", name);
  const auto pieces = view.pieces(of_a);
  std::string out =
      fmt::format("{} is in shared memory, {} pieces of 16 bytes", name, pieces.size());
  if (o.blocks.size() > 1)
    out += fmt::format(" in each of CTAs {} and {}", o.blocks[0], o.blocks[1]);
  out += fmt::format(", {}:", o.matrix->k_major ? "K-major" : of_a ? "M-major" : "N-major");
  for (std::size_t i = 0; i < std::min<std::size_t>(pieces.size(), 6); ++i) {
    out += fmt::format("{} {} {} k {} at byte {}", i ? "," : "", of_a ? "row" : "column",
                       pieces[i].row, pieces[i].k, pieces[i].offset);
  }
  return out + (pieces.size() > 6 ? ", ..." : "");
}

Json step_json(const sim::ProductSeen& p, const sim::TracedStep& s) {
  Json out = {{"what", s.what}};
  if (s.aligned) out["aligned_at"] = s.largest, out["cut_below"] = s.unit;
  if (s.special) out["special"] = true;
  out["before"] = s.before_value;
  out["kept_of_before"] = s.kept;
  Json terms = Json::array();
  for (const sim::TracedTerm& t : s.terms) {
    terms.push_back({{"k", t.k}, {"a", t.a}, {"b", t.b}, {"product", t.a * t.b}, {"kept", t.kept}});
  }
  out["terms"] = std::move(terms);
  out["sum"] = s.sum;
  out["after"] = s.after_value;
  out["after_bits"] = pattern_text(p, s.after);
  return out;
}

std::string_view name_of(sim::TraceState state) {
  switch (state) {
    case sim::TraceState::exact:
      return "exact";
    case sim::TraceState::fused:
      return "fused";
    default:
      return "one step";
  }
}

Json place_json(const ElementPlace& place) {
  Json out = Json::object();
  if (place.cell) out["tmem"] = {{"lane", place.cell->lane}, {"column", place.cell->column}};
  if (place.warp) out["warp"] = *place.warp;
  if (place.lane) out["lane"] = *place.lane;
  if (!place.reg.empty()) out["register"] = place.reg;
  return out;
}

}  // namespace

std::string product_text(const ProductShown& shown) {
  const ProductView& v = shown.view;
  const sim::ProductSeen& p = v.seen();
  std::string out = product_sentence(v) + "\n";
  if (!v.site.empty()) out += fmt::format("  at {} (PTX line {})\n", v.site, v.ptx_line);
  out += fmt::format("  {}\n", v.text);
  if (p.issue.unit != sim::ProductUnit::warp) {
    out += fmt::format("  {}s {} to {}, issued by warp {}\n", v.timed ? "cycle" : "instruction",
                       grouped(v.begin), grouped(v.end), p.issue.warp);
  }
  for (const DescriptorView& d : v.descriptors) {
    out += fmt::format("\n{}, 0x{:0{}x}\n", d.name, d.bits, d.width / 4);
    for (std::size_t i = 0; i < d.fields.size(); ++i) {
      const sim::BitField& f = d.fields[i];
      out +=
          fmt::format("  {:<7} {:<21} {:>8}  {}\n", bits_text(f), f.name, value_text(f), f.meaning);
      for (const std::string& line : wrapped("otherwise: " + d.otherwise[i], 520)) {
        out += fmt::format("  {:<7} {:<21} {:>8}    {}\n", "", "", "", line);
      }
    }
  }
  if (p.issue.unit != sim::ProductUnit::warp) {
    out += "\n" + operand_text(v, true) + "\n" + operand_text(v, false) + "\n";
  }
  out += fmt::format("\nD[{}, {}]: {}\n", shown.row, shown.column,
                     place_text(v, v.place(shown.row, shown.column)));
  for (const ProductLoad& load : v.loads) {
    const sim::CellRange& c = load.cells.front();
    out += fmt::format("  tcgen05.ld of warp {}: lanes {}-{}, columns {}-{}\n", load.warp, c.lane,
                       c.lane + c.lanes - 1, c.column, c.column + c.columns - 1);
  }
  const sim::ElementTrace& now = shown.traces[v.at];
  out += fmt::format("\nThe sum of D[{}, {}], {} products{}\n", shown.row, shown.column,
                     v.sum().size(), v.whole ? "" : " (earlier ones are not here)");
  for (std::size_t i = 0; i < shown.traces.size(); ++i) {
    const sim::ElementTrace& t = shown.traces[i];
    double lost = 0;
    for (const sim::TracedStep& s : t.steps) lost += s.lost();
    out += fmt::format("{} {:>4}  {:>16} -> {:<16} {}  {}\n", i == v.at ? ">" : " ", i,
                       number_text(t.before_value), number_text(t.after_value),
                       pattern_text(p, t.after),
                       t.state == sim::TraceState::exact ? fmt::format("lost {:.3g}", lost) : "");
  }
  out += fmt::format("\nThis product, {}\n", now.rule);
  if (!now.source.empty()) out += fmt::format("  source: {}\n", now.source);
  if (!now.agrees) out += "  These steps do not end in what the machine wrote.\n";
  for (const sim::TracedStep& s : now.steps) {
    out += fmt::format("\n  {}{}\n", s.what,
                       s.aligned
                           ? fmt::format(": aligned at 2^{}, cut off below 2^{}", s.largest, s.unit)
                       : s.special ? ": infinities or NaN among them"
                                   : "");
    for (const sim::TracedTerm& t : s.terms) {
      const double lost = t.a * t.b - t.kept;
      out += fmt::format("    k {:<4} {:>14} * {:<14} = {:<20}{}\n", t.k, number_text(t.a),
                         number_text(t.b), number_text(t.a * t.b),
                         s.aligned && lost != 0 ? fmt::format("cut off: {:.3g}", lost) : "");
    }
    const double lost = s.accumulator - s.kept;
    out += fmt::format("    {:<37} = {:<20}{}\n", "before", number_text(s.accumulator),
                       s.aligned && lost != 0 ? fmt::format("cut off: {:.3g}", lost) : "");
    if (!s.special)
      out += fmt::format("    {:<37} = {}\n", "sum of what stayed", number_text(s.sum));
    out += fmt::format("    {:<37} = {:<20}{}\n",
                       s.bits ? fmt::format("after, of {} bits", s.bits) : "after",
                       number_text(s.after_value), pattern_text(p, s.after));
  }
  return out;
}

Json product_json(const ProductShown& shown, bool every) {
  const ProductView& v = shown.view;
  const sim::ProductSeen& p = v.seen();
  Json out = {{"sentence", product_sentence(v)},
              {"instruction", v.instruction_name()},
              {"text", v.text},
              {"product", v.number},
              {"of", v.count},
              {"cta", v.block},
              {"warp", p.issue.warp},
              {"begin", v.begin},
              {"end", v.end},
              {"m", p.m},
              {"n", p.n},
              {"k", p.k},
              {"a", a_type(p)},
              {"b", b_type(p)},
              {"d", d_type(p)},
              {"accumulates", p.accumulate}};
  if (!v.site.empty()) out["site"] = v.site;
  Json descriptors = Json::array();
  for (const DescriptorView& d : v.descriptors) {
    Json fields = Json::array();
    for (std::size_t i = 0; i < d.fields.size(); ++i) {
      const sim::BitField& f = d.fields[i];
      fields.push_back({{"low", f.low},
                        {"count", f.count},
                        {"name", f.name},
                        {"value", f.value},
                        {"meaning", f.meaning},
                        {"otherwise", d.otherwise[i]}});
    }
    descriptors.push_back({{"name", d.name},
                           {"value", fmt::format("0x{:0{}x}", d.bits, d.width / 4)},
                           {"fields", std::move(fields)}});
  }
  out["descriptors"] = std::move(descriptors);
  for (const bool of_a : {true, false}) {
    const auto pieces = v.pieces(of_a);
    if (pieces.empty()) continue;
    Json offsets = Json::array();
    for (const ProductView::Piece& piece : pieces) offsets.push_back(piece.offset);
    out[of_a ? "a_pieces" : "b_pieces"] = std::move(offsets);
  }
  out["element"] = {{"row", shown.row}, {"column", shown.column}};
  out["place"] = place_json(v.place(shown.row, shown.column));
  Json loads = Json::array();
  for (const ProductLoad& load : v.loads) {
    const sim::CellRange& c = load.cells.front();
    loads.push_back({{"warp", load.warp},
                     {"lane", c.lane},
                     {"lanes", c.lanes},
                     {"column", c.column},
                     {"columns", c.columns}});
  }
  out["loads"] = std::move(loads);
  Json sum = Json::array();
  for (std::size_t i = 0; i < shown.traces.size(); ++i) {
    const sim::ElementTrace& t = shown.traces[i];
    Json one = {{"before", t.before_value},
                {"after", t.after_value},
                {"after_bits", pattern_text(p, t.after)},
                {"how", name_of(t.state)},
                {"agrees", t.agrees}};
    if (v.numbers[i] < v.count) one["product"] = v.numbers[i];
    if (i == v.at) one["this"] = true, one["rule"] = t.rule, one["source"] = t.source;
    if (every || i == v.at) {
      Json steps = Json::array();
      for (const sim::TracedStep& s : t.steps) steps.push_back(step_json(p, s));
      one["steps"] = std::move(steps);
    }
    sum.push_back(std::move(one));
  }
  out["sum"] = std::move(sum);
  return out;
}

Json describe_product(const ProductShown& shown) {
  Json out = product_json(shown, false);
  if (shown.hovered) out["under_pointer"] = spot_text(shown.view, *shown.hovered);
  return out;
}

}  // namespace tilescope
