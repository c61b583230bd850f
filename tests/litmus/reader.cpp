#include "tests/litmus/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tilescope::litmus {
namespace {

std::string trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(" \t\r"), last = s.find_last_not_of(" \t\r");
  return std::string(first == s.npos ? "" : s.substr(first, last - first + 1));
}

std::vector<std::string> split(std::string_view s, char at) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= s.size();) {
    const std::size_t end = std::min(s.find(at, begin), s.size());
    if (std::string part = trimmed(s.substr(begin, end - begin)); !part.empty()) {
      out.push_back(std::move(part));
    }
    begin = end + 1;
  }
  return out;
}

// "st.global.relaxed.cluster::x.u32": a "::" does not part.
std::vector<std::string> parts_of(std::string_view opcode) {
  return split(opcode, '.');
}

std::optional<std::uint32_t> number(std::string_view s) {
  if (s.empty() || s.size() > 9 || s.find_first_not_of("0123456789") != s.npos) return {};
  return static_cast<std::uint32_t>(std::stoul(std::string(s)));
}

class Reader {
 public:
  explicit Reader(std::string name) { out_.name = std::move(name); }

  bool line(const std::string& text) {
    const std::string s = trimmed(text);
    if (s.rfind("//", 0) == 0) {
      if (!begun_) out_.comment += trimmed(s.substr(2)) + "\n";
      return true;
    }
    if (s.empty()) return true;
    begun_ = true;
    const std::size_t blank = std::min(s.find(' '), s.size());
    const std::string word = s.substr(0, blank), rest = trimmed(s.substr(blank));
    if (word == "cluster") return one_number(rest, 1, 16, out_.cluster);
    if (word == "chip") return chip(rest);
    if (word == "global" || word == "shared" || word == "mbarrier") return variable(word, rest);
    if (word == "outcome") return outcome(rest);
    if (word == "allowed") return values(rest, out_.allowed);
    if (word == "forbidden") return values(rest, out_.forbidden);
    if (word == "race") return race(rest);
    if (rest.rfind("in cta ", 0) == 0 && s.back() == ':') return thread(word, rest);
    if (out_.threads.empty()) return no("is before the first thread (\"P0 in cta 0:\")");
    return instruction(s);
  }

  bool finish() {
    if (out_.threads.empty()) return no("it has no thread");
    if (out_.observed.empty() || out_.allowed.empty()) {
      return no("it has no line \"outcome\" or none \"allowed\"");
    }
    if (!told_race_) return no("it has no line \"race\": \"race none\", or which");
    for (const Values& v : out_.forbidden) {
      if (out_.allowed.count(v)) {
        return no(fmt::format("{} is allowed and forbidden", text(out_, v)));
      }
    }
    const int each = out_.threads_of(0);
    for (int c = 0; c < out_.ctas(); ++c) {
      if (out_.threads_of(c) != each) {
        return no(
            fmt::format("CTA {} has {} threads and CTA 0 has {}: a launch has as many in each; "
                        "add one without instructions",
                        c, out_.threads_of(c), each));
      }
    }
    if (out_.ctas() % out_.cluster) return no("its CTAs are not whole clusters");
    return true;
  }

  Test take() { return std::move(out_); }
  const std::string& wrong() const { return wrong_; }

 private:
  bool no(std::string why) {
    wrong_ = std::move(why);
    return false;
  }

  bool one_number(const std::string& s, int least, int most, int& to) {
    const auto n = number(s);
    if (!n || *n < static_cast<std::uint32_t>(least) || *n > static_cast<std::uint32_t>(most)) {
      return no(fmt::format("\"{}\" is no number from {} to {}", s, least, most));
    }
    to = static_cast<int>(*n);
    return true;
  }

  static constexpr int last_cta = 63;
  static constexpr std::uint32_t last_register = 15;

  bool chip(const std::string& s) {
    if (s.rfind("no", 0) != 0) return no("\"chip\" takes \"no\" and why");
    out_.on_chip = false;
    return true;
  }

  // global x = 0 | shared x of cta 1 = 0 | mbarrier m of cta 0 count 2 | mbarrier m of cta 0 raw
  bool variable(const std::string& kind, const std::string& rest) {
    Variable v;
    const std::vector<std::string> words = split(rest, ' ');
    std::size_t at = 0;
    const auto next = [&] { return at < words.size() ? words[at++] : std::string(); };
    v.name = next();
    if (v.name.empty() || out_.find(v.name) >= 0) return no("the variable has no name of its own");
    if (kind != "global") {
      v.kind = kind == "shared" ? Variable::Kind::shared : Variable::Kind::mbarrier;
      if (next() != "of" || next() != "cta" || !one_number(next(), 0, last_cta, v.cta)) {
        return no(fmt::format("{} {} lacks \"of cta N\"", kind, v.name));
      }
    }
    const std::string how = next();
    if (v.kind == Variable::Kind::mbarrier && how == "raw") {
      out_.variables.push_back(v);
      return true;
    }
    const auto value = number(next());
    if (how != (v.kind == Variable::Kind::mbarrier ? "count" : "=") || !value ||
        at < words.size()) {
      return no(
          fmt::format("{} {} lacks its value (\"= 0\", \"count 1\" or \"raw\")", kind, v.name));
    }
    v.initial = *value;
    out_.variables.push_back(v);
    return true;
  }

  bool thread(const std::string& name, const std::string& rest) {
    Thread t;
    t.name = name;
    if (!one_number(trimmed(rest.substr(7, rest.size() - 8)), 0, last_cta, t.cta)) return false;
    out_.threads.push_back(std::move(t));
    return true;
  }

  bool operand(const std::string& s, Thread& t, Instruction& i) {
    Operand o;
    if (s == "_") return true;
    if (s.front() == '[' && s.back() == ']') {
      const int v = out_.find(trimmed(s.substr(1, s.size() - 2)));
      if (v < 0) return no(fmt::format("there is no variable {}", s));
      o.kind = Operand::Kind::address;
      o.value = static_cast<std::uint32_t>(v);
      if (out_.variables[o.value].kind != Variable::Kind::global &&
          out_.variables[o.value].cta / out_.cluster != t.cta / out_.cluster) {
        return no(fmt::format("{} is in shared memory of another cluster", s));
      }
    } else if (s.front() == 'r') {
      const auto n = number(s.substr(1));
      if (!n || *n > last_register)
        return no(fmt::format("\"{}\" is none of the registers r0 to r15", s));
      o.kind = Operand::Kind::reg;
      o.value = *n;
      t.registers = std::max(t.registers, *n + 1);
    } else {
      const auto n = number(s);
      if (!n) return no(fmt::format("\"{}\" is no register, number or address", s));
      o.value = *n;
    }
    i.operands.push_back(o);
    return true;
  }

  // if r0 == 1: st.relaxed.gpu.u32 [x], 1
  bool instruction(std::string s) {
    Thread& t = out_.threads.back();
    Instruction i;
    if (s.rfind("if ", 0) == 0) {
      const std::size_t colon = s.find(": ");
      const auto words = split(s.substr(0, std::min(colon, s.size())), ' ');
      if (colon == s.npos || words.size() != 4 || words[2] != "==" || words[1][0] != 'r' ||
          !number(words[1].substr(1)) || *number(words[1].substr(1)) > last_register ||
          !number(words[3])) {
        return no("a condition is written \"if r0 == 1: \", with one of r0 to r15");
      }
      i.only_if = std::pair{*number(words[1].substr(1)), *number(words[3])};
      s = trimmed(s.substr(colon + 2));
    }
    const std::size_t blank = std::min(s.find(' '), s.size());
    i.opcode = s.substr(0, blank);
    i.parts = parts_of(i.opcode);
    for (const std::string& word : split(s.substr(blank), ',')) {
      if (!operand(word, t, i)) return false;
    }
    t.instructions.push_back(std::move(i));
    return true;
  }

  // P1.r0 P1.r1 [x]
  bool outcome(const std::string& rest) {
    for (const std::string& word : split(rest, ' ')) {
      Observed o;
      if (word.front() == '[' && word.back() == ']') {
        const int v = out_.find(word.substr(1, word.size() - 2));
        if (v < 0) return no(fmt::format("there is no variable {}", word));
        o.index = static_cast<std::uint32_t>(v);
      } else {
        const std::size_t dot = word.find(".r");
        for (std::size_t t = 0; dot != word.npos && t < out_.threads.size(); ++t) {
          if (out_.threads[t].name == word.substr(0, dot)) o.thread = static_cast<int>(t);
        }
        const auto n = dot == word.npos ? std::nullopt : number(word.substr(dot + 2));
        if (o.thread < 0 || !n || *n > last_register)
          return no(fmt::format("\"{}\" is no register of a thread", word));
        o.index = *n;
        Thread& t = out_.threads[static_cast<std::size_t>(o.thread)];
        t.registers = std::max(t.registers, *n + 1);
      }
      out_.observed.push_back(o);
    }
    return true;
  }

  // 0 0, 1 1
  bool values(const std::string& rest, std::set<Values>& to) {
    for (const std::string& one : split(rest, ',')) {
      Values v;
      for (const std::string& word : split(one, ' ')) {
        const auto n = number(word);
        if (!n) return no(fmt::format("\"{}\" is no number", word));
        v.push_back(*n);
      }
      if (v.size() != out_.observed.size()) {
        return no(fmt::format("\"{}\" has not as many values as the outcome", one));
      }
      to.insert(std::move(v));
    }
    return true;
  }

  bool place(const std::string& s, Place& to) {
    const std::size_t colon = s.find(':');
    for (std::size_t t = 0; colon != s.npos && t < out_.threads.size(); ++t) {
      const auto n = number(s.substr(colon + 1));
      if (out_.threads[t].name != s.substr(0, colon) || !n ||
          *n >= out_.threads[t].instructions.size()) {
        continue;
      }
      to = {static_cast<int>(t), static_cast<int>(*n)};
      return true;
    }
    return no(fmt::format("\"{}\" is no instruction of a thread (the first is P0:0)", s));
  }

  // none | x between P0:0 and P1:1, y between P0:1 and P1:0
  bool race(const std::string& rest) {
    told_race_ = true;
    if (rest == "none") return true;
    for (const std::string& one : split(rest, ',')) {
      const auto words = split(one, ' ');
      Race r;
      if (words.size() != 5 || words[1] != "between" || words[3] != "and") {
        return no("a race is written \"x between P0:0 and P1:1\"");
      }
      r.variable = words[0];
      if (out_.find(r.variable) < 0) return no(fmt::format("there is no variable {}", words[0]));
      if (!place(words[2], r.first) || !place(words[4], r.second)) return false;
      if (r.second < r.first) std::swap(r.first, r.second);
      out_.races.insert(std::move(r));
    }
    return true;
  }

  Test out_;
  bool begun_ = false, told_race_ = false;
  std::string wrong_;
};

std::string text(const Test& test, const Place& p) {
  return fmt::format("{}:{}", test.threads[static_cast<std::size_t>(p.thread)].name, p.instruction);
}

}  // namespace

bool Instruction::has(std::string_view part) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

bool Instruction::is(std::string_view begin) const {
  const std::vector<std::string> wanted = parts_of(begin);
  return wanted.size() <= parts.size() && std::equal(wanted.begin(), wanted.end(), parts.begin());
}

int Test::ctas() const {
  int last = 0;
  for (const Thread& t : threads) last = std::max(last, t.cta);
  for (const Variable& v : variables) last = std::max(last, v.cta);
  return last + 1;
}

int Test::threads_of(int cta) const {
  return static_cast<int>(
      std::count_if(threads.begin(), threads.end(), [&](const Thread& t) { return t.cta == cta; }));
}

int Test::find(std::string_view variable) const {
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (variables[v].name == variable) return static_cast<int>(v);
  }
  return -1;
}

Outcome<Test> read_test(std::string_view source, std::string name) {
  Reader reader(name);
  int number = 0;
  std::istringstream lines{std::string(source)};
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!reader.line(line)) {
      return Error{ErrorKind::unreadable, fmt::format("{}: {}", trimmed(line), reader.wrong()),
                   fmt::format("{}.litmus:{}", name, number)};
    }
  }
  if (!reader.finish()) return Error{ErrorKind::unreadable, reader.wrong(), name + ".litmus"};
  return reader.take();
}

Outcome<Test> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorKind::unreadable, "The file cannot be read.", path};
  std::stringstream all;
  all << file.rdbuf();
  return read_test(all.str(), std::filesystem::path(path).stem().string());
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".litmus") out.push_back(file.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string text(const Test& test, const Values& values) {
  std::string out;
  for (std::size_t i = 0; i < values.size() && i < test.observed.size(); ++i) {
    const Observed& o = test.observed[i];
    if (i) out += ' ';
    out += o.thread < 0
               ? fmt::format("[{}]={}", test.variables[o.index].name, values[i])
               : fmt::format("{}.r{}={}", test.threads[static_cast<std::size_t>(o.thread)].name,
                             o.index, values[i]);
  }
  return out;
}

std::string text(const Test& test, const Race& race) {
  return fmt::format("{} between {} and {}", race.variable, text(test, race.first),
                     text(test, race.second));
}

}  // namespace tilescope::litmus
