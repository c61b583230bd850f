// Algorithms of CUB and Thrust in three programs (GROUP), each by its name, compared with the
// standard library's.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cub/cub.cuh>
#include <numeric>

#include "check.h"

namespace algorithms {

constexpr int n = 10000;

std::vector<int> numbers(int count, int most, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<int> all(count);
  for (int& one : all) one = static_cast<int>(engine() % most);
  return all;
}

// CUB's two calls: how much room, then the work.
template <class Call>
void twice(Call call) {
  std::size_t bytes = 0;
  call(nullptr, bytes);
  void* room = nullptr;
  cudaMalloc(&room, bytes);
  call(room, bytes);
}

template <class T>
void same(const T* found, const std::vector<T>& expected) {
  check::compare("the result", check::download(found, expected.size()), expected, 0);
}

struct Even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Square {
  __host__ __device__ float operator()(float x) const { return x * x + 1; }
};

#if GROUP == 1
void device_reduce() {
  const auto x = numbers(n, 1000, 1);
  int *in = check::upload(x), *out = check::room<int>(1);
  twice([&](void* room, std::size_t& bytes) { cub::DeviceReduce::Sum(room, bytes, in, out, n); });
  same(out, {std::accumulate(x.begin(), x.end(), 0)});
}
void device_min_float() {
  const auto x = check::random<float>(n, 1);
  float *in = check::upload(x), *out = check::room<float>(1);
  twice([&](void* room, std::size_t& bytes) { cub::DeviceReduce::Min(room, bytes, in, out, n); });
  same(out, {*std::min_element(x.begin(), x.end())});
}
void device_scan() {
  const auto x = numbers(n, 1000, 1);
  int *in = check::upload(x), *out = check::room<int>(n);
  twice([&](void* room, std::size_t& bytes) {
    cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n);
  });
  std::vector<int> expected(n);
  std::exclusive_scan(x.begin(), x.end(), expected.begin(), 0);
  same(out, expected);
}
void device_select() {
  const auto x = numbers(n, 1000, 1);
  int *in = check::upload(x), *out = check::room<int>(n), *count = check::room<int>(1);
  twice([&](void* room, std::size_t& bytes) {
    cub::DeviceSelect::If(room, bytes, in, out, count, n, Even());
  });
  std::vector<int> expected;
  std::copy_if(x.begin(), x.end(), std::back_inserter(expected), Even());
  same(count, {static_cast<int>(expected.size())});
  same(out, expected);
}
void device_unique() {
  const auto x = numbers(n, 3, 1);
  int *in = check::upload(x), *out = check::room<int>(n), *count = check::room<int>(1);
  twice([&](void* room, std::size_t& bytes) {
    cub::DeviceSelect::Unique(room, bytes, in, out, count, n);
  });
  std::vector<int> expected = x;
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  same(count, {static_cast<int>(expected.size())});
  same(out, expected);
}
void device_partition() {
  const auto x = numbers(n, 1000, 1);
  int *in = check::upload(x), *out = check::room<int>(n), *count = check::room<int>(1);
  twice([&](void* room, std::size_t& bytes) {
    cub::DevicePartition::If(room, bytes, in, out, count, n, Even());
  });
  std::vector<int> expected, rest;  // those that are not taken lie behind, backwards
  for (const int one : x) (Even()(one) ? expected : rest).push_back(one);
  expected.insert(expected.end(), rest.rbegin(), rest.rend());
  same(out, expected);
}
#elif GROUP == 2
void radix_sort_keys() {
  const auto x = numbers(n, 1 << 30, 1);
  int *in = check::upload(x), *out = check::room<int>(n);
  twice([&](void* room, std::size_t& bytes) {
    cub::DeviceRadixSort::SortKeys(room, bytes, in, out, n);
  });
  std::vector<int> expected = x;
  std::sort(expected.begin(), expected.end());
  same(out, expected);
}
void radix_sort_pairs() {
  const auto keys = numbers(n, 500, 1), values = numbers(n, 1 << 30, 2);
  int *in = check::upload(keys), *out = check::room<int>(n), *vin = check::upload(values),
      *vout = check::room<int>(n);
  twice([&](void* room, std::size_t& bytes) {
    cub::DeviceRadixSort::SortPairs(room, bytes, in, out, vin, vout, n);
  });
  std::vector<int> order(n), expected(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  for (int i = 0; i < n; ++i) expected[i] = values[order[i]];
  same(vout, expected);
}
void merge_sort() {
  const auto x = numbers(n, 1 << 30, 1);
  int* in = check::upload(x);
  twice([&](void* room, std::size_t& bytes) {
    cub::DeviceMergeSort::SortKeys(room, bytes, in, n,
                                   [] __device__(int a, int b) { return a > b; });
  });
  std::vector<int> expected = x;
  std::sort(expected.rbegin(), expected.rend());
  same(in, expected);
}
#endif
#if GROUP == 1
void device_histogram() {
  const auto x = numbers(n, 64, 1);
  int *in = check::upload(x), *out = check::room<int>(64);
  twice([&](void* room, std::size_t& bytes) {
    cub::DeviceHistogram::HistogramEven(room, bytes, in, out, 65, 0, 64, n);
  });
  std::vector<int> expected(64);
  for (const int one : x) ++expected[one];
  same(out, expected);
}
void run_length_encode() {
  const auto x = numbers(n, 2, 1);
  int *in = check::upload(x), *unique = check::room<int>(n), *lengths = check::room<int>(n),
      *count = check::room<int>(1);
  twice([&](void* room, std::size_t& bytes) {
    cub::DeviceRunLengthEncode::Encode(room, bytes, in, unique, lengths, count, n);
  });
  std::vector<int> expected;
  for (int i = 0; i < n; ++i) {
    if (i == 0 || x[i] != x[i - 1]) expected.push_back(0);
    ++expected.back();
  }
  same(lengths, expected);
}
void segmented_reduce() {
  const auto x = numbers(n, 1000, 1);
  std::vector<int> offsets;
  for (int at = 0; at <= n; at += 500) offsets.push_back(at);
  const int segments = static_cast<int>(offsets.size()) - 1;
  int *in = check::upload(x), *out = check::room<int>(segments), *at = check::upload(offsets);
  twice([&](void* room, std::size_t& bytes) {
    cub::DeviceSegmentedReduce::Sum(room, bytes, in, out, segments, at, at + 1);
  });
  std::vector<int> expected;
  for (int i = 0; i < segments; ++i)
    expected.push_back(std::accumulate(&x[offsets[i]], &x[offsets[i]] + 500, 0));
  same(out, expected);
}
#elif GROUP == 3
void thrust_transform() {
  const auto x = check::random<float>(n, 1);
  thrust::device_vector<float> in(x.begin(), x.end()), out(n);
  thrust::transform(in.begin(), in.end(), out.begin(), Square());
  std::vector<float> expected;
  for (const float one : x) expected.push_back(std::fma(one, one, 1.0f));
  same(thrust::raw_pointer_cast(out.data()), expected);
}
void thrust_sort_by_key() {
  const auto keys = numbers(n, 1 << 30, 1), values = numbers(n, 1 << 30, 2);
  thrust::device_vector<int> k(keys.begin(), keys.end()), v(values.begin(), values.end());
  thrust::sort_by_key(k.begin(), k.end(), v.begin());
  std::vector<int> order(n), expected(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  for (int i = 0; i < n; ++i) expected[i] = values[order[i]];
  same(thrust::raw_pointer_cast(v.data()), expected);
}
void thrust_reduce_by_key() {
  auto keys = numbers(n, 100, 1);
  const auto values = numbers(n, 1000, 2);
  std::sort(keys.begin(), keys.end());
  thrust::device_vector<int> k(keys.begin(), keys.end()), v(values.begin(), values.end()), ko(n),
      vo(n);
  thrust::reduce_by_key(k.begin(), k.end(), v.begin(), ko.begin(), vo.begin());
  std::vector<int> expected;
  for (int i = 0; i < n; ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) expected.push_back(0);
    expected.back() += values[i];
  }
  same(thrust::raw_pointer_cast(vo.data()), expected);
}
void thrust_set_union() {
  auto a = numbers(4000, 100000, 1), b = numbers(4000, 100000, 2);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  thrust::device_vector<int> da(a.begin(), a.end()), db(b.begin(), b.end()), out(8000);
  thrust::set_union(da.begin(), da.end(), db.begin(), db.end(), out.begin());
  std::vector<int> expected;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
  same(thrust::raw_pointer_cast(out.data()), expected);
}

#endif

}  // namespace algorithms

#define CALL_WITH ()
using namespace algorithms;

int main(int, char** args) {
  const std::string name = args[1];
  EACH(CALL_IF_NAMED)
  return check::verdict();
}
