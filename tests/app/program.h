// The built program as a user meets it: run in a folder of its own, judged by its exit code, what
// it printed where, and the files that it left.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tilescope::test {

struct Ended {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string out, err;
};

using Words = std::vector<std::string>;

// A test with an empty folder, where its program runs without a display.
class Program : public ::testing::Test {
 protected:
  Program();
  ~Program() override;

  // tilescope WORDS... with `input` on stdin.
  Ended run(const Words& words, const std::string& input = "");
  // Like run, and `meanwhile` is called with the process while it works.
  Ended run_while(const Words& words, const std::function<void(int process)>& meanwhile);
  // Any command line, as `sh` reads it; `tilescope` is on its path.
  Ended shell(const std::string& line);
  // Runs with --json: the one document on stdout, and nothing else there.
  std::pair<int, nlohmann::json> run_json(Words words);

  void write(const std::string& name, const std::string& bytes);
  std::string read(const std::string& name) const;  // "" and a failure where there is none
  bool exists(const std::string& name) const;
  // Every file of the folder, sorted: what a command left.
  std::vector<std::string> files() const;

  void set(const std::string& variable, const std::string& value);
  // Its program will draw with OpenGL. Mesa forgets 128 bytes when it is unloaded, which is not
  // ours to mend; our own leaks are looked for by the tests of viz/ui, which draw without it.
  void draws() { set("ASAN_OPTIONS", "detect_leaks=0"); }

  std::filesystem::path folder;

 private:
  Ended start(const std::string& file, const Words& words, const std::string& input,
              const std::function<void(int)>& meanwhile);
  std::vector<std::pair<std::string, std::string>> environment_;
};

// Ends a test that draws where nothing draws. Where TILESCOPE_MUST_DRAW is set, because what draws
// has been installed, that is a failure; elsewhere the test is skipped.
#define SKIP_WHERE_NOTHING_DRAWS(why)                                                     \
  do {                                                                                    \
    if (std::getenv("TILESCOPE_MUST_DRAW")) GTEST_FAIL() << "It must draw here: " << why; \
    GTEST_SKIP() << "Nothing draws here: " << why;                                        \
  } while (false)

// Presses Ctrl-C: SIGINT is caught from the moment that a run begins.
void interrupt_when_it_listens(int process);

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// f32 matrices as NumPy 1.0 files, without the program's own code.
std::string npy(int rows, int columns, const std::vector<float>& values);
std::vector<float> npy_values(const std::string& bytes, int rows, int columns);
// Numbers of both signs that are no multiples of each other; the same for the same seed.
std::vector<float> numbers(std::size_t count, std::uint32_t seed);

}  // namespace tilescope::test
