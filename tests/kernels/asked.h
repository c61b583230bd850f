// A request by a line of options, for tests.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "kernels/catalog/catalog.h"

namespace tilescope::test {

inline std::vector<std::string> words_in(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

// "--a-dtype e4m3 --m 200", as on the command line; and "--processors 4", the
// chip's.
inline Request asked(const std::string& line) {
  Request request;
  const std::vector<std::string> words = words_in(line);
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string name = words[i].substr(2);
    if (name.size() == 1) {
      request.sizes[name] = std::stoll(words[i + 1]);
    } else if (name == "processors") {
      request.processors = std::stoll(words[i + 1]);
    } else {
      request.choices[name] = words[i + 1];
    }
  }
  return request;
}

}  // namespace tilescope::test
