#include "tests/conformance/kernel_text.h"

#include <algorithm>

#include "core/ptx/targets.h"

namespace tilescope::conformance {
namespace {

using ptx::Type;

int register_bits(Type type) {
  return std::max(16, ptx::bits_of(type));
}

}  // namespace

std::uint32_t KernelText::draw(std::uint32_t count) {
  drawn_ = mix(drawn_);
  return static_cast<std::uint32_t>(drawn_ >> 33) % count;
}

std::string KernelText::fresh(Type type) {
  const std::string name = fmt::format("%x{}", registers_++);
  declared_ += type == Type::pred ? fmt::format("  .reg .pred {};\n", name)
                                  : fmt::format("  .reg .b{} {};\n", register_bits(type), name);
  return name;
}

std::string KernelText::label() {
  return fmt::format("L{}", labels_++);
}

void KernelText::tried(const std::string& operands, const std::string& guard) {
  body_ += "  " + guard + (guard.empty() ? "" : " ") + spelling_.text +
           (operands.empty() ? "" : " ") + operands + ";\n";
}

std::string KernelText::read(Type type, Use use) {
  const std::string name = fresh(type);
  const std::size_t at = kernel_.operands.size() * lanes * 8;
  if (type == Type::pred) {
    say("ld.global.u32 %word, [%in+{}]", at);
    say("setp.ne.u32 {}, %word, 0", name);
    use = Use::truth;
  } else {
    say("ld.global.b{} {}, [%in+{}]", register_bits(type), name, at);
  }
  kernel_.operands.push_back({type, use});
  return name;
}

std::string KernelText::number(std::uint32_t least, std::uint32_t count) {
  const std::string name = read(Type::u32);
  say("mul.hi.u32 {}, {}, 0x9e3779b1", name, name);
  say("and.b32 {}, {}, {}", name, name, count - 1);
  say("add.u32 {}, {}, {}", name, name, least);
  return name;
}

void KernelText::write(const std::string& name, Type type) {
  const std::size_t at = kernel_.results.size() * lanes * 8;
  if (type == Type::pred) {
    say("selp.u32 %word, 1, 0, {}", name);
    say("st.global.u32 [%out+{}], %word", at);
  } else {
    say("st.global.b{} [%out+{}], {}", register_bits(type), at, name);
  }
  kernel_.results.push_back(type);
}

void KernelText::own_slots() {
  variable(".shared .align 128 .b8 slots[4096]");
  say("mov.u32 %slot, slots");
  say("mad.lo.u32 %slot, %thread, 32, %slot");
}

void KernelText::fill_slot() {
  for (std::uint32_t at = 0; at < slot_bytes; at += 8) {
    say("st.shared.b64 [%slot+{}], {}", at, read(Type::u64));
  }
}

void KernelText::write_slot() {
  for (std::uint32_t at = 0; at < slot_bytes; at += 8) {
    say("ld.shared.b64 %long, [%slot+{}]", at);
    write("%long", Type::u64);
  }
}

void KernelText::tell_memory(Type type, std::uint32_t count) {
  kernel_.memory.assign(count, type);
}

void KernelText::make_policy() {
  constexpr const char* kept[] = {"evict_last", "evict_normal", "evict_first", "evict_unchanged"};
  constexpr const char* else_kept[] = {"", ".L2::evict_first", ".L2::evict_unchanged"};
  variable(".reg .b64 %policy");
  const char* first = kept[draw(4)];
  const char* second = else_kept[draw(3)];
  if (draw(2)) {
    say("createpolicy.fractional.L2::{}{}.b64 %policy, {}", first, second,
        draw(2) ? "1.0" : "0.25");
  } else {
    say("createpolicy.fractional.L2::{}.b64 %policy", first);
  }
}

void KernelText::spin(const std::string& condition) {
  const std::string again = label();
  place(again);
  say("{}", condition);
  say("@!%done bra {}", again);
}

void KernelText::meet_cluster() {
  say("barrier.cluster.arrive.release.aligned");
  say("barrier.cluster.wait.acquire.aligned");
}

void KernelText::cluster(std::uint32_t blocks) {
  directive(fmt::format(".reqnctapercluster {}", blocks));
  variable(".reg .b32 %rank");
  say("mov.u32 %rank, %cluster_ctarank");
}

Kernel KernelText::take() {
  kernel_.ptx = ".version 9.0\n.target sm_90a\n.address_size 64\n" + module_ +
                ".visible .entry conform(.param .u64 in, .param .u64 out, .param .u64 memory" +
                parameters_ + ")\n.reqntid 128\n" + directives_ +
                "{\n  .reg .b32 %thread, %lane, %word, %slot;\n"
                "  .reg .b64 %in, %out, %memory, %long;\n  .reg .pred %done;\n" +
                declared_ +
                "  mov.u32 %thread, %tid.x;\n  mov.u32 %lane, %ctaid.x;\n"
                "  mad.lo.u32 %lane, %lane, 128, %thread;\n"
                "  ld.param.u64 %in, [in];\n  mad.wide.u32 %in, %lane, 8, %in;\n"
                "  ld.param.u64 %out, [out];\n  mad.wide.u32 %out, %lane, 8, %out;\n"
                "  ld.param.u64 %memory, [memory];\n  mad.wide.u32 %memory, %lane, 32, %memory;\n" +
                body_ + "  ret;\n}\n";
  return std::move(kernel_);
}

bool on_this_chip(const Spelling& s, std::size_t operands) {
  return ptx::missing_on("sm_90a", "9.0", s.opcode->op, s.modifiers, operands).empty();
}

}  // namespace tilescope::conformance
