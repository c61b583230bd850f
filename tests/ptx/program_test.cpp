// Decoding: the opcode table, control flow, and where registers live.
#include "core/ptx/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace tilescope::ptx {
namespace {

const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";

Outcome<Program> decoded(const std::string& text) {
  Outcome<Module> m = parse_module("test.ptx", text);
  if (!m.ok()) return m.error();
  const auto shared = std::make_shared<const Module>(std::move(*m));
  const Outcome<const Function*> entry = shared->entry("");
  if (!entry.ok()) return entry.error();
  return decode(shared, **entry);
}

Program program_of(const std::string& body) {
  Outcome<Program> p = decoded(head + ".visible .entry k(.param .u64 a)\n{\n" + body + "\n}\n");
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : p.error().sentence);
  return p.ok() ? std::move(*p) : Program{};
}

std::uint32_t place(const Program& p, const std::string& name) {
  for (std::uint32_t i = 0; i < p.registers.size(); ++i) {
    if (p.name_of_register(i) == name) return p.registers[i].place;
  }
  return no_register;
}

TEST(Opcodes, StandInTheOrderOfTheirEnumeration) {
  ASSERT_EQ(opcodes().size(), static_cast<std::size_t>(Op::count_));
  for (std::size_t i = 0; i < opcodes().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(opcodes()[i].op), i) << opcodes()[i].name;
    EXPECT_EQ(opcode_named(opcodes()[i].name), &opcodes()[i]);
    EXPECT_FALSE(opcodes()[i].about.empty()) << opcodes()[i].name;
    EXPECT_FALSE(opcodes()[i].section.empty()) << opcodes()[i].name;
  }
  EXPECT_EQ(opcode_named("addd"), nullptr);
}

// Every word of every form must be a word of its field: what a form prints, it matches.
TEST(Opcodes, MatchWhatTheyPrint) {
  for (const Opcode& row : opcodes()) {
    for (int form = 0; form < static_cast<int>(row.forms.size()); ++form) {
      std::vector<std::string_view> first;
      std::string printed = syntax(row, form);
      // A wgmma's N stands for what its type has.
      if (const auto n = printed.find("m64nN"); n != std::string::npos)
        printed.replace(n, 5, "m64n8");
      std::string_view rest = printed;
      rest = rest.substr(0, rest.find(' '));
      // The first word of each group, optional or not: {.rn|.rz}{.ftz}?.f32 -> rn ftz f32
      bool in_group = false, taken = false;
      for (std::size_t i = 0; i < rest.size(); ++i) {
        if (rest[i] == '{') in_group = true, taken = false;
        if (rest[i] == '}') in_group = false;
        if (rest[i] != '.') continue;
        const std::size_t end = rest.find_first_of(".|{}?", i + 1);
        if (!in_group || !taken) first.push_back(rest.substr(i + 1, end - i - 1));
        taken = true;
      }
      Modifiers modifiers;
      EXPECT_GE(match(row, first, "", modifiers), 0) << printed;
    }
  }
}

TEST(Opcodes, TakeModifiersInAnyOrderButNoneTwiceOrUnknown) {
  Modifiers m;
  const Opcode& add = opcode(Op::add);
  EXPECT_GE(match(add, {"rn", "ftz", "f32"}, "...", m), 0);
  EXPECT_EQ(m.round(), Round::rn);
  EXPECT_TRUE(m.has(Field::ftz));
  EXPECT_EQ(m.type(), Type::f32);
  // ptxas 13.0 takes them in any order.
  EXPECT_GE(match(add, {"ftz", "rn", "f32"}, "...", m), 0);
  EXPECT_EQ(m.round(), Round::rn);
  EXPECT_GE(match(add, {"f32", "rn"}, "...", m), 0);
  const Opcode& cvt = opcode(Op::cvt);
  EXPECT_GE(match(cvt, {"s32", "f32", "rni"}, "..", m), 0);
  EXPECT_EQ(m.type(), Type::s32);
  EXPECT_EQ(m.type2(), Type::f32);
  EXPECT_LT(match(add, {"rn", "s32"}, "...", m), 0);
  EXPECT_LT(match(add, {"f32", "f32"}, "...", m), 0);
  EXPECT_LT(match(add, {}, "...", m), 0);
}

// cvt.rn.s16.f16 would be a conversion to an integer, which rounds otherwise: not to f16, turned.
TEST(Opcodes, KeepTypesInOrder) {
  Modifiers m;
  const Opcode& cvt = opcode(Op::cvt);
  EXPECT_GE(match(cvt, {"rn", "f16", "s16"}, "..", m), 0);
  EXPECT_EQ(m.type(), Type::f16);
  EXPECT_EQ(m.type2(), Type::s16);
  EXPECT_LT(match(cvt, {"rn", "s16", "f16"}, "..", m), 0);
  EXPECT_GE(match(cvt, {"f16", "rn", "s16"}, "..", m), 0);
}

TEST(Registers, ThatAreNeverAliveTogetherShareAPlace) {
  std::string body = ".reg .b32 %r<1001>;\n.reg .b64 %d;\nld.param.u64 %d, [a];\nmov.u32 %r0, 1;\n";
  for (int i = 1; i <= 1000; ++i) {
    body += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", 1;\n";
  }
  const Program p = program_of(body + "st.global.u32 [%d], %r1000;\nret;");
  EXPECT_LE(p.register_bytes, 8u * lanes + 2 * 4 * lanes);
  EXPECT_TRUE(p.routines[0].undefined_at_start.empty());
}

TEST(Registers, ThatAreAliveTogetherDoNot) {
  const Program p = program_of(
      ".reg .b32 x, y, z;\n.reg .b64 d;\n.reg .pred q;\nld.param.u64 d, [a];\n"
      "mov.u32 x, 1;\nmov.u32 y, 2;\nLOOP:\nadd.u32 z, x, y;\nst.global.u32 [d], z;\n"
      "add.u32 y, y, 1;\nsetp.lt.u32 q, y, 9;\n@q bra LOOP;\nret;");
  EXPECT_NE(place(p, "x"), place(p, "y"));
  EXPECT_NE(place(p, "x"), place(p, "z")) << "x is read again in the next round";
  EXPECT_NE(place(p, "y"), place(p, "z"));
}

TEST(Registers, ThatMayBeReadBeforeTheyAreWrittenAreKnown) {
  const Program p = program_of(
      ".reg .b32 x, y, w;\n.reg .pred q;\nmov.u32 y, %tid.x;\nsetp.eq.u32 q, y, 0;\n"
      "@q mov.u32 x, 1;\nadd.u32 w, x, y;\n@q bra L;\nmov.u32 w, 4;\nL:\nadd.u32 y, w, 1;\nret;");
  ASSERT_EQ(p.routines[0].undefined_at_start.size(), 1u);
  EXPECT_EQ(p.name_of_register(p.routines[0].undefined_at_start[0]), "x");
}

TEST(Flow, RanksALoopBeforeWhatFollowsItWhereverItStands) {
  // The loop's body stands behind the exit, as compilers place what they think is rare.
  const Program p = program_of(
      ".reg .b32 x;\n.reg .pred q;\nmov.u32 x, 0;\n"
      "HEAD:\nadd.u32 x, x, 1;\nsetp.lt.u32 q, x, 9;\n@q bra BODY;\n"
      "EXIT:\nret;\n"
      "BODY:\nadd.u32 x, x, 2;\nbra HEAD;");
  const auto rank_of = [&](std::string_view text) {
    for (std::size_t pc = 0; pc < p.code.size(); ++pc) {
      if (p.code[pc].text == text) return p.rank[pc];
    }
    return ~0u;
  };
  EXPECT_LT(rank_of("mov.u32 x, 0"), rank_of("add.u32 x, x, 1"));
  EXPECT_LT(rank_of("add.u32 x, x, 1"), rank_of("add.u32 x, x, 2"));
  EXPECT_LT(rank_of("add.u32 x, x, 2"), rank_of("ret"));
}

TEST(Flow, KeepsNestedLoopsTogether) {
  const Program p = program_of(
      ".reg .b32 x, y;\n.reg .pred q, r;\nmov.u32 x, 0;\n"
      "OUTER:\nmov.u32 y, 0;\n"
      "INNER:\nadd.u32 y, y, 1;\nsetp.lt.u32 q, y, 3;\n@q bra INNER;\n"
      "add.u32 x, x, 1;\nsetp.lt.u32 r, x, 3;\n@r bra OUTER;\nret;");
  // The last instruction is the implied one behind `ret`, which nothing reaches.
  for (std::size_t pc = 1; pc + 1 < p.code.size(); ++pc) EXPECT_LE(p.rank[pc - 1], p.rank[pc]);
}

// PTX of many kernels, each of 400 instructions, of so many bytes.
std::string long_text(std::size_t bytes) {
  std::string text = head;
  for (int i = 0; text.size() < bytes; ++i) {
    text += ".visible .entry k" + std::to_string(i) + "(.param .u64 a)\n{\n.reg .b32 %r<400>;\n";
    for (int k = 1; k < 400; ++k) {
      text += "\tadd.s32 \t%r" + std::to_string(k) + ", %r" + std::to_string(k - 1) + ", 7;\n";
    }
    text += "ret;\n}\n";
  }
  return text;
}

// Seconds to read it and prepare one of its kernels.
double time_to_read(const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  Outcome<Module> m = parse_module("test.ptx", text);
  EXPECT_TRUE(m.ok());
  const auto shared = std::make_shared<const Module>(std::move(*m));
  const Outcome<Program> p = decode(shared, **shared->entry("k77"));
  EXPECT_TRUE(p.ok());
  EXPECT_EQ(p->code.size(), 401u);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Eight times the text takes eight times as long, and some: a squared term would take 64 times.
// What it takes in seconds, `./dev bench` says. The best of three each, since machines are busy.
TEST(Speed, ALongTextIsReadInTimeThatGrowsAsTheText) {
  const std::string little = long_text(1'250'000), much = long_text(10'000'000);
  double one = 1e9, eight = 1e9;
  for (int i = 0; i < 3; ++i) {
    one = std::min(one, time_to_read(little));
    eight = std::min(eight, time_to_read(much));
  }
  EXPECT_LT(eight, 20 * one);
}

}  // namespace
}  // namespace tilescope::ptx
