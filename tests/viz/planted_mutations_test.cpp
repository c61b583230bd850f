// Each fixed change of a step of Hopper's ladder (tests/kernels/mutations.cpp) opens at its report
// with a view of what the report is about: its title, and the lines of all who have a part in it.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tests/kernels/mutants.h"
#include "tests/viz/planted_bugs.h"
#include "viz/machine/fault_scene.h"
#include "viz/session/fault_view.h"

namespace tilescope {
namespace {

using namespace test;

std::string words_in(const Picture& picture) {
  std::string out;
  for (const Item& item : picture.scene.items) {
    if (const auto* text = std::get_if<Text>(&item)) out += text->text + "\n";
  }
  return out;
}

std::string file_and_line(const Site& site) {
  const std::string& path = site.caller_line ? site.caller : site.source;
  const std::uint32_t line = site.caller_line ? site.caller_line : site.source_line;
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}

// The view that each kind of finding is to be seen in.
const std::map<std::string, ViewName, std::less<>>& views() {
  static const std::map<std::string, ViewName, std::less<>> all = {
      {"deadlock", ViewName::why},
      {"too_many_arrivals", ViewName::barriers},
      {"mbarrier_initialised_twice", ViewName::barriers},
      {"mbarrier_not_initialised", ViewName::barriers},
      {"mbarrier_not_visible", ViewName::barriers},
      {"operand_overwritten", ViewName::memory},
      {"missing_proxy_fence", ViewName::memory},
      {"shared_race", ViewName::memory},
      {"wgmma_fence", ViewName::registers},
      {"undefined_output", ViewName::matrices},
      {"bad_arrival_count", ViewName::barriers},
      {"bad_mask", ViewName::source},
      {"cluster_barrier", ViewName::source},
      {"peer_not_started", ViewName::source},
  };
  return all;
}

class MutationInTheWindow : public testing::TestWithParam<std::size_t> {};

TEST_P(MutationInTheWindow, OpensWithAViewOfItsReport) {
  const Planted& planted = planted_mutations[GetParam()];
  const Subject& s = subject_named(planted.subject);
  const Mutation* m = s.mutator->of(planted.kind, planted.n);
  ASSERT_NE(m, nullptr);
  SCOPED_TRACE(s.name + ", " + m->sentence);
  Bug bug;
  bug.name = bug.kernel = s.name;
  bug.known = s.known;
  bug.expected.emplace_back();
  const std::string report = planted.report;
  bug.expected.back().weight = report.substr(0, report.find(' '));
  sim::Options order;
  order.exact = false;
  order.schedule = planted.schedule;
  order.lazy = planted.lazy;
  auto opened = opened_at_report(bug, s.changed(*m), order);
  ASSERT_TRUE(opened.has_value()) << "no report at all";
  const Report& told = opened->report();
  SCOPED_TRACE(told.kind + ": " + told.sentence);
  EXPECT_EQ(report.substr(report.find(' ') + 1), told.kind);
  const Session& session = *opened->session;
  EXPECT_EQ(session.state.spot.report, static_cast<std::uint32_t>(opened->number));
  const std::string shown = words_in(picture(*opened->session, {760, 640}));
  EXPECT_NE(shown.find(std::string(title_of(told))), std::string::npos) << shown;
  const auto view = views().find(told.kind);
  ASSERT_NE(view, views().end()) << "which view explains it? " << name_of(session.state.view);
  EXPECT_EQ(name_of(session.state.view), name_of(view->second));
  // What is shown in memory, or of an element, is marked there.
  if (view->second == ViewName::memory || view->second == ViewName::matrices) {
    EXPECT_NE(told.evidence.place.of, Evidence::Place::Of::nothing);
  }
  if (view->second == ViewName::why) return;  // who came stands in the list of barriers
  for (const Evidence::Party& party : told.evidence.parties) {
    EXPECT_NE(shown.find(file_and_line(party.site)), std::string::npos)
        << file_and_line(party.site) << "\n"
        << shown;
  }
}

std::vector<std::size_t> of_the_ladder() {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < planted_mutations.size(); ++i) {
    const std::string subject = planted_mutations[i].subject;
    if (subject.rfind("wgmma_v", 0) == 0) out.push_back(i);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Kernels, MutationInTheWindow, testing::ValuesIn(of_the_ladder()));

}  // namespace
}  // namespace tilescope
