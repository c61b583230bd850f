#include "tests/mutate/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "core/io/gzip.h"
#include "core/io/launch_file.h"
#include "core/sim/machine/machine.h"
#include "kernels/catalog/catalog.h"
#include "tests/kernels/asked.h"
#include "tests/sim/program.h"

namespace tilescope::test {
namespace {

const std::string root = TILESCOPE_SOURCE_DIR;

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A kernel of the catalog; `options` as on the command line, --m, --n and --k among them.
struct Shipped {
  std::string kernel, options;
  std::uint32_t grid = 0;  // blocks; 0: as many as the catalog says
};

// Ragged where the kernel takes it, with little missing along K: products of zeros say nothing.
// From the step on that has stages, more tiles along K than stages; two tiles for a CTA where it
// goes on to a second one.
const std::map<std::string, Shipped, std::less<>> shipped = {
    {"hgemm_v1", {"hgemm_v1", "--m 128 --n 128 --k 64"}},
    {"hgemm_v2", {"hgemm_v2", "--m 128 --n 128 --k 192"}},
    {"hgemm_v3", {"hgemm_v3", "--m 256 --n 128 --k 128"}},
    {"hgemm_v4", {"hgemm_v4", "--m 136 --n 128 --k 184"}},
    {"hgemm_v5", {"hgemm_v5", "--m 136 --n 128 --k 376"}},
    {"hgemm_v6", {"hgemm_v6", "--m 264 --n 128 --k 376", 1}},
    {"hgemm_v7", {"hgemm_v7", "--m 264 --n 128 --k 376", 1}},
    {"hgemm_v8", {"hgemm_v8", "--m 264 --n 128 --k 376", 1}},
    {"hgemm_v9", {"hgemm_v9", "--m 264 --n 256 --k 376", 2}},
    {"hgemm_v10", {"hgemm_v10", "--m 520 --n 256 --k 376", 2}},
    {"wgmma_v1", {"wgmma_v1", "--m 128 --n 256 --k 128"}},
    {"wgmma_v2", {"wgmma_v2", "--m 72 --n 136 --k 184"}},
    {"wgmma_v3", {"wgmma_v3", "--m 72 --n 136 --k 504"}},
    {"wgmma_v4", {"wgmma_v4", "--m 72 --n 136 --k 504"}},
    {"wgmma_v5", {"wgmma_v5", "--m 136 --n 136 --k 504"}},
    {"wgmma_v6", {"wgmma_v6", "--m 136 --n 264 --k 376", 1}},
    {"wgmma_v7", {"wgmma_v7", "--m 264 --n 264 --k 376", 2}},
    {"wgmma_v8", {"wgmma_v8", "--m 264 --n 264 --k 376", 2}},
    {"wgmma_v9", {"wgmma_v9", "--m 264 --n 264 --k 376", 2}},
    {"dense_gemm",
     {"dense_gemm",
      "--tile 128x256 --cluster 2x1 --split-k 1 --m 264 --n 264 --k 376 --processors 2"}},
    {"dense_gemm_slices",
     {"dense_gemm",
      "--tile 128x128 --cluster 2x1 --split-k 3 --m 136 --n 136 --k 1528 --processors 8"}}};

Outcome<Job> shipped_case(const Shipped& s, std::string& entry) {
  const auto found = find_kernel(s.kernel);
  if (!found) return found.error();
  const Request request = asked(s.options);
  const Outcome<Fit> fitted = fit(**found, request);
  if (!fitted) return fitted.error();
  entry = fitted->variant.entry;
  const std::string image = fitted->variant.image.empty() ? (*found)->ptx : fitted->variant.image;
  std::string ptx = text_of_file(root + "/assets/" + image);
  if (ptx.empty()) {
    const std::string packed = text_of_file(root + "/assets/" + image + ".gz");
    const auto bytes = unpack_gzip(std::as_bytes(std::span(packed)), image);
    if (!bytes) return bytes.error();
    ptx.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }
  Outcome<Job> job = make_job(**found, *fitted, request, ptx);
  if (job && s.grid) job->launch.grid = {s.grid, 1, 1};
  return job;
}

// C = A * B^T in Triton's manner (its header says what is passed), two tiles of three boxes along
// K.
Outcome<Job> triton_case() {
  std::string file = "grid = [2, 1, 1]\nblock = [128, 1, 1]\ndynamic_smem = 40976\n";
  file += "[[buffer]]\nname = \"A\"\ndtype = \"f16\"\nshape = [256, 200]\nrandom = 1\n";
  file += "[[buffer]]\nname = \"B\"\ndtype = \"f16\"\nshape = [32, 200]\nrandom = 2\n";
  file += "[[buffer]]\nname = \"C\"\ndtype = \"f16\"\nshape = [256, 32]\npoison = true\n";
  for (const char* buffer : {"A", "B", "C"})
    file += fmt::format("[[arg]]\nbuffer = \"{}\"\n", buffer);
  for (const int n : {256, 32, 192, 200, 200, 32}) file += fmt::format("[[arg]]\ni32 = {}\n", n);
  file += "[[arg]]\nnull = true\n[[arg]]\nnull = true\n";
  const auto launch = parse_launch_file(file, "mm.toml");
  if (!launch) return launch.error();
  const std::string path = "tests/kernels/foreign/triton_matmul.ptx";
  return make_job(*launch, {"triton_matmul.ptx", text_of_file(root + "/" + path)}, {});
}

Outcome<Job> program_case(const std::string& name) {
  SimProgram p = read_program(root + "/tests/sim/programs/" + name + ".ptx");
  if (!p.mistake.empty()) return Error{ErrorKind::mismatch, p.mistake, name};
  return std::move(p.job);
}

// The lines of PTX that are executed.
std::set<std::uint32_t> executed_lines(sim::Machine machine) {
  std::set<std::uint32_t> out;
  for (RunState state = RunState::running; state == RunState::running;) {
    state = machine.run(1);
    const sim::Executed& last = machine.last_executed();
    if (last.mask) out.insert(machine.program().code[last.pc].line);
  }
  return out;
}

bool is_reached(const Mutation& m, const std::set<std::uint32_t>& executed) {
  return executed.count(m.line) || executed.count(m.also) ||
         std::any_of(m.edits.begin(), m.edits.end(),
                     [&](const auto& edit) { return executed.count(edit.first + 1) > 0; });
}

sim::Options order(std::uint64_t schedule, bool lazy) {
  sim::Options out;
  out.schedule = schedule;
  out.lazy = lazy;
  out.exact = false;
  return out;
}

}  // namespace

const std::vector<std::string>& case_names() {
  static const std::vector<std::string> names = {"hgemm_v1",
                                                 "hgemm_v2",
                                                 "hgemm_v3",
                                                 "hgemm_v4",
                                                 "hgemm_v5",
                                                 "hgemm_v6",
                                                 "hgemm_v7",
                                                 "hgemm_v8",
                                                 "hgemm_v9",
                                                 "hgemm_v10",
                                                 "wgmma_v1",
                                                 "wgmma_v2",
                                                 "wgmma_v3",
                                                 "wgmma_v4",
                                                 "wgmma_v5",
                                                 "wgmma_v6",
                                                 "wgmma_v7",
                                                 "wgmma_v8",
                                                 "wgmma_v9",
                                                 "dense_gemm",
                                                 "dense_gemm_slices",
                                                 "triton_matmul",
                                                 "tensor_by_libcudacxx",
                                                 "cp_async_ring_mbarrier"};
  return names;
}

const std::vector<sim::Options>& tried_orders() {
  static const std::vector<sim::Options> orders = {order(0, false), order(0, true), order(7, false),
                                                   order(15, true), order(3, false)};
  return orders;
}

const std::vector<sim::Options>& more_orders() {
  static const std::vector<sim::Options> orders = [] {
    std::vector<sim::Options> out;
    for (std::uint64_t seed = 21; seed <= 36; ++seed) out.push_back(order(seed, seed % 2 == 0));
    return out;
  }();
  return orders;
}

std::string order_text(const sim::Options& order) {
  std::string out = order.schedule ? fmt::format("schedule {}", order.schedule) : "in turns";
  return order.lazy ? out + ", lazy" : out;
}

std::string key_of(const Report& report) {
  std::string out =
      fmt::format("{} {} {}", name_of(report.weight), report.kind, report.site.ptx_line);
  for (const Evidence::Party& party : report.evidence.parties) {
    out += fmt::format(" {}", party.site.ptx_line);
  }
  return out;
}

bool is_right(const Case& c, const std::vector<Buffer>& buffers) {
  if (buffers.size() != c.results.size()) return false;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].bytes != c.results[i].bytes) return false;
  }
  return true;
}

std::string changed_text(const Case& c, const Mutation& change) {
  std::string out;
  for (std::size_t at = 0; at < c.lines.size(); ++at) {
    const std::string* line = &c.lines[at];
    for (const auto& [where, text] : change.edits) {
      if (where == at) line = &text;
    }
    out += *line + "\n";
  }
  return out;
}

Outcome<Case> case_named(const std::string& name) {
  Case c;
  c.name = name;
  const auto at = shipped.find(name);
  Outcome<Job> job = at != shipped.end()       ? shipped_case(at->second, c.entry)
                     : name == "triton_matmul" ? triton_case()
                                               : program_case(name);
  if (!job) return job.error();
  if (at != shipped.end()) c.rules = (*find_kernel(at->second.kernel))->known;
  c.job = std::move(*job);
  c.lines = lines_of(c.job.program.ptx);
  c.places = read_entry(c.lines, c.entry, changed_instructions()).instructions;
  std::vector<sim::Options> orders = tried_orders();
  orders.insert(orders.end(), more_orders().begin(), more_orders().end());
  for (const sim::Options& order : orders) {
    auto machine = sim::Machine::load(c.job, order);
    if (!machine) return machine.error();
    if (c.changes.empty()) {
      const std::set<std::uint32_t> executed = executed_lines(*machine);
      for (Mutation& m : all_changes(c.job.program.ptx, c.entry)) {
        if (is_reached(m, executed)) c.changes.push_back(std::move(m));
      }
    }
    const auto wrong = [&](const std::string& what) {
      return Error{ErrorKind::mismatch, fmt::format("{} {}, {}", name, what, order_text(order)),
                   ""};
    };
    if (machine->run(~std::uint64_t{0}) != RunState::done) return wrong("does not come to its end");
    for (const Report& r : machine->reports()) c.known.insert(key_of(r));
    if (c.results.empty()) c.results = machine->buffers();
    if (!is_right(c, machine->buffers())) return wrong("gives another result");
    c.instructions = std::max(c.instructions, machine->instructions());
  }
  return c;
}

}  // namespace tilescope::test
