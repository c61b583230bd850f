// dense_gemm by its options: every form that is shipped multiplies rightly, what options mean for
// shapes and sums, and what is refused in which words.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/diff/diff.h"
#include "core/run/manifest.h"
#include "core/sim/machine/machine.h"
#include "kernels/catalog/catalog.h"
#include "kernels/catalog/dense_model.h"
#include "kernels/reference/reference.h"
#include "tests/kernels/asked.h"
#include "tests/kernels/images.h"
#include "tests/kernels/products.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;
using test::asked;
using test::assets;
using test::words_in;

const CatalogEntry& dense_gemm() {
  return **find_kernel("dense_gemm");
}

std::string refusal(const Request& request) {
  const Outcome<Fit> fitted = fit(dense_gemm(), request);
  return fitted ? "accepted" : fitted.error().sentence;
}
std::string refusal(const std::string& line) {
  return refusal(asked(line));
}

// Runs it on the simulator, and expects no report and a product within the tolerance.
void expect_right(const Request& request, const sim::Options& options = {}) {
  const Outcome<Fit> fitted = fit(dense_gemm(), request);
  ASSERT_TRUE(fitted.ok()) << fitted.error().sentence;
  const Job job = make_job(dense_gemm(), *fitted, request, test::image(fitted->variant.image));
  Outcome<sim::Machine> machine = sim::Machine::load(job, options);
  ASSERT_TRUE(machine.ok()) << machine.error().sentence;
  const RunState state = machine->run(~std::uint64_t{0});
  for (const Report& r : machine->reports()) {
    // Stages are given back by a relaxed barrier.cluster.
    if (r.weight == Weight::note && r.kind == "weak_order") continue;
    const auto is_known = [&](const Suppression& rule) { return matches(rule, r); };
    if (std::any_of(dense_gemm().known.begin(), dense_gemm().known.end(), is_known)) continue;
    ADD_FAILURE() << r.sentence << "\n" << text(r.site);
  }
  ASSERT_EQ(state, RunState::done);
  const auto want = dense_gemm().reference(job, *fitted, {});
  ASSERT_TRUE(want.ok());
  DiffOptions how;
  how.tolerance = {fitted->variant.rtol, fitted->variant.atol};
  const auto compared = diff(machine->buffers()[2], want->front(), how);
  ASSERT_TRUE(compared.ok()) << compared.error().sentence;
  EXPECT_TRUE(compared->ok()) << text(*compared);
}
void expect_right(const std::string& line) {
  SCOPED_TRACE(line);
  expect_right(asked(line));
}

// The table of what is shipped, without its first line; where memory is watched, each sixth of it.
std::vector<std::vector<std::string>> shipped() {
  std::ifstream table(TILESCOPE_SOURCE_DIR "/kernels/hopper/dense_gemm.variants.tsv");
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(table, line);) rows.push_back(words_in(line));
  rows.erase(rows.begin());
  if (!test::sanitized) return rows;
  std::vector<std::vector<std::string>> some;
  for (std::size_t i = 0; i < rows.size(); i += 6) some.push_back(rows[i]);
  return some;
}

// K in two slices: a cluster has up to 8 CTAs with those, and a consumer registers to add them up.
bool takes_two_slices(const std::vector<std::string>& values) {
  return std::stoi(values[6]) * std::stoi(values[7]) <= 4 &&
         can_slice(std::stoi(values[4]), std::stoi(values[5]), values[3] == "f16");
}

TEST(DenseGemm, TheTableOfFormsHasTheCatalogsMacros) {
  std::ifstream table(TILESCOPE_SOURCE_DIR "/kernels/hopper/dense_gemm.variants.tsv");
  std::string line;
  std::getline(table, line);
  std::vector<std::string> macros;
  for (const auto& each : dense_gemm().variants.front().defines) macros.push_back(each.first);
  EXPECT_EQ(words_in(line), macros);
}

// Sizes that no tile divides, several matrices.
TEST(DenseGemm, EveryFormThatIsShippedIsRight) {
  std::size_t images = 0;
  for (const std::vector<std::string>& values : shipped()) {
    Request request = asked("--m 200 --n 272 --k 144 --l 2");
    request.choices = dense_gemm().choices_of(values);
    request.choices["split-k"] = "1";
    SCOPED_TRACE(shortest_words(dense_gemm(), request.choices));
    const Outcome<Fit> fitted = fit(dense_gemm(), request);
    ASSERT_TRUE(fitted.ok()) << fitted.error().sentence;
    std::vector<std::string> defined;
    for (const auto& each : fitted->variant.defines) defined.push_back(each.second);
    EXPECT_EQ(defined, values);
    if (!test::is_sampled(images++, 3)) continue;
    expect_right(request);
    if (takes_two_slices(values)) {
      request.choices["split-k"] = "2";
      expect_right(request);
    }
  }
  std::size_t files = 0;
  for (const auto& each : fs::directory_iterator(assets / "ptx/dense_gemm")) {
    files += each.path().extension() == ".gz";
  }
  if (!test::sanitized) EXPECT_EQ(files, images) << "./dev ptx makes one for each row";
}

// Few SMs, so that each CTA has one tile after the other and comes back to its stages and boxes; a
// tile of 192 columns has an odd number of boxes.
TEST(DenseGemm, EveryFormIsRightInEveryOrder) {
  std::size_t tried = 0;
  for (const std::vector<std::string>& values : shipped()) {
    const auto tiles_and = [&](int tile, int cluster, int more) {
      return std::stoi(values[tile]) * std::stoi(values[cluster]) + more;
    };
    Request request = asked("--k 208");
    request.sizes["m"] = tiles_and(4, 6, 8);
    request.sizes["n"] = tiles_and(5, 7, 16);
    request.choices = dense_gemm().choices_of(values);
    request.processors = 4;
    // Other types have the same tiles.
    if (values[0] != "f16" && values[4] != "128") continue;
    if (!test::is_sampled(tried++, 3)) continue;
    const std::uint64_t step = values[0] == "f16" ? 4 : 20;
    for (std::uint64_t seed = 0; seed < test::orders; seed += step) {
      request.choices["split-k"] = seed % 8 == 0 || !takes_two_slices(values) ? "1" : "2";
      SCOPED_TRACE(shortest_words(dense_gemm(), request.choices) + ", schedule " +
                   std::to_string(seed));
      expect_right(request, test::with(seed, true, false));
      if (seed > 0) expect_right(request, test::with(seed, false, false));
    }
  }
}

// Of 128 rows: a consumer has all of a tile, the other has the next one.
TEST(DenseGemm, ConsumersTakeTurns) {
  const auto entry = [](const std::string& line) {
    const Outcome<Fit> fitted = fit(dense_gemm(), asked(line));
    return fitted ? fitted->variant.entry : fitted.error().sentence;
  };
  const std::string few = "--m 1024 --n 1024 --k 512 --tile 128x128 --cluster 2x1 --split-k 1";
  const std::string many = "--m 4096 --n 4096 --k 512 --tile 128x128 --cluster 2x1 --split-k 1";
  EXPECT_EQ(entry(few), "dense_gemm");
  EXPECT_EQ(entry(few + " --consumers ping-pong"), "dense_gemm_ping_pong");
  EXPECT_EQ(entry(many), "dense_gemm_ping_pong");
  EXPECT_EQ(entry(many + " --consumers cooperative"), "dense_gemm");
  EXPECT_EQ(entry("--m 4096 --n 4096 --k 512 --tile 64x128 --split-k 1"), "dense_gemm");
  EXPECT_EQ(refusal("--tile 64x64 --split-k 1 --consumers cooperative"),
            "A tile of 64 rows is multiplied by one warpgroup, and --consumers asks for two that "
            "share it: choose ping-pong, or a tile of 128 or 256.");
  EXPECT_EQ(refusal("--tile 128x256 --consumers ping-pong"),
            "In ping-pong one warpgroup has all sums of a tile, and those of 128x256 are more than "
            "it has registers: choose --tile 128x128 or a smaller one, or --consumers "
            "cooperative.");
  EXPECT_EQ(refusal("--tile 256x192 --cluster 1x2 --split-k 2"),
            "A warpgroup's share of a tile of 256x192 leaves no registers to add up slices of K "
            "with: leave --split-k out, or choose a smaller --tile.");
  EXPECT_EQ(refusal("--tile 128x128 --split-k 2 --consumers ping-pong"),
            "With slices of K the consumers of dense_gemm do not take turns: leave --consumers "
            "out.");
  // What is left open is chosen so that the consumers can do it.
  EXPECT_EQ(entry("--consumers cooperative"), "dense_gemm");
  EXPECT_EQ(entry("--m 64 --n 64 --k 8192 --consumers ping-pong"), "dense_gemm");
  EXPECT_EQ(entry("--m 8192 --n 8192 --k 512 --consumers ping-pong"), "dense_gemm_ping_pong");
  EXPECT_EQ(entry("--m 64 --n 64 --k 8192 --tile 256x192 --cluster 1x2"), "dense_gemm");
  for (const std::string form : {"--tile 128x128 --cluster 2x1", "--tile 128x128 --cluster 2x2",
                                 "--tile 128x256 --cluster 2x1 --acc-dtype f16",
                                 "--tile 128x128 --cluster 1x1 --a-dtype tf32"}) {
    Request request = asked(form + " --m 528 --n 520 --k 144 --consumers ping-pong --beta 2");
    request.processors = 4;
    for (std::uint64_t seed = 0; seed < test::orders; seed += 7) {
      SCOPED_TRACE(form + ", schedule " + std::to_string(seed));
      expect_right(request, test::with(seed, seed % 2 == 0, false));
    }
  }
}

TEST(DenseGemm, FactorsMajorsAndOddSizes) {
  expect_right("--m 130 --n 264 --k 72 --alpha -0.5 --beta 2");
  expect_right("--m 136 --n 264 --k 72 --c-major m");
  expect_right("--m 136 --n 264 --k 72 --l 2 --c-major m --beta 0.5");
  expect_right("--m 136 --n 264 --k 72 --a-major m --b-major n");
  expect_right("--m 70 --n 33 --k 41");  // nothing that TMA could copy
  expect_right("--m 70 --n 33 --k 41 --l 3 --beta 1");
  expect_right("--m 70 --n 33 --k 41 --c-major m --beta 1");
  expect_right("--m 70 --n 33 --k 41 --a-major m --b-major n");
  expect_right("--m 70 --n 33 --k 41 --a-dtype tf32");
}

// Not more clusters than an H100 has room for: those that did not fit would have their tiles when
// all others are through.
TEST(DenseGemm, ClustersAreAsManyAsThereIsRoomFor) {
  const auto blocks = [](const std::string& cluster) {
    Request request =
        asked("--m 8192 --n 8192 --k 64 --tile 128x128 --split-k 1 --cluster " + cluster);
    request.processors = 132;
    const Outcome<Fit> fitted = fit(dense_gemm(), request);
    return make_job(dense_gemm(), *fitted, request, test::image(fitted->variant.image))
        .launch.grid.x;
  };
  EXPECT_EQ(blocks("1x1"), 132u);
  EXPECT_EQ(blocks("2x1"), 132u);
  EXPECT_EQ(blocks("2x2"), 120u);
  EXPECT_EQ(blocks("4x2"), 120u);
}

// Before the first access to global memory; else a launch could touch what the one before it is
// still at.
TEST(DenseGemm, EveryEntryWaitsForTheLaunchesBefore) {
  const auto waits = [](const std::string& text, const std::string& entry) {
    const std::size_t begins = text.find(".entry " + entry + "("), ends = text.find("\n}", begins);
    EXPECT_NE(begins, text.npos) << entry;
    const std::string body = text.substr(begins, ends - begins);
    const std::size_t wait = body.find("griddepcontrol.wait;");
    if (wait == body.npos) return false;
    for (const char* access : {"cp.async.bulk", "ld.global", "st.global"}) {
      EXPECT_LT(wait, body.find(access)) << entry << ": " << access;
    }
    return true;
  };
  const std::string image = test::image("ptx/dense_gemm/f16_f16_f16_f32_128_128_2_1_k_k.ptx");
  for (const char* entry :
       {"dense_gemm", "dense_gemm_ping_pong", "dense_gemm_slices", "dense_gemm_plain"}) {
    EXPECT_TRUE(waits(image, entry)) << entry;
  }
  for (const char* entry : {"wgmma_v9", "wgmma_v9_bf16"}) {
    EXPECT_TRUE(waits(test::image("ptx/wgmma_v9.ptx"), entry)) << entry;
  }
  EXPECT_FALSE(waits(test::image("ptx/wgmma_v8.ptx"), "wgmma_v8"));
}

// Uneven slices; more CTAs than a tile has shares of 16 columns; f16 sums; what C has before.
TEST(DenseGemm, SlicesOfK) {
  expect_right("--m 130 --n 200 --k 648 --tile 64x48 --split-k 7");
  expect_right("--m 70 --n 72 --k 1024 --l 2 --tile 64x64 --split-k 8 --alpha 0.5 --beta 2");
  expect_right("--m 200 --n 136 --k 1000 --tile 256x128 --split-k 3 --c-major m");
  expect_right("--m 136 --n 264 --k 200 --a-major m --b-major n --split-k 2");
  expect_right("--m 136 --n 264 --k 512 --acc-dtype f16 --split-k 4");
  expect_right("--m 136 --n 264 --k 512 --a-dtype tf32 --split-k 5");
  expect_right("--m 136 --n 272 --k 512 --a-dtype e4m3 --c-dtype e4m3 --split-k 4");
  // 4 tiles of 128 x 128, and each cluster seven slices; with a cluster that shares, the two
  // together.
  const auto launched = [](const std::string& line) {
    const Request request = asked(line);
    const Outcome<Fit> fitted = fit(dense_gemm(), request);
    return make_job(dense_gemm(), *fitted, request, test::image(fitted->variant.image)).launch;
  };
  const Launch seven = launched("--m 200 --n 136 --k 456 --tile 128x128 --cluster 1x1 --split-k 7");
  EXPECT_EQ(seven.grid, (Dim3{28, 1, 1}));
  EXPECT_EQ(seven.cluster, (Dim3{7, 1, 1}));
  const Launch shared =
      launched("--m 200 --n 136 --k 456 --tile 128x128 --cluster 2x1 --split-k 3");
  EXPECT_EQ(shared.grid, (Dim3{12, 1, 1}));
  EXPECT_EQ(shared.cluster, (Dim3{6, 1, 1}));
  for (std::uint64_t seed = 0; seed < test::orders; ++seed) {
    SCOPED_TRACE(seed);
    expect_right(asked("--m 200 --n 136 --k 456 --tile 128x128 --split-k 7"),
                 test::with(seed, seed % 2 == 0, seed % 3 == 0));
  }
}

// Where nobody says, a tile, a cluster and slices that suit the shape, of the forms that are there.
TEST(DenseGemm, ChoosesAFormThatIsShipped) {
  std::set<std::string> images, entries;
  for (const char* types : {"", "--a-dtype bf16", "--a-dtype e4m3", "--a-dtype tf32",
                            "--a-dtype e4m3 --b-dtype e5m2", "--acc-dtype f16", "--c-major m"}) {
    for (const int m : {8, 64, 200, 1000, 8192}) {
      for (const int n : {8, 64, 512, 8192}) {
        for (const int k : {16, 512, 8192}) {
          const std::string line = fmt::format("{} --m {} --n {} --k {}", types, m, n, k);
          SCOPED_TRACE(line);
          const Outcome<Fit> fitted = fit(dense_gemm(), asked(line));
          ASSERT_TRUE(fitted.ok()) << fitted.error().sentence;
          EXPECT_TRUE(fs::exists(assets / (fitted->variant.image + ".gz")))
              << fitted->variant.image;
          images.insert(fitted->variant.image);
          entries.insert(fitted->variant.entry);
        }
      }
    }
  }
  EXPECT_GE(images.size(), 12u);
  EXPECT_EQ(entries,
            (std::set<std::string>{"dense_gemm", "dense_gemm_ping_pong", "dense_gemm_slices"}));
  const auto tile = [](const std::string& line) {
    const Outcome<Fit> fitted = fit(dense_gemm(), asked(line));
    const auto& d = fitted->variant.defines;
    return fmt::format("{} {}x{} {}x{}", fitted->variant.entry, d[4].second, d[5].second,
                       d[6].second, d[7].second);
  };
  EXPECT_EQ(tile("--m 4096 --n 4096 --k 4096"), "dense_gemm 128x256 2x1");
  EXPECT_EQ(tile("--m 64 --n 64 --k 8192"), "dense_gemm_slices 64x48 1x1");
  EXPECT_EQ(tile("--m 64 --n 64 --k 8192 --split-k 1"), "dense_gemm 64x48 1x1");
  EXPECT_EQ(tile("--m 64 --n 64 --k 8192 --cluster 1x2 --split-k 1"), "dense_gemm 256x128 1x2");
}

std::vector<std::string> shapes(const Request& request) {
  const Outcome<Fit> fitted = fit(dense_gemm(), request);
  EXPECT_TRUE(fitted.ok()) << (fitted.ok() ? "" : fitted.error().sentence);
  std::vector<std::string> out;
  if (!fitted) return out;
  for (const TensorSpec& spec : fitted->tensors) {
    out.push_back(shape_text(shape_of(spec, fitted->sizes)));
  }
  return out;
}

Buffer given(std::vector<std::int64_t> shape, DType type = DType::f16) {
  Buffer b{"a.npy", type, std::move(shape), {}, false};
  b.bytes.resize(static_cast<std::size_t>(b.elements()) * bytes_of(type));
  return b;
}

TEST(DenseGemm, OfOneProductTensorsAreMatrices) {
  using Shapes = std::vector<std::string>;
  EXPECT_EQ(shapes(asked("--m 3 --n 5 --k 7")), (Shapes{"(3, 7)", "(5, 7)", "(3, 5)"}));
  EXPECT_EQ(shapes(asked("--m 3 --n 5 --k 7 --l 1")),
            (Shapes{"(1, 3, 7)", "(1, 5, 7)", "(1, 3, 5)"}));
  EXPECT_EQ(shapes(asked("--m 3 --n 5 --k 7 --a-major m --c-major m --l 2")),
            (Shapes{"(2, 7, 3)", "(2, 5, 7)", "(2, 5, 3)"}));
  Request files;
  files.inputs.emplace("A", given({3, 7}));
  files.inputs.emplace("B", given({5, 7}));
  EXPECT_EQ(shapes(files), (Shapes{"(3, 7)", "(5, 7)", "(3, 5)"}));
  files.inputs.erase("B");
  files.inputs.emplace("B", given({1, 5, 7}));
  EXPECT_EQ(shapes(files), (Shapes{"(1, 3, 7)", "(1, 5, 7)", "(1, 3, 5)"}));
  files.inputs.erase("B");
  files.inputs.emplace("B", given({2, 5, 7}));
  EXPECT_EQ(
      refusal(files),
      "dense_gemm takes B of shape (l, n, k): A (a.npy) is (3, 7), so l = 1, but B (a.npy) is "
      "(2, 5, 7), so l = 2.");
}

TEST(DenseGemm, OneTypeFollowsFromAnother) {
  const auto types = [](const std::string& line) {
    const Outcome<Fit> fitted = fit(dense_gemm(), asked(line));
    std::string out;
    for (const char* name : {"a-dtype", "b-dtype", "c-dtype"})
      out += fitted->choices.at(name) + " ";
    return out;
  };
  EXPECT_EQ(types(""), "f16 f16 f16 ");
  EXPECT_EQ(types("--a-dtype bf16"), "bf16 bf16 bf16 ");
  EXPECT_EQ(types("--b-dtype tf32"), "tf32 tf32 f32 ");
  EXPECT_EQ(types("--a-dtype e4m3 --b-dtype e5m2"), "e4m3 e5m2 f16 ");
  Request file;
  file.inputs.emplace("A", given({64, 64}, DType::f32));
  EXPECT_EQ(fit(dense_gemm(), file)->choices.at("a-dtype"), "tf32");
  file.choices["a-dtype"] = "f16";
  EXPECT_EQ(refusal(file), "A (a.npy) is f32, but --a-dtype f16 was asked for.");
  Request all;
  all.dtype = DType::e5m2;
  EXPECT_EQ(fit(dense_gemm(), all)->choices.at("b-dtype"), "e5m2");
  all.dtype = DType::i8;
  EXPECT_EQ(refusal(all),
            "The type i8 was asked for, but dense_gemm takes A of f16, bf16, tf32, e4m3 or e5m2.");
}

TEST(DenseGemm, WhatItCannotDoIsSaidWithWhatWouldWork) {
  EXPECT_EQ(refusal("--a-dtype f64"),
            "dense_gemm was asked for --a-dtype f64; it takes f16, bf16, tf32, e4m3 or e5m2.");
  EXPECT_EQ(refusal("--alpha much"), "--alpha takes a number, such as 0.5, and `much` is none.");
  EXPECT_EQ(refusal("--colour red").substr(0, 33), "dense_gemm has no option colour; ");
  EXPECT_EQ(refusal("--a-dtype f16 --b-dtype bf16"),
            "dense_gemm multiplies A and B of one type, or e4m3 and e5m2 with each other; it was "
            "asked for --a-dtype f16 and --b-dtype bf16.");
  EXPECT_EQ(refusal("--a-dtype bf16 --acc-dtype f16").substr(0, 57),
            "dense_gemm sums in f16 only where A and B are f16, and th");
  EXPECT_EQ(refusal("--a-dtype e4m3 --b-major n").substr(0, 71),
            "The tensor core reads B with --b-major n only of 16-bit types (PTX ISA ");
  EXPECT_EQ(refusal("--tile 160x128").substr(0, 55),
            "dense_gemm's tiles have 64, 128 or 256 rows, which warp");
  EXPECT_EQ(refusal("--tile 160x128 --c-major m"), "accepted");
  EXPECT_EQ(refusal("--tile 128x160 --b-major n").substr(0, 61),
            "With --b-major n a tile has whole 64s of B's rows, and --tile");
  EXPECT_EQ(refusal("--tile 128x192 --b-major n --cluster 2x1").substr(0, 70),
            "With --b-major n the 2 CTAs of a cluster that share 192 of B's rows lo");
  EXPECT_EQ(refusal("--tile 256x256").substr(0, 24), "A tile of 256x256 has 25");
  EXPECT_EQ(refusal("--tile 256x256 --acc-dtype f16"), "accepted");
  Request file;
  file.inputs.emplace("C", given({512, 512}));
  EXPECT_EQ(refusal(file).substr(0, 39), "C (a.npy) is given as an input of dense");
  file.choices["beta"] = "1";
  EXPECT_EQ(refusal(file), "accepted");
}

// The reference by hand, in each major: a 2 x 1 product of 2, twice.
TEST(DenseReference, IsWhatTheFormulaSays) {
  const auto buffer = [](std::vector<std::int64_t> shape, std::vector<double> values) {
    Buffer b{"x", DType::f32, std::move(shape), {}, false};
    b.bytes.resize(values.size() * 4);
    for (std::size_t i = 0; i < values.size(); ++i) {
      store_element(DType::f32, &b.bytes[4 * i], values[i]);
    }
    return b;
  };
  const auto values = [](const Outcome<Buffer>& of) {
    std::vector<double> out;
    for (std::size_t i = 0; i < of->bytes.size(); i += 4) {
      out.push_back(load_element(DType::f32, &of->bytes[i]));
    }
    return out;
  };
  reference::DenseProblem p;
  p.m = 2, p.n = 2, p.k = 2, p.l = 2, p.alpha = 10, p.beta = 1;
  const Buffer a = buffer({2, 2, 2}, {1, 2, 3, 4, 1, 0, 0, 1}),
               b = buffer({2, 2, 2}, {1, 0, 0, 1, 5, 6, 7, 8}),
               c = buffer({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  using Values = std::vector<double>;
  EXPECT_EQ(values(reference::dense(a, b, c, p)), (Values{11, 22, 33, 44, 55, 76, 67, 88}));
  p.a_across = true;
  EXPECT_EQ(values(reference::dense(a, b, c, p)), (Values{11, 32, 23, 44, 55, 76, 67, 88}));
  p.c_across = true;
  EXPECT_EQ(values(reference::dense(a, b, c, p)), (Values{11, 22, 33, 44, 55, 66, 77, 88}));
  p.k = 3;
  EXPECT_FALSE(reference::dense(a, b, c, p).ok());
  // 1 + 2^-11 has a bit that tf32 has not.
  p = {};
  p.m = p.n = p.k = 1;
  const Buffer one = buffer({1, 1}, {1}), more = buffer({1, 1}, {1 + 1.0 / 2048});
  EXPECT_EQ(values(reference::dense(one, more, one, p)), Values{1 + 1.0 / 2048});
  p.tf32 = true;
  EXPECT_EQ(values(reference::dense(one, more, one, p)), Values{1});
}

// What is shipped is in the repository and in the program: forms are packed, and together with
// plain images stay small.
TEST(Images, StaySmall) {
  constexpr std::uintmax_t of_forms = 48 << 10, all = 10 << 20;
  std::uintmax_t sum = 0, packed = 0, forms = 0;
  for (const auto& each : fs::recursive_directory_iterator(assets / "ptx")) {
    if (!each.is_regular_file()) continue;
    sum += each.file_size();
    const bool form = each.path().parent_path() != assets / "ptx";
    EXPECT_EQ(form, each.path().extension() == ".gz") << each.path();
    if (form) ++forms, packed += each.file_size();
  }
  ASSERT_GT(forms, 0u);
  EXPECT_LT(packed / forms, of_forms) << "bytes of a form";
  EXPECT_LT(sum, all) << "bytes of all images";
}

TEST(Gzip, IsUnpackedOrRefused) {
  const std::string packed = test::bytes_in(assets / (dense_gemm().ptx + ".gz"));
  const auto unpack = [](std::string_view bytes) {
    return unpack_gzip(std::as_bytes(std::span(bytes.data(), bytes.size())), "x.gz");
  };
  const std::string ptx = test::image(dense_gemm().ptx);
  EXPECT_NE(ptx.find(".entry dense_gemm("), ptx.npos);
  EXPECT_TRUE(manifest_in(ptx, "dense_gemm").shared);
  EXPECT_EQ(unpack(std::string_view(packed).substr(0, packed.size() / 2)).error().sentence,
            "x.gz cannot be unpacked: it ends too early.");
  EXPECT_EQ(unpack("").error().kind, ErrorKind::unreadable);
  std::string broken = packed;
  broken[packed.size() / 2] = static_cast<char>(~broken[packed.size() / 2]);
  EXPECT_FALSE(unpack(broken).ok());
  EXPECT_FALSE(unpack("no gzip file, but as long as its header").ok());
}

}  // namespace
}  // namespace tilescope
