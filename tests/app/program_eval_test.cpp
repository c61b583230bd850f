// `tilescope eval` and `tilescope draw`: values, refusals, the line protocol, pictures.
#include <sstream>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

const std::string divide = "zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)";
const std::string divided = "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))\n";

using Eval = Program;
using Draw = Program;

TEST_F(Eval, PrintsTheValueAndNothingElse) {
  const Ended ended = run({"eval", divide});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, divided);
  EXPECT_EQ(ended.err, "");
}

TEST_F(Eval, AnswersEachExpressionOnALine) {
  const Ended ended = run({"eval", "size((4,8):(8,1))", "coalesce((2,4):(4,8))"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "32\n8:4\n");
}

// A refusal in the middle hides neither what was answered before nor what comes behind it.
TEST_F(Eval, AnswersTheOtherExpressionsWhereOneIsRefused) {
  const Ended ended = run({"eval", "A = 4:1", "size((2,2)", "size(A)", "no_such(3)"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "4:1\n4\n");
  EXPECT_TRUE(has(ended.err, "size((2,2)\n")) << ended.err;
  EXPECT_TRUE(has(ended.err, "no_such")) << ended.err;
  const auto [code, document] = run_json({"eval", "size(4:1)", "size(", "size(5:1)"});
  EXPECT_EQ(code, 1);
  EXPECT_EQ(document["ok"], false);
  ASSERT_EQ(document["results"].size(), 3u);
  EXPECT_EQ(document["results"][0]["value"], "4");
  EXPECT_EQ(document["results"][1]["expression"], "size(");
  EXPECT_EQ(document["results"][1]["error"], document["error"]);
  EXPECT_EQ(document["results"][2]["value"], "5");
}

TEST_F(Eval, ShowsWhereAnExpressionIsWrong) {
  const Ended ended = run({"eval", "coalesce((4,8):(8,1)"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(has(ended.err, "coalesce((4,8):(8,1)\n")) << ended.err;
  EXPECT_TRUE(has(ended.err, "^")) << ended.err;
}

// An atom has several lines; read line by line it has one.
TEST_F(Eval, AnswersAnAtomOnOneLineWhereALineIsAnAnswer) {
  EXPECT_TRUE(has(run({"eval", "SM70_8x8x4_F16F16F16F16_TN"}).out, "\n  Shape_MNK:  (8,8,4)\n"));
  const Ended lines = run({"eval", "-"}, "SM70_8x8x4_F16F16F16F16_TN\nsize(2:1)\n");
  EXPECT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 2) << lines.out;
  EXPECT_TRUE(has(lines.out, "ThrID: (4,2):(1,16) Shape_MNK: (8,8,4)")) << lines.out;
}

TEST_F(Eval, NamesTheNearestFunction) {
  const Ended ended = run({"eval", "zipped_devide((4,8):(8,1), <2,2>)"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(has(ended.err, "zipped_divide")) << ended.err;
}

TEST_F(Eval, RefusesWhatHasNoValueWithAReason) {
  // Six steps through a mode of four, the next of another stride: no layout R has R(c) = A(B(c)).
  const auto [code, document] = run_json({"eval", "composition((4,6):(1,10), 6:1)"});
  EXPECT_EQ(code, 1);
  EXPECT_EQ(document["error"]["kind"], "refused");
  EXPECT_FALSE(document["error"]["sentence"].get<std::string>().empty());
}

TEST_F(Eval, AnswersOneJsonDocument) {
  const auto [code, document] = run_json({"eval", "size((4,8):(8,1))", divide});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(document["ok"], true);
  EXPECT_EQ(document["results"].size(), 2u);
  EXPECT_EQ(document["results"][0]["value"], "32");
  EXPECT_EQ(document["results"][1]["value"].get<std::string>() + "\n", divided);
}

TEST_F(Eval, JsonHoldsNumbersNotOnlyText) {
  const auto [code, document] =
      run_json({"eval", divide, "bank_conflicts(32:32, 4)", "injective((4,4):(1,3))", "size(4:1)",
                "Sw<3,3,3> o 0 o (8,64):(64,1)"});
  EXPECT_EQ(code, 0);
  const auto& results = document["results"];
  EXPECT_EQ(results[0]["data"]["shape"].dump(), "[[3,[2,4]],[3,[2,2]]]");
  EXPECT_EQ(results[0]["data"]["stride"].dump(), "[[177,[13,2]],[59,[26,1]]]");
  EXPECT_EQ(results[1]["data"]["wavefronts"], 32);
  EXPECT_EQ(results[1]["data"]["excess"], 31);
  EXPECT_EQ(results[2]["data"]["value"], false);
  EXPECT_FALSE(results[2]["data"]["because"].get<std::string>().empty());
  EXPECT_EQ(results[3]["data"], 4);
  EXPECT_EQ(results[4]["data"]["swizzle"]["base"], 3);
}

TEST_F(Eval, ExplainsEachStep) {
  const Ended ended = run({"eval", "--explain", "complement((2,2):(1,6), 24)"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(has(ended.out, "gap 2:6 = 3:2")) << ended.out;
  EXPECT_EQ(ended.out.substr(ended.out.rfind('\n', ended.out.size() - 2) + 1), "(3,2):(2,12)\n");
  const auto [code, document] =
      run_json({"eval", "--explain", "coalesce((2,4):(1,2))", "right_inverse((4,8):(8,1))"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(document["results"][0]["steps"][0]["operation"], "coalesce");
  EXPECT_GT(document["results"][1]["steps"].size(), 2u);
}

TEST_F(Eval, ExplainsARefusalUpToIt) {
  const Ended ended = run({"eval", "--explain", "composition((8,2):(2,1), (6,2):(1,6))"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(has(ended.out, "leaf 1")) << ended.out;
  EXPECT_TRUE(has(ended.err, "would work")) << ended.err;
  EXPECT_EQ(run({"eval", "--explain", "-"}, "4:1\n").exit_code, 2);
}

TEST_F(Eval, LinesInAndLinesOut) {
  const Ended ended = run({"eval", "-"},
                          "A = (8,8):(8,1)\n"
                          "\n"
                          "# a comment\n"
                          "size(A)\n"
                          "size(A\n"
                          "A\n");
  EXPECT_EQ(ended.exit_code, 1) << "one line is bad";
  std::vector<std::string> lines;
  std::istringstream out(ended.out);
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 6u) << ended.out;
  EXPECT_EQ(lines[0], "(8,8):(8,1)");
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[2], "");
  EXPECT_EQ(lines[3], "64");
  EXPECT_EQ(lines[4].rfind("error: ", 0), 0u) << lines[4];
  EXPECT_EQ(lines[5], "(8,8):(8,1)") << "a binding persists, and a bad line does no harm";
}

TEST_F(Eval, LinesThatAreAllFineEndWithZero) {
  const Ended ended = run({"eval", "-"}, "2:1\n\n(2,2):(1,2)");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "2:1\n\n(2,2):(1,2)\n");
  EXPECT_EQ(run({"eval", "-"}, "").out, "");
}

TEST_F(Eval, SurvivesWhatNobodyWouldType) {
  const std::string deep(5000, '(');
  for (const std::string& text :
       {deep, std::string("\xff\xfe"), std::string("(9223372036854775808,2):(1,2)"),
        std::string("size((4294967296,4294967296,4):(1,1,1))"), std::string(")"), std::string("<"),
        std::string(",")}) {
    const Ended ended = run({"eval", text});
    EXPECT_EQ(ended.exit_code, 1) << text.substr(0, 60) << "\n" << ended.out;
    EXPECT_FALSE(ended.err.empty());
    EXPECT_LT(ended.err.size(), 2000u) << "a long text is cut around the place";
  }
}

TEST_F(Draw, WritesAnSvg) {
  const Ended ended = run({"draw", divide, "--colour", "tile", "-o", "tiles.svg"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(files(), Words{"tiles.svg"}) << "and no temporary file";
  const std::string svg = read("tiles.svg");
  EXPECT_TRUE(has(svg, "<svg")) << svg.substr(0, 200);
  EXPECT_TRUE(has(svg, "</svg>"));
}

TEST_F(Draw, ATensorIsDrawnAsItsLayoutFromItsOffsetOn) {
  const Ended ended = run({"draw", "T = smem<f16> o (8,8):(8,1); T(2,_)", "-o", "row.txt"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(read("row.txt"), "16") && has(read("row.txt"), "23")) << read("row.txt");
  const Ended alone = run({"draw", "smem<f16>", "-o", "none.svg"});
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_TRUE(has(alone.err, "needs a layout")) << alone.err;
}

TEST_F(Draw, WritesAnEightBitPngOfTheSizeAsked) {
  const Ended ended = run({"draw", "(8,8):(8,1)", "-o", "a.png", "--size", "400x300"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const std::string png = read("a.png");
  ASSERT_GT(png.size(), 33u);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto big_endian = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value * 256 + static_cast<unsigned char>(png[at + i]);
    return value;
  };
  EXPECT_EQ(big_endian(16), 400u);
  EXPECT_EQ(big_endian(20), 300u);
  EXPECT_EQ(png[24], 8) << "bits a channel";
  EXPECT_TRUE(png[25] == 2 || png[25] == 6) << "RGB or RGBA";
}

// The size that a refusal names works, and is no larger than it needs to be.
TEST_F(Draw, NamesASizeThatWouldDo) {
  for (const char* expression :
       {"SM90_64x64x16_F32F16F16_SS<K,K>", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN,(2,2,1))",
        "zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)"}) {
    const Ended small = run({"draw", expression, "-o", "a.png", "--size", "200x200"});
    ASSERT_EQ(small.exit_code, 2) << expression;
    const std::size_t at = small.err.find("; ");
    int width = 0, height = 0;
    ASSERT_EQ(std::sscanf(small.err.c_str() + at, "; %dx%d would do", &width, &height), 2)
        << small.err;
    EXPECT_LE(width * height, 1200 * 900) << expression << ": " << small.err;
    const std::string size = std::to_string(width) + "x" + std::to_string(height);
    EXPECT_EQ(run({"draw", expression, "-o", "a.png", "--size", size}).exit_code, 0) << size;
  }
}

TEST_F(Draw, PicturesInTheDarkDiffer) {
  EXPECT_EQ(run({"draw", "(8,8):(8,1)", "-o", "light.svg"}).exit_code, 0);
  EXPECT_EQ(run({"draw", "(8,8):(8,1)", "-o", "dark.svg", "--theme", "dark"}).exit_code, 0);
  EXPECT_NE(read("light.svg"), read("dark.svg"));
}

TEST_F(Draw, WritesTextToAFileOrToStdout) {
  const Ended shown = run({"draw", "(2,2):(2,1)", "-o", "-"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_TRUE(has(shown.out, "0 │0│1│\n  ├─┼─┤\n1 │2│3│\n")) << shown.out;
  EXPECT_FALSE(has(shown.out, "\x1b")) << "no colours where there is no terminal";
  EXPECT_EQ(run({"draw", "(2,2):(2,1)", "-o", "a.txt"}).exit_code, 0);
  EXPECT_EQ(read("a.txt"), shown.out);
  const auto [code, document] = run_json({"draw", "(2,2):(2,1)", "-o", "-"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(document["text"], shown.out);
}

TEST_F(Draw, WritesTeXThatDefinesWhatItUses) {
  EXPECT_EQ(run({"draw", "(2,2):(2,1)", "-o", "a.tex"}).exit_code, 0);
  const std::string tex = read("a.tex");
  EXPECT_TRUE(has(tex, "\\documentclass") && has(tex, "\\end{document}"));
  EXPECT_TRUE(has(tex, "\\definecolor{c00204D}{HTML}{00204D}") && has(tex, "fill=c00204D"));
}

TEST_F(Draw, SaysWhichFormatsThereAre) {
  const auto [code, document] = run_json({"draw", "(8,8):(8,1)", "-o", "a.bmp"});
  EXPECT_EQ(code, 2);
  const std::string sentence = document["error"]["sentence"];
  EXPECT_TRUE(has(sentence, ".svg") && has(sentence, ".png")) << sentence;
  EXPECT_TRUE(files().empty());
}

TEST_F(Draw, LeavesAnOldPictureWhereThereIsNoNewOne) {
  write("a.svg", "old");
  EXPECT_EQ(run({"draw", "(8,8", "-o", "a.svg"}).exit_code, 1);
  EXPECT_EQ(run({"draw", "(8,8):(8,1)", "-o", "a.svg", "--colour", "mood"}).exit_code, 2);
  EXPECT_EQ(run({"draw", "(8,8):(8,1)", "-o", "a.svg", "--size", "0x-3"}).exit_code, 2);
  // What the size alone forbids is said before the expression is looked at.
  for (const char* file : {"a.png", "a.pdf"}) {
    const Ended huge = run({"draw", "no layout", "-o", file, "--size", "32000x32000"});
    EXPECT_EQ(huge.exit_code, 2);
    EXPECT_NE(huge.err.find("up to 268 million"), std::string::npos) << huge.err;
  }
  EXPECT_EQ(run({"draw", "(8,8):(8,1)", "-o", "a.svg", "--theme", "pink"}).exit_code, 2);
  EXPECT_EQ(read("a.svg"), "old");
  const Ended nowhere = run({"draw", "(8,8):(8,1)", "-o", "no/such/folder/a.svg"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_TRUE(has(nowhere.err, "no/such/folder/a.svg")) << nowhere.err;
}

}  // namespace
}  // namespace tilescope::test
