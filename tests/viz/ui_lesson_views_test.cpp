// The steps of the lessons that the program carries, each as the window shows it: its view is the
// same wherever one comes from, and does not tell the answer that it asks for.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/viz/ui_backend.h"
#include "viz/commands/commands.h"
#include "viz/commands/describe_window.h"
#include "viz/session/lesson_panel.h"
#include "viz/session/panels.h"

namespace tilescope {
namespace {

// The shipped lessons, with the fake kernel in the place of theirs.
class ShippedLessons : public test::FakeBackend {
 public:
  std::vector<std::string> lesson_names() const override {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      if (entry.path().extension() == ".md") names.push_back(entry.path().stem().string());
    }
    return names;
  }
  Outcome<std::string> lesson_text(std::string_view name) const override {
    std::ifstream in(folder() + "/" + std::string(name) + ".md");
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  Outcome<KernelCard> kernel(std::string_view, const KernelOptions& options) override {
    KernelOptions sizes = options;
    sizes.erase("ptx");
    return FakeBackend::kernel("add", sizes);
  }

 private:
  static std::string folder() { return std::string(TILESCOPE_SOURCE_DIR) + "/assets/lessons"; }
};

class LessonViews : public ::testing::Test {
 protected:
  void must(Session& session, const std::string& line) {
    const auto answer = execute(session, backend, line);
    ASSERT_TRUE(answer.ok()) << line << ": " << answer.error().sentence;
  }
  // Progress stands in the outline and differs with the way.
  std::string shown(Session& session) {
    const Picture all = picture(session, {900, 700});
    Json json = describe(session, backend, all);
    json.erase("outline");
    return json.dump(1);
  }
  std::string jumped_to(const std::string& lesson, std::size_t step) {
    Session session;
    must(session, "lesson " + lesson + " " + std::to_string(step + 1));
    return shown(session);
  }
  const std::vector<Lesson>& lessons() {
    if (!shelf_) {
      Session session;
      shelf_ = shelf_of(session, backend);
    }
    return shelf_->lessons;
  }

  ShippedLessons backend;

 private:
  std::shared_ptr<const LessonIndex> shelf_;
};

TEST_F(LessonViews, AStepIsTheSameByNextByBackAndByAJump) {
  ASSERT_EQ(lessons().size(), 22u);
  Session walk;
  for (const Lesson& lesson : lessons()) {
    if (lesson.number > 4) break;  // later ones look into records, which the fake kernel has not
    must(walk, "lesson " + lesson.name + " 1");
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      if (i > 0) must(walk, "lesson next");
      EXPECT_EQ(shown(walk), jumped_to(lesson.name, i)) << lesson.name << " " << i + 1;
    }
    for (std::size_t i = lesson.steps.size() - 1; i-- > 0;) {
      must(walk, "lesson back");
      EXPECT_EQ(shown(walk), jumped_to(lesson.name, i)) << lesson.name << " back " << i + 1;
    }
  }
}

TEST_F(LessonViews, WhatTheLearnerChoseDoesNotStayAndTheViewIsMendedByLessonView) {
  const std::vector<std::string> chosen = {
      "open add --m 7",    "run",          "show wrong",       "pick 1 2",
      "open preset Volta", "colour value", "isolate value 1",  "label coordinates",
      "pick 3 3",          "element 2",    "access columns 8", "select banks"};
  for (const std::size_t step : {std::size_t{0}, std::size_t{3}, std::size_t{8}}) {
    const std::string wanted = jumped_to("layouts", step);
    Session session;
    for (const std::string& line : chosen) {
      must(session, line);
      if (!session.running) continue;
      backend.wait();
      take_result(session, backend);
    }
    must(session, "lesson layouts " + std::to_string(step + 1));
    EXPECT_EQ(shown(session), wanted) << step;
    must(session, "label coordinates");
    must(session, "colour none");
    must(session, "lesson view");
    EXPECT_EQ(shown(session), wanted) << step;
  }
}

TEST_F(LessonViews, ARunOfTheViewThatGoesDoesNotReachTheStep) {
  backend.slow = true;
  Session session;
  must(session, "open add --m 7");
  must(session, "run");
  ASSERT_TRUE(session.running);
  must(session, "lesson layouts 1");
  EXPECT_FALSE(session.running);
  EXPECT_EQ(shown(session), jumped_to("layouts", 0));
}

// What is asked is another layout than the one that the field, the strip and the inspector tell of.
TEST_F(LessonViews, TheViewDoesNotTellTheAnswer) {
  // Where the answer stood for the layout in the view: `*` is the answer.
  const std::vector<std::pair<int, std::string>> steps = {
      {5, "*"}, {6, "\"name\":\"index\",\"value\":\"*\""}, {8, "below *\""}};
  for (const auto& [step, where] : steps) {
    Session session;
    must(session, "lesson layouts " + std::to_string(step));
    for (int round = 0; round < 20; ++round, must(session, "lesson again")) {
      const PosedExercise& exercise = *session.state.lesson.sheet->step.exercise;
      const Picture all = picture(session, {900, 700});
      Json json = describe(session, backend, all);
      for (const char* part : {"outline", "lesson"}) json.erase(part);
      std::string words = where;
      words.replace(words.find('*'), 1, *solution(exercise, {}));
      EXPECT_EQ(json.dump().find(words), std::string::npos) << step << ": " << words;
    }
  }
}

// The layout that a question names is not the one whose result stands under the field.
TEST_F(LessonViews, AQuestionIsAboutAnotherLayoutThanTheViews) {
  const std::vector<std::pair<std::string, int>> steps = {
      {"layouts", 3}, {"layouts", 7}, {"layouts", 10}, {"algebra", 1},
      {"algebra", 2}, {"algebra", 3}, {"algebra", 5},  {"lowering", 2}};
  for (const auto& [lesson, step] : steps) {
    Session session;
    must(session, "lesson " + lesson + " " + std::to_string(step));
    for (int round = 0; round < 40; ++round, must(session, "lesson again")) {
      const std::string& question = session.state.lesson.sheet->step.exercise->question;
      const std::size_t begin = question.find('`') + 1;
      const std::string asked = question.substr(begin, question.find('`', begin) - begin);
      ASSERT_NE(asked.find(':'), std::string::npos) << question;
      const Json json = describe(session, backend, picture(session, {900, 700}));
      EXPECT_EQ(json["field"].get<std::string>().find(asked), std::string::npos)
          << lesson << " " << step << ": " << question;
    }
  }
}

TEST_F(LessonViews, ACoordinateTensorShowsItsCoordinates) {
  Session session;
  must(session, "lesson elementwise_add 4");
  const Picture all = picture(session, {696, 584});  // beside the lesson, at 1280 x 800
  std::size_t cells = 0;
  for (const Item& item : all.scene.items) {
    const Text* words = std::get_if<Text>(&item);
    cells += words && (words->text == "(3,5)" || words->text == "(1,2)");
  }
  EXPECT_EQ(cells, 2u);
}

}  // namespace
}  // namespace tilescope
