// The catalog: what a request becomes, what is refused, and what the references compute.
#include "kernels/catalog/catalog.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>

#include "core/numeric/random.h"
#include "kernels/reference/reference.h"

namespace tilescope {
namespace {

const CatalogEntry& elementwise_add() {
  const auto entry = find_kernel("elementwise_add");
  EXPECT_TRUE(entry.ok());
  return **entry;
}

Buffer given(std::string name, std::vector<std::int64_t> shape, DType type = DType::f32) {
  Buffer b{std::move(name), type, std::move(shape), {}, false};
  b.bytes = random_elements(type, 11, 0, static_cast<std::size_t>(b.elements()));
  return b;
}

Request sized(std::int64_t m, std::int64_t n) {
  Request request;
  request.sizes = {{"m", m}, {"n", n}};
  return request;
}

Error refusal(const Request& request) {
  const Outcome<Job> job = make_job(elementwise_add(), request, "");
  if (job.ok()) return {ErrorKind::refused, "accepted", ""};
  return job.error();
}

std::string sentence(const Request& request) {
  return refusal(request).sentence;
}

TEST(Catalog, EveryLessonThatAKernelNamesIsThere) {
  std::size_t named = 0;
  for (const CatalogEntry& entry : catalog()) {
    if (entry.lesson.empty()) continue;
    ++named;
    const std::filesystem::path file =
        std::string(TILESCOPE_SOURCE_DIR) + "/assets/lessons/" + entry.lesson + ".md";
    EXPECT_TRUE(std::filesystem::exists(file)) << entry.name << " names " << entry.lesson;
  }
  EXPECT_GT(named, 0u);
}

TEST(Catalog, EveryEntryIsComplete) {
  std::set<std::string> names;
  for (const CatalogEntry& entry : catalog()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    for (const std::string& text : {entry.help, entry.ptx, entry.source, entry.target}) {
      EXPECT_FALSE(text.empty()) << entry.name;
    }
    ASSERT_FALSE(entry.variants.empty());
    for (const Variant& variant : entry.variants) {
      EXPECT_EQ(variant.dtypes.size(), entry.tensors.size()) << entry.name;
    }
    for (const SizeParameter& size : entry.sizes) {
      EXPECT_LE(size.least, size.fallback);
      EXPECT_GE(size.most, size.fallback);
    }
    // The defaults run, and the reference answers every output with its type and shape.
    const Outcome<Job> job = make_job(entry, {}, "ptx");
    ASSERT_TRUE(job.ok()) << job.error().sentence;
    const Outcome<Fit> fitted = fit(entry, {});
    ASSERT_TRUE(fitted.ok());
    EXPECT_EQ(job->program.name, entry.name);
    EXPECT_GT(job->launch.grid.count() * job->launch.block.count(), 0u);
    const auto reference = entry.reference(*job, *fitted, {});
    ASSERT_TRUE(reference.ok());
    std::size_t output = 0;
    for (std::size_t t = 0; t < fitted->tensors.size(); ++t) {
      EXPECT_EQ(job->buffers[t].undefined, fitted->tensors[t].role == TensorRole::output);
      if (!is_written(fitted->tensors[t])) continue;
      ASSERT_LT(output, reference->size());
      EXPECT_EQ((*reference)[output].shape, job->buffers[t].shape);
      EXPECT_EQ((*reference)[output].dtype, job->buffers[t].dtype);
      ++output;
    }
    EXPECT_EQ(output, reference->size());
  }
}

TEST(Catalog, AnOptionChoosesAmongTheListedForms) {
  Request request = sized(33, 130);
  request.dtype = DType::f16;
  Outcome<Fit> fitted = fit(elementwise_add(), request);
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(fitted->variant.entry, "elementwise_add_f16");
  EXPECT_EQ(fitted->variant.image, "");
  request.choices["launches"] = "overlapping";
  fitted = fit(elementwise_add(), request);
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(fitted->variant.entry, "elementwise_add_f16");
  EXPECT_EQ(fitted->variant.image, "ptx/elementwise_add_sm_90.ptx");
  request.dtype = DType::f64;
  EXPECT_EQ(sentence(request),
            "f64 was asked for, but elementwise_add computes A:f32 B:f32 C:f32 or A:f16 B:f16 "
            "C:f16 or A:bf16 B:bf16 C:bf16 or A:i32 B:i32 C:i32.");
}

TEST(Catalog, AnUnknownKernelNamesTheKnownOnes) {
  const auto entry = find_kernel("elementwise_ad");
  ASSERT_FALSE(entry.ok());
  EXPECT_EQ(entry.error().kind, ErrorKind::unknown);
  EXPECT_EQ(
      entry.error().sentence,
      "There is no kernel 'elementwise_ad' in the catalog; did you mean elementwise_add? There "
      "are: "
      "elementwise_add, "
      "matmul_naive, matmul_tiled, wgmma_v1, wgmma_v2, wgmma_v3, wgmma_v4, wgmma_v5, "
      "wgmma_v6, wgmma_v7, wgmma_v8, wgmma_v9, dense_gemm, hgemm_v1, hgemm_v2, hgemm_v3, hgemm_v4, "
      "hgemm_v5, hgemm_v6, hgemm_v7, hgemm_v8, hgemm_v9, hgemm_v10. A PTX file of your own is run "
      "with "
      "--launch F.toml.");
}

TEST(ElementwiseAdd, TheGridIsOneBlockATile) {
  struct Case {
    std::int64_t m, n;
    std::uint32_t blocks;
  };
  for (const Case c :
       {Case{1, 1, 1}, Case{16, 128, 1}, Case{17, 128, 2}, Case{1, 129, 2}, Case{17, 1000, 16},
        Case{9, 255, 3}, Case{128, 128, 8}, Case{256, 512, 64}}) {
    const Outcome<Job> job = make_job(elementwise_add(), sized(c.m, c.n), "");
    ASSERT_TRUE(job.ok());
    EXPECT_EQ(job->launch.grid, (Dim3{c.blocks, 1, 1})) << c.m << " " << c.n;
    EXPECT_EQ(job->launch.block, (Dim3{128, 1, 1}));
    EXPECT_EQ(job->launch.entry, "elementwise_add");
  }
}

TEST(ElementwiseAdd, ArgumentsAreThreePointersAndTwoInts) {
  const Outcome<Job> job = make_job(elementwise_add(), sized(17, 1000), "");
  ASSERT_TRUE(job.ok());
  ASSERT_EQ(job->arguments.size(), 5u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(job->arguments[i].bytes.size(), 8u);
    ASSERT_EQ(job->arguments[i].addresses.size(), 1u);
    EXPECT_EQ(job->arguments[i].addresses[0].buffer, i);
  }
  std::int32_t m = 0, n = 0;
  std::memcpy(&m, job->arguments[3].bytes.data(), 4);
  std::memcpy(&n, job->arguments[4].bytes.data(), 4);
  EXPECT_EQ(m, 17);
  EXPECT_EQ(n, 1000);
}

TEST(ElementwiseAdd, SizesComeFromFilesThenFromTheUserThenFromTheEntry) {
  Request request;
  EXPECT_EQ(fit(elementwise_add(), request)->sizes.m, 256);
  EXPECT_EQ(fit(elementwise_add(), request)->sizes.n, 512);
  request.sizes = {{"m", 3}};
  EXPECT_EQ(fit(elementwise_add(), request)->sizes.m, 3);
  EXPECT_EQ(fit(elementwise_add(), request)->sizes.n, 512);
  request.inputs["B"] = given("b.npy", {3, 4});
  EXPECT_EQ(fit(elementwise_add(), request)->sizes.n, 4);
}

TEST(ElementwiseAdd, GivenInputsAreUsedAndTheOthersAreRandom) {
  Request request;
  request.inputs["A"] = given("a.npy", {3, 4});
  const Outcome<Job> job = make_job(elementwise_add(), request, "");
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->buffers[0].name, "A");
  EXPECT_EQ(job->buffers[0].bytes, request.inputs["A"].bytes);
  EXPECT_EQ(job->buffers[1].bytes, random_elements(DType::f32, 0, 1, 12));
  request.seed = 5;
  EXPECT_EQ(make_job(elementwise_add(), request, "")->buffers[1].bytes,
            random_elements(DType::f32, 5, 1, 12));
}

TEST(ElementwiseAdd, WhatDoesNotFitIsRefusedNamingBothSides) {
  Request request;
  request.inputs["A"] = given("a.npy", {3, 4});
  request.inputs["B"] = given("b.npy", {3, 5});
  EXPECT_EQ(
      sentence(request),
      "elementwise_add takes B of shape (m, n): A (a.npy) is (3, 4), so n = 4, but B (b.npy) is "
      "(3, 5), so n = 5.");
  EXPECT_EQ(refusal(request).kind, ErrorKind::mismatch);

  request.inputs["B"] = given("b.npy", {12});
  EXPECT_EQ(sentence(request), "elementwise_add takes B of shape (m, n), but B (b.npy) is (12,).");

  request.inputs["B"] = given("b.npy", {3, 4}, DType::f16);
  EXPECT_EQ(sentence(request),
            "A (a.npy) is f32, B (b.npy) is f16, but elementwise_add computes A:f32 B:f32 C:f32 or "
            "A:f16 B:f16 C:f16 or A:bf16 B:bf16 C:bf16 or A:i32 B:i32 C:i32.");

  request.inputs.erase("B");
  request.sizes = {{"m", 5}};
  EXPECT_EQ(
      sentence(request),
      "elementwise_add takes A of shape (m, n): m = 5 was asked for, but A (a.npy) is (3, 4), "
      "so m = 3.");

  request.sizes = {{"k", 5}};
  EXPECT_EQ(sentence(request), "elementwise_add has no size k; its sizes are m, n.");
  EXPECT_EQ(refusal(request).kind, ErrorKind::unknown);

  request = {};
  request.inputs["D"] = given("d.npy", {3, 4});
  EXPECT_EQ(sentence(request), "elementwise_add has no tensor D; its tensors are A, B, C.");
  request = {};
  request.inputs["C"] = given("c.npy", {3, 4});
  EXPECT_EQ(
      sentence(request),
      "C (c.npy) is given as an input of elementwise_add, but the kernel writes C; leave it out, "
      "or name the file to write with --out.");

  request = {};
  request.dtype = DType::f64;
  EXPECT_EQ(sentence(request),
            "f64 was asked for, but elementwise_add computes A:f32 B:f32 C:f32 or A:f16 B:f16 "
            "C:f16 or A:bf16 B:bf16 C:bf16 or A:i32 B:i32 C:i32.");
}

TEST(ElementwiseAdd, SizesOutsideItsLimitsGetASentence) {
  EXPECT_EQ(sentence(sized(0, 4)),
            "m = 0 was asked for, but elementwise_add takes m from 1 to 2147483647.");
  EXPECT_EQ(sentence(sized(4, -1)),
            "n = -1 was asked for, but elementwise_add takes n from 1 to 2147483647.");
  EXPECT_EQ(
      sentence(sized(65536, 32768)),
      "elementwise_add with m = 65536, n = 32768 has 2147483648 elements; it counts them in 32 "
      "bits, so m * n must be below 2^31.");
  EXPECT_EQ(sentence(sized(2147483647, 2147483647)).find("elementwise_add with m = 2147483647"),
            0u);
  EXPECT_EQ(sentence(sized(46340, 46340)),
            "elementwise_add with m = 46340, n = 46340 needs 24 GiB for its tensors; up to 4 GiB "
            "work.");
  Request request;
  request.inputs["A"] = given("a.npy", {0, 4});
  EXPECT_EQ(sentence(request),
            "A (a.npy) is (0, 4), so m = 0, but elementwise_add takes m from 1 to 2147483647.");
}

TEST(ElementwiseAdd, ItsLayoutsHaveTheSizesFilledIn) {
  const auto expression = [](std::int64_t m, std::int64_t n, const std::string& name,
                             std::size_t variant = 0) {
    for (const NamedLayout& layout :
         elementwise_add().layouts({m, n, 0, 0}, elementwise_add().variants[variant])) {
      if (layout.name == name) return layout.expression;
    }
    return std::string("missing");
  };
  EXPECT_EQ(expression(256, 512, "matrix"), "(256,512):(512,1)");
  EXPECT_EQ(expression(256, 512, "tiles"), "zipped_divide((256,512):(512,1), <16,128>)");
  EXPECT_EQ(expression(17, 1000, "tiles"), "zipped_divide((32,1024):(1000,1), <16,128>)");
  EXPECT_EQ(expression(1, 1, "thread-value layout"), "make_layout_tv((4,32):(32,1), (4,4):(4,1))");
  EXPECT_EQ(expression(1, 1, "thread-value layout", 1),
            "make_layout_tv((8,16):(16,1), (2,8):(8,1))")
      << "two bytes an element";
}

// ---- references ----

Buffer of(DType type, const std::vector<double>& values) {
  Buffer b{"x", type, {static_cast<std::int64_t>(values.size())}, {}, false};
  b.bytes.resize(values.size() * bytes_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_element(type, &b.bytes[i * bytes_of(type)], values[i]);
  }
  return b;
}

TEST(Reference, AddRoundsTheExactSumOnce) {
  const double inf = std::numeric_limits<double>::infinity();
  const Buffer sum = *reference::add(of(DType::f32, {16777216, 16777216, 1, inf, -0.0, 0.1f}),
                                     of(DType::f32, {1, 3, 0x1p-24, -inf, -0.0, 0.2f}));
  const auto value = [&](std::size_t i) { return load_element(DType::f32, &sum.bytes[4 * i]); };
  EXPECT_EQ(value(0), 16777216);  // a tie, to even
  EXPECT_EQ(value(1), 16777220);
  EXPECT_EQ(value(2), 1);
  EXPECT_TRUE(std::isnan(value(3)));
  EXPECT_TRUE(std::signbit(value(4)));
  EXPECT_EQ(value(5), 0.1f + 0.2f);
  EXPECT_EQ(sum.name, "reference");
}

TEST(Reference, AddOfF32IsTheMachinesOwnSum) {
  // The CPU adds f32 with one rounding; the reference takes another way, by double.
  const std::size_t count = 100000;
  std::vector<std::byte> a(4 * count), b(4 * count);
  for (std::uint32_t i = 0; i < count / 4; ++i) {
    std::memcpy(&a[16 * i], philox4x32_10({i, 0, 0, 0}, {3, 4}).data(), 16);
    std::memcpy(&b[16 * i], philox4x32_10({i, 1, 0, 0}, {3, 4}).data(), 16);
  }
  const Buffer sum =
      *reference::add({"a", DType::f32, {count}, a, false}, {"b", DType::f32, {count}, b, false});
  for (std::size_t i = 0; i < count; ++i) {
    float x, y, z;
    std::memcpy(&x, &a[4 * i], 4);
    std::memcpy(&y, &b[4 * i], 4);
    std::memcpy(&z, &sum.bytes[4 * i], 4);
    if (std::isnan(x + y)) {
      ASSERT_TRUE(std::isnan(z));
    } else {
      ASSERT_EQ(z, x + y);
    }
  }
}

TEST(Reference, IntegersWrap) {
  const auto one = [](DType type, double a, double b) {
    return load_element(type, reference::add(of(type, {a}), of(type, {b}))->bytes.data());
  };
  EXPECT_EQ(one(DType::u8, 200, 100), 44);
  EXPECT_EQ(one(DType::i8, 127, 1), -128);
  EXPECT_EQ(one(DType::i32, 2147483647, 1), -2147483648.0);
  EXPECT_EQ(one(DType::i64, -9223372036854775808.0, -1), 9223372036854775807.0);
}

TEST(Reference, AddRefusesTensorsThatDiffer) {
  const auto sum = reference::add(of(DType::f32, {1}), of(DType::f32, {1, 2}));
  ASSERT_FALSE(sum.ok());
  EXPECT_EQ(sum.error().sentence,
            "x is f32 (1,) and x is f32 (2,); only tensors of one type and shape can be added.");
}

}  // namespace
}  // namespace tilescope
