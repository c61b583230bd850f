#include "tests/mutate/trial.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "core/run/deadlock_cause.h"
#include "core/sim/machine/machine.h"

namespace tilescope::test {
namespace {

constexpr int most_seconds = 60;

// "PTX line 12" in a sentence: 12.
void take_lines(const std::string& text, std::vector<std::uint32_t>& out) {
  static const std::string mark = "PTX line ";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const std::uint64_t line = std::strtoull(text.c_str() + at + mark.size(), nullptr, 10);
    if (line) out.push_back(static_cast<std::uint32_t>(line));
  }
}

std::vector<std::uint32_t> lines_told(const Report& r) {
  std::vector<std::uint32_t> out;
  for (const Evidence::Party& party : r.evidence.parties) {
    if (party.site.ptx_line) out.push_back(party.site.ptx_line);
  }
  take_lines(r.sentence, out);
  take_lines(r.expected, out);
  take_lines(r.found, out);
  if (r.deadlock) take_lines(r.deadlock->sentence, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Instructions of one kind side by side, copies or products, are one place: twice its number, and
// odd numbers between two.
std::int64_t place_of(const Case& c, std::uint32_t line) {
  std::int64_t place = -1;
  const Instruction* last = nullptr;
  for (const Instruction& x : c.places) {
    if (x.at + 1 > line) break;
    if (!last || last->name != x.name) place += place < 0 ? 1 : 2;
    last = &x;
  }
  if (!last) return -1;
  if (last->at + 1 == line) return place;
  // Between two of one kind is within them.
  const auto next = std::find_if(c.places.begin(), c.places.end(),
                                 [&](const Instruction& x) { return x.at + 1 > line; });
  return next != c.places.end() && next->name == last->name ? place : place + 1;
}

Where where_of(const Case& c, const Mutation& m, std::uint32_t line) {
  if (!line) return Where::nowhere;
  std::vector<std::uint32_t> changed = {m.line};
  if (m.also) changed.push_back(m.also);
  for (const auto& [at, text] : m.edits) changed.push_back(at + 1);
  Where out = Where::elsewhere;
  for (const std::uint32_t l : changed) {
    if (l == line) return Where::here;
    if (std::abs(place_of(c, l) - place_of(c, line)) <= 2) out = Where::near;
  }
  return out;
}

void locate(const Case& c, const Mutation& m, Trial& t) {
  t.at = t.told = where_of(c, m, t.line);
  for (const std::uint32_t line : t.others) t.told = std::min(t.told, where_of(c, m, line));
}

std::string one_line(std::string s) {
  std::replace_if(
      s.begin(), s.end(), [](char ch) { return ch == '\n' || ch == '\t' || ch == '\x1f'; }, ' ');
  return s;
}

// ---- through a pipe ----

std::string packed(const Trial& t) {
  std::string out = fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}", static_cast<int>(t.verdict), t.report,
                                t.sentence, t.order, t.line);
  for (const std::uint32_t line : t.others) out += fmt::format("\x1f{}", line);
  return out;
}

Trial unpacked(const std::string& s) {
  Trial t;
  std::vector<std::string> parts;
  std::istringstream in(s);
  for (std::string part; std::getline(in, part, '\x1f');) parts.push_back(part);
  if (parts.size() < 5) return t;
  t.verdict = static_cast<Verdict>(std::stoi(parts[0]));
  t.report = parts[1], t.sentence = parts[2], t.order = parts[3];
  t.line = static_cast<std::uint32_t>(std::stoul(parts[4]));
  for (std::size_t i = 5; i < parts.size(); ++i) {
    t.others.push_back(static_cast<std::uint32_t>(std::stoul(parts[i])));
  }
  return t;
}

struct Child {
  std::size_t index = 0;
  int pipe = -1;
};

Child begin(const Case& c, const Mutation& change, const std::vector<sim::Options>& orders,
            std::uint64_t patience, std::size_t index, pid_t& id) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  id = fork();
  if (id < 0) std::abort();
  if (id == 0) {
    close(ends[0]);
    const rlimit limit{most_seconds, most_seconds + 5};
    setrlimit(RLIMIT_CPU, &limit);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    std::string text = packed(try_here(c, change, orders, patience));
    text.resize(std::min<std::size_t>(text.size(), 32768));  // a pipe takes that without a reader
    const bool written = write(ends[1], text.data(), text.size()) == ssize_t(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  return {index, ends[0]};
}

Trial end(const Child& child, int status) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(child.pipe, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(child.pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return unpacked(text);
  Trial t;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    t.verdict = signal == SIGXCPU || signal == SIGKILL ? Verdict::endless : Verdict::crashed;
    t.sentence = fmt::format("signal {}", signal);
  } else {
    t.sentence = fmt::format("exit code {}", WEXITSTATUS(status));
  }
  return t;
}

}  // namespace

std::string name_of(Verdict verdict) {
  static const char* const names[] = {"named",     "refused", "wrong",   "noted",
                                      "unchanged", "idle",    "endless", "crashed"};
  return names[static_cast<std::size_t>(verdict)];
}

std::string name_of(Where where) {
  static const char* const names[] = {"here", "near", "elsewhere", ""};
  return names[static_cast<std::size_t>(where)];
}

namespace {

// Of a change of an instruction of registers alone, "xor.b32 %r1, ..." or "setp.eq.s32 %p1, ...",
// another that says whether it can come to anything in this launch: the unchanged instruction, but
// where its result is not the changed one's it is what nobody has written. Without edits: it is not
// such a change.
Mutation probe_of(const Case& c, const Mutation& change) {
  Mutation out = change;
  out.edits.clear();
  const std::string line = trimmed(c.lines[change.line - 1]);
  const bool predicate = begins(line, "setp.");
  const bool of_registers = predicate || begins(line, "xor.b32") || begins(line, "selp.b32");
  if (!of_registers || change.edits.size() != 1) return out;
  const std::string changed = trimmed(change.edits.front().second);
  const std::size_t from = changed.find_first_of(" \t"), comma = changed.find(',');
  if (comma == std::string::npos) return out;  // dropped
  const std::string result = trimmed(changed.substr(from, comma - from));
  const std::string type = predicate ? "pred" : "b32";
  out.edits.emplace_back(
      change.line - 1,
      fmt::format(
          "\t{{ .reg .{0} other, nobody; .reg .pred differs; {1} other{2} {3} {4} differs, {5}, "
          "other; @differs mov.{0} {5}, nobody; }}",
          type, changed.substr(0, from), changed.substr(comma), line,
          predicate ? "xor.pred" : "setp.ne.u32", result));
  return out;
}

// Until something is told that is not told of the kernel unchanged, or comes out wrong.
Trial try_orders(const Case& c, const Mutation& change, const std::vector<sim::Options>& orders,
                 std::uint64_t patience);

}  // namespace

Trial try_here(const Case& c, const Mutation& change, const std::vector<sim::Options>& orders,
               std::uint64_t patience) {
  Trial t = try_orders(c, change, orders, patience);
  if (t.verdict != Verdict::unchanged) return t;
  const Mutation probe = probe_of(c, change);
  if (probe.edits.empty()) return t;
  const Verdict of_probe = try_orders(c, probe, orders, patience).verdict;
  if (of_probe == Verdict::unchanged || of_probe == Verdict::noted) t.verdict = Verdict::idle;
  return t;
}

namespace {

Trial try_orders(const Case& c, const Mutation& change, const std::vector<sim::Options>& orders,
                 std::uint64_t patience) {
  Trial t;
  t.verdict = Verdict::unchanged;
  Job job = c.job;
  job.program.ptx = changed_text(c, change);
  const auto take = [&](const Report& r, const sim::Options& order) {
    t.report = std::string(name_of(r.weight)) + " " + r.kind;
    t.sentence = one_line(r.sentence);
    t.order = order_text(order);
    t.line = r.site.ptx_line;
    t.others = lines_told(r);
  };
  for (const sim::Options& order : orders) {
    auto machine = sim::Machine::load(job, order);
    if (!machine) {
      t.verdict = Verdict::refused;
      t.sentence = one_line(machine.error().where + ": " + machine.error().sentence);
      std::vector<std::uint32_t> lines;
      take_lines(machine.error().where + " " + machine.error().sentence, lines);
      if (!lines.empty()) t.line = lines.front();
      return t;
    }
    const RunState state = machine->run(20 * c.instructions + patience);
    for (const Report& r : sift(machine->reports(), c.rules).kept) {
      if (c.known.count(key_of(r))) continue;
      if (r.weight != Weight::note) {
        t.verdict = Verdict::named;
        take(r, order);
        return t;
      }
      if (t.verdict == Verdict::unchanged) t.verdict = Verdict::noted, take(r, order);
    }
    const bool right = state == RunState::done && is_right(c, machine->buffers());
    if (right || t.verdict == Verdict::wrong || t.verdict == Verdict::endless) continue;
    // A later order may still name it.
    t.verdict = state == RunState::running ? Verdict::endless : Verdict::wrong;
    if (t.report.empty()) t.order = order_text(order);
    if (t.verdict == Verdict::endless) break;
  }
  return t;
}

}  // namespace

std::vector<Trial> try_apart(const Case& c, const std::vector<const Mutation*>& changes,
                             const std::vector<sim::Options>& orders, std::size_t jobs,
                             std::uint64_t patience) {
  std::vector<Trial> out(changes.size());
  std::map<pid_t, Child> running;
  for (std::size_t next = 0; next < changes.size() || !running.empty();) {
    if (next < changes.size() && running.size() < jobs) {
      pid_t id = 0;
      const Child child = begin(c, *changes[next], orders, patience, next, id);
      running.emplace(id, child);
      ++next;
      continue;
    }
    int status = 0;
    const pid_t id = waitpid(-1, &status, 0);
    const auto at = running.find(id);
    if (at == running.end()) continue;
    const std::size_t index = at->second.index;
    out[index] = end(at->second, status);
    locate(c, *changes[index], out[index]);
    running.erase(at);
  }
  return out;
}

}  // namespace tilescope::test
