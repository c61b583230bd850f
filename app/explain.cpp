// tilescope explain desc|idesc|map VALUE | handoffs|why|product KERNEL
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/handoffs.h"
#include "app/products.h"
#include "app/why_variants.h"
#include "core/ptx/program.h"
#include "core/run/driver_map.h"
#include "core/sim/async/map_bits.h"
#include "core/sim/matrix/descriptor_fields.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;
using sim::BitField;

struct Options {
  std::vector<std::string> words;
  std::string arch = "auto", kind = "any", dtype = "f16", dims, strides, box, steps;
  std::string swizzle = "none", interleave = "none", outside = "zero";
  bool pair = false, ws = false, json = false;
  HandoffsOptions handoffs;
  std::map<std::string, std::string> own;  // the kernel's own options
  bool variants = false;
  std::optional<double> copies, products, barriers, latency;
  ProductOptions product;
  std::optional<std::int64_t> m, n, k;
};

Error usage(std::string sentence) {
  return {ErrorKind::usage, std::move(sentence), ""};
}

// A number as people have it: 0x4000404000010010, with or without 0x where it has a letter, or
// decimal.
Outcome<std::uint64_t> number(const std::string& text, std::size_t most_digits) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X") ||
                   text.find_first_of("abcdefABCDEF") != std::string::npos;
  const std::string digits = text.substr(text.starts_with("0x") || text.starts_with("0X") ? 2 : 0);
  const bool good = !digits.empty() &&
                    digits.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789") ==
                        std::string::npos &&
                    digits.size() <= (hex ? most_digits : 20);
  std::uint64_t value = 0;
  if (good) {
    for (const char c : digits) {
      const unsigned digit = c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
      const std::uint64_t base = hex ? 16 : 10;
      if (value > (~std::uint64_t{0} - digit) / base) {
        return usage(fmt::format("{} has more than 64 bits.", text));
      }
      value = value * base + digit;
    }
    if (most_digits >= 16 || value >> (4 * most_digits) == 0) return value;
  }
  return usage(
      fmt::format("'{}' is no number of {} bits: 0x and up to {} hexadecimal digits would "
                  "be, or decimal ones.",
                  text, most_digits * 4, most_digits));
}

std::string bits_text(const BitField& f) {
  return f.count == 1 ? fmt::format("{}", f.low) : fmt::format("{}-{}", f.low, f.low + f.count - 1);
}

void print_fields(const std::vector<BitField>& fields, Terminal& terminal) {
  terminal.print(fmt::format("  {:<7} {:<21} {:>8}  {}\n", "bits", "field", "value", "meaning"));
  for (const BitField& f : fields) {
    terminal.print(fmt::format(
        "  {:<7} {:<21} {:>8}  {}\n", bits_text(f), f.name,
        f.value < 10 ? fmt::format("{}", f.value) : fmt::format("0x{:x}", f.value), f.meaning));
  }
}

Json to_json(const std::vector<BitField>& fields) {
  Json out = Json::array();
  for (const BitField& f : fields) {
    out.push_back({{"low", f.low},
                   {"count", f.count},
                   {"name", f.name},
                   {"value", f.value},
                   {"meaning", f.meaning}});
  }
  return out;
}

// One way to read a descriptor: what it comes to, or what is wrong with it so.
struct Reading {
  std::string as, comes_to, draw;
  bool good = true;
};

void print_readings(const std::vector<Reading>& readings, Terminal& terminal) {
  for (const Reading& r : readings) {
    terminal.print(fmt::format("  {:<22} {}\n", r.as, r.comes_to));
    if (!r.draw.empty()) {
      terminal.print(fmt::format("  {:<22} tilescope draw '{}'\n", "", r.draw));
    }
  }
}

Json to_json(const std::vector<Reading>& readings) {
  Json out = Json::array();
  for (const Reading& r : readings) {
    Json one = {{"as", r.as}, {"good", r.good}, {"comes_to", r.comes_to}};
    if (!r.draw.empty()) one["layout"] = r.draw;
    out.push_back(std::move(one));
  }
  return out;
}

std::string wrong_text(const sim::DescriptorError& wrong) {
  return fmt::format("refused: {}; expected {}", wrong.sentence, wrong.expected);
}

// ---- desc ----

// Where pieces of 16 bytes are in the shared window.
std::string places_text(const sim::SharedMatrix& m) {
  const auto at = [&](std::uint32_t line, std::uint32_t piece) {
    return fmt::format("0x{:x}", (m.piece(line, piece) + ptx::system_shared) & 0x3ffff);
  };
  return fmt::format("{0} 0 at {1}, {0} 1 {2}, {0} 8 {3}; their second 16 bytes {4}, {5}, {6}",
                     m.k_major ? "row" : "k", at(0, 0), at(1, 0), at(8, 0), at(0, 1), at(1, 1),
                     at(8, 1));
}

Reading read_matrix(std::uint64_t bits, bool tcgen05, bool transposed, std::uint32_t element_bits) {
  Reading out;
  out.as = fmt::format("{}, {} bits", transposed ? "MN-major" : "K-major", element_bits);
  sim::SharedMatrix m;
  const auto wrong = tcgen05 ? sim::decode(bits, transposed, element_bits == 32, m)
                             : sim::decode_wgmma(bits, transposed, m);
  if (wrong) {
    out.good = false;
    out.comes_to = wrong_text(*wrong);
    return out;
  }
  out.comes_to = places_text(m);
  // A tile as kernels have it: 64 rows, and K as wide as the swizzle, or as a product.
  const std::uint32_t width = sim::swizzle_width(m.swizzle);
  out.draw = sim::layout_expression(m, 64, m.k_major && width ? width : 32, element_bits);
  return out;
}

int explain_matrix(const Options& options, Terminal& terminal) {
  const auto bits = number(options.words[1], 16);
  if (!bits) return terminal.fail(bits.error());
  // Of tcgen05 bits 46 to 48 are 0b001, of wgmma they are in no field.
  const bool tcgen05 = options.arch == "auto" ? (*bits >> 46 & 7) == 1 : options.arch == "sm_100a";
  const std::vector<BitField> fields =
      tcgen05 ? sim::tcgen05_matrix_fields(*bits) : sim::wgmma_matrix_fields(*bits);
  std::vector<Reading> readings;
  for (const std::uint32_t element : {16u, 8u, 32u}) {
    readings.push_back(read_matrix(*bits, tcgen05, false, element));
  }
  // wgmma takes MN-major operands of 16 bits alone.
  readings.push_back(read_matrix(*bits, tcgen05, true, 16));
  if (tcgen05) {
    readings.push_back(read_matrix(*bits, tcgen05, true, 8));
    readings.push_back(read_matrix(*bits, tcgen05, true, 32));
  }
  const std::string of = tcgen05 ? "tcgen05 (sm_100a)" : "wgmma (sm_90a)";
  if (terminal.json()) {
    terminal.document({{"what", "desc"},
                       {"value", fmt::format("0x{:016x}", *bits)},
                       {"arch", tcgen05 ? "sm_100a" : "sm_90a"},
                       {"fields", to_json(fields)},
                       {"readings", to_json(readings)}});
    return 0;
  }
  terminal.print(fmt::format(
      "0x{:016x} as a shared-memory descriptor of {}{}\n\n", *bits, of,
      options.arch == "auto" ? fmt::format(", as bits 46-48 are {}", *bits >> 46 & 7) : ""));
  print_fields(fields, terminal);
  terminal.print("\nRead as a matrix, in the shared window:\n");
  print_readings(readings, terminal);
  return 0;
}

// ---- idesc ----

constexpr std::array kinds = {sim::MmaKind::f16,     sim::MmaKind::tf32,     sim::MmaKind::f8f6f4,
                              sim::MmaKind::i8,      sim::MmaKind::mxf8f6f4, sim::MmaKind::mxf4,
                              sim::MmaKind::mxf4nvf4};

std::string shape_text(const sim::MmaShape& s) {
  constexpr std::string_view sums[] = {"f16", "f32", "s32"};
  std::string out =
      fmt::format("M {} N {} K {}, {} += {}{} ({}) x {}{} ({})", s.m, s.n, s.k,
                  sums[static_cast<std::size_t>(s.d)], s.negate_a ? "-" : "", sim::name_of(s.a),
                  s.transpose_a ? "M-major" : "K-major", s.negate_b ? "-" : "", sim::name_of(s.b),
                  s.transpose_b ? "N-major" : "K-major");
  if (s.sparse) out += ", A sparse";
  if (s.saturate) out += ", saturating";
  if (s.scale_block) out += fmt::format(", a factor for {} elements", s.scale_block);
  return out;
}

int explain_instruction(const Options& options, Terminal& terminal) {
  const auto value = number(options.words[1], 8);
  if (!value) return terminal.fail(value.error());
  const auto bits = static_cast<std::uint32_t>(*value);
  std::vector<Reading> readings;
  sim::MmaKind chosen = sim::MmaKind::none;
  for (const sim::MmaKind kind : kinds) {
    if (options.kind != "any" && options.kind != sim::name_of(kind)) continue;
    if (options.kind != "any") chosen = kind;
    // Without a word of it: dense or sparse as the bits say, and the most usual factors.
    sim::MmaForm form;
    form.kind = kind;
    form.pair = options.pair;
    form.ws = options.ws;
    form.sparse = bits >> 2 & 1;
    if (sim::is_block_scaled(kind)) {
      if (form.ws) continue;
      form.vectors = kind == sim::MmaKind::mxf8f6f4 ? ptx::ScaleVectors::x1
                     : kind == sim::MmaKind::mxf4   ? ptx::ScaleVectors::x2
                                                    : ptx::ScaleVectors::x4;
      form.ultra = bits >> 31 & 1;
    }
    sim::MmaShape shape;
    const auto wrong = sim::decode(bits, form, shape);
    readings.push_back({fmt::format("kind::{}", sim::name_of(kind)),
                        wrong ? wrong_text(*wrong) : shape_text(shape), "", !wrong});
  }
  const std::vector<BitField> fields = sim::instruction_fields(bits, chosen);
  const std::string form =
      fmt::format(".cta_group::{}{}", options.pair ? 2 : 1, options.ws ? ", .ws" : "");
  if (terminal.json()) {
    terminal.document({{"what", "idesc"},
                       {"value", fmt::format("0x{:08x}", bits)},
                       {"form", form},
                       {"fields", to_json(fields)},
                       {"readings", to_json(readings)}});
    return 0;
  }
  terminal.print(
      fmt::format("0x{:08x} as an instruction descriptor of tcgen05.mma, {}\n\n", bits, form));
  print_fields(fields, terminal);
  terminal.print("\nBy the kind that the instruction says:\n");
  print_readings(readings, terminal);
  return 0;
}

// ---- map ----

Outcome<std::vector<std::uint64_t>> list(const std::string& text, std::string_view option) {
  std::vector<std::uint64_t> out;
  std::size_t at = 0;
  while (at <= text.size() && !text.empty()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const auto one = number(text.substr(at, end - at), 16);
    if (!one) {
      return usage(
          fmt::format("{} {} is no list of numbers: {}", option, text, one.error().sentence));
    }
    out.push_back(*one);
    at = end + 1;
  }
  return out;
}

struct Map {
  MapFields fields;
  std::vector<std::pair<std::string, std::string>> more;  // of the driver's bytes alone
};

// The arguments of cuTensorMapEncodeTiled, innermost dimension first.
Outcome<Map> map_of_arguments(const Options& options) {
  Map out;
  MapFields& m = out.fields;
  const auto dtype = dtype_named(options.dtype);
  const auto packing = packing_named(options.dtype);
  const auto floats = map_float_named(options.dtype);
  if (!dtype && !packing && !floats) {
    return usage(
        fmt::format("--dtype {} is no type: f16, bf16, f32, e4m3, u8 and the like are, and "
                    "f32_ftz, tf32, tf32_ftz, b4x16, b4x16_p64, b6x16_p32.",
                    options.dtype));
  }
  m.dtype = packing ? DType::u8 : dtype.value_or(DType::f32);
  m.packing = packing.value_or(MapPacking::none);
  m.floats = floats.value_or(MapFloat::f32);
  const auto swizzle = swizzle_named(options.swizzle);
  if (!swizzle) {
    return usage(
        fmt::format("--swizzle {} is none: none, 32B, 64B, 128B, 128B_atom32B, "
                    "128B_atom32B_flip8B and 128B_atom64B are.",
                    options.swizzle));
  }
  m.swizzle = *swizzle;
  m.interleave = options.interleave == "16B"   ? MapInterleave::bytes16
                 : options.interleave == "32B" ? MapInterleave::bytes32
                                               : MapInterleave::none;
  m.nan_fill = options.outside == "nan";
  std::vector<std::uint64_t> lists[4];
  const std::pair<const std::string*, std::string_view> given[] = {{&options.dims, "--dims"},
                                                                   {&options.box, "--box"},
                                                                   {&options.strides, "--strides"},
                                                                   {&options.steps, "--steps"}};
  for (std::size_t i = 0; i < std::size(given); ++i) {
    const auto read = list(*given[i].first, given[i].second);
    if (!read) return read.error();
    lists[i] = *read;
  }
  const std::size_t rank = lists[0].size();
  if (rank == 0 || rank > most_map_dims) {
    return usage(
        "A tensor map is of 1 to 5 dimensions, innermost first: --dims 8192,4096 --box "
        "64,128, say; or its 128 bytes in hexadecimal, or a file that has them.");
  }
  const std::size_t wanted[] = {rank, rank, rank - 1, rank};
  for (std::size_t i = 1; i < std::size(given); ++i) {
    if (lists[i].size() == wanted[i] || (i > 1 && lists[i].empty())) continue;
    return usage(fmt::format("--dims has {} dimension{}, so {} has {} number{}, not {}.", rank,
                             rank == 1 ? "" : "s", given[i].second, wanted[i],
                             wanted[i] == 1 ? "" : "s", lists[i].size()));
  }
  m.rank = static_cast<std::uint32_t>(rank);
  m.strides[0] = m.element_bytes();
  for (std::size_t d = 0; d < rank; ++d) {
    m.dims[d] = lists[0][d];
    m.box[d] = static_cast<std::uint32_t>(std::min<std::uint64_t>(lists[1][d], ~0u));
    m.steps[d] = lists[3].empty() ? 1 : static_cast<std::uint32_t>(lists[3][d]);
    if (d == 0) continue;
    m.strides[d] = !lists[2].empty() ? lists[2][d - 1]
                   : d == 1          ? m.global_bytes(m.dims[0])
                                     : m.strides[d - 1] * m.dims[d - 1];
  }
  return out;
}

// 256 hexadecimal digits, in the order of memory, with anything between the bytes that is none; or
// a file of 128 bytes.
Outcome<Map> map_of_bytes(const std::string& text) {
  std::array<std::byte, map_bytes> bytes{};
  std::error_code none;
  if (std::filesystem::exists(text, none)) {
    const Outcome<FileFront> file = read_front(text, map_bytes);
    if (!file) return file.error();
    if (file->bytes.size() < map_bytes) {
      return Error{ErrorKind::unreadable,
                   fmt::format("{} has fewer than the 128 bytes of a tensor map.", text), ""};
    }
    std::copy(file->bytes.begin(), file->bytes.end(), bytes.begin());
  } else {
    std::string digits;
    for (const char c : text) {
      if (std::isxdigit(static_cast<unsigned char>(c))) digits += c;
    }
    if (digits.size() != 2 * map_bytes) {
      return usage(
          fmt::format("A tensor map has 256 hexadecimal digits (128 bytes, in the order of "
                      "memory); here are {}. Or say the arguments: --dims 8192,4096 --box "
                      "64,128.",
                      digits.size()));
    }
    for (std::size_t i = 0; i < map_bytes; ++i) {
      bytes[i] = static_cast<std::byte>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
    }
  }
  Map out;
  const auto driver = decode_driver_map(bytes);
  const bool is_drivers = driver && driver->fields.address % 16 == 0;
  if (const auto ours = sim::decode_map(bytes); ours && !is_drivers) {
    out.fields = *ours;
    return out;
  }
  if (!driver) {
    return Error{ErrorKind::unreadable,
                 "These 128 bytes are no tensor map, as the CUDA driver makes them for an H100, or "
                 "as the simulator has them in a kernel's memory.",
                 ""};
  }
  out.fields = driver->fields;
  constexpr std::string_view promotions[] = {"none", "64 bytes", "128 bytes", "256 bytes"};
  out.more.emplace_back("L2 promotion", promotions[static_cast<std::size_t>(driver->promotion)]);
  return out;
}

std::string numbers(const auto& values, std::uint32_t first, std::uint32_t count) {
  std::string out;
  for (std::uint32_t d = first; d < count; ++d) {
    out += fmt::format("{}{}", d == first ? "" : ", ", values[d]);
  }
  return out.empty() ? "none" : out;
}

// The tile in shared memory, row-major with the swizzle, of elements.
std::string tile_expression(const MapFields& m) {
  if (m.pixels || m.packing != MapPacking::none || m.interleave != MapInterleave::none) return "";
  std::string shape, stride;
  std::uint64_t step = 1;
  for (std::uint32_t d = 0; d < m.rank; ++d) {
    const std::string comma = d == 0 ? "" : ",";
    shape = fmt::format("{}{}{}", m.copied(d), comma, shape);
    stride = fmt::format("{}{}{}", step, comma, stride);
    step *= m.copied(d);
  }
  std::string plain = fmt::format("({}):({})", shape, stride);
  const std::uint32_t span = span_of(m.swizzle);
  if (span == 0) return plain;
  if (m.swizzle > MapSwizzle::bytes128) return "";  // by more than 16 bytes
  int base = 4;
  for (std::uint32_t bytes = m.element_bytes(); bytes > 1; bytes /= 2) --base;
  return fmt::format("Sw<{},{},3> o {}", span == 128 ? 3 : span == 64 ? 2 : 1, base, plain);
}

int explain_map(const Options& options, Terminal& terminal) {
  const auto map =
      options.words.size() > 1 ? map_of_bytes(options.words[1]) : map_of_arguments(options);
  if (!map) return terminal.fail(map.error());
  const MapFields& m = map->fields;
  std::vector<std::pair<std::string, std::string>> rows;
  if (options.words.size() > 1) rows.emplace_back("address", fmt::format("0x{:x}", m.address));
  rows.emplace_back("elements", m.packing != MapPacking::none ? std::string(name_of(m.packing))
                                                              : std::string(name_of(m.dtype)));
  rows.emplace_back("extents", numbers(m.dims, 0, m.rank) + ", innermost first");
  rows.emplace_back("strides", numbers(m.strides, 1, m.rank) + " bytes");
  std::uint64_t bytes = m.element_bytes();
  if (m.pixels) {
    const std::uint32_t inner = m.rank - 2;
    rows.emplace_back("corners",
                      fmt::format("lower {}; upper {}", numbers(m.pixels->lower, 0, inner),
                                  numbers(m.pixels->upper, 0, inner)));
    rows.emplace_back("copies", fmt::format("{} pixels of {} channels (im2col)", m.pixels->column,
                                            m.pixels->channels));
    bytes *= std::uint64_t{m.pixels->column} * m.pixels->channels;
  } else {
    rows.emplace_back("box", numbers(m.box, 0, m.rank));
    for (std::uint32_t d = 0; d < m.rank; ++d) bytes *= m.copied(d);
    if (m.packing == MapPacking::b4x16) bytes /= 2;
  }
  rows.emplace_back("element steps", numbers(m.steps, 0, m.rank));
  constexpr std::string_view leaves[] = {"none", "16 bytes", "32 bytes"};
  rows.emplace_back("interleave", leaves[static_cast<std::size_t>(m.interleave)]);
  rows.emplace_back("swizzle", std::string(name_of(m.swizzle)));
  if (rounds(m.floats))
    rows.emplace_back("rounded", "to tf32, where it is copied to shared memory");
  if (flushes(m.floats)) rows.emplace_back("denormals", "taken for 0 in sums");
  rows.emplace_back("outside", m.nan_fill ? "NaN" : "zeros");
  rows.insert(rows.end(), map->more.begin(), map->more.end());
  rows.emplace_back(
      "bytes of a copy",
      fmt::format("{}: what mbarrier expect_tx has to expect of it, at the edges too", bytes));
  const std::uint32_t span = span_of(m.swizzle);
  rows.emplace_back("in shared memory",
                    span ? fmt::format("at a multiple of 128 bytes; of {}, where the swizzle's "
                                       "pattern is to begin with the tile",
                                       span * 8)
                         : "at a multiple of 128 bytes");
  MapFields asked = m;  // the driver looks at an address as well
  if (options.words.size() < 2) asked.address = std::uint64_t{1} << 32;
  const auto refused = objection(asked);
  rows.emplace_back("the driver", refused ? "refuses it: " + *refused : "takes it");
  const std::string draw = refused ? "" : tile_expression(m);
  if (terminal.json()) {
    Json fields = Json::object();
    for (const auto& row : rows) fields[row.first] = row.second;
    Json document = {{"what", "map"}, {"fields", fields}, {"bytes", bytes}, {"good", !refused}};
    if (!draw.empty()) document["layout"] = draw;
    terminal.document(std::move(document));
    return 0;
  }
  terminal.print("A tensor map\n\n");
  for (const auto& row : rows) terminal.print(fmt::format("  {:<17} {}\n", row.first, row.second));
  if (!draw.empty()) terminal.print(fmt::format("\n  tilescope draw '{}'\n", draw));
  return 0;
}

int explain(const Options& options, Terminal& terminal) {
  const std::string& what = options.words[0];
  const bool one = options.words.size() == 2;
  if (what == "desc" && one) return explain_matrix(options, terminal);
  if (what == "idesc" && one) return explain_instruction(options, terminal);
  if (what == "map" && options.words.size() <= 2) return explain_map(options, terminal);
  if ((what == "handoffs" || what == "why" || what == "product") && one) {
    HandoffsOptions handoffs = options.handoffs;
    handoffs.of = options.words[1];
    for (const auto& [name, value] :
         {std::pair("m", options.m), std::pair("n", options.n), std::pair("k", options.k)}) {
      if (value) handoffs.own[name] = std::to_string(*value);
    }
    sim::WhatIf& w = handoffs.what;
    for (const auto& [name, value, share] :
         {std::tuple("--copies", options.copies, &w.copies),
          std::tuple("--products", options.products, &w.products),
          std::tuple("--barriers", options.barriers, &w.barriers),
          std::tuple("--latency", options.latency, &w.latency)}) {
      if (!value) continue;
      if (!(*value >= 0 && *value <= 1)) {
        return terminal.fail(usage(fmt::format(
            "{} {}: it is a share of the time that they take, from 0 (free) to 1 (as it is).", name,
            *value)));
      }
      *share = *value;
    }
    for (const auto& [name, value] : options.own) {
      if (!value.empty()) handoffs.own[name] = value;
    }
    if (what == "why" && options.variants) return explain_variants(handoffs, terminal);
    if (what == "product") {
      ProductOptions product = options.product;
      product.of = handoffs;
      return explain_product(product, terminal);
    }
    return what == "why" ? explain_why(handoffs, terminal) : explain_handoffs(handoffs, terminal);
  }
  return terminal.fail(usage(
      "tilescope explain wants one of: desc and the 64 bits of a shared-memory descriptor, idesc "
      "and the 32 bits of an instruction descriptor, map and a tensor map's 128 bytes, map and "
      "--dims, --box and the rest of cuTensorMapEncodeTiled's arguments, or handoffs, why or "
      "product and a kernel, a PTX file with --launch, or (but for product) a record (F.tsr)."));
}

}  // namespace

Action define_explain(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  Options& o = *options;
  app.add_option("WHAT", o.words,
                 "desc, idesc or map, and its bits; handoffs, why or product, and a kernel")
      .required();
  app.add_option("--m", o.m, "handoffs, why, product: rows").type_name("M");
  app.add_option("--n", o.n, "handoffs, why, product: columns").type_name("N");
  app.add_option("--k", o.k, "handoffs, why, product: depth K").type_name("K");
  app.add_option("--ptx", o.handoffs.ptx, "handoffs, why, product: another build of the kernel")
      .type_name("F.ptx");
  app.add_option("--launch", o.handoffs.launch, "handoffs, why, product: how a PTX file is run")
      .type_name("F.toml");
  app.add_option("--device", o.handoffs.device,
                 "handoffs, why, product: the simulated chip (default: one that the PTX is for)")
      .type_name("NAME|F.toml");
  app.add_option("--block", o.handoffs.block, "handoffs, product: the CTA told of (default 0)")
      .type_name("N");
  for (const CatalogEntry& entry : catalog()) {
    for (const OptionParameter& own : entry.options) {
      if (o.own.count(own.name)) continue;
      app.add_option("--" + own.name, o.own[own.name],
                     fmt::format("handoffs, why of {}: {}", entry.name, own.help))
          .type_name(own.form);
    }
  }
  app.add_flag("--variants", o.variants,
               "why: the same by the kernel's other forms, the fastest first");
  app.add_option("--copies", o.copies, "why: if copies took this share of their time, 0 to 1")
      .type_name("SHARE");
  app.add_option("--products", o.products, "why: the same of tensor cores").type_name("SHARE");
  app.add_option("--barriers", o.barriers, "why: the same of arrivals, commits and waits' ends")
      .type_name("SHARE");
  app.add_option("--latency", o.latency, "why: the same of what loads and issues wait for")
      .type_name("SHARE");
  app.add_option("--uses", o.handoffs.uses,
                 "handoffs: how many uses of each ring the ledger shows (default 12)")
      .type_name("N");
  app.add_option("--product", o.product.number, "product: which of the CTA's, from 0 (default 0)")
      .type_name("N");
  app.add_option("--event", o.product.event, "product: that of this event of the record")
      .type_name("N");
  app.add_option("--at", o.product.at, "product: the one under way at this cycle")
      .type_name("CYCLE");
  app.add_option("--warp", o.product.warp, "product: of mma.sync, the warp (default 0)")
      .type_name("N");
  app.add_option("--element", o.product.element, "product: of D, term by term (default 0,0)")
      .type_name("I,J");
  app.add_option("--arch", o.arch,
                 "whose descriptor: of wgmma or of tcgen05 (default: by its bits)")
      .one_of({"auto", "sm_90a", "sm_100a"});
  app.add_option("--kind", o.kind, "idesc: the instruction's kind (default: all)")
      .one_of({"any", "f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"});
  app.add_flag("--pair", o.pair, "idesc: of .cta_group::2");
  app.add_flag("--ws", o.ws, "idesc: of .ws");
  app.add_option("--dtype", o.dtype, "map: type of its elements (default f16)").type_name("TYPE");
  app.add_option("--dims", o.dims, "map: extents, innermost first").type_name("N,...");
  app.add_option("--strides", o.strides,
                 "map: bytes, of all dimensions but the first (default: packed)")
      .type_name("N,...");
  app.add_option("--box", o.box, "map: elements of a box").type_name("N,...");
  app.add_option("--steps", o.steps, "map: element strides (default 1)").type_name("N,...");
  app.add_option("--swizzle", o.swizzle, "map: none, 32B, 64B, 128B, ... (default none)")
      .type_name("S");
  app.add_option("--interleave", o.interleave, "map: in 16 or 32 bytes")
      .one_of({"none", "16B", "32B"});
  app.add_option("--outside", o.outside, "map: what is outside the tensor").one_of({"zero", "nan"});
  app.add_flag("--json", o.json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return explain(*options, terminal); };
}

}  // namespace tilescope
