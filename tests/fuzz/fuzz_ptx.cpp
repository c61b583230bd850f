// PTX: any text is read and decoded, entry after entry, or refused with a sentence that says where.
// What is decoded is also bound to handlers; nothing is run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/ptx/program.h"
#include "core/sim/code.h"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Outcome<ptx::Module> module =
      ptx::parse_module("fuzz.ptx", std::string(reinterpret_cast<const char*>(data), size));
  if (!module.ok()) {
    check(module.error());
    return 0;
  }
  const auto shared = std::make_shared<const ptx::Module>(std::move(*module));
  for (const ptx::Function& f : shared->functions) {
    if (!f.body_line) continue;
    const Outcome<ptx::Program> program = ptx::decode(shared, f);
    if (!program.ok()) {
      check(program.error());
      continue;
    }
    check(*program);
    const Outcome<sim::Bound> bound = sim::bind(*program);
    if (!bound.ok()) check(bound.error());
  }
  return 0;
}
