// Drives a libFuzzer target without libFuzzer: fuzz_NAME [SECONDS [SEED [CORPUS...]]].
//
// Every input of the corpus (files, and files of folders) is run once as it is, then for so many
// seconds inputs made from them: bytes changed, cut, doubled, spliced with another input's, numbers
// replaced by awkward ones. Same seed and corpus: same inputs in the same order. A finding is a
// crash or a report of the sanitizer that the target is built with; the input that led to it is
// then in fuzz-last-input. With clang, a target links to -fsanitize=fuzzer as well as to this.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
constexpr std::size_t largest = 1 << 16;

// Inputs in the order of their paths, so that a folder's order does not matter.
std::vector<Input> corpus_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) files.push_back(entry.path().string());
      }
    } else {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<Input> out;
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (out.back().size() > largest) out.back().resize(largest);
  }
  if (out.empty()) out.push_back({});
  return out;
}

class Mutator {
 public:
  Mutator(std::uint64_t seed, const std::vector<Input>& corpus) : random_(seed), corpus_(corpus) {}

  Input next() {
    Input out = corpus_[below(corpus_.size())];
    for (std::size_t n = 1 + below(8); n > 0; --n) change(out);
    if (out.size() > largest) out.resize(largest);
    return out;
  }

 private:
  std::size_t below(std::size_t n) { return n ? static_cast<std::size_t>(random_() % n) : 0; }

  void change(Input& s) {
    const std::size_t at = below(s.size() + 1);
    const std::size_t span = std::min(s.size() - std::min(at, s.size()), 1 + below(32));
    const auto begin = s.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(span);
    switch (below(8)) {
      case 0:  // a bit
        if (at < s.size()) s[at] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:  // any byte
        if (at < s.size()) s[at] = static_cast<std::uint8_t>(random_());
        break;
      case 2:
        s.erase(begin, end);
        break;
      case 3: {  // a piece twice
        const Input piece(begin, end);
        s.insert(begin, piece.begin(), piece.end());
        break;
      }
      case 4: {  // a piece of another input
        const Input& other = corpus_[below(corpus_.size())];
        const std::size_t from = below(other.size());
        const std::size_t count =
            std::min(other.size() - std::min(from, other.size()), 1 + below(64));
        s.insert(begin, other.begin() + static_cast<std::ptrdiff_t>(from),
                 other.begin() + static_cast<std::ptrdiff_t>(from + count));
        break;
      }
      case 5: {  // an awkward number or mark
        static constexpr const char* words[] = {"0",
                                                "-1",
                                                "4294967296",
                                                "18446744073709551615",
                                                "99999999999999999999",
                                                "1e400",
                                                "{",
                                                "}",
                                                "(",
                                                ")",
                                                "[",
                                                "]",
                                                "<",
                                                ">",
                                                "\"",
                                                "/*",
                                                ";",
                                                ":",
                                                ",",
                                                ".",
                                                "%",
                                                "\n",
                                                "0x",
                                                "nan"};
        const std::string word = words[below(std::size(words))];
        s.insert(begin, word.begin(), word.end());
        break;
      }
      case 6:
        s.resize(at);
        break;
      case 7: {  // deep nesting
        static constexpr char openers[] = {'(', '{', '[', '<', '-', '~', '!'};
        s.insert(begin, 1 + below(300), static_cast<std::uint8_t>(openers[below(sizeof openers)]));
        break;
      }
    }
  }

  std::mt19937_64 random_;
  const std::vector<Input>& corpus_;
};

void run(const Input& input) {
  // On disk before it runs: after a crash there is nobody left to write it.
  if (std::FILE* file = std::fopen("fuzz-last-input", "wb")) {
    std::fwrite(input.data(), 1, input.size(), file);
    std::fclose(file);
  }
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::vector<Input> corpus = corpus_of({argv + std::min(argc, 3), argv + argc});
  for (const Input& input : corpus) run(input);
  Mutator mutator(seed, corpus);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::uint64_t count = 0;
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    run(mutator.next());
    ++count;
  }
  std::remove("fuzz-last-input");
  std::printf("%llu inputs from %zu of the corpus, seed %llu: nothing found\n",
              static_cast<unsigned long long>(count), corpus.size(),
              static_cast<unsigned long long>(seed));
  return 0;
}
