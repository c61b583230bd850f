// Names of source variables in the DWARF of a PTX file: of a file that nvcc -G made, and of small
// ones that are broken.
#include "core/ptx/debug_names.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/ptx/debug_section.h"

namespace tilescope::ptx {
namespace {

Module module_of(std::string text) {
  Outcome<Module> m = parse_module("test.ptx", std::move(text));
  EXPECT_TRUE(m.ok()) << (m.ok() ? "" : m.error().sentence);
  return m.ok() ? *m : Module{};
}

std::string file_text() {
  std::ifstream in(std::string(TILESCOPE_SOURCE_DIR) + "/tests/sim/programs/named_variables.ptx");
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The line of the first place where this stands, counted from 1.
std::uint32_t line_of(const std::string& text, const std::string& what) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return 1 + static_cast<std::uint32_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

const DebugVariable* find(const DebugNames& names, std::string_view name) {
  for (const DebugVariable& v : names.variables) {
    if (v.name == name) return &v;
  }
  ADD_FAILURE() << name << " is not there";
  return nullptr;
}

using Of = DebugVariable::Place::Of;
using Kind = DebugVariable::Kind;

TEST(DebugNames, OfAFileThatNvccMade) {
  const std::string text = file_text();
  const Module module = module_of(text);
  const DebugNames names = debug_names(module);
  EXPECT_EQ(names.wrong, "");
  ASSERT_EQ(names.variables.size(), 11u);

  const DebugVariable* const index = find(names, "index");
  EXPECT_EQ(index->type, "int");
  EXPECT_EQ(index->bytes, 4u);
  EXPECT_EQ(index->kind, Kind::integer);
  EXPECT_EQ(index->function, "named_variables");
  const std::uint32_t made = line_of(text, "add.s32 \t%r1, %r8, %r9");
  const DebugVariable::Place* const at = index->at(made + 3);
  ASSERT_TRUE(at);
  EXPECT_EQ(at->of, Of::reg);
  EXPECT_EQ(at->name, "%r1");
  EXPECT_EQ(index->at(line_of(text, "_Z6scaledff(")), nullptr);  // another function

  const DebugVariable* const pair = find(names, "pair");
  EXPECT_EQ(pair->type, "Pair");
  EXPECT_EQ(pair->bytes, 8u);
  ASSERT_EQ(pair->places.size(), 1u);
  EXPECT_EQ(pair->places[0].of, Of::local);
  EXPECT_EQ(pair->places[0].name, "__local_depot1");
  EXPECT_EQ(pair->places[0].offset, 0u);

  const DebugVariable* const kept = find(names, "kept");
  EXPECT_EQ(kept->type, "float[]");
  EXPECT_EQ(kept->bytes, 8u);
  EXPECT_EQ(kept->elements, 2u);
  EXPECT_EQ(kept->kind, Kind::floating);
  EXPECT_EQ(kept->function, "_Z6scaledff");

  const DebugVariable* const in = find(names, "in");
  EXPECT_EQ(in->type, "const float*");
  EXPECT_EQ(in->kind, Kind::pointer);
  EXPECT_EQ(in->places[0].of, Of::parameter);
  EXPECT_EQ(in->places[0].name, "named_variables_param_0");
}

// In the loop `sum` goes from register to register, as its list of places says.
TEST(DebugNames, AVariableThatMoves) {
  const std::string text = file_text();
  const DebugNames names = debug_names(module_of(text));
  const DebugVariable* const sum = find(names, "sum");
  const auto where = [&](const std::string& before) {
    const DebugVariable::Place* const at = sum->at(line_of(text, before));
    return at ? at->name : "nowhere";
  };
  EXPECT_EQ(where("mov.u32 \t%r6, %ctaid.x"), "nowhere");
  EXPECT_EQ(where("mov.u32 \t%r10, 0"), "%f1");
  EXPECT_EQ(where("mov.u32 \t%r12, %r2"), "%f12");
  EXPECT_EQ(where("setp.lt.s32 \t%p3"), "%f2");
  EXPECT_EQ(where("add.s32 \t%r4, %r3, 1"), "%f3");
}

const std::string head = ".version 8.0\n.target sm_80, debug\n.address_size 64\n";
const std::string abbreviations =
    ".section .debug_abbrev\n{\n"
    ".b8 1,17,1,0,0\n"           // a unit with children
    ".b8 2,52,0,3,8,2,10,0,0\n"  // a variable: name, location
    ".b8 0\n}\n";

std::string info(const std::string& entries, const std::string& length) {
  return ".section .debug_info\n{\n.b32 " + length +
         "\n.b8 2,0\n.b32 .debug_abbrev\n.b8 8\n.b8 1\n" + entries + ".b8 0\n}\n";
}

TEST(DebugNames, ARegisterIsSpelledInItsLocation) {
  // "%f1" as 0x256631: 0x31, 0x4c, 0x15, 0x01 by seven bits.
  const DebugNames names = debug_names(
      module_of(head + abbreviations + info(".b8 2,120,0,5,144,177,204,149,1\n", "18")));
  EXPECT_EQ(names.wrong, "");
  ASSERT_EQ(names.variables.size(), 1u);
  EXPECT_EQ(names.variables[0].name, "x");
  EXPECT_EQ(names.variables[0].places[0].name, "%f1");
}

TEST(DebugNames, AFileWithoutHasNone) {
  const DebugNames names = debug_names(module_of(head));
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(names.wrong, "");
}

// What was read before stays; a sentence says where the rest ended.
TEST(DebugNames, WhatIsBrokenIsSaid) {
  const std::string good = ".b8 2,120,0,5,144,177,204,149,1\n";
  const auto wrong = [](const std::string& text) { return debug_names(module_of(head + text)); };
  const auto says = [](const DebugNames& names, std::string_view what) {
    EXPECT_NE(names.wrong.find(what), std::string::npos) << names.wrong;
  };
  const DebugNames cut = wrong(abbreviations + info(good + ".b8 2,121\n", "20"));
  says(cut, "cut off");
  EXPECT_EQ(cut.variables.size(), 1u);
  says(wrong(abbreviations + info(good + ".b8 9\n", "19")), "without an abbreviation");
  says(wrong(abbreviations + ".section .debug_info\n{\n.b8 1\n}\n"), "head is cut off");
  says(wrong(abbreviations +
             ".section .debug_info\n{\n.b32 8\n.b8 7,0\n.b32 .debug_abbrev\n.b8 8\n.b8 1\n}\n"),
       "DWARF 7");
  says(wrong(".section .debug_abbrev\n{\n.b8 1,17,1\n}\n" + info(good, "18")),
       "abbreviations are cut off");
  says(wrong(".section .debug_abbrev\n{\n.b8 1,17,0,3,99,0,0,0\n}\n" + info(good, "18")),
       "form 0x63");
  says(wrong(".section .debug_info\n{\n.f32 1\n}\n"), "where numbers should be");
  // A register's letters are letters, and not more than there can be.
  const DebugNames odd = wrong(abbreviations + info(".b8 2,120,0,3,144,129,1\n", "16"));
  EXPECT_TRUE(odd.empty());
}

}  // namespace
}  // namespace tilescope::ptx
