#include "tests/app/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

namespace tilescope::test {

namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

Program::Program() {
  std::string name = fs::temp_directory_path() / "tilescope_test_XXXXXX";
  if (!mkdtemp(name.data())) std::abort();
  folder = fs::path(name) / "work";
  fs::create_directory(folder);
  const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin:/bin";
  set("PATH", fs::path(TILESCOPE_PROGRAM).parent_path().string() + ":" + path);
}

Program::~Program() {
  fs::remove_all(folder.parent_path());
}

void Program::set(const std::string& variable, const std::string& value) {
  environment_.emplace_back(variable, value);
}

Ended Program::start(const std::string& file, const Words& words, const std::string& input,
                     const std::function<void(int)>& meanwhile) {
  const fs::path in = folder.parent_path() / "in", out = folder.parent_path() / "out",
                 err = folder.parent_path() / "err";
  std::ofstream(in, std::ios::binary) << input;
  std::vector<char*> arguments = {const_cast<char*>("tilescope")};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  const pid_t process = fork();
  if (process == 0) {
    const auto redirect = [](const fs::path& path, int flags, int to) {
      dup2(open(path.c_str(), flags, 0600), to);
    };
    redirect(in, O_RDONLY, 0);
    redirect(out, O_WRONLY | O_CREAT | O_TRUNC, 1);
    redirect(err, O_WRONLY | O_CREAT | O_TRUNC, 2);
    for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "TILESCOPE_ASSETS"}) {
      unsetenv(variable);
    }
    for (const auto& [variable, value] : environment_) setenv(variable.c_str(), value.c_str(), 1);
    if (chdir(folder.c_str()) == 0) execv(file.c_str(), arguments.data());
    _exit(127);
  }
  if (meanwhile) meanwhile(process);
  int status = 0;
  waitpid(process, &status, 0);
  Ended ended;
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ended.out = contents(out);
  ended.err = contents(err);
  return ended;
}

Ended Program::run(const Words& words, const std::string& input) {
  return start(TILESCOPE_PROGRAM, words, input, nullptr);
}

Ended Program::run_while(const Words& words, const std::function<void(int)>& meanwhile) {
  return start(TILESCOPE_PROGRAM, words, "", meanwhile);
}

Ended Program::shell(const std::string& line) {
  return start("/bin/sh", {"-c", line}, "", nullptr);
}

std::pair<int, nlohmann::json> Program::run_json(Words words) {
  words.insert(std::find(words.begin(), words.end(), "--"), "--json");
  const Ended ended = run(words);
  // A second document, or a line of text beside it, would not parse.
  nlohmann::json document = nlohmann::json::parse(ended.out, nullptr, false);
  EXPECT_TRUE(document.is_object()) << ended.out;
  if (!document.is_object()) return {ended.exit_code, nlohmann::json::object()};
  EXPECT_EQ(document.value("schema", 0), 1) << ended.out;
  EXPECT_TRUE(document.contains("ok")) << ended.out;
  if (document.contains("error")) {
    EXPECT_EQ(document["ok"], false);
    for (const char* key : {"kind", "sentence", "where"}) {
      EXPECT_TRUE(document["error"].contains(key)) << key << " is missing in " << ended.out;
    }
  }
  return {ended.exit_code, document};
}

void Program::write(const std::string& name, const std::string& bytes) {
  std::ofstream(folder / name, std::ios::binary) << bytes;
}

std::string Program::read(const std::string& name) const {
  EXPECT_TRUE(exists(name)) << "there is no " << name;
  return contents(folder / name);
}

bool Program::exists(const std::string& name) const {
  return fs::exists(folder / name);
}

std::vector<std::string> Program::files() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string npy(int rows, int columns, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows) + ", " + std::to_string(columns) + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return bytes;
}

std::vector<float> npy_values(const std::string& bytes, int rows, int columns) {
  const std::string shape =
      "'shape': (" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
  const std::string magic("\x93NUMPY\x01\x00", 8);
  if (bytes.size() < 10 || bytes.compare(0, 8, magic) != 0) {
    ADD_FAILURE() << "not a version 1.0 .npy";
    return {};
  }
  const std::size_t begin = 10 + static_cast<unsigned char>(bytes[8]) +
                            256 * static_cast<std::size_t>(static_cast<unsigned char>(bytes[9]));
  const std::string header = bytes.substr(10, begin - 10);
  EXPECT_EQ(begin % 64, 0u) << "data starts at a multiple of 64 bytes";
  for (const std::string& part : {std::string("'<f4'"), std::string("False"), shape}) {
    EXPECT_NE(header.find(part), std::string::npos) << part << " is not in " << header;
  }
  std::vector<float> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  EXPECT_EQ(bytes.size() - begin, values.size() * sizeof(float));
  if (bytes.size() - begin != values.size() * sizeof(float)) return {};
  std::memcpy(values.data(), bytes.data() + begin, values.size() * sizeof(float));
  return values;
}

std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  std::uint32_t state = seed * 2654435761u + 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<std::int32_t>(state)) / 3.0e8f;
  }
  return values;
}

void interrupt_when_it_listens(int process) {
  const std::string status = "/proc/" + std::to_string(process) + "/status";
  for (int tries = 0; tries < 2000; ++tries) {
    std::ifstream file(status);
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("SigCgt:", 0) != 0) continue;
      if ((std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1) != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        kill(process, SIGINT);
        return;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "the run never began";
  kill(process, SIGKILL);
}

}  // namespace tilescope::test
