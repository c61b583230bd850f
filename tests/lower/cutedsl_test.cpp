// What CuTeDSL's compiler printed for kernels (cutedsl.tsv, written by cutedsl_rows.py) is what
// core derives from their layouts: types, offsets, structs, addresses.
#include <fstream>
#include <map>

#include "tests/lower/lowered.h"

namespace tilescope::lowering::testing {
namespace {

struct Row {
  std::string label, key, value;
};

std::vector<std::vector<Row>> cases() {
  std::ifstream in(TILESCOPE_TESTS_DIR "/cutedsl.tsv");
  std::vector<std::vector<Row>> out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    Row row{line.substr(0, first), line.substr(first + 1, second - first - 1),
            line.substr(second + 1)};
    if (out.empty() || out.back()[0].label != row.label) out.emplace_back();
    out.back().push_back(std::move(row));
  }
  return out;
}

// As cutedsl_rows.py writes what an address is computed by.
std::string expression(const Level& level, const Use& use) {
  const Statement& s = level.statements[static_cast<std::size_t>(use.statement)];
  const auto both = [&](const char* name) {
    return std::string(name) + "(" + expression(level, s.uses[0]) + "," +
           expression(level, s.uses[1]) + ")";
  };
  switch (s.op) {
    case Op::constant:
      return std::to_string(s.number);
    case Op::mul:
      return both("mul");
    case Op::add:
      return both("add");
    case Op::div:
      return both("div");
    case Op::rem:
      return both("rem");
    case Op::tid_x:
      return "tid.x";
    case Op::ctaid_x:
      return "ctaid.x";
    case Op::ctaid_y:
      return "ctaid.y";
    case Op::assume:
    case Op::make_coord:
      return expression(level, s.uses[0]);
    case Op::get_scalars: {
      const Statement& of = level.statements[static_cast<std::size_t>(s.uses[0].statement)];
      if (of.op == Op::make_coord) return expression(level, s.uses[0]);
      return "?" + std::to_string(use.result);
    }
    case Op::extract: {
      std::string path;
      for (const int step : s.path) path += (path.empty() ? "" : ",") + std::to_string(step);
      return "[" + path + "]";
    }
    default:
      return "(another operation)";
  }
}

// What our levels have under the keys of the rows, in order.
std::multimap<std::string, std::string> ours(const Lowering& l) {
  std::multimap<std::string, std::string> out;
  const auto put = [&](const char* key, std::string value) { out.emplace(key, std::move(value)); };
  Type copy;
  copy.kind = Type::Kind::tiled_copy;
  put("tiled copy", text(l, copy));
  for (const Type& t : l.memrefs) put("tensor", text(l, t));
  const Level& arithmetic = l.levels[2];
  for (const Statement& s : arithmetic.statements) {
    if (s.op == Op::crd2idx) put("crd2idx", text(l, s.type));
    if (s.op != Op::make_int_tuple) continue;
    put("int_tuple", text(l, s.type));
    put("offset", expression(arithmetic, s.uses[0]));
  }
  put("struct", text(l, l.levels[3].statements[0].type));
  for (const Statement& s : l.levels[4].statements) {
    if (s.op != Op::address) continue;
    put("address",
        s.uses.size() > 1 ? expression(l.levels[4], s.uses[1]) : std::to_string(s.number));
  }
  return out;
}

TEST(CuteDsl, PrintsWhatIsDerivedHere) {
  int seen = 0;
  for (const std::vector<Row>& rows : cases()) {
    SCOPED_TRACE(rows[0].label);
    ASSERT_EQ(rows[0].key, "expression");
    ASSERT_EQ(rows[1].key, "align");
    const Lowering l = lowered(rows[0].value, std::stoll(rows[1].value));
    ASSERT_EQ(l.levels.size(), 5u);
    std::multimap<std::string, std::string> expected;
    for (std::size_t i = 2; i < rows.size(); ++i) expected.emplace(rows[i].key, rows[i].value);
    EXPECT_EQ(ours(l), expected);
    expect_right(l, rows[0].value);
    ++seen;
  }
  EXPECT_EQ(seen, 20);
}

}  // namespace
}  // namespace tilescope::lowering::testing
