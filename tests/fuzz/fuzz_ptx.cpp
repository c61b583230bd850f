// PTX: any text is read and decoded, entry after entry, or refused with a sentence that says where.
// So are the names of its debug sections. What is decoded is run for a while, with pointers to one
// small buffer as arguments: whatever a program does to it, the simulator goes on, stops with a
// report, or has used up its budget. And from where its addresses come is found, or left open.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/ptx/addresses.h"
#include "core/ptx/debug_names.h"
#include "core/ptx/program.h"
#include "core/ptx/slice_run.h"
#include "core/sim/machine/machine.h"

namespace {

using namespace tilescope;

void check(const Error& error) {
  if (error.sentence.empty() || error.where.rfind("fuzz.ptx", 0) != 0) std::abort();
}

// Every register that an instruction names must have got a place inside the file.
void check(const ptx::Program& program) {
  for (const ptx::Operand& o : program.operands) {
    if (o.kind != ptx::Operand::Kind::reg) continue;
    const ptx::Register& r = program.registers[o.index];
    const auto bytes = static_cast<std::uint32_t>(ptx::bits_of(r.type) / 8 * ptx::lanes);
    if (r.place == ptx::no_register || r.place + bytes > program.register_bytes) std::abort();
  }
}

void run(const ptx::Module& module, const ptx::Function& entry) {
  Job job;
  job.program = {"fuzz.ptx", *module.text};
  job.launch.entry = std::string(entry.name);
  job.launch.block = {40, 1, 1};
  job.launch.dynamic_shared = 64;
  Buffer buffer;
  buffer.name = "B";
  buffer.shape = {64};
  buffer.bytes.resize(256);
  job.buffers.push_back(buffer);
  for (const ptx::Parameter& p : entry.parameters) {
    Argument argument = p.bytes == 8 ? Argument::pointer(0) : Argument{};
    argument.bytes.resize(p.bytes, std::byte{3});
    job.arguments.push_back(argument);
  }
  Outcome<sim::Machine> machine = sim::Machine::load(std::move(job));
  if (!machine.ok()) return check(machine.error());
  const RunState state = machine->run(3000);
  if (state == RunState::fault && machine->reports().back().sentence.empty()) std::abort();
}

// From where its addresses come: sums that can be written, instructions that can be run. They need
// not meet where numbers overflow.
void follow_addresses(ptx::Program program) {
  ptx::Addresses addresses(std::make_shared<const ptx::Program>(std::move(program)));
  ptx::ThreadNumbers numbers;
  numbers.thread = {5, 0, 0};
  for (std::uint32_t b = 0; b < addresses.program().blocks.size(); ++b) numbers.rounds[b] = 2;
  ptx::SliceRun run(addresses, numbers);
  for (const ptx::Access& a : addresses.accesses()) {
    const auto name = [](const ptx::Atom&) { return std::string("x"); };
    if (ptx::text(addresses.sums(), a.address, name).empty()) std::abort();
    run.address(a);
    run.value(a.address);
    for (const std::uint32_t at : a.slice) addresses.value(at);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Outcome<ptx::Module> module =
      ptx::parse_module("fuzz.ptx", std::string(reinterpret_cast<const char*>(data), size));
  if (!module.ok()) {
    check(module.error());
    return 0;
  }
  const auto shared = std::make_shared<const ptx::Module>(std::move(*module));
  // Names that debug sections give are read, or a sentence says why no further.
  for (const ptx::DebugVariable& v : ptx::debug_names(*shared).variables) {
    if (v.name.empty() || v.places.empty()) std::abort();
    v.at(v.line);
  }
  for (const ptx::Function& f : shared->functions) {
    if (!f.body_line) continue;
    const Outcome<ptx::Program> program = ptx::decode(shared, f);
    if (!program.ok()) {
      check(program.error());
      continue;
    }
    check(*program);
    // Large variables are memory that a launch really takes.
    std::uint64_t bytes = 0;
    for (const ptx::Placed& v : program->variables) bytes += v.variable.bytes;
    if (f.entry) follow_addresses(*program);
    if (f.entry && bytes < (1u << 20) && program->local_bytes < 4096) run(*shared, f);
  }
  return 0;
}
