// Reading PTX: what a module declares, and what is said of text that is none.
#include "core/ptx/module.h"

#include <gtest/gtest.h>

#include "core/ptx/cursor.h"
#include "core/ptx/lexer.h"
#include "core/ptx/symbols.h"

namespace tilescope::ptx {
namespace {

const std::string head = ".version 8.0\n.target sm_80, debug\n.address_size 64\n";

Module module_of(const std::string& text) {
  Outcome<Module> m = parse_module("test.ptx", head + text);
  EXPECT_TRUE(m.ok()) << (m.ok() ? "" : m.error().sentence);
  return m.ok() ? *m : Module{};
}

// "test.ptx:5: sentence" of text that is refused.
std::string refusal(const std::string& text) {
  const Outcome<Module> m = parse_module("test.ptx", text);
  if (!m.ok()) return m.error().where + ": " + m.error().sentence;
  for (const Function& f : m->functions) {
    const Outcome<Body> body = parse_body(*m, f);
    if (!body.ok()) return body.error().where + ": " + body.error().sentence;
  }
  return "accepted";
}

TEST(Lexer, TakesWordsDottedWordsNumbersAndStrings) {
  Lexer lexer(
      "ld.global.L1::no_allocate.v4.f32 {%f1}, [%rd4+-8]; // x\n /* y\n */ \"z\" 0f3F800000 "
      ".32x32b");
  std::vector<std::string> texts;
  for (Token t = lexer.take(); t.kind != Token::Kind::end; t = lexer.take()) {
    texts.emplace_back(t.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"ld", ".global", ".L1::no_allocate", ".v4", ".f32",
                                             "{", "%f1", "}", ",", "[", "%rd4", "+", "-", "8", "]",
                                             ";", "z", "0f3F800000", ".32x32b"}));
}

TEST(Lexer, EndsBeforeZeroBytes) {
  using namespace std::string_view_literals;
  Lexer lexer("ret;\0\0"sv);
  EXPECT_EQ(lexer.take().text, "ret");
  EXPECT_EQ(lexer.take().text, ";");
  EXPECT_EQ(lexer.take().kind, Token::Kind::end);
  EXPECT_EQ(Lexer("\0"sv).peek().kind, Token::Kind::end);
  Lexer inside("ret\0;"sv);
  inside.take();
  EXPECT_EQ(inside.take().kind, Token::Kind::bad);
}

TEST(Lexer, CountsLines) {
  Lexer lexer("a\n// b\n/* c\nd */ e\n\nf");
  EXPECT_EQ(lexer.take().line, 1u);
  EXPECT_EQ(lexer.take().line, 4u);
  EXPECT_EQ(lexer.take().line, 6u);
}

TEST(Numbers, AreReadAsPtxWritesThem) {
  const auto bits = [](std::string_view s) {
    Number n;
    EXPECT_TRUE(parse_number(s, n)) << s;
    return n.bits;
  };
  EXPECT_EQ(bits("42"), 42u);
  EXPECT_EQ(bits("0x2A"), 42u);
  EXPECT_EQ(bits("0b101010U"), 42u);
  EXPECT_EQ(bits("052"), 42u);
  EXPECT_EQ(bits("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(bits("0f3F800000"), 0x3f800000u);
  EXPECT_EQ(bits("0d3FF0000000000000"), 0x3ff0000000000000u);
  EXPECT_EQ(bits("1.5e1"), 0x402e000000000000u);
  Number n;
  for (std::string_view bad :
       {"18446744073709551616", "09", "0xg", "0f3F80000", "1.5.2", "12a", ""}) {
    EXPECT_FALSE(parse_number(bad, n)) << bad;
  }
}

// 5.4.8: nvcc writes it for __managed__; the alignment may stand before it or behind.
TEST(Module, AVariableMayBeManaged) {
  const Module m = module_of(
      ".visible .global .attribute(.managed) .align 4 .u32 a;\n"
      ".global .align 8 .attribute(.managed) .b8 b[16];\n"
      ".global .align 4 .u32 c;\n");
  ASSERT_EQ(m.variables.size(), 3u);
  EXPECT_TRUE(m.variables[0].managed);
  EXPECT_EQ(m.variables[0].align, 4u);
  EXPECT_TRUE(m.variables[1].managed);
  EXPECT_EQ(m.variables[1].align, 8u);
  EXPECT_FALSE(m.variables[2].managed);
  EXPECT_EQ(refusal(head + ".global .attribute(.other) .u32 a;\n"),
            "test.ptx:4: '.other' is not understood as an .attribute of a variable: .managed is");
}

TEST(Module, KnowsItsTargetFilesAndVariables) {
  const Module m = module_of(
      ".file 3 \"a b.cu\"\n.global .align 16 .b8 table[2][3];\n.const .u64 where = table+8;\n"
      ".extern .shared .align 128 .b8 pool[];\n.global .u16 counted[] = {1, 2, 3};\n"
      ".section .debug_str\n{\n$L: .b8 1,2,3 }\n");
  EXPECT_EQ(m.parts[0].version, "8.0");
  EXPECT_EQ(m.parts[0].target, "sm_80");
  EXPECT_EQ(m.files.at(3), "a b.cu");
  ASSERT_EQ(m.variables.size(), 4u);
  EXPECT_EQ(m.variables[0].bytes, 6u);
  EXPECT_EQ(m.variables[0].align, 16u);
  EXPECT_EQ(m.variables[1].initial.at(0).symbol, "table");
  EXPECT_EQ(m.variables[1].initial.at(0).bits, 8u);
  EXPECT_EQ(m.variables[2].bytes, 0u);
  EXPECT_EQ(m.variables[2].linkage, Linkage::external);
  EXPECT_EQ(m.variables[3].bytes, 6u);
}

TEST(Module, LaysOutParametersByTheirAlignment) {
  const Module m = module_of(
      ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .u16 c,\n"
      ".param .align 64 .b8 d[128], .param .f32 e)\n.maxntid 128, 2\n.minnctapersm 3 { ret; }\n");
  ASSERT_EQ(m.functions.size(), 1u);
  const Function& f = m.functions[0];
  ASSERT_EQ(f.parameters.size(), 5u);
  EXPECT_EQ(f.parameters[1].offset, 8u);
  EXPECT_EQ(f.parameters[2].offset, 16u);
  EXPECT_EQ(f.parameters[3].offset, 64u);
  EXPECT_EQ(f.parameters[3].bytes, 128u);
  EXPECT_EQ(f.parameter_bytes, 196u);
  EXPECT_EQ(f.maximum_block, (std::array<std::uint32_t, 3>{128, 2, 1}));
  EXPECT_EQ(f.minimum_blocks_per_sm, 3u);
}

TEST(Module, FindsAnEntryByItsNameOrAUniquePartOfIt) {
  const Module m =
      module_of(".entry add() { ret; }\n.entry add_wide() { ret; }\n.entry sub() { ret; }\n");
  EXPECT_EQ((*m.entry("add"))->name, "add");
  EXPECT_EQ((*m.entry("wide"))->name, "add_wide");
  EXPECT_EQ(m.entry("a").error().kind, ErrorKind::unknown);
  EXPECT_EQ(m.entry("").error().sentence,
            "test.ptx has several entries, name one of them: add, add_wide, sub");
  EXPECT_EQ(m.entry("mul").error().sentence,
            "test.ptx has no entry 'mul'; it has: add, add_wide, sub");
}

TEST(Module, FindsAnEntryByItsNameInTheSource) {
  const Module m = module_of(
      ".entry _Z3addPf() { ret; }\n.entry _Z4add2Pf() { ret; }\n.entry _Z13add() { ret; }\n"
      ".entry _ZN2ns1fEv() { ret; }\n.entry _Z1gPf() { ret; }\n");
  EXPECT_EQ((*m.entry("add"))->name, "_Z3addPf");
  EXPECT_EQ((*m.entry("add2"))->name, "_Z4add2Pf");
  EXPECT_EQ((*m.entry("f"))->name, "_ZN2ns1fEv");
  EXPECT_EQ((*m.entry("g"))->name, "_Z1gPf");
  EXPECT_EQ(m.entry("ad").error().kind, ErrorKind::unknown);
}

// Several files: each name means what its own file has, else what another one shows; lines and
// numbers of .file are each file's own.
TEST(Module, FilesAreLinked) {
  std::vector<Source> sources;
  sources.push_back({"a.ptx", head + ".file 1 \"a.cu\"\n.extern .func f();\n.func g() { ret; }\n"});
  sources.push_back({"b.ptx", head + ".file 1 \"b.cu\"\n.weak .func f() { ret; }\n"});
  sources.push_back({"c.ptx", head + ".func g() { ret; }\n\n.visible .func f() { ret; }"});
  const Outcome<Module> m = parse_modules(std::move(sources));
  ASSERT_TRUE(m.ok()) << m.error().sentence;
  EXPECT_EQ(m->name, "a.ptx, b.ptx, c.ptx");
  ASSERT_EQ(m->functions.size(), 5u);
  EXPECT_EQ(m->place(m->functions[4].line), "c.ptx:6");
  const Symbols symbols(*m);
  EXPECT_EQ(symbols.function("f", 0), &m->functions[4]);  // .visible before .weak
  EXPECT_EQ(symbols.function("f", 1), &m->functions[4]);
  EXPECT_EQ(symbols.function("g", 0), &m->functions[1]);
  EXPECT_EQ(symbols.function("g", 1), nullptr);
  EXPECT_EQ(symbols.function("g", 2), &m->functions[3]);
  EXPECT_EQ(m->files.at(m->parts[0].first_file + 1), "a.cu");
  EXPECT_EQ(m->files.at(m->parts[1].first_file + 1), "b.cu");
}

TEST(Module, AnAliasIsTheFunctionThatItNames) {
  const Module m = module_of(
      ".visible .func f() { ret; }\n.visible .func g();\n.alias g, f;\n.entry k() { ret; }\n");
  EXPECT_EQ(Symbols(m).function("g", 0), &m.functions[0]);
  EXPECT_EQ(refusal(head + ".alias g f;\n"),
            "test.ptx:4: expected ',' between the names of an .alias, found 'f'");
}

TEST(Module, ABodyThatDoesNotEndIsOfItsOwnFile) {
  std::vector<Source> sources;
  sources.push_back({"a.ptx", head + ".func g() { ret;"});
  sources.push_back({"b.ptx", head + ".func f() { ret; } }"});
  const Outcome<Module> m = parse_modules(std::move(sources));
  ASSERT_FALSE(m.ok());
  EXPECT_EQ(m.error().where, "a.ptx:4");
}

TEST(Module, ReadsNoBodyThatNobodyRuns) {
  const Module m = module_of(".entry bad() { this { is } not \"}\" PTX }\n");
  EXPECT_EQ(m.functions.size(), 1u);
}

TEST(Body, KeepsLocationsScopesAndText) {
  const Module m = module_of(
      ".entry k() {\n.reg .b32 %r<4>, x;\n.loc 1 20 3\nmov.u32 %r1,\n  %tid.x;\n"
      ".loc 1 30 3, function_name $L, inlined_at 2 44 1\n{ .reg .pred p; L: @!p bra L; }\n}\n");
  const Outcome<Body> body = parse_body(m, m.functions[0]);
  ASSERT_TRUE(body.ok());
  ASSERT_EQ(body->statements.size(), 3u);
  EXPECT_EQ(body->register_count, 6u);
  const Statement& mov = body->statements[0];
  EXPECT_EQ(mov.line, 7u);
  EXPECT_EQ(mov.source_line, 20u);
  EXPECT_EQ(mov.operands[1].name, "%tid.x");
  const Statement& branch = body->statements[2];
  EXPECT_EQ(branch.scope, 1u);
  EXPECT_EQ(branch.source_line, 30u);
  EXPECT_EQ(branch.guard, "p");
  EXPECT_TRUE(branch.guard_negated);
  EXPECT_EQ(branch.text, "@!p bra L");
}

// The user's own file: what everything is inlined into, or where that is a library's the outermost
// that is not.
TEST(Body, WhatIsInlinedBelongsToTheUsersFile) {
  const Module m = module_of(
      ".entry k() {\n"
      ".loc 2 9 1, function_name $L, inlined_at 1 30 1\nret;\n"  // a header in the user's
      ".loc 1 5 1, function_name $L, inlined_at 2 80 1\n"
      ".loc 2 80 1, function_name $L, inlined_at 3 90 1\n"
      ".loc 1 5 1, function_name $L, inlined_at 2 80 1\nret;\n"   // the user's lambda in CUB's
      ".loc 2 70 1, function_name $L, inlined_at 3 91 1\nret;\n"  // a library's in a library's
      "}\n.file 1 \"/home/me/user.cu\"\n.file 2 \"/usr/local/cuda/include/cub/agent.cuh\"\n"
      ".file 3 \"/opt/cutlass/include/cutlass/device_kernel.h\"\n");
  const Outcome<Body> body = parse_body(m, m.functions[0]);
  ASSERT_TRUE(body.ok());
  ASSERT_EQ(body->statements.size(), 3u);
  EXPECT_EQ(body->statements[0].caller_file, 1u);
  EXPECT_EQ(body->statements[0].caller_line, 30u);
  EXPECT_EQ(body->statements[1].source_line, 5u);
  EXPECT_EQ(body->statements[1].caller_line, 0u) << "it stands in the user's file itself";
  EXPECT_EQ(body->statements[2].caller_file, 3u);
  EXPECT_EQ(body->statements[2].caller_line, 91u);
}

TEST(Files, HaveTheirLettersBack) {
  const Module m =
      module_of(".file 1 \"gr\\303\\266\\303\\237e.cu\"\n.file 2 \"C:\\new\\7\\9.cu\"\n");
  EXPECT_EQ(m.files.at(1), "gr\u00f6\u00dfe.cu");
  EXPECT_EQ(m.files.at(2), "C:\\new\\7\\9.cu");
  const Module copied = m;
  EXPECT_EQ(copied.files.at(1), m.files.at(1));
}

TEST(Refusals, NameTheLineAndWhatStandsThere) {
  EXPECT_EQ(refusal("hello"),
            "test.ptx:1: expected a directive such as .entry or .global, found 'hello'");
  EXPECT_EQ(refusal(""), "test.ptx:1: this is no PTX: there is no .version directive");
  EXPECT_EQ(refusal(head + "\n.frob x;"), "test.ptx:5: the directive '.frob' is not understood");
  EXPECT_EQ(refusal(".version 8.0\n.target sm_30\n.address_size 32\n"),
            "test.ptx:3: .address_size 32 is not supported: compile for 64-bit addresses");
  EXPECT_EQ(refusal(head + ".entry k() {\nret;\n"),
            "test.ptx:4: the body of k never ends: a '}' is missing");
  EXPECT_EQ(refusal(head + ".entry k() {\n/* ret;\n }"),
            "test.ptx:4: the body of k never ends: a '}' is missing");
  EXPECT_EQ(refusal(head + ".entry k() {\n.reg .b99 %r<3>;\n}"),
            "test.ptx:5: '.b99' is not a type that a register can have");
  EXPECT_EQ(refusal(head + ".entry k() {\nadd.u32 %r1, , 2;\n}"),
            "test.ptx:5: expected an operand, found ','");
  EXPECT_EQ(refusal(head + ".entry k() {\nld.u32 %r1, [%r2;\n}"),
            "test.ptx:5: expected ']' after an address, found ';'");
  EXPECT_EQ(refusal(head + ".entry k() {\n\x01 ret;\n}"),
            "test.ptx:4: the body of k never ends: a '}' is missing");
  EXPECT_EQ(refusal(head + ".global .b32 a[3] = {1, 2, 3, 4};"),
            "test.ptx:4: a has 3 elements but 4 initial values");
  EXPECT_EQ(refusal(head + ".global .b32 a[99999999999999];"),
            "test.ptx:4: the array a has more than 2^40 elements");
}

// The line is the array's, also where what is behind it stands on another; nothing wraps to a small
// array, or to one of no bytes, which would be dynamic shared memory.
TEST(Refusals, ArraysWhoseSizesOverflow) {
  const auto shared = [](const std::string& extents) {
    return refusal(head + "\n.shared .b8 x" + extents + "\n\n;");
  };
  const std::string elements = "test.ptx:5: the array x has more than 2^40 elements";
  const std::string beyond = "test.ptx:5: the extent of an array is negative or beyond 64 bits";
  EXPECT_EQ(shared("[9223372036854775807]"), elements);
  EXPECT_EQ(shared("[18446744073709551615]"), elements);
  EXPECT_EQ(shared("[1099511627776][1099511627776]"), elements);
  EXPECT_EQ(shared("[1099511627776][16777216]"), elements) << "2^64, which 64 bits wrap to 0";
  EXPECT_EQ(shared("[4294967296*4294967296]"), beyond);
  EXPECT_EQ(shared("[18446744073709551615+2]"), beyond);
  EXPECT_EQ(shared("[-1]"), beyond);
  EXPECT_EQ(shared("[3-4]"), beyond);
  EXPECT_EQ(refusal(head + ".global .b8 x[][1099511627776] = {1, 2};"),
            "test.ptx:4: the array x has more than 2^40 elements");
  EXPECT_EQ(shared("[2*(3-1)+64][2]"), "accepted");
}

TEST(Refusals, ParametersWhoseSizesOverflow) {
  EXPECT_EQ(refusal(head + ".entry k(.param .b8 p[4294967296*4294967296]) {\nret;\n}"),
            "test.ptx:4: the extent of a parameter is negative or beyond 64 bits");
  EXPECT_EQ(refusal(head + ".entry k(.param .b8 p[9223372036854775807]) {\nret;\n}"),
            "test.ptx:4: a parameter is larger than 65536 elements");
  // Each is allowed, and 32 bits do not hold their sum.
  std::string many = ".entry k(";
  for (int i = 0; i < 8200; ++i) {
    many += (i ? ",\n" : "") + std::string(".param .b64 p") + std::to_string(i) + "[65536]";
  }
  EXPECT_EQ(refusal(head + many + ") {\nret;\n}"),
            "test.ptx:6: with p2 the parameters are larger than 1 MiB");
}

// What fuzzing found: a byte that begins no token stands where a directive is skipped.
TEST(Refusals, EndWhereNoTokenBegins) {
  for (const char* text : {".pragma \x01;", ".section .debug \x01 {}"}) {
    EXPECT_NE(refusal(head + text).find("never ends"), std::string::npos) << text;
  }
  EXPECT_NE(refusal(head + ".alias a \x01;"), "accepted");
  EXPECT_NE(refusal(head + ".entry k() .pragma \"x;\n { ret; }").find("never ends"),
            std::string::npos);
  EXPECT_NE(refusal(head + ".entry k() { .pragma \x01; ret; }").find("never ends"),
            std::string::npos);
}

TEST(Refusals, BoundWhatTextCanNest) {
  EXPECT_NE(refusal(head + ".entry k() " + std::string(5000, '{') + std::string(5000, '}'))
                .find("braces are nested more than 64 deep"),
            std::string::npos);
  EXPECT_NE(refusal(head + ".global .b32 a[" + std::string(5000, '(') + "];").find("64 deep"),
            std::string::npos);
}

}  // namespace
}  // namespace tilescope::ptx
