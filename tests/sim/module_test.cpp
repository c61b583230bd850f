// Modules and memory that outlive launches.
#include <gtest/gtest.h>

#include <cstring>

#include "core/sim/machine/machine.h"
#include "core/sim/machine/module.h"
#include "core/sim/memory/device_memory.h"

namespace tilescope::sim {
namespace {

// `count` is added to each element; the launches are counted in a variable.
constexpr const char* add_text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 launches = 5;
.visible .const .align 4 .u32 step = 3;
.visible .global .align 8 .u64 where = launches;

.visible .entry add(.param .u64 data, .param .u32 count) {
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  add.s32 %r4, %r3, %r1;
  ld.const.u32 %r5, [step];
  add.s32 %r4, %r4, %r5;
  st.global.u32 [%rd3], %r4;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra done;
  atom.global.add.u32 %r6, [launches], 1;
done:
  ret;
}
.visible .entry read(.param .u64 to) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  ld.global.u64 %rd2, [where];
  ld.global.u32 %r1, [%rd2];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

struct Parameters {
  std::vector<std::byte> bytes;
  template <class T>
  Parameters& add(T value) {
    bytes.resize((bytes.size() + sizeof value - 1) / sizeof value * sizeof value);
    bytes.resize(bytes.size() + sizeof value);
    std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
    return *this;
  }
};

Launch launch(std::string entry, std::uint32_t threads) {
  Launch out;
  out.entry = std::move(entry);
  out.block.x = threads;
  return out;
}

RunState run(Module& module, DeviceMemory& memory, const Launch& launch, Parameters parameters) {
  Outcome<Machine> m = Machine::load(module, memory, launch, std::move(parameters.bytes));
  EXPECT_TRUE(m.ok()) << (m.ok() ? "" : m.error().sentence);
  if (!m.ok()) return RunState::fault;
  while (m->run(1 << 20) == RunState::running) {
  }
  for (const Report& r : m->reports()) ADD_FAILURE() << r.kind << ": " << r.sentence;
  const RunState state = m->state();
  m->give_back(memory);
  return state;
}

std::shared_ptr<Module> loaded(DeviceMemory& memory, std::string text = add_text) {
  Outcome<std::shared_ptr<Module>> module = Module::load({"add.ptx", std::move(text)}, memory);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().sentence);
  return module.ok() ? *module : nullptr;
}

std::uint32_t word(const DeviceMemory& memory, std::uint64_t address) {
  std::uint32_t out = 0;
  EXPECT_TRUE(memory.copy_out(address, reinterpret_cast<std::byte*>(&out), sizeof out));
  return out;
}

TEST(Module, LaunchesFollowEachOtherOnOneMemory) {
  DeviceMemory memory;
  const auto module = loaded(memory);
  ASSERT_TRUE(module);
  const std::uint64_t data = memory.allocate(128, "data").value();
  ASSERT_TRUE(memory.fill(data, 32, 100, 4));
  run(*module, memory, launch("add", 32), Parameters().add(data).add(7));
  run(*module, memory, launch("add", 32), Parameters().add(data).add(20));
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(word(memory, data + 4 * i), 133u);
  const std::uint64_t to = memory.allocate(4, "to").value();
  run(*module, memory, launch("read", 1), Parameters().add(to));
  EXPECT_EQ(word(memory, to), 7u);
  EXPECT_EQ(word(memory, module->variable("launches")->address), 7u);
}

TEST(Module, EachHasVariablesOfItsOwn) {
  DeviceMemory memory;
  const auto first = loaded(memory), second = loaded(memory);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->variable("launches")->address, second->variable("launches")->address);
  const std::uint64_t data = memory.allocate(4, "data").value();
  memory.fill(data, 1, 0, 4);
  run(*second, memory, launch("add", 1), Parameters().add(data).add(0));
  EXPECT_EQ(word(memory, first->variable("launches")->address), 5u);
  EXPECT_EQ(word(memory, second->variable("launches")->address), 6u);
  const std::uint64_t address = second->variable("launches")->address;
  second->unload(memory);
  EXPECT_EQ(memory.find(address), nullptr);
  run(*first, memory, launch("read", 1), Parameters().add(data));
  EXPECT_EQ(word(memory, data), 5u);
}

TEST(Module, TheHostSetsWhatAVariableIs) {
  DeviceMemory memory;
  const auto module = loaded(memory);
  ASSERT_TRUE(module);
  const std::uint32_t step = 1000;
  ASSERT_TRUE(memory.copy_in(module->variable("step")->address,
                             reinterpret_cast<const std::byte*>(&step), sizeof step));
  const std::uint64_t data = memory.allocate(4, "data").value();
  memory.fill(data, 1, 0, 4);
  run(*module, memory, launch("add", 1), Parameters().add(data).add(1));
  EXPECT_EQ(word(memory, data), 1001u);
}

TEST(Module, WhatIsRefusedLeavesTheMemory) {
  DeviceMemory memory;
  const auto module = loaded(memory);
  ASSERT_TRUE(module);
  const std::uint64_t data = memory.allocate(4, "data").value();
  memory.fill(data, 1, 9, 4);
  const auto refused = [&](const Launch& how, Parameters parameters) {
    const Outcome<Machine> m = Machine::load(*module, memory, how, std::move(parameters.bytes));
    EXPECT_FALSE(m.ok());
    EXPECT_EQ(word(memory, data), 9u);
    return m.ok() ? "" : m.error().sentence;
  };
  EXPECT_EQ(refused(launch("add", 32), Parameters().add(data)),
            "the parameters of add have 12 bytes, but the launch gives 8");
  EXPECT_NE(refused(launch("add", 2000), Parameters().add(data).add(1)), "");
  EXPECT_NE(refused(launch("nothing", 1), Parameters().add(data).add(1)), "");
  DeviceMemory other;
  EXPECT_FALSE(
      Module::load({"bad.ptx", ".version 8.0\n.target sm_80\n.global .u32 x = y;\n"}, other).ok());
  EXPECT_TRUE(other.regions().empty());
}

TEST(Module, AFaultLeavesWhatWasWritten) {
  DeviceMemory memory;
  const auto module = loaded(memory);
  ASSERT_TRUE(module);
  const std::uint64_t data = memory.allocate(128, "data").value();
  memory.fill(data, 32, 0, 4);
  Outcome<Machine> m =
      Machine::load(*module, memory, launch("add", 64), Parameters().add(data).add(1).bytes);
  ASSERT_TRUE(m.ok());
  while (m->run(1 << 20) == RunState::running) {
  }
  EXPECT_TRUE(m->faulted());
  ASSERT_EQ(m->reports().size(), 1u);
  EXPECT_EQ(m->reports()[0].kind, "out_of_bounds");
  EXPECT_NE(m->reports()[0].sentence.find("data"), std::string::npos) << m->reports()[0].sentence;
  m->give_back(memory);
  EXPECT_EQ(word(memory, data), 4u);
}

// A kernel that goes by a word of memory, as far as it is defined.
constexpr const char* follow_text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry follow(.param .u64 at) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<1>;
  ld.param.u64 %rd0, [at];
  ld.global.u32 %r0, [%rd0];
  cvt.u64.u32 %rd1, %r0;
  add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], 0;
  ret;
}
)";

std::string found_by_following(Module& module, DeviceMemory& memory, std::uint64_t at) {
  Outcome<Machine> m =
      Machine::load(module, memory, launch("follow", 1), Parameters().add(at).bytes);
  EXPECT_TRUE(m.ok());
  if (!m.ok()) return "";
  EXPECT_EQ(m->run(1 << 20), RunState::fault);
  const std::string found = m->reports().empty() ? "" : m->reports()[0].found;
  m->give_back(memory);
  return found;
}

TEST(Module, WhoLeftMemoryUndefinedIsNamedInLaterLaunches) {
  DeviceMemory memory;
  const auto adds = loaded(memory), follows = loaded(memory, follow_text);
  ASSERT_TRUE(adds && follows);
  const std::uint64_t data = memory.allocate(128, "data").value();
  const std::uint64_t copy = memory.allocate(128, "copy").value();
  EXPECT_NE(found_by_following(*follows, memory, data)
                .find("byte 0 of data at PTX line 9, lane 0, which nobody had written"),
            std::string::npos);
  Outcome<Machine> m =
      Machine::load(*adds, memory, launch("add", 32), Parameters().add(data).add(1).bytes);
  ASSERT_TRUE(m.ok());
  ASSERT_EQ(m->run(1 << 20), RunState::done);
  m->give_back(memory, "launch 7");
  // Another launch, which leaves these bytes alone.
  const std::uint64_t to = memory.allocate(4, "to").value();
  run(*adds, memory, launch("read", 1), Parameters().add(to));
  const std::string who = ", which launch 7 (add) wrote without a value, by the st.global.u32 at ";
  const std::string found = found_by_following(*follows, memory, data + 8);
  EXPECT_NE(found.find(who), std::string::npos) << found;
  EXPECT_NE(found.find("byte 0 of data at PTX line"), std::string::npos) << found;  // add's own
  ASSERT_TRUE(memory.copy(copy, data, 64));
  const std::string copied = found_by_following(*follows, memory, copy + 60);
  EXPECT_NE(copied.find(who), std::string::npos) << copied;
  // Whoever defines them afterwards takes that away, and so does new memory.
  ASSERT_TRUE(memory.fill(copy, 16, 0, 4));
  EXPECT_EQ(memory.find(copy)->undefined_by(60 - 60), nullptr);
  EXPECT_NE(found_by_following(*follows, memory, copy + 64).find("which nobody had written"),
            std::string::npos);
}

TEST(Module, WhatWasFreedIsNamed) {
  DeviceMemory memory;
  const auto module = loaded(memory);
  ASSERT_TRUE(module);
  const std::uint64_t data = memory.allocate(128, "the first one").value();
  memory.allocate(128, "the second one");
  ASSERT_TRUE(memory.release(data));
  Outcome<Machine> m =
      Machine::load(*module, memory, launch("add", 32), Parameters().add(data).add(1).bytes);
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->run(1 << 20), RunState::fault);
  EXPECT_NE(m->reports()[0].sentence.find("the first one, and that was freed before this launch"),
            std::string::npos)
      << m->reports()[0].sentence;
}

// ---- the memory by itself ----

TEST(DeviceMemory, AddressesAreGivenOnce) {
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(100, "a").value();
  const std::uint64_t b = memory.allocate(100, "b").value();
  EXPECT_EQ(a % 256, 0u);
  EXPECT_GE(b, a + 100 + DeviceMemory::gap);
  EXPECT_TRUE(memory.release(a));
  EXPECT_FALSE(memory.release(a));
  EXPECT_FALSE(memory.release(b + 4));
  ASSERT_TRUE(freed_at(*memory.freed(), a + 99));
  EXPECT_EQ(freed_at(*memory.freed(), a + 99)->name, "a");
  EXPECT_FALSE(freed_at(*memory.freed(), a + 100));
  EXPECT_FALSE(freed_at(*memory.freed(), b));
  EXPECT_GT(memory.allocate(100, "c").value(), b);
  EXPECT_EQ(memory.used(), 200u);
  EXPECT_EQ(memory.allocate(100, "d", 1 << 16).value() % (1 << 16), 0u);
}

TEST(DeviceMemory, HasALimit) {
  DeviceMemory memory(1000);
  EXPECT_TRUE(memory.allocate(600, "a"));
  EXPECT_FALSE(memory.allocate(401, "b"));
  EXPECT_FALSE(memory.allocate(~std::uint64_t{0}, "b"));
  EXPECT_TRUE(memory.allocate(400, "b"));
  EXPECT_FALSE(memory.allocate(0, "nothing"));
}

TEST(DeviceMemory, CopiesStayWithinOneAllocation) {
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(16, "a").value();
  std::byte bytes[16] = {};
  EXPECT_TRUE(memory.copy_in(a, bytes, 16));
  EXPECT_FALSE(memory.copy_in(a + 1, bytes, 16));
  EXPECT_FALSE(memory.copy_in(a - 1, bytes, 1));
  EXPECT_FALSE(memory.copy_out(a + 16, bytes, 1));
  EXPECT_TRUE(memory.copy_out(a + 16, bytes, 0));
  EXPECT_FALSE(memory.copy(a + 8, a, 9));
  EXPECT_FALSE(memory.fill(a, 5, 0, 4));
  EXPECT_FALSE(memory.fill(a, ~std::uint64_t{0} / 2, 0, 4));
}

TEST(DeviceMemory, UndefinedBytesGoWithACopy) {
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(64, "a").value(), b = memory.allocate(64, "b").value();
  EXPECT_TRUE(memory.find(a)->is_undefined(0));
  ASSERT_TRUE(memory.fill(a + 5, 17, 0xab, 1));
  ASSERT_TRUE(memory.fill(b, 64, 0, 1));
  EXPECT_FALSE(memory.find(b)->undefined_bits());
  ASSERT_TRUE(memory.copy(b, a, 32));
  for (std::uint64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(memory.find(b)->is_undefined(i), i < 5 || (i >= 22 && i < 32)) << i;
  }
  std::byte byte{};
  EXPECT_TRUE(memory.copy_out(b + 5, &byte, 1));
  EXPECT_EQ(byte, std::byte{0xab});
}

TEST(DeviceMemory, WhatFollowsEachOtherIsOneRange) {
  DeviceMemory memory(100);
  const auto piece = [](const char* name, std::uint64_t base) {
    Region out(Region::Kind::buffer, name, base, std::vector<std::byte>(32));
    out.make_undefined();
    return out;
  };
  ASSERT_TRUE(memory.claim(32));
  ASSERT_TRUE(memory.claim(32));
  EXPECT_FALSE(memory.claim(37));
  constexpr std::uint64_t at = 0x6000'0000'0000;
  ASSERT_TRUE(memory.attach(piece("a", at)));
  EXPECT_FALSE(memory.attach(piece("b", at + 16)));
  ASSERT_TRUE(memory.attach(piece("b", at + 32)));
  EXPECT_EQ(memory.used(), 64u);
  EXPECT_TRUE(memory.holds(at, 64));
  EXPECT_FALSE(memory.holds(at, 65));
  EXPECT_FALSE(memory.holds(at - 1, 2));
  ASSERT_TRUE(memory.fill(at + 24, 4, 7, 4));
  EXPECT_FALSE(memory.fill(at + 24, 11, 7, 4));
  EXPECT_TRUE(memory.find(at)->is_undefined(23));
  EXPECT_FALSE(memory.find(at)->is_undefined(24));
  EXPECT_FALSE(memory.find(at + 32)->is_undefined(7));
  EXPECT_TRUE(memory.find(at + 32)->is_undefined(8));
  ASSERT_TRUE(memory.copy(at + 28, at + 20, 16));  // over the border, and over itself
  std::uint32_t words[2] = {};
  ASSERT_TRUE(memory.copy_out(at + 32, reinterpret_cast<std::byte*>(words), 8));
  EXPECT_EQ(words[0], 7u);
  EXPECT_TRUE(memory.find(at)->is_undefined(28));
  // What is taken away keeps its bytes, and the room.
  const std::optional<Region> taken = memory.detach(at + 32);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->data()[0], std::byte{7});
  EXPECT_EQ(memory.used(), 64u);
  EXPECT_FALSE(memory.holds(at + 32, 1));
  EXPECT_EQ(freed_at(*memory.freed(), at + 32)->name, "b");
  EXPECT_FALSE(memory.detach(at + 4));
  memory.disclaim(32);
  EXPECT_EQ(memory.used(), 32u);
}

}  // namespace
}  // namespace tilescope::sim
