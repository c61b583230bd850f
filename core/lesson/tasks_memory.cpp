// Tasks about memory: banks and wavefronts, sectors, swizzles, boxes of tensor copies, descriptors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/layout/access.h"
#include "core/lesson/operands.h"

namespace tilescope {
namespace {

// The swizzling modes of tensor copies and of matrix operands: pieces of 16 bytes change places
// inside a span of 8 rows. Source: PTX ISA, "Swizzling Modes".
struct Mode {
  std::string_view name;
  std::int64_t span;  // bytes of a row of it
  std::int8_t bits;
};
constexpr std::array<Mode, 4> kModes = {
    {{"none", 16, 0}, {"32B", 32, 1}, {"64B", 64, 2}, {"128B", 128, 3}}};
constexpr Swizzle swizzle_of(const Mode& mode) {
  return {mode.bits, 4, 3};
}

const Mode* mode_named(std::string_view name) {
  for (const Mode& mode : kModes) {
    if (mode.name == name) return &mode;
  }
  return nullptr;
}
const Mode& mode_in(Operands& operands, std::size_t i) {
  if (const Mode* mode = mode_named(operands.words(i))) return *mode;
  operands.fail(fmt::format("`{}` is no swizzle: none, 32B, 64B and 128B are.", operands.words(i)));
  return kModes[0];
}

std::int64_t width_in(Operands& operands, std::size_t i) {
  const std::int64_t bytes = operands.number(i);
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) {
    operands.fail(fmt::format("A lane moves 1, 2, 4, 8 or 16 bytes, not {}.", bytes));
    return 4;
  }
  return bytes;
}

// The lanes' bytes: lane l at L(l) elements of `width` bytes each.
WarpRequests requests_in(Operands& operands, std::size_t i, std::int64_t width) {
  const Layout lanes = operands.layout(i);
  if (operands.problem()) return {};
  return operands.take(requests_of(lanes, {width, width}));
}

WarpRequests swizzled(WarpRequests all, const Mode& mode) {
  for (std::int64_t& address : all.address) {
    if (address != no_address) address = swizzle_of(mode)(address);
  }
  return all;
}

// --- banks --------------------------------------------------------------------------------------

class BankOf : public Task {
 public:
  BankOf(std::int64_t byte, const Mode& mode) : byte_(byte), mode_(mode) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(bank(swizzle_of(mode_)(byte_))); }
  std::vector<Slip> slips() const override {
    std::vector<Slip> out;
    if (!swizzle_of(mode_).identity()) {
      out.push_back({bank(byte_), "That is its bank without the swizzle."});
    }
    out.push_back({byte_ / bank_bytes, "That is the word. Banks begin again after 32 words."});
    out.push_back({swizzle_of(mode_)(byte_) / bank_bytes,
                   "That is the word after the swizzle. Banks begin again after 32 words."});
    out.push_back({byte_ % banks, "That counts bytes. A bank gives words of 4 bytes."});
    return out;
  }
  std::string explain(const Reply& wrong) const override {
    const std::int64_t n = number_in(wrong);
    if (n < 0 || n >= banks) return "There are 32 banks, 0 to 31.";
    return fmt::format("Bank {} gives bytes {} to {}, and those 128, 256 ... bytes further on.", n,
                       n * bank_bytes, n * bank_bytes + bank_bytes - 1);
  }

 private:
  static std::int64_t bank(std::int64_t byte) { return byte / bank_bytes % banks; }
  std::int64_t byte_;
  Mode mode_;
};

Made make_bank_of(Operands& operands) {
  const std::int64_t byte = operands.number(0);
  const Mode mode = operands.count() > 1 ? mode_in(operands, 1) : kModes[0];
  return made<BankOf>(operands, byte, mode);
}

class WaysOf : public Task {
 public:
  WaysOf(const WarpRequests& requests, const Mode& mode)
      : plain_(bank_conflicts(requests)),
        is_(bank_conflicts(swizzled(requests, mode))),
        lanes_(requests.lanes) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(is_.wavefronts); }
  std::vector<Slip> slips() const override {
    std::vector<Slip> out;
    if (plain_.wavefronts != is_.wavefronts) {
      out.push_back({plain_.wavefronts, "That is without the swizzle."});
    }
    out.push_back({is_.ideal, fmt::format("So many would do if no bank had to give two words to "
                                          "lanes that are served together. Bank {} gives {}.",
                                          is_.worst_bank, is_.worst_words)});
    out.push_back(
        {lanes_, "So many it takes where all lanes ask one bank, each for another word."});
    const std::int64_t groups = std::max<std::int64_t>(1, is_.ideal);
    if (groups > 1 && is_.wavefronts % groups == 0) {
      out.push_back({is_.wavefronts / groups,
                     fmt::format("That is for the lanes that are served together, {} of them. The "
                                 "warp has {} such groups.",
                                 lanes_ / groups, groups)});
    }
    return out;
  }
  std::string explain(const Reply& wrong) const override {
    const std::int64_t groups = std::max<std::int64_t>(1, is_.ideal);
    return fmt::format(
        "Not {}. {} lanes are served together. Among them, find the bank that is asked for the "
        "most different words: they take that many wavefronts.{}",
        text(wrong), lanes_ / groups,
        groups == 1 ? ""
                    : fmt::format(" Do so for each of the {} groups of lanes, and add.", groups));
  }

 private:
  BankConflicts plain_, is_;
  std::int64_t lanes_;
};

Made make_ways_of(Operands& operands) {
  const std::int64_t width = width_in(operands, 1);
  const Mode mode = operands.count() > 2 ? mode_in(operands, 2) : kModes[0];
  const WarpRequests requests = requests_in(operands, 0, width);
  if (operands.problem()) return *operands.problem();
  return made<WaysOf>(operands, requests, mode);
}

class SwizzleFor : public Task {
 public:
  SwizzleFor(std::int64_t rows, std::int64_t row) : rows_(rows), row_(row) {
    for (const Mode& mode : kModes) {
      if (fits(mode)) fewest_ = std::min(fewest_, ways(mode));
    }
  }

  AnswerForm form() const override { return AnswerForm::word; }
  std::string form_words() const override { return "one of none, 32B, 64B or 128B"; }
  Outcome<Reply> solution() const override {
    for (const Mode& mode : kModes) {
      if (fits(mode) && ways(mode) == fewest_) return Reply(std::string(mode.name));
    }
    return Error{ErrorKind::mismatch, "No swizzle fits.", ""};
  }
  bool accepts(const Reply& answer) const override {
    const Mode* mode = mode_of(answer);
    return mode && fits(*mode) && ways(*mode) == fewest_;
  }
  std::string explain(const Reply& wrong) const override {
    const Mode* mode = mode_of(wrong);
    if (!mode)
      return fmt::format("`{}` is none of them: the answer is {}.", text(wrong), form_words());
    if (!fits(*mode)) {
      return fmt::format("{} changes places inside {} bytes of a row, and a row has {}.",
                         mode->name, mode->span, row_);
    }
    return fmt::format("With {} these {} reads take {} wavefronts; another takes fewer.",
                       mode->name, rows_, ways(*mode));
  }

 private:
  bool fits(const Mode& mode) const { return mode.span <= row_ || mode.bits == 0; }
  std::int64_t ways(const Mode& mode) const {
    WarpRequests all;
    all.width = 16;
    all.lanes = rows_;
    for (std::int64_t row = 0; row < rows_; ++row) {
      all.address.push_back(swizzle_of(mode)(row * row_));
    }
    return bank_conflicts(all).wavefronts;
  }
  static const Mode* mode_of(const Reply& answer) {
    const auto* word = std::get_if<std::string>(&answer);
    if (!word) return nullptr;
    std::string name = *word;
    if (name.size() > 1 && name.back() == 'b') name.back() = 'B';
    return mode_named(name);
  }
  std::int64_t rows_, row_, fewest_ = 1 << 20;
};

Made make_swizzle_for(Operands& operands) {
  const std::int64_t rows = operands.number(0), row = operands.number(1);
  if (!operands.problem() && (rows < 1 || rows > 32 || row < 16 || row > 4096 || row % 16 != 0)) {
    operands.fail("It needs 1 to 32 rows, of 16 to 4096 bytes in steps of 16.");
  }
  return made<SwizzleFor>(operands, rows, row);
}

// --- sectors ------------------------------------------------------------------------------------

class SectorsOf : public Task {
 public:
  explicit SectorsOf(const WarpRequests& requests)
      : is_(coalescing(requests)), lanes_(requests.lanes) {
    for (const TouchedSectors& each : sectors_of(requests)) {
      for (const TouchedSector& sector : each.sectors) sectors_.push_back(sector.sector);
    }
  }

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(is_.sectors); }
  std::vector<Slip> slips() const override {
    return {{is_.ideal, "So many would hold these bytes if they were neighbours."},
            {is_.lines, "Those are lines of 128 bytes. A sector is 32 bytes, a quarter of a line."},
            {is_.bytes, "Those are the bytes that are asked for."},
            {lanes_,
             "That would be a sector for each lane. Lanes whose bytes lie in one sector "
             "share it."}};
  }
  std::string explain(const Reply& wrong) const override {
    std::string first;
    for (std::size_t i = 0; i < sectors_.size() && i < 3; ++i) {
      first += fmt::format("{}{}", i ? ", " : "", sectors_[i]);
    }
    return fmt::format(
        "Not {}. Byte address / 32 is the sector: the first are {}{}. How many different ones do "
        "the lanes touch?",
        text(wrong), first, sectors_.size() > 3 ? " ..." : "");
  }

 private:
  Coalescing is_;
  std::int64_t lanes_;
  std::vector<std::int64_t> sectors_;
};

Made make_sectors_of(Operands& operands) {
  const std::int64_t width = width_in(operands, 1);
  const WarpRequests requests = requests_in(operands, 0, width);
  if (operands.problem()) return *operands.problem();
  return made<SectorsOf>(operands, requests);
}

// --- tensor copies and descriptors --------------------------------------------------------------

// A row-major tile of so many rows and columns, and the swizzle with which it lies in shared
// memory.
struct TileInMemory {
  std::int64_t rows = 0, columns = 0, bytes = 0;
  Mode mode;
};

TileInMemory tile_in(Operands& operands, std::size_t i) {
  TileInMemory out;
  out.rows = operands.number(i);
  out.columns = operands.number(i + 1);
  out.bytes = width_in(operands, i + 2);
  out.mode = mode_in(operands, i + 3);
  if (!operands.problem() &&
      (out.rows < 1 || out.rows > 4096 || out.columns < 1 || out.columns > 4096)) {
    operands.fail("A tile has 1 to 4096 rows and columns.");
  }
  if (!operands.problem() && out.columns * out.bytes % 16 != 0) {
    operands.fail("A row of a box is a multiple of 16 bytes.");
  }
  return out;
}

// Boxes of a tensor copy: at most 256 elements an extent; with a swizzle a row is at most its span.
// Source: CUDA Driver API, cuTensorMapEncodeTiled.
class BoxFor : public Task {
 public:
  static constexpr std::int64_t most_extent = 256;
  explicit BoxFor(const TileInMemory& tile) : tile_(tile) {
    for (std::int64_t c = 1; c <= std::min(tile.columns, most_extent); ++c) {
      for (std::int64_t r = 1; r <= std::min(tile.rows, most_extent); ++r) {
        if (!problem(c, r).empty()) continue;
        const std::int64_t copies = tile.columns / c * (tile.rows / r);
        if (fewest_ == 0 || copies < fewest_) fewest_ = copies, columns_ = c, rows_ = r;
      }
    }
  }

  AnswerForm form() const override { return AnswerForm::coordinate; }
  std::string form_words() const override { return "the box as (columns,rows), such as (32,8)"; }
  Outcome<Reply> solution() const override {
    if (fewest_ == 0) return Error{ErrorKind::mismatch, "No box brings this tile.", ""};
    return Reply(make_tuple_of(Int(columns_), Int(rows_)));
  }
  std::vector<Slip> slips() const override {
    if (columns_ == rows_) return {};
    return {{make_tuple_of(Int(rows_), Int(columns_)),
             "These are the extents, but a box is written innermost first: columns, then rows."}};
  }
  std::string explain(const Reply& wrong) const override {
    const Tuple* box = std::get_if<Tuple>(&wrong);
    if (!box || box->leaves != 2 || box->rank() != 2) {
      return fmt::format("{} is no box of two extents.", text(wrong));
    }
    const std::int64_t c = box->leaf[0].value, r = box->leaf[1].value;
    if (const std::string why = problem(c, r); !why.empty()) return why;
    return fmt::format("That would be right, with {} copies; {} {} enough.",
                       tile_.columns / c * (tile_.rows / r), fewest_, fewest_ == 1 ? "is" : "are");
  }

 private:
  std::string problem(std::int64_t c, std::int64_t r) const {
    if (c < 1 || r < 1 || c > most_extent || r > most_extent)
      return "An extent of a box is 1 to 256 elements.";
    if (tile_.columns % c != 0 || tile_.rows % r != 0) {
      return fmt::format("Boxes of {} columns and {} rows do not fill {} x {} evenly.", c, r,
                         tile_.columns, tile_.rows);
    }
    if (c * tile_.bytes % 16 != 0) return "A row of a box is a multiple of 16 bytes.";
    if (tile_.mode.bits > 0 && c * tile_.bytes > tile_.mode.span) {
      return fmt::format(
          "{} columns of {} bytes are {}, and with {} a row of the box has {} bytes "
          "at most.",
          c, tile_.bytes, c * tile_.bytes, tile_.mode.name, tile_.mode.span);
    }
    return "";
  }
  TileInMemory tile_;
  std::int64_t fewest_ = 0, columns_ = 0, rows_ = 0;
};

Made make_box_for(Operands& operands) {
  const TileInMemory tile = tile_in(operands, 0);
  return made<BoxFor>(operands, tile);
}

// A field of the descriptor of a K-major operand that lies so: 8 rows of a swizzle's span follow
// each other, then the next 8. Source: PTX ISA, "Matrix descriptor", "Strides".
class DescriptorField : public Task {
 public:
  DescriptorField(std::string field, std::int64_t bytes, std::string meaning)
      : field_(std::move(field)), bytes_(bytes), meaning_(std::move(meaning)) {}

  AnswerForm form() const override { return AnswerForm::number; }
  Outcome<Reply> solution() const override { return Reply(bytes_ / 16); }
  std::vector<Slip> slips() const override {
    return {{bytes_, "Those are the bytes. The field counts units of 16 bytes."}};
  }
  std::string explain(const Reply& wrong) const override {
    return fmt::format("{} would be {} bytes. {} is {}.", text(wrong), number_in(wrong) * 16,
                       field_, meaning_);
  }

 private:
  std::string field_;
  std::int64_t bytes_;
  std::string meaning_;
};

Made make_desc_field(Operands& operands) {
  const std::string field = plain_word(operands.words(0));
  if (field == "start") {
    const std::int64_t at = operands.number(1);
    if (!operands.problem() && (at % 16 != 0 || at >= 1 << 18)) {
      operands.fail("A matrix begins at a multiple of 16 bytes, below 256 KiB.");
    }
    return made<DescriptorField>(operands, "The start address", at,
                                 "where the matrix begins in shared memory");
  }
  if (operands.count() != 5) {
    operands.fail("It needs the field, rows, columns, bytes of an element, and the swizzle.");
    return *operands.problem();
  }
  const TileInMemory tile = tile_in(operands, 1);
  if (operands.problem()) return *operands.problem();
  if (tile.mode.bits == 0) {
    operands.fail("The strides of an operand without swizzle depend on how it is stored.");
  } else if (field == "sbo") {
    return made<DescriptorField>(
        operands, "The stride byte offset", 8 * tile.mode.span,
        fmt::format("the way from 8 rows to the next 8, each of {} bytes", tile.mode.span));
  } else if (field == "advance") {  // of the start, from one k-step of 32 bytes to the next
    return made<DescriptorField>(operands, "The step", 32,
                                 "how far the start moves to the next k-step: one product reads 32 "
                                 "bytes of a row");
  } else {
    operands.fail(fmt::format("There is no field `{}`: start, sbo and advance are.", field));
  }
  return *operands.problem();
}

// tcgen05's instruction descriptor of .kind::f16. Source: PTX ISA, "Instruction descriptor".
class InstructionDescriptor : public Task {
 public:
  InstructionDescriptor(std::uint32_t d, std::uint32_t a, std::uint32_t b, std::uint32_t m,
                        std::uint32_t n)
      : d_(d), a_(a), b_(b), m_(m), n_(n) {}

  AnswerForm form() const override { return AnswerForm::number; }
  std::string form_words() const override { return "a number, such as 0x04200490"; }
  Outcome<Reply> solution() const override { return Reply(bits(n_ / 8, m_ / 16)); }
  std::vector<Slip> slips() const override {
    return {{bits(n_, m_), "M is counted in units of 16, N in units of 8."},
            {bits(m_ / 8, n_ / 16), "M and N have changed places: N is at bit 17, M at bit 24."}};
  }
  std::string explain(const Reply& wrong) const override {
    const auto n = static_cast<std::uint32_t>(number_in(wrong));
    const auto d_type = [](std::uint32_t d) {
      return d == 0 ? std::string("f16") : d == 1 ? "f32" : fmt::format("type {}", d);
    };
    const auto type = [](std::uint32_t of) {
      return of == 0 ? std::string("f16") : of == 1 ? "bf16" : fmt::format("type {}", of);
    };
    return fmt::format(
        "0x{:08x} says D {}, A {}, B {}, N {} and M {}; wanted are D {}, A {}, B {}, N {}, M {}.",
        n, d_type(n >> 4 & 3), type(n >> 7 & 7), type(n >> 10 & 7), (n >> 17 & 63) * 8,
        (n >> 24 & 31) * 16, d_type(d_), type(a_), type(b_), n_, m_);
  }

 private:
  std::int64_t bits(std::uint32_t n, std::uint32_t m) const {
    return std::int64_t{d_ << 4 | a_ << 7 | b_ << 10 | n << 17 | m << 24};
  }
  std::uint32_t d_, a_, b_, m_, n_;
};

Made make_idesc_of(Operands& operands) {
  const auto format = [&](std::size_t i, std::string_view zero, std::string_view one) {
    const std::string word = plain_word(operands.words(i));
    if (word != zero && word != one) {
      operands.fail(fmt::format("`{}` is no type here: {} and {} are.", word, zero, one));
    }
    return static_cast<std::uint32_t>(word == one);
  };
  const std::uint32_t d = format(0, "f16", "f32"), a = format(1, "f16", "bf16"),
                      b = format(2, "f16", "bf16");
  const std::int64_t m = operands.number(3), n = operands.number(4);
  if (!operands.problem() && (m % 16 != 0 || m > 256 || n % 8 != 0 || n > 256 || m < 64 || n < 8)) {
    operands.fail("M is 64, 128 or 256; N is 8 to 256 in steps of 8.");
  }
  return made<InstructionDescriptor>(operands, d, a, b, static_cast<std::uint32_t>(m),
                                     static_cast<std::uint32_t>(n));
}

constexpr std::array kRows = {
    TaskRow{"bank_of", 1, 2, make_bank_of},       TaskRow{"ways_of", 2, 3, make_ways_of},
    TaskRow{"sectors_of", 2, 2, make_sectors_of}, TaskRow{"swizzle_for", 2, 2, make_swizzle_for},
    TaskRow{"box_for", 4, 4, make_box_for},       TaskRow{"desc_field", 2, 5, make_desc_field},
    TaskRow{"idesc_of", 5, 5, make_idesc_of},
};

}  // namespace

std::span<const TaskRow> memory_tasks() {
  return kRows;
}

}  // namespace tilescope
