// Copies of interleaved tensors as an H200 did them (interleaved_h200.txt).
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "core/sim/machine/device.h"
#include "tests/sim/random_copy.h"

namespace tilescope::test {
namespace {

constexpr std::uint16_t as_it_was = 0xeeee;

template <class T>
std::vector<T> list(std::istream& in) {
  std::string word, one;
  in >> word;
  std::vector<T> out;
  for (std::istringstream words(word); std::getline(words, one, ',');) {
    out.push_back(static_cast<T>(std::stoll(one)));
  }
  return out;
}

RandomCopy copy_in(std::istringstream line, std::string& name) {
  RandomCopy c;
  char way = 0;
  std::size_t type = 0, rank = 0;
  line >> name >> way >> type >> rank;
  constexpr DType types[] = {DType::u8,  DType::u16, DType::u32, DType::i32, DType::u64,
                             DType::i64, DType::f16, DType::f32, DType::f64};
  c.map.dtype = types[type];
  c.way = way == 'L' || way == 'I' ? RandomCopy::Way::load : RandomCopy::Way::store;
  c.mode = way == 'L' || way == 'S' ? RandomCopy::Mode::tile : RandomCopy::Mode::im2col;
  c.map.dims = list<std::uint64_t>(line);
  c.map.strides = list<std::uint64_t>(line);
  if (c.mode == RandomCopy::Mode::tile) {
    c.map.box = list<std::uint32_t>(line);
  } else {
    c.map.lower = list<std::int32_t>(line);
    c.map.upper = list<std::int32_t>(line);
    line >> c.map.channels >> c.map.pixels;
  }
  c.map.element_strides = list<std::uint32_t>(line);
  int interleave = 0, swizzle = 0;
  line >> interleave >> swizzle;
  c.map.interleave = static_cast<MapInterleave>(interleave);
  c.map.swizzle = static_cast<MapSwizzle>(swizzle);
  c.start = list<std::int32_t>(line);
  if (way == 'I') c.offsets = list<std::uint16_t>(line);
  EXPECT_TRUE(line) << name;
  return c;
}

// a+n, a*n, _*n; those behind are as they were.
std::vector<std::uint16_t> words_of(const std::string& text, std::size_t size) {
  std::vector<std::uint16_t> out;
  std::istringstream runs(text);
  for (std::string run; runs >> run;) {
    const std::size_t at = run.find_first_of("+*");
    const auto first =
        run[0] == '_' ? as_it_was : static_cast<std::uint16_t>(std::stoul(run.substr(0, at)));
    for (std::size_t i = 0, n = std::stoul(run.substr(at + 1)); i < n; ++i) {
      out.push_back(static_cast<std::uint16_t>(first + (run[at] == '+' ? i : 0)));
    }
  }
  out.resize(size, as_it_was);
  return out;
}

std::vector<std::byte> numbered(std::size_t bytes, bool left) {
  std::vector<std::uint16_t> words(bytes / 2, as_it_was);
  for (std::size_t i = 0; i < words.size() && !left; ++i) {
    words[i] = static_cast<std::uint16_t>(i);
  }
  std::vector<std::byte> out(bytes);
  std::memcpy(out.data(), words.data(), bytes);
  return out;
}

void expect_as_the_chip(const std::string& name, const RandomCopy& c, const std::string& answer) {
  const bool loads = c.way == RandomCopy::Way::load;
  Job job = job_of(c);
  job.buffers[0].shape = {65536};
  job.buffers[0].bytes = numbered(65536, !loads);
  job.buffers[1].bytes = numbered(job.buffers[1].bytes.size(), loads);
  auto run = sim::SimDevice(sim::Options{}).start(job);
  if (answer == "refused") {
    EXPECT_FALSE(run) << name;
    return;
  }
  ASSERT_TRUE(run) << name << ": " << run.error().sentence;
  ASSERT_EQ((*run)->advance(1'000'000), RunState::done) << name;
  const std::vector<std::byte>& found = (*run)->buffers()[loads ? 1 : 0].bytes;
  std::vector<std::uint16_t> words(found.size() / 2);
  std::memcpy(words.data(), found.data(), found.size());
  EXPECT_EQ(words, words_of(answer, words.size())) << name << ": " << text(c);
}

TEST(InterleavedTensors, AreCopiedAsAnH200Does) {
  std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/sim/interleaved_h200.txt");
  std::size_t cases = 0;
  for (std::string line, answer; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::getline(file, answer);
    std::string name;
    const RandomCopy copy = copy_in(std::istringstream(line), name);
    expect_as_the_chip(name, copy, answer);
    ++cases;
  }
  EXPECT_EQ(cases, 132u);
}

}  // namespace
}  // namespace tilescope::test
