// Registers by the names of the source, where the PTX has them (nvcc -G).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/program.h"
#include "viz/machine/machine_accumulators.h"
#include "viz/machine/machine_scene.h"

namespace tilescope {
namespace {

TEST(RegistersView, ShowsNamesOfTheSource) {
  auto program =
      test::read_program(std::string(TILESCOPE_TESTS_DIR) + "/../sim/programs/named_variables.ptx");
  auto stepper = sim::Stepper::load(std::move(program.job));
  ASSERT_TRUE(stepper);
  LiveRun live(std::move(*stepper));
  const auto before = [&](std::string_view words) {
    const auto warps = sim::warps_of(live.stepper.machine(), 0);
    return !warps.empty() && !warps[0].splits.empty() &&
           warps[0].splits[0].text.find(words) != std::string_view::npos;
  };
  for (int i = 0; i < 400 && !before("setp.lt.s32"); ++i) {
    live.stepper.step({});
    ASSERT_EQ(live.stepper.arrive(), sim::Arrival::there);
  }
  RunCursor spot;
  spot.lane = 3;
  const Theme theme = light_theme();
  for (const double width : {600.0, 1000.0}) {
    Scene scene;
    Scroll scroll;
    draw_registers(scene, {live, spot, nullptr, theme, {}}, {0, 0, width, 700}, nullptr, scroll);
    const auto says = [&](std::string_view what) {
      return std::any_of(scene.items.begin(), scene.items.end(), [&](const Item& item) {
        const auto* const text = std::get_if<Text>(&item);
        return text && text->text.find(what) != std::string::npos;
      });
    };
    EXPECT_TRUE(says("%r1  index")) << width;
    EXPECT_TRUE(says("%f2  sum")) << width;
    EXPECT_TRUE(says("pair")) << width;
    EXPECT_TRUE(says("at local+0")) << width;
    EXPECT_TRUE(says("0x4080000000000003")) << width;  // {3, 4.0f}
    EXPECT_TRUE(says("count")) << width;
    EXPECT_FALSE(says("kept")) << width;  // of the function that is not called yet
  }
}

}  // namespace
}  // namespace tilescope
