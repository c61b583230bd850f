// What is proved of a launch, and what is said where nothing is.
#include "core/sim/machine/prove.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/sanitized.h"
#include "tests/sim/program.h"

namespace tilescope::sim {
namespace {

using Verdict = Proof::Verdict;

Proof finished(Job job, std::uint64_t budget = 3'000'000) {
  Outcome<Proof> proof = Proof::begin(std::move(job), {});
  EXPECT_TRUE(proof.ok()) << (proof.ok() ? "" : proof.error().sentence);
  for (std::uint64_t spent = 0; proof->verdict() == Verdict::running && spent < budget;
       spent += 50'000) {
    EXPECT_TRUE(proof->advance(50'000).ok());
  }
  proof->stop();
  return std::move(*proof);
}

Proof of_program(const std::string& name) {
  return finished(test::read_program(TILESCOPE_TESTS_DIR "/programs/" + name).job);
}

// One warp arrives while another waits; `body` is what each of the block's three warps does.
Proof of_body(const std::string& body) {
  Job job;
  job.program = {"test.ptx",
                 ".version 8.0\n.target sm_90\n.address_size 64\n"
                 ".visible .entry k(.param .u64 out)\n{\n"
                 "\t.reg .pred p, q;\n\t.reg .b32 t, w, v;\n\t.reg .b64 s, o;\n"
                 "\t.shared .align 8 .b64 bar;\n\t.shared .align 8 .b64 other;\n"
                 "\t.shared .align 4 .u32 flag[2];\n"
                 "\tld.param.u64 o, [out];\n\tmov.u32 t, %tid.x;\n\tshr.u32 w, t, 5;\n"
                 "\tsetp.eq.u32 p, t, 0;\n"
                 "\t@p mbarrier.init.shared.b64 [bar], 1;\n"
                 "\t@p mbarrier.init.shared.b64 [other], 1;\n"
                 "\t@p st.shared.u32 [flag], 0;\n\t@p st.shared.u32 [flag+4], 0;\n\tbar.sync 0;\n"
                 "\tand.b32 t, t, 31;\n\tsetp.ne.u32 p, t, 0;\n\t@p ret;\n" +
                     body + "\tret;\n}\n"};
  job.launch.entry = "k";
  job.launch.block = {96, 1, 1};
  Buffer out;
  out.name = "OUT";
  out.dtype = DType::u32;
  out.shape = {4};
  out.bytes.resize(16);
  job.buffers = {out};
  job.arguments = {Argument::pointer(0)};
  return finished(std::move(job));
}

// None of the programs that are right fails in an order, and what is not proved has its reason.
TEST(Proof, AccusesNoRightProgram) {
  constexpr std::size_t step = test::sanitized ? 8 : 1;
  std::size_t proved = 0, open = 0, number = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TILESCOPE_TESTS_DIR "/programs")) {
    if (entry.path().extension() != ".ptx" || number++ % step) continue;
    const std::string name = entry.path().filename().string();
    test::SimProgram p = test::read_program(entry.path().string());
    if (!p.error.empty() || !p.fault.empty() || !p.hazards.empty() || p.in_turns || p.resident) {
      continue;
    }
    const Proof proof = finished(std::move(p.job), 400'000);
    const bool fails = proof.verdict() == Verdict::fails;
    EXPECT_FALSE(fails) << name << ": " << proof.failure()->how << ": "
                        << proof.failure()->reports.back().sentence;
    if (proof.verdict() == Verdict::open) {
      ++open;
      EXPECT_FALSE(proof.pairs().empty() && proof.reasons().empty()) << name;
    }
    proved += proof.verdict() == Verdict::proved;
  }
  EXPECT_GT(proved, 250u / step / 2);
  if (step == 1) EXPECT_GT(proved, 250u);
  EXPECT_LT(open, 80u);
}

TEST(Proof, FailsWhereAnOrderDoes) {
  const Proof late = of_program("overtaken_if_late.ptx");
  EXPECT_EQ(late.verdict(), Verdict::fails);
  EXPECT_EQ(late.failure()->reports.back().kind, "phase_too_early");
  const Proof locks = of_program("locks_taken_crosswise.ptx");
  ASSERT_EQ(locks.verdict(), Verdict::fails);
  EXPECT_EQ(locks.failure()->reports.back().kind, "endless_loop");
  EXPECT_NE(locks.failure()->how.find("--schedule 0"), std::string::npos) << locks.failure()->how;
}

// Where a seed's order fails, and few delays do as well, these say more of why.
TEST(Proof, ShortensAnOrderOfASeed) {
  const Proof proof = of_body(R"(
	setp.eq.u32 p, w, 2;
	@p ret;
	setp.eq.u32 p, w, 1;
	@p bra WRITE;
	ld.relaxed.cta.shared.u32 v, [flag];
	setp.eq.u32 p, v, 1;
	@p trap;
	ret;
WRITE:
	st.relaxed.cta.shared.u32 [flag], 1;
)");
  ASSERT_EQ(proof.verdict(), Verdict::fails);
  EXPECT_EQ(proof.failure()->reports.back().kind, "trap");
  EXPECT_EQ(proof.failure()->how.find("--schedule 0."), 0u) << proof.failure()->how;
}

// Two warps arrive at an mbarrier of one arrival: which of them completes its first phase?
TEST(Proof, SaysWhichArrivalsCouldChangePlaces) {
  const Proof proof = of_body(R"(
	setp.eq.u32 p, w, 0;
	@p ret;
	mbarrier.arrive.shared.b64 s, [bar];
)");
  EXPECT_EQ(proof.verdict(), Verdict::open);
  ASSERT_EQ(proof.pairs().size(), 1u);
  EXPECT_EQ(proof.pairs()[0].kind, Reversal::Kind::mbarrier);
  EXPECT_NE(proof.pairs()[0].earlier.warp, proof.pairs()[0].later.warp);
}

// The second one hears of the first by the mbarrier itself.
TEST(Proof, ArrivalsThatHearOfEachOtherCannot) {
  const Proof proof = of_body(R"(
	setp.eq.u32 p, w, 0;
	@p ret;
	setp.eq.u32 p, w, 1;
	@p bra ARRIVE;
WAIT:
	mbarrier.try_wait.parity.shared.b64 q, [bar], 0;
	@!q bra WAIT;
ARRIVE:
	mbarrier.arrive.shared.b64 s, [bar];
)");
  EXPECT_EQ(proof.verdict(), Verdict::proved)
      << (proof.reasons().empty() ? "" : proof.reasons()[0]);
}

TEST(Proof, KnowsArrivalsAtBarriersThatCouldBelongToTwoRounds) {
  const std::string two_rounds = R"(
	setp.eq.u32 p, w, 0;
	@p bra SYNC;
	bar.arrive 1, 64;
	ret;
SYNC:
	bar.sync 1, 64;
	bar.sync 1, 64;
)";
  const Proof proof = of_body(two_rounds);
  ASSERT_EQ(proof.verdict(), Verdict::fails);  // where both arrive before anybody waits
  EXPECT_EQ(proof.failure()->reports.front().kind, "barrier_partners");
}

TEST(Proof, KnowsFlagsThatAreWrittenAndReadInEitherOrder) {
  const Proof proof = of_body(R"(
	setp.eq.u32 p, w, 0;
	@p ret;
	setp.eq.u32 p, w, 1;
	@p bra WRITE;
	ld.relaxed.cta.shared.u32 v, [flag];
	st.global.u32 [o], v;
	ret;
WRITE:
	st.relaxed.cta.shared.u32 [flag], 1;
)");
  EXPECT_EQ(proof.verdict(), Verdict::open);
  ASSERT_FALSE(proof.pairs().empty());
  EXPECT_EQ(proof.pairs()[0].kind, Reversal::Kind::memory);
}

// Sums of integers come to the same in any order; who asks what they were does not.
TEST(Proof, LetsSumsChangePlaces) {
  const std::string body = R"(
	OP.shared.add.u32 ANSWER[flag], 1;
	bar.sync 1, 96;
	setp.ne.u32 p, w, 0;
	@p ret;
	ld.shared.u32 v, [flag];
	st.global.u32 [o], v;
)";
  const auto with = [&](const std::string& op, const std::string& answer) {
    std::string out = body;
    out.replace(out.find("OP"), 2, op);
    out.replace(out.find("ANSWER"), 6, answer);
    return of_body(out);
  };
  EXPECT_EQ(with("red", "").verdict(), Verdict::proved);
  EXPECT_EQ(with("atom", "v, ").verdict(), Verdict::open);
}

// What a thread does may hang on whether a phase is complete when it looks.
TEST(Proof, KnowsWaitsThatAreNoLoops) {
  const std::string body = R"(
	setp.eq.u32 p, w, 0;
	@p ret;
	setp.eq.u32 p, w, 1;
	@p bra ARRIVE;
	mbarrier.try_wait.parity.shared.b64 q, [bar], 0;
	@q bra NOW;
	EXTRA
WAIT:
	mbarrier.try_wait.parity.shared.b64 q, [bar], 0;
	@!q bra WAIT;
NOW:
	ret;
ARRIVE:
	mbarrier.arrive.shared.b64 s, [bar];
)";
  const auto with = [&](const std::string& extra) {
    std::string out = body;
    out.replace(out.find("EXTRA"), 5, extra);
    return of_body(out);
  };
  // Whether it hangs on that cannot be seen from what it did.
  for (const char* extra : {"", "mbarrier.arrive.shared.b64 s, [other];"}) {
    const Proof proof = with(extra);
    EXPECT_EQ(proof.verdict(), Verdict::open);
    ASSERT_FALSE(proof.reasons().empty());
    EXPECT_NE(proof.reasons()[0].find("whether a phase is complete when it asks"),
              std::string::npos)
        << proof.reasons()[0];
  }
  const Proof other = with("mbarrier.arrive.shared.b64 s, [other];");
  const auto is_seen = [](const std::string& reason) {
    return reason.find("with each wait refused once its warps did other steps") != reason.npos;
  };
  EXPECT_TRUE(std::any_of(other.reasons().begin(), other.reasons().end(), is_seen));
}

// A wait that leaves a trace of having been refused is no mere loop; where nobody reads it, it is.
TEST(Proof, KnowsLoopsThatRememberARefusal) {
  const std::string body = R"(
	mov.u32 v, 0;
	setp.eq.u32 p, w, 0;
	@p ret;
	setp.eq.u32 p, w, 1;
	@p bra ARRIVE;
WAIT:
	mbarrier.try_wait.parity.shared.b64 q, [bar], 0;
	@q bra NOW;
	mov.u32 v, 1;
	bra WAIT;
NOW:
	READ
	ret;
ARRIVE:
	mbarrier.arrive.shared.b64 s, [bar];
)";
  const auto with = [&](const std::string& read) {
    std::string out = body;
    out.replace(out.find("READ"), 4, read);
    return of_body(out);
  };
  EXPECT_EQ(with("").verdict(), Verdict::proved);
  EXPECT_EQ(with("st.global.u32 [o], v;").verdict(), Verdict::open);
}

// How often a flag is read in vain means nothing where one store alone ends that.
TEST(Proof, LetsLoopsWaitForFlags) {
  const auto loop = [](const std::string& label, const std::string& until) {
    return label + ":\n\tld.acquire.cta.shared.u32 v, [flag];\n\tsetp.ne.u32 q, v, " + until +
           ";\n\t@q bra " + label + ";\n";
  };
  const std::string roles = R"(
	setp.eq.u32 p, w, 0;
	@p ret;
	setp.eq.u32 p, w, 1;
	@p bra SET;
)";
  const std::string set = "\tst.global.u32 [o], 7;\n\tst.release.cta.shared.u32 [flag], 1;\n";
  const std::string use = "\tld.global.u32 v, [o];\n\tst.global.u32 [o+4], v;\n";
  const auto verdict = [&](const std::string& waits, const std::string& sets) {
    return of_body(roles + waits + "\tret;\nSET:\n" + sets).verdict();
  };
  EXPECT_EQ(verdict(loop("A", "1") + use, set), Verdict::proved);
  // There and back, twice: the flag has the same value again.
  const std::string back = "\tst.release.cta.shared.u32 [flag], 0;\n";
  EXPECT_EQ(verdict(loop("A", "1") + use + back + loop("B", "1") + use, set + loop("C", "0") + set),
            Verdict::proved);
  // The flag goes on by itself, or is taken back.
  EXPECT_EQ(verdict(loop("A", "1"), set + "\tst.release.cta.shared.u32 [flag], 2;\n"),
            Verdict::fails);
  EXPECT_EQ(verdict(loop("A", "1"), set + back), Verdict::fails);
}

// A number that grows with each turn, and an answer to each.
TEST(Proof, LetsLoopsWaitForTickets) {
  const Proof proof = of_body(R"(
	.reg .b32 n;
	mov.u32 n, 1;
	setp.eq.u32 p, w, 0;
	@p bra TAKE;
	setp.eq.u32 p, w, 2;
	@p ret;
GIVE:
	st.global.u32 [o], n;
	st.release.cta.shared.u32 [flag], n;
A:
	ld.acquire.cta.shared.u32 v, [flag+4];
	setp.ne.u32 q, v, n;
	@q bra A;
	add.u32 n, n, 1;
	setp.lt.u32 q, n, 5;
	@q bra GIVE;
	ret;
TAKE:
B:
	ld.acquire.cta.shared.u32 v, [flag];
	setp.ne.u32 q, v, n;
	@q bra B;
	ld.global.u32 v, [o];
	st.global.u32 [o+4], v;
	st.release.cta.shared.u32 [flag+4], n;
	add.u32 n, n, 1;
	setp.lt.u32 q, n, 5;
	@q bra TAKE;
)");
  EXPECT_EQ(proof.verdict(), Verdict::proved);
  EXPECT_TRUE(proof.pairs().empty());
}

TEST(Proof, ShowsNothingOfWhoReadsAClock) {
  const Proof proof =
      of_body("\tsetp.ne.u32 p, w, 0;\n\t@p ret;\n\tmov.u32 v, %clock;\n\tst.global.u32 [o], v;\n");
  EXPECT_EQ(proof.verdict(), Verdict::open);
  ASSERT_FALSE(proof.reasons().empty());
  EXPECT_NE(proof.reasons()[0].find("it reads %clock at test.ptx:"), std::string::npos)
      << proof.reasons()[0];
}

// A grid of 32 CTAs of which 6 have room: whether one took another one's work is in OUT[32].
TEST(Proof, ThatThereIsNoWorkToTakeIsTriedToo) {
  const test::SimProgram program =
      test::read_program(TILESCOPE_TESTS_DIR "/programs/launch_control.ptx");
  Options options;
  options.resident_blocks = program.resident;
  Outcome<Proof> proof = Proof::begin(program.job, options);
  ASSERT_TRUE(proof.ok());
  while (proof->verdict() == Verdict::running && !proof->searches()) {
    ASSERT_TRUE(proof->advance(50'000).ok());
  }
  proof->stop();
  EXPECT_EQ(proof->verdict(), Verdict::open);
  const std::vector<std::string>& why = proof->reasons();
  EXPECT_EQ(
      std::count_if(why.begin(), why.end(),
                    [](const std::string& w) { return w.find("clusterlaunchcontrol") != w.npos; }),
      1);
  EXPECT_NE(
      std::find(why.begin(), why.end(), "the result is another one with --schedule refuse-grants"),
      why.end());
}

TEST(Proof, WhoIsToldThatThereIsNoWorkLeavesItToTheOthers) {
  const test::SimProgram program =
      test::read_program(TILESCOPE_TESTS_DIR "/programs/launch_control.ptx");
  Options options;
  options.resident_blocks = program.resident;
  options.grants_fail = true;
  Outcome<Machine> machine = Machine::load(program.job, options);
  ASSERT_TRUE(machine.ok());
  while (machine->run(1'000'000) == RunState::running) {
  }
  EXPECT_TRUE(machine->reports().empty());
  std::vector<std::uint32_t> expected(34, 1), out(34);
  expected[32] = expected[33] = 0;
  ASSERT_EQ(machine->buffers()[0].bytes.size(), 34 * sizeof(std::uint32_t));
  std::memcpy(out.data(), machine->buffers()[0].bytes.data(), 34 * sizeof(std::uint32_t));
  EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace tilescope::sim
