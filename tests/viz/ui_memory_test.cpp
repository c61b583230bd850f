// Shared memory and TMEM as pictures: every byte is where TMA put it and where it is drawn, a cell
// is what the tensor core wrote, and what is pointed at says so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/sim/program.h"
#include "tests/sim/random_copy.h"
#include "tests/viz/ui_backend.h"
#include "viz/commands/commands.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/machine/machine_scene.h"
#include "viz/session/memory_panels.h"
#include "viz/session/panels.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

using test::Generation;
using test::RandomCopy;

sim::Machine machine_of_job(Job job) {
  sim::Options options;
  options.remember_writers = true;
  auto machine = sim::Machine::load(std::move(job), options);
  EXPECT_TRUE(machine) << (machine ? "" : machine.error().sentence);
  return std::move(*machine);
}

// The registers of a warpgroup that has multiplied begin with its accumulator, in which the lane
// looked at finds its own.
TEST(RegistersView, ShowsTheAccumulatorOfAWarpgroup) {
  auto program =
      test::read_program(std::string(TILESCOPE_TESTS_DIR) + "/../sim/programs/wgmma_epilogue.ptx");
  auto stepper = sim::Stepper::load(std::move(program.job));
  ASSERT_TRUE(stepper);
  LiveRun live(std::move(*stepper));
  RunCursor spot;
  spot.warp = 1;
  spot.lane = 6;
  const auto picture = [&] {
    Scene scene;
    Scroll scroll;
    const Theme theme = light_theme();
    const MachineShown shown{live, spot, nullptr, theme, {}};
    const Box room{0, 0, 900, 700};
    const auto accumulator = arrange_accumulators(shown, room);
    draw_registers(scene, shown, room, accumulator ? &*accumulator : nullptr, scroll);
    return scene;
  };
  const auto registers_led_to = [](const Scene& scene) {
    std::vector<std::string> out;
    for (const Target& target : scene.targets) {
      if (target.hint.starts_with("D [")) out.push_back(target.hint);
    }
    return out;
  };
  EXPECT_TRUE(registers_led_to(picture()).empty());
  const auto waited_for = [&] {
    const auto all = live.registers.accumulators(live.stepper.machine(), 0, 1);
    return !all.empty() && all[0].at(17, 4).held && all[0].at(17, 4).value == 16;
  };
  for (int i = 0; i < 400 && !waited_for(); ++i) {
    live.stepper.step({});
    ASSERT_EQ(live.stepper.arrive(), sim::Arrival::there);
  }
  // Of D's rows 16 to 31: lane 6 has columns 4 and 5 of rows 17 and 25 (PTX ISA 9.7.15.5.1), twice:
  // by value and by thread.
  const std::vector<std::string> once = {"D [17, 4] is in d0: 16", "D [17, 5] is in d1: 16",
                                         "D [25, 4] is in d2: 16", "D [25, 5] is in d3: 16"};
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(registers_led_to(picture()), twice);
}

// Where it has no room a line says that it is there.
TEST(RegistersView, SaysInALowWindowThatThereIsAnAccumulator) {
  auto program =
      test::read_program(std::string(TILESCOPE_TESTS_DIR) + "/../sim/programs/wgmma_epilogue.ptx");
  auto stepper = sim::Stepper::load(std::move(program.job));
  ASSERT_TRUE(stepper);
  LiveRun live(std::move(*stepper));
  for (int i = 0; i < 400; ++i) {
    if (!live.registers.accumulators(live.stepper.machine(), 0, 1).empty()) break;
    live.stepper.step({});
    live.stepper.arrive();
  }
  const RunCursor spot;
  const Theme theme = light_theme();
  MachineShown shown{live, spot, nullptr, theme, {}};
  const auto said = [&](const Size& size) {
    Scene scene;
    Scroll scroll;
    const Box room{0, 0, size.width, size.height};
    const auto accumulator = arrange_accumulators(shown, room);
    draw_registers(scene, shown, room, accumulator ? &*accumulator : nullptr, scroll);
    std::string out;
    for (const Item& item : scene.items) {
      if (const auto* text = std::get_if<Text>(&item)) out += text->text + "\n";
    }
    for (const Target& target : scene.targets) out += target.command + "\n";
    return out;
  };
  EXPECT_NE(said({900, 700}).find("D of wgmma.mma_async: 64 x 8 of f32"), std::string::npos);
  for (const Size size : {Size{900, 200}, Size{900, 80}, Size{140, 700}}) {
    EXPECT_NE(said(size).find("D of wgmma "), std::string::npos) << size.height;
    EXPECT_EQ(said(size).find("select matrices"), std::string::npos)
        << "nobody knows where it goes";
  }
  shown.output = [](const sim::GroupAccumulator&, MachineShown::Place) {
    return std::string("D [0:64, 0:8]");
  };
  EXPECT_NE(said({900, 200}).find("select matrices"), std::string::npos);
}

// ---- sums in registers, on the matrix that they go to ----

// A program of tests/sim/programs as a kernel of the window.
class ProgramBackend : public test::FakeBackend {
 public:
  explicit ProgramBackend(const std::string& file)
      : program(test::read_program(std::string(TILESCOPE_SOURCE_DIR) + "/tests/sim/programs/" +
                                   file)) {}
  test::SimProgram program;
  std::vector<std::vector<std::string>> axes;  // of each tensor; none: not known

  Outcome<KernelCard> kernel(std::string_view name, const KernelOptions&) override {
    KernelCard card;
    card.name = name;
    for (std::size_t i = 0; i < program.job.buffers.size(); ++i) {
      const Buffer& each = program.job.buffers[i];
      KernelCard::Tensor tensor{each.name, "", "", nullptr};
      if (!each.undefined) tensor.values = std::make_shared<const Buffer>(each);
      if (i < axes.size()) tensor.axes = axes[i];
      tensor.output = each.undefined;
      card.tensors.push_back(std::move(tensor));
    }
    return card;
  }
  Outcome<std::shared_ptr<LiveRun>> live(const KernelCard&, const KernelOptions&) override {
    auto stepper = sim::Stepper::load(program.job);
    if (!stepper) return stepper.error();
    return std::make_shared<LiveRun>(std::move(*stepper));
  }
  double element(std::size_t buffer, std::int64_t row, std::int64_t column) const {
    const Buffer& b = program.job.buffers[buffer];
    return load_element(b.dtype, b.bytes.data() + (row * b.shape[1] + column) * bytes_of(b.dtype));
  }
};

class SumsTest : public ::testing::Test {
 protected:
  void does(ProgramBackend& backend, const std::string& line) {
    const auto answer = execute(session, backend, line);
    ASSERT_TRUE(answer) << line << ": " << (answer ? "" : answer.error().sentence);
    while (seeking(session)) seek_on(session, backend, 1000);
  }
  // On to where registers hold what so many terms of each sum come to.
  bool go_to_sums(ProgramBackend& backend, double first) {
    for (int i = 0; i < 400; ++i) {
      const auto view = matrices_now(session);
      const std::size_t d = view ? view->matrices().size() - 1 : 0;
      const RegisterSums::Sum* sum = view ? view->sum(d, {0, 0}) : nullptr;
      if (sum && !sum->undefined && sum->value == first) return true;
      does(backend, "step moment");
    }
    return false;
  }
  Session session;
};

// K-major with a swizzle, in the middle of the sum along K; and both MN-major, where the tensors'
// columns number what the product's rows are; and A in registers, by ldmatrix and from global
// memory. With and without the sizes' names.
TEST_F(SumsTest, StandWhereTheOperandsOfTheirProductSay) {
  struct Case {
    const char* file;
    bool mn_major;
    std::int64_t columns, terms;
  };
  for (const bool named : {false, true}) {
    for (const Case& each :
         {Case{"wgmma_tma.ptx", false, 8, 32}, Case{"wgmma_tma_mn_major.ptx", true, 16, 16},
          Case{"wgmma_a_by_ldmatrix.ptx", false, 8, 32},
          Case{"wgmma_a_from_global.ptx", false, 8, 32}}) {
      SCOPED_TRACE(each.file);
      ProgramBackend backend(each.file);
      if (named) {
        backend.axes = each.mn_major ? decltype(backend.axes){{"k", "m"}, {"k", "n"}, {"m", "n"}}
                                     : decltype(backend.axes){{"m", "k"}, {"n", "k"}, {"m", "n"}};
      }
      const auto expected = [&](std::int64_t row, std::int64_t column) {
        double out = 0;
        for (std::int64_t i = 0; i < each.terms; ++i) {
          out += each.mn_major ? backend.element(0, i, row) * backend.element(1, i, column)
                               : backend.element(0, row, i) * backend.element(1, column, i);
        }
        return out;
      };
      session = {};
      does(backend, "open add");
      does(backend, "go start");
      ASSERT_TRUE(go_to_sums(backend, expected(0, 0)));
      const auto view = matrices_now(session);
      const std::size_t d = view->matrices().size() - 1;
      ASSERT_EQ(view->matrices()[d].name, "OUT");
      for (std::int64_t row = 0; row < 64; ++row) {
        for (std::int64_t column = 0; column < each.columns; ++column) {
          const RegisterSums::Sum* sum = view->sum(d, {row, column});
          ASSERT_TRUE(sum) << row << ", " << column;
          EXPECT_EQ(sum->value, expected(row, column)) << row << ", " << column;
          // PTX ISA 9.7.15.5.1.
          EXPECT_EQ(sum->warp, row / 16);
          EXPECT_EQ(sum->lane, row % 8 * 4 + column % 8 / 2);
          EXPECT_EQ(view->matrices()[d].sums->names[sum->name],
                    fmt::format("d{}", column / 8 * 4 + row % 16 / 8 * 2 + column % 2));
        }
      }
      EXPECT_EQ(view->value(d, {17, 5}), fmt::format("{:.6g} so far", expected(17, 5)));
    }
  }
}

TEST_F(SumsTest, AreFramedNamedAndLeadToTheirRegisters) {
  ProgramBackend backend("wgmma_tma.ptx");
  backend.axes = {{"m", "k"}, {"n", "k"}, {"m", "n"}};
  does(backend, "open add");
  does(backend, "go start");
  does(backend, "select matrices");
  const auto shown = [&] {
    return nlohmann::json(describe(session, backend, picture(session, {1280, 800}))).dump();
  };
  EXPECT_EQ(shown().find("in registers"), std::string::npos);
  EXPECT_EQ(shown().find("matrices sums thread"), std::string::npos) << "no choice without sums";
  ASSERT_TRUE(go_to_sums(backend, -6));  // the whole sum
  const Picture now = picture(session, {1280, 800});
  const auto target = std::find_if(
      now.scene.targets.begin(), now.scene.targets.end(),
      [&](const Target& each) { return each.command == "look warp 0 register d0 in registers"; });
  ASSERT_NE(target, now.scene.targets.end());
  EXPECT_EQ(target->hint, "warps 0-3, in registers: shows the registers");
  EXPECT_NE(shown().find("OUT, dashed frame: sums so far, in registers"), std::string::npos);
  // Pointing at an element: its sum, and who has it.
  const MatricesFrame& frame = *now.matrices;
  const Box& map = frame.maps.back();
  const Point at{map.x + 5.5 * frame.viewport.cell, map.y + 17.5 * frame.viewport.cell};
  EXPECT_TRUE(point_at(session, now, at));
  const Picture pointed = picture(session, {1280, 800});
  const auto hint =
      std::find_if(pointed.scene.hints.begin(), pointed.scene.hints.end(),
                   [&](const Hint& each) { return each.text.starts_with("OUT [17, 5]"); });
  ASSERT_NE(hint, pointed.scene.hints.end());
  EXPECT_TRUE(hint->box.contains(at));
  const auto view = matrices_now(session);
  EXPECT_EQ(hint->text, fmt::format("OUT [17, 5]: {}, in d1, warp 1, lane 6",
                                    view->value(view->matrices().size() - 1, {17, 5})));
  EXPECT_NE(shown().find("d1, warp 1, lane 6"), std::string::npos) << "the inspector says so too";
  // By thread: another picture, and a legend that says so.
  does(backend, "matrices sums thread");
  EXPECT_NE(shown().find("which thread has the sum so far"), std::string::npos);
  does(backend, target->command);
  EXPECT_EQ(session.state.view, ViewName::registers);
  EXPECT_NE(shown().find("Goes to OUT [0:64, 0:8]."), std::string::npos);
  const Picture registers = picture(session, {1280, 800});
  const auto one =
      std::find_if(registers.scene.targets.begin(), registers.scene.targets.end(),
                   [](const Target& each) { return each.command == "look register d1"; });
  ASSERT_NE(one, registers.scene.targets.end());
  EXPECT_EQ(one->hint, "D [0, 1] is in d1: -5; goes to OUT [0, 1] of the output");
  // Once it is written it is what memory holds.
  does(backend, "select matrices");
  for (int i = 0; i < 400 && matrices_now(session)->has_sums(); ++i) does(backend, "step moment");
  EXPECT_FALSE(matrices_now(session)->has_sums());
  EXPECT_EQ(shown().find("in registers"), std::string::npos);
}

// The accumulator over the registers is zoomed by the wheel on it and by `zoom`, and dragged; off
// it the wheel moves the list. Both matrices stay on the same part, and values appear.
TEST_F(SumsTest, AreZoomedOverTheRegisters) {
  ProgramBackend backend("wgmma_tma.ptx");
  does(backend, "open add");
  does(backend, "go start");
  ASSERT_TRUE(go_to_sums(backend, -6));
  does(backend, "select registers");
  const auto shown = [&] { return picture(session, {1280, 800}); };
  // Written on the elements.
  const auto values = [](const Picture& picture) {
    std::vector<std::string> out;
    bool inside = false;
    for (const Item& item : picture.scene.items) {
      if (const auto* group = std::get_if<GroupBegin>(&item)) inside = group->name == "by value";
      if (std::holds_alternative<GroupEnd>(item)) inside = false;
      const auto* text = std::get_if<Text>(&item);
      if (inside && text) out.push_back(text->text);
    }
    return out;
  };
  // Elements of lane 0 of warp 0 that can be clicked.
  const auto elements = [](const Picture& picture) {
    return std::count_if(picture.scene.targets.begin(), picture.scene.targets.end(),
                         [](const Target& each) { return each.hint.starts_with("D ["); });
  };
  const Picture before = shown();
  ASSERT_TRUE(before.accumulator);
  const AccumulatorFrame& frame = *before.accumulator;
  EXPECT_EQ(frame.viewport.cell, 1);
  EXPECT_EQ(elements(before), 8) << "two rows of two, by value and by thread";
  EXPECT_TRUE(values(before).empty());
  const Point corner{frame.values.x + 1, frame.values.y + 1};
  EXPECT_TRUE(is_zoomed_at(before, corner));
  EXPECT_TRUE(is_zoomed_at(before, frame.owners.centre()));
  EXPECT_FALSE(is_zoomed_at(before, {frame.values.x, frame.values.bottom() + 90}));
  // D [0, 0] fills the width, and the rows below it to the seventh the height.
  zoom_view(session, before, corner, 10);
  const Picture near = shown();
  EXPECT_EQ(near.accumulator->viewport.cell, 10);
  EXPECT_EQ(elements(near), 2) << "one, by value and by thread";
  ASSERT_EQ(values(near).size(), 7u);
  EXPECT_EQ(values(near)[0], "-6");
  for (const Box& canvas : {frame.values, frame.owners}) {
    const Box cells = near.accumulator->cells(canvas);
    EXPECT_NEAR(cells.x, canvas.x - 9, 1e-9) << "what is under the pointer stays";
    EXPECT_NEAR(cells.height, 10 * canvas.height, 1e-9);
    for (const Target& each : near.scene.targets) {
      if (!each.hint.starts_with("D [")) continue;
      EXPECT_TRUE(frame.values.grown(1).cut(each.box) == each.box ||
                  frame.owners.grown(1).cut(each.box) == each.box);
    }
  }
  pan_view(session, near, 0, -1e6);
  EXPECT_EQ(elements(shown()), 0) << "the last rows are those of warp 3";
  does(backend, "zoom fit");
  EXPECT_EQ(elements(shown()), 8);
  does(backend, "zoom in");
  EXPECT_EQ(shown().accumulator->viewport.cell, 1.5);
  EXPECT_EQ(shown().accumulator->viewport.cell, 1.5) << "once";
  does(backend, "back");
  EXPECT_EQ(shown().accumulator->viewport.cell, 1);
}

// Without TMA nobody knows of which rows the operands are, nor where A has been calculated, and
// where its rows begin at different terms they are no rows of one product: nothing is said.
TEST_F(SumsTest, AreNotPlacedByGuess) {
  struct Case {
    const char* file;
    std::string_view added;  // before the products
  };
  for (const Case& each :
       {Case{"wgmma_epilogue.ptx", ""},
        Case{"wgmma_a_by_ldmatrix.ptx",
             "\tadd.u32 x0, x0, 0;\n\tadd.u32 x1, x1, 0;\n\tmov.b32 x4, x0;\n\tmov.b32 x5, x0;\n"
             "\tmov.b32 x8, x0;\n\tmov.b32 x9, x0;\n\tmov.b32 x12, x0;\n\tmov.b32 x13, x0;\n"},
        Case{"wgmma_a_from_global.ptx",
             "\tmov.b32 x0, x4;\n\tmov.b32 x4, x8;\n\tmov.b32 x8, x12;\n\tmov.b32 x12, x0;\n"}}) {
    SCOPED_TRACE(each.file);
    ProgramBackend backend(each.file);
    std::string& ptx = backend.program.job.program.ptx;
    ptx.insert(ptx.find("\twgmma.fence"), each.added);
    session = {};
    does(backend, "open add");
    does(backend, "go start");
    bool held = false;
    for (int i = 0; i < 400; ++i) {
      does(backend, "step moment");
      const LiveRun& run = *session.state.live;
      held = held || !run.registers.accumulators(run.stepper.machine(), 0, 0).empty();
      const auto view = matrices_now(session);
      ASSERT_FALSE(view && view->has_sums());
    }
    EXPECT_TRUE(held);
  }
}

// On to where a tile has been brought; false: none is.
bool bring_a_tile(sim::Machine& machine) {
  for (int i = 0; i < 20000; ++i) {
    for (const sim::TileState& tile : sim::tiles_of(machine, 0)) {
      if (!tile.in_flight) return true;
    }
    if (machine.run(1) != RunState::running) return false;
  }
  return false;
}

// Job, machine and model of the n-th random copy into shared memory.
struct Brought {
  RandomCopy copy;
  Job job;
  std::shared_ptr<const MemoryNow> now;
};
std::vector<Brought> brought_tiles(std::uint64_t numbers) {
  std::vector<Brought> out;
  for (const Generation generation : {Generation::hopper, Generation::blackwell}) {
    for (std::uint64_t n = 0; n < numbers; ++n) {
      Brought each{test::random_copy(n, generation), {}, nullptr};
      if (each.copy.way != RandomCopy::Way::load) continue;
      each.job = test::job_of(each.copy);
      sim::Machine machine = machine_of_job(each.job);
      if (!bring_a_tile(machine)) {
        ADD_FAILURE() << text(each.copy) << " brought no tile";
        continue;
      }
      each.now = memory_now(machine, 0);
      out.push_back(std::move(each));
    }
  }
  return out;
}

// Law: the value at a tile's byte is that of the tensor's element that the model says it holds, and
// a tile's places and bytes are one to one.
TEST(SharedMemory, EachByteOfATileIsItsElementsByte) {
  std::size_t compared = 0;
  std::set<MapSwizzle> swizzles;
  for (const Brought& each : brought_tiles(160)) {
    const MemoryNow& now = *each.now;
    const MemoryTile& tile = now.tiles.front();
    const sim::Box& box = tile.box();
    swizzles.insert(box.map.swizzle);
    const std::uint32_t width = box.map.element_bytes();
    std::set<std::uint32_t> bytes;
    for (std::uint32_t row = 0; row < box.rows(); ++row) {
      for (std::uint32_t at = 0; at < box.row_bytes(); ++at) {
        const std::uint32_t byte = byte_of(box, {row, at});
        ASSERT_TRUE(bytes.insert(byte).second) << text(each.copy);
        ASSERT_EQ(place_of(box, byte), (TilePlace{row, at})) << text(each.copy);
        const auto element = now.element_at(tile, byte);
        if (!element) continue;
        const Buffer& tensor = each.job.buffers[element->buffer];
        const std::int64_t flat = element->row * now.row_lengths[element->buffer] + element->column;
        const std::size_t from = static_cast<std::size_t>(flat) * width + at % width;
        ASSERT_LT(from, tensor.bytes.size()) << text(each.copy);
        ASSERT_EQ(now.values[byte], tensor.bytes[from])
            << text(each.copy) << ": row " << row << ", byte " << at;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 10000u);
  EXPECT_GE(swizzles.size(), 6u) << "all swizzles were tried";
}

TEST(SharedMemory, PartsCoverAllOfItOnce) {
  for (const Brought& each : brought_tiles(60)) {
    std::uint32_t at = 0;
    for (const MemoryPart& part : each.now->parts) {
      EXPECT_EQ(part.begin, at) << text(each.copy);
      EXPECT_GT(part.end, part.begin);
      EXPECT_FALSE(part.name.empty());
      EXPECT_EQ(each.now->part_at(part.begin), &part);
      EXPECT_EQ(each.now->part_at(part.end - 1), &part);
      at = part.end;
    }
    EXPECT_EQ(at, each.now->bytes());
    EXPECT_EQ(each.now->part_at(at), nullptr);
  }
}

// Law: the point at which a byte is drawn is that byte's, in both orders, alone and among others,
// zoomed or not.
TEST(SharedMemory, WhatIsDrawnSomewhereIsFoundThere) {
  const Box room{0, 72, 900, 700};
  for (const Brought& each : brought_tiles(40)) {
    for (const bool physical : {false, true}) {
      for (const bool alone : {false, true}) {
        for (const double zoom : {1.0, 3.0}) {
          MemoryChoice choice;
          choice.physical = physical;
          RunCursor spot;
          const MemoryTile& tile = each.now->tiles.front();
          if (alone) spot.byte = tile.state.tile.begin();
          Viewport viewport;
          viewport.cell = zoom;
          viewport.pan = {20, 30};
          const MemoryFrame frame = arrange(each.now, spot, choice, room, viewport);
          EXPECT_EQ(frame.alone, alone);
          std::size_t found = 0;
          for (const MemoryCard& card : frame.cards) {
            if (!card.tile) continue;
            for (std::uint32_t row = 0; row < tile.box().rows(); ++row) {
              for (std::uint32_t at = 0; at < tile.box().row_bytes(); at += 3) {
                const std::uint32_t byte = byte_of(tile.box(), {row, at});
                const auto place = frame.place_in(card, byte);
                ASSERT_TRUE(place) << text(each.copy);
                const double pixel = card.cell_width() / card.cell_bytes;
                const Point middle{card.grid.x + (place->byte + 0.5) * pixel,
                                   card.grid.y + (place->row + 0.5) * card.cell_height()};
                if (!card.room.contains(middle)) continue;
                ASSERT_EQ(byte_at(frame, middle), byte) << text(each.copy);
                ++found;
              }
            }
          }
          if (zoom == 1) {
            EXPECT_GT(found, 0u) << text(each.copy);
          }
        }
      }
    }
  }
}

// ---- TMEM ----

TEST(TensorMemory, CellsAreWhatTheTensorCoreWrote) {
  test::SimProgram program = test::read_program(std::string(TILESCOPE_SOURCE_DIR) +
                                                "/tests/sim/programs/tcgen05_fence_hazard.ptx");
  ASSERT_EQ(program.mistake, "");
  sim::Machine machine = machine_of_job(program.job);
  std::shared_ptr<const TensorNow> before, flying, after;
  while (machine.run(1) == RunState::running) {
    const auto now = tensor_now(machine, 0);
    if (now->allocations.empty()) continue;
    if (!before) before = now;
    if (!now->operations.empty() && !flying) flying = now;
    if (now->operations.empty() && !now->undefined[now->index(0, 0)]) after = now;
  }
  ASSERT_TRUE(before && flying && after);
  EXPECT_TRUE(before->has_unit);
  EXPECT_EQ(before->allocations.front().columns, 32u);
  EXPECT_EQ(before->undefined[before->index(0, 0)], 15) << "nobody has written yet";
  EXPECT_EQ(before->writer_of(0, 0), nullptr);
  EXPECT_TRUE(after->owns(31));
  EXPECT_FALSE(after->owns(32));
  // 16 products of 1 by 1 in each element: M 64 has the lanes 0 to 15 of each 32.
  const TensorNow::Writer* by = after->writer_of(5, 3);
  ASSERT_TRUE(by);
  EXPECT_TRUE(by->product);
  EXPECT_EQ(by->name.substr(0, 19), "tcgen05.mma, warp 0");
  EXPECT_EQ(after->value(5, 3), 16);
  EXPECT_EQ(after->writer_of(5, 31), by) << "N is 32";
  EXPECT_EQ(after->writer_of(20, 3), nullptr);
  const Box room{0, 72, 900, 700};
  const TensorFrame frame = arrange(after, room, {});
  for (const std::uint32_t lane : {0u, 17u, 127u}) {
    for (const std::uint32_t column : {0u, 100u, 511u}) {
      const Point at{frame.cells.x + (column + 0.5) * frame.cell_width(),
                     frame.cells.y + (lane + 0.5) * frame.cell_height()};
      EXPECT_EQ(cell_at(frame, at), (RunCursor::Cell{lane, column}));
    }
  }
  EXPECT_FALSE(cell_at(frame, {frame.room.x - 1, frame.room.y + 10}));
}

// ---- in the window ----

class MemoryTest : public ::testing::Test {
 protected:
  void does(const std::string& line) {
    const auto answer = execute(session, backend, line);
    EXPECT_TRUE(answer) << line << ": " << (answer ? "" : answer.error().sentence);
    while (seeking(session)) seek_on(session, backend, 1000);
  }
  std::string refused(const std::string& line) {
    const auto answer = execute(session, backend, line);
    EXPECT_FALSE(answer) << line;
    return answer ? "" : answer.error().sentence;
  }
  nlohmann::json shown() {
    return nlohmann::json(describe(session, backend, picture(session, {1280, 800})));
  }
  bool says(const std::string& part) { return shown().dump().find(part) != std::string::npos; }

  Session session;
  test::FakeBackend backend;
};

TEST_F(MemoryTest, AByteSaysWhereItIsWhatItIsAndWhoWroteIt) {
  does("open add");
  does("step barrier");
  does("look byte 4 in memory");
  EXPECT_EQ(session.state.view, ViewName::memory);
  const Lines lines = byte_lines(session, 4);
  const auto line = [&](const std::string& name) {
    for (const auto& each : lines) {
      if (each.first == name) return each.second;
    }
    return std::string("missing");
  };
  EXPECT_EQ(line("byte"), "4 (0x4)");
  EXPECT_EQ(line("bank"), "1");
  EXPECT_EQ(line("in"), "full") << "the program's own name of the mbarrier";
  EXPECT_NE(line("written by").find("warp"), std::string::npos);
  EXPECT_TRUE(says("\"Selected\""));
  EXPECT_TRUE(says("phase 1"));
  does("back");
  EXPECT_FALSE(session.state.spot.byte) << "Escape shows all parts again";
  does("undo");
  EXPECT_EQ(session.state.spot.byte, 4u);
}

TEST_F(MemoryTest, ThePointerFindsAPartAndAClickLooksAtIt) {
  does("open add");
  does("step barrier");
  does("select memory");
  const Picture now = picture(session, {1280, 800});
  ASSERT_TRUE(now.memory);
  ASSERT_FALSE(now.memory->map.empty());
  EXPECT_TRUE(point_at(session, now, now.memory->map.front().centre()));
  EXPECT_EQ(session.hovered.byte, 0u);
  EXPECT_TRUE(says("\"Under the pointer\""));
  const auto target = std::find_if(
      now.scene.targets.begin(), now.scene.targets.end(),
      [&](const Target& each) { return each.box.contains(now.memory->map.front().centre()); });
  ASSERT_NE(target, now.scene.targets.end());
  EXPECT_EQ(target->command, "look byte 0 mbarrier 0");
  does(target->command);
  EXPECT_TRUE(point_at(session, now, std::nullopt));
  EXPECT_FALSE(session.hovered.byte);
}

TEST_F(MemoryTest, OrderAndColoursAreChoicesThatAreUndoneAndShared) {
  does("open add");
  does("step barrier");
  does("look byte 4 in memory");
  does("memory order physical");
  does("memory colour value");
  does("tmem colour value");
  does("matrices sums thread");
  const std::vector<std::string> lines = rebuilding(session.state);
  Session other;
  ASSERT_TRUE(rebuild(other, backend, lines));
  while (busy(other)) seek_on(other, backend, 1000);
  EXPECT_TRUE(other.state == session.state) << joined(rebuilding(other.state));
  EXPECT_TRUE(session.state.memory.sums_by_thread);
  does("undo");
  EXPECT_FALSE(session.state.memory.sums_by_thread);
  does("undo");
  does("undo");
  EXPECT_EQ(session.state.memory.colour, MemoryChoice::Colour::tile);
  EXPECT_TRUE(session.state.memory.physical);
  EXPECT_NE(refused("memory order sideways").find("`memory` takes"), std::string::npos);
  EXPECT_NE(refused("tmem colour tile").find("`tmem` takes"), std::string::npos);
  EXPECT_NE(refused("look byte 4 in diff").find("the views to look in"), std::string::npos);
}

TEST_F(MemoryTest, BlocksWithoutTensorMemorySaySo) {
  does("open add");
  does("select tmem");
  does("step");
  EXPECT_TRUE(says("no tcgen05 instructions"));
  does("go end");
  does("select memory");
  const auto nobody = emptiness(session);
  ASSERT_TRUE(nobody) << "no block is resident, and a button leads back to one";
  EXPECT_EQ(nobody->command, "step back");
}

TEST_F(MemoryTest, ModelsAreMadeOnceForAMoment) {
  does("open add");
  does("step barrier");
  const auto first = shared_memory_of(session);
  EXPECT_EQ(shared_memory_of(session), first);
  does("step");
  EXPECT_NE(shared_memory_of(session), first);
  does("look block 1");
  EXPECT_EQ(shared_memory_of(session)->block, 1u);
}

}  // namespace
}  // namespace tilescope
