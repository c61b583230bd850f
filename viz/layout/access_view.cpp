#include "viz/layout/access_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/bits.h"
#include "core/layout/text.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 20;

// Rows and columns of a layout's grid; modes beyond the second are not walked.
struct Extents {
  std::int64_t rows = 1, columns = 1;
};
Extents extents_of(const Layout& layout) {
  if (layout.rank() == 1) return {1, *size(layout)};
  return {*size(*get(layout, 0)), *size(*get(layout, 1))};
}

// Whether elements lie side by side along the rows' direction: the first step of mode 1 is 1.
bool side_by_side_across(const Layout& plain, Extents extents) {
  if (extents.rows == 1) return true;
  if (extents.columns == 1) return false;
  return plain(extents.rows) - plain(0) == 1 || plain(1) - plain(0) != 1;
}

}  // namespace

std::string_view name_of(Walk walk) {
  return walk == Walk::along_rows ? "rows" : "columns";
}

Outcome<Layout> lanes_of(const Layout& memory, const AccessChoice& choice) {
  const Extents extents = extents_of(memory);
  const std::int64_t together = std::max<std::int64_t>(1, choice.width / choice.element_bytes);
  const bool across = side_by_side_across(Layout(memory.modes), extents);
  const std::int64_t along = across ? extents.columns : extents.rows;
  if (along % together != 0) {
    return refused(
        fmt::format("{} elements side by side are no whole accesses of {} bytes, which "
                    "move {} elements; `access 4` moves fewer.",
                    along, choice.width, together));
  }
  // Accesses down and across, and how far apart they are in coordinates.
  const std::int64_t down_count = across ? extents.rows : extents.rows / together;
  const std::int64_t across_count = across ? extents.columns / together : extents.columns;
  const std::int64_t down_step = across ? 1 : together;
  const std::int64_t across_step = extents.rows * (across ? together : 1);
  const std::int64_t all = down_count * across_count;
  const std::int64_t lanes = std::min<std::int64_t>(all, lanes_of_warp);
  Layout walk;
  const Tree<Mode> down(Mode{down_count, down_step}), right(Mode{across_count, across_step});
  const bool rows = choice.walk == Walk::along_rows;
  Tree<Mode> both;
  both.push(rows ? right : down);
  both.push(rows ? down : right);
  walk.modes.push(both);
  // Lanes that do not fill the last warp are left out of it.
  const std::int64_t instructions = all / lanes;
  const Result<Layout> by_warp = composition(Layout(both), Layout([&] {
                                               Tree<Mode> modes;
                                               modes.push(Tree<Mode>(Mode{lanes, 1}));
                                               modes.push(Tree<Mode>(Mode{instructions, lanes}));
                                               return modes;
                                             }()));
  if (!by_warp) {
    return refused(
        fmt::format("{} accesses in rows of {} cannot be dealt out to warps of 32 lanes.", all,
                    rows ? across_count : down_count));
  }
  return *by_warp;
}

Outcome<std::shared_ptr<const AccessView>> AccessView::of(const Layout& memory,
                                                          const AccessChoice& choice) {
  if (!memory.concrete() || memory.modes.empty()) {
    return refused(
        fmt::format("{} has numbers that are not known or are on an axis; banks and "
                    "sectors are of offsets.",
                    text(memory)));
  }
  const Result<std::int64_t> elements = size(memory);
  if (!elements || *elements > most_elements) {
    return refused(
        fmt::format("{} has more than {} elements; a warp's accesses are shown of a "
                    "tile.",
                    text(memory), most_elements));
  }
  const Outcome<Layout> lanes = lanes_of(memory, choice);
  if (!lanes) return lanes.error();
  const Result<Layout> offsets = composition(memory, *lanes);
  if (!offsets) return refused(sentence(offsets.refusal));
  const Result<WarpRequests> requests =
      requests_of(*offsets, WarpAccess{choice.width, choice.element_bytes});
  if (!requests) return refused(sentence(requests.refusal));
  auto out = std::make_shared<AccessView>();
  out->memory_ = memory;
  out->choice_ = choice;
  out->requests_ = *requests;
  out->count();
  return std::shared_ptr<const AccessView>(std::move(out));
}

std::shared_ptr<const AccessView> AccessView::of(OwnedAccess owned, const Layout& memory,
                                                 const AccessChoice& choice) {
  auto out = std::make_shared<AccessView>();
  out->memory_ = memory;
  out->choice_ = choice;
  out->requests_ = std::move(owned.requests);
  out->owned_ = std::move(owned);
  out->count();
  return out;
}

void AccessView::count() {
  conflicts_ = bank_conflicts(requests_);
  phases_ = wavefronts_of(requests_);
  sectors_ = sectors_of(requests_);
  coalesced_ = coalescing(requests_);
  std::vector<std::int64_t> wavefronts(sectors_.size());
  for (const ServedPhase& phase : phases_) {
    wavefronts[static_cast<std::size_t>(phase.instruction)] += phase.wavefronts;
  }
  worst_in_banks_ = std::max_element(wavefronts.begin(), wavefronts.end()) - wavefronts.begin();
  worst_in_sectors_ = std::max_element(sectors_.begin(), sectors_.end(),
                                       [](const TouchedSectors& a, const TouchedSectors& b) {
                                         return a.sectors.size() < b.sectors.size();
                                       }) -
                      sectors_.begin();
}

namespace {

void put(AccessView::Word& word, std::uint32_t lanes, std::int64_t address) {
  word.there = true;
  word.address = address;
  word.lane = -1;
  for (int lane = 0; lane < lanes_of_warp; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    if (word.lane < 0) word.lane = lane;
    ++word.lanes;
  }
}

}  // namespace

std::vector<AccessView::Row> AccessView::wavefront_rows(std::int64_t instruction) const {
  std::vector<Row> out;
  const bool several = lanes_in_phase(width()) < lanes_of_warp;
  for (const ServedPhase& phase : phases_) {
    if (phase.instruction != instruction) continue;
    const std::size_t first = out.size();
    for (std::int64_t w = 0; w < phase.wavefronts; ++w) {
      Row row;
      row.title = several ? fmt::format("phase {}, wavefront {}", phase.phase, w)
                          : fmt::format("wavefront {}", w);
      row.part = phase.phase;
      row.phase = &phase - phases_.data();
      out.push_back(std::move(row));
    }
    for (const ServedWord& word : phase.words) {
      put(out[first + static_cast<std::size_t>(word.wavefront)]
              .words[static_cast<std::size_t>(word.bank)],
          word.lanes, word.word * bank_bytes);
    }
  }
  return out;
}

std::vector<AccessView::Row> AccessView::line_rows(std::int64_t instruction) const {
  std::vector<Row> out;
  std::int64_t line = -1;
  constexpr int sectors_in_line = line_bytes / sector_bytes;
  for (const TouchedSector& sector : sectors_[static_cast<std::size_t>(instruction)].sectors) {
    if (sector.sector / sectors_in_line != line) {
      line = sector.sector / sectors_in_line;
      Row row;
      row.title = fmt::format("byte {}", line * line_bytes);
      out.push_back(std::move(row));
    }
    Row& row = out.back();
    const int within = static_cast<int>(sector.sector % sectors_in_line);
    row.touched |= std::uint32_t{1} << within;
    constexpr int words = sector_bytes / bank_bytes;
    for (int w = 0; w < words; ++w) {
      if ((sector.bytes >> (w * bank_bytes) & 0xf) == 0) continue;
      put(row.words[static_cast<std::size_t>(within * words + w)], 0,
          sector.sector * sector_bytes + w * bank_bytes);
    }
  }
  // Whose word each is: the lanes by their addresses.
  std::vector<std::int64_t> begins;
  for (const Row& row : out) begins.push_back(std::stoll(row.title.substr(5)));
  for (std::int64_t lane = requests_.lanes; lane-- > 0;) {
    const std::int64_t address = requests_.of(instruction, lane);
    if (address == no_address) continue;
    for (std::int64_t b = 0; b < width(); b += bank_bytes) {
      const std::int64_t at = (address + b) / line_bytes * line_bytes;
      const auto row = std::lower_bound(begins.begin(), begins.end(), at);
      if (row == begins.end() || *row != at) continue;
      Word& word = out[static_cast<std::size_t>(row - begins.begin())]
                       .words[static_cast<std::size_t>((address + b) % line_bytes / bank_bytes)];
      word.lane = static_cast<int>(lane);
      ++word.lanes;
    }
  }
  return out;
}

std::vector<std::int64_t> AccessView::offsets_of(std::int64_t phase) const {
  std::vector<std::int64_t> out;
  const ServedPhase& served = phases_[static_cast<std::size_t>(phase)];
  for (const ServedWord& word : served.words) {
    if (owned_) {
      for (int lane = 0; lane < lanes_of_warp; ++lane) {
        if ((word.lanes >> lane & 1) == 0) continue;
        const std::int64_t first = (served.instruction * requests_.lanes + lane) * owned_->together;
        for (std::int64_t v = 0; v < owned_->together; ++v) {
          out.push_back(owned_->elements[static_cast<std::size_t>(first + v)]);
        }
      }
      continue;
    }
    for (std::int64_t b = 0; b < bank_bytes; ++b) {
      out.push_back((word.word * bank_bytes + b) / choice_.element_bytes);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Those in which any lane asks.
std::int64_t AccessView::served_phases(std::int64_t instruction) const {
  return std::count_if(phases_.begin(), phases_.end(), [&](const ServedPhase& phase) {
    return phase.instruction == instruction && phase.wavefronts > 0;
  });
}

std::string AccessView::bank_sentence(std::int64_t instruction) const {
  std::int64_t wavefronts = 0, most = 0;
  const std::int64_t phases = served_phases(instruction);
  int bank = 0;
  for (const ServedPhase& phase : phases_) {
    if (phase.instruction != instruction) continue;
    wavefronts += phase.wavefronts;
    for (const ServedWord& word : phase.words) {
      if (word.wavefront < most) continue;
      most = word.wavefront + 1;
      bank = word.bank;
    }
  }
  if (wavefronts == phases) {
    return fmt::format("{} wavefront{}: no bank is asked for two words at once.", wavefronts,
                       wavefronts == 1 ? "" : "s");
  }
  return fmt::format(
      "{} wavefronts where {} would do: in a phase bank {} is asked for {} different words.",
      wavefronts, phases, bank, most);
}

std::string AccessView::sector_sentence(std::int64_t instruction) const {
  const TouchedSectors& here = sectors_[static_cast<std::size_t>(instruction)];
  const auto touched = static_cast<std::int64_t>(here.sectors.size());
  if (touched == here.ideal) {
    return fmt::format("{} sector{} for {} bytes: every byte that is moved was asked for.", touched,
                       touched == 1 ? "" : "s", here.bytes);
  }
  return fmt::format("{} sectors where {} would do: {} bytes are moved, {} were asked for.",
                     touched, here.ideal, touched * sector_bytes, here.bytes);
}

Outcome<SwizzleAdvice> advise(const Layout& memory, const AccessChoice& choice) {
  SwizzleAdvice out;
  out.plain = Layout(memory.modes);
  std::vector<Layout> patterns;
  for (const Walk walk : {Walk::along_rows, Walk::down_columns}) {
    AccessChoice each = choice;
    each.walk = walk;
    const Outcome<Layout> lanes = lanes_of(out.plain, each);
    if (!lanes) return lanes.error();
    patterns.push_back(*lanes);
  }
  const Result<RankedSwizzles> ranked =
      rank_swizzles(out.plain, patterns, {choice.width, choice.element_bytes});
  if (!ranked) return refused(sentence(ranked.refusal));
  out.ranked = *ranked;
  return out;
}

std::string SwizzleAdvice::expression(const RankedSwizzle& which) const {
  if (which.swizzle.identity()) return text(plain);
  return fmt::format("{} o {}", text(which.swizzle), text(plain));
}

Outcome<BitMatrix> bits_of(const Layout& layout) {
  const Result<Tuple> images = matrix_of(layout);
  if (!images) return refused(sentence(images.refusal));
  BitMatrix out;
  std::int64_t all = 0;
  int j = 0;
  for (int mode = 0; mode < layout.rank(); ++mode) {
    const std::int64_t extent = *size(*get(layout, mode));
    for (int bit = 0; std::int64_t{1} << (bit + 1) <= extent; ++bit, ++j) {
      const std::int64_t image = images->leaf[j].value;
      all |= image;
      out.columns.push_back({fmt::format("bit {} of mode {}", bit, mode), mode, bit, image});
    }
  }
  std::reverse(out.columns.begin(), out.columns.end());
  while (all >> out.rows != 0) ++out.rows;
  if (out.columns.empty() || out.rows == 0) {
    return refused(fmt::format("{} has one element, so no bits.", text(layout)));
  }
  return out;
}

}  // namespace tilescope
