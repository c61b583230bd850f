// A product of tensor cores, opened: what its picture shows is what the machine read and wrote.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/numeric/small_float.h"
#include "core/profile/statistics.h"
#include "core/record/recorder.h"
#include "tests/kernels/shipped.h"
#include "tests/sim/chip_times.h"
#include "viz/product/product_text.h"

namespace tilescope {
namespace {

struct Kernel {
  sim::Record record;
  std::unique_ptr<sim::Timeline> timeline;
  sim::Pipeline pipeline;
  std::optional<sim::Stepper> stepper;
  std::vector<Buffer> buffers;  // at the end

  Kernel(const std::string& kernel, Sizes sizes, bool timed = true) {
    const Job job = test::shipped_job(kernel, sizes);
    sim::Recorder recorder;
    sim::Options options;
    if (timed) {
      options.clocked = true;
      options.times = test::chip_times();
    }
    options.recorder = &recorder;
    Outcome<sim::Machine> machine = sim::Machine::load(job, options);
    EXPECT_TRUE(machine.ok());
    machine->run(~std::uint64_t{0});
    EXPECT_EQ(machine->state(), RunState::done);
    buffers = machine->buffers();
    record = recorder.take();
    timeline = std::make_unique<sim::Timeline>(record);
    pipeline = sim::pipeline_of(*timeline, sim::statistics_of(record).roles, 0);
    options.recorder = nullptr;
    stepper.emplace(std::move(*sim::Stepper::load(job, options)));
  }
  ProductIndex index(std::uint64_t block = 0, std::uint32_t warp = 0) const {
    return products_of(record, pipeline, block, warp, stepper->machine());
  }
  std::shared_ptr<const ProductView> open(std::size_t number, std::uint64_t block = 0) const {
    const auto view = open_product(record, pipeline, index(block), number, *stepper);
    EXPECT_TRUE(view.ok());
    return view ? *view : nullptr;
  }
};

ProductFrame drawn(const ProductView& view, Scene& scene, Size size, const Theme& theme,
                   std::optional<ProductSpot> hovered = {}) {
  const auto traces = view.traces(5, 9);
  ProductShown shown{view, traces, theme, 5, 9};
  shown.hovered = hovered;
  return draw_product(scene, shown, size);
}

// The last product of the first sum, all elements: rounded to f16 it is what the kernel stored.
void expect_result(const std::string& kernel, std::size_t numbers) {
  SCOPED_TRACE(kernel);
  const Kernel run(kernel, {256, 256, 256});
  const auto view = run.open(0);
  ASSERT_TRUE(view);
  ASSERT_EQ(view->sum().size(), numbers);
  EXPECT_TRUE(view->whole);
  const sim::ProductSeen& last = view->sum().back();
  const auto d = std::find_if(run.buffers.begin(), run.buffers.end(),
                              [](const Buffer& b) { return b.name == "D"; });
  ASSERT_NE(d, run.buffers.end());
  for (std::uint32_t i = 0; i < last.m; ++i) {
    for (std::uint32_t j = 0; j < last.n; ++j) {
      const double stored =
          load_element(d->dtype, d->bytes.data() + (std::size_t{i} * 256 + j) * 2);
      const double sum = value_in(last, last.after[std::size_t{i} * last.n + j]);
      ASSERT_EQ(stored, decode(format_f16, encode(format_f16, sum))) << i << ", " << j;
    }
  }
}
TEST(Product, TheSumIsWhatTheKernelStores) {
  expect_result("hgemm_v7", 16);
  expect_result("wgmma_v5", 16);
}

TEST(Product, LanesHaveWhatTheInstructionSays) {
  // tcgen05.ld.32x32b: lane l of warp w has lane 32 w + l of TMEM.
  const Kernel tcgen05("hgemm_v7", {256, 256, 256});
  const auto view = tcgen05.open(3);
  for (std::uint32_t i = 0; i < 128; i += 3) {
    for (std::uint32_t j = 0; j < 128; j += 5) {
      const ElementPlace place = view->place(i, j);
      EXPECT_EQ(place.cell->lane, i);
      EXPECT_EQ(place.warp, i / 32);
      EXPECT_EQ(place.lane, i % 32);
      EXPECT_EQ(view->owners[i * 128 + j], i);
    }
  }
  // wgmma: row 16 w + l / 4 + 8 (r / 2 % 2), column 8 (r / 4) + 2 (l % 4) + r % 2 (figure 149).
  const Kernel wgmma("wgmma_v5", {256, 256, 256});
  const auto group = wgmma.open(2);
  const std::uint32_t first = group->seen().issue.group * 4;
  for (std::uint32_t i = 0; i < 64; ++i) {
    for (std::uint32_t j = 0; j < 256; j += 3) {
      const ElementPlace place = group->place(i, j);
      EXPECT_EQ(place.warp, first + i / 16);
      EXPECT_EQ(place.lane, i % 8 * 4 + j % 8 / 2);
      EXPECT_EQ(group->owners[i * 256 + j], *place.warp * 32 + *place.lane);
    }
  }
}

// From a matrix to the bytes and back: a cell of A and of B leads to a piece that leads to it.
TEST(Product, MatricesAndBytesLeadToEachOther) {
  const Kernel run("hgemm_v7", {256, 256, 256});
  const auto view = run.open(5);
  Scene scene;
  const ProductFrame frame = drawn(*view, scene, {1400, 900}, light_theme());
  for (const bool of_a : {true, false}) {
    const auto pieces = view->pieces(of_a);
    EXPECT_EQ(pieces.size(), 256u);  // 128 rows of 32 bytes
    const ProductFrame::Bytes& bytes = of_a ? frame.a_bytes : frame.b_bytes;
    for (const ProductView::Piece& piece : pieces) {
      const std::uint32_t at = (piece.offset - bytes.first) / 16;
      const Point point{bytes.box.x + (at % 8 + 0.5) * bytes.box.width / 8,
                        bytes.box.y + (at / 8 + 0.5) * bytes.box.height / bytes.lines};
      const auto spot = spot_at(*view, frame, point);
      ASSERT_TRUE(spot);
      EXPECT_TRUE(spot->piece);
      EXPECT_EQ(spot->row, piece.row);
      EXPECT_EQ(spot->column, piece.k);
      EXPECT_NE(spot_text(*view, *spot).find("of shared memory"), std::string::npos);
    }
    // Beside them nothing is read: 128B swizzle, two pieces of eight in each line.
    std::size_t dark = 0;
    for (std::uint32_t at = 0; at < bytes.lines * 8; ++at) {
      const Point point{bytes.box.x + (at % 8 + 0.5) * bytes.box.width / 8,
                        bytes.box.y + (at / 8 + 0.5) * bytes.box.height / bytes.lines};
      dark += !spot_at(*view, frame, point);
    }
    EXPECT_EQ(dark, bytes.lines * 8 - 256);
  }
  const auto element = spot_at(*view, frame, frame.d.centre());
  ASSERT_TRUE(element);
  EXPECT_EQ(element->row, 64u);
  EXPECT_EQ(element->column, 64u);
}

void expect_steps(bool timed) {
  const Kernel run("hgemm_v7", {256, 256, 256}, timed);
  const ProductIndex index = run.index();
  const auto one = run.open(2), other = run.open(9);
  const auto there = at_step(*one, run.record, index, 9);
  EXPECT_EQ(there->number, other->number);
  EXPECT_EQ(there->begin, other->begin);
  EXPECT_EQ(there->seen().after, other->seen().after);
  EXPECT_EQ(there->descriptors[0].bits, other->descriptors[0].bits);
  EXPECT_NE(there->descriptors[0].bits, one->descriptors[0].bits);
  const auto a = there->traces(3, 4), b = other->traces(3, 4);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].after, b[i].after);
}

TEST(Product, StepsOfASumAreThoseThatAreOpenedByThemselves) {
  expect_steps(true);
  expect_steps(false);
}

TEST(Product, PairsHaveTheirOwnRows) {
  const Kernel run("hgemm_v9", {256, 256, 256});
  const auto even = run.open(0, 0), odd = run.open(0, 1);
  ASSERT_TRUE(even && odd);
  EXPECT_EQ(even->begin, odd->begin);
  EXPECT_NE(even->seen().a, odd->seen().a);
  EXPECT_EQ(even->seen().b, odd->seen().b);
  EXPECT_EQ(even->seen().b_from.blocks, (std::vector<std::uint64_t>{0, 1}));
}

TEST(Product, PicturesFitTheirRooms) {
  for (const char* kernel : {"hgemm_v7", "wgmma_v5"}) {
    const Kernel run(kernel, {256, 256, 256});
    const auto view = run.open(4);
    for (const Size size :
         {Size{300, 200}, Size{400, 264}, Size{445, 366}, Size{700, 520}, Size{696, 584},
          Size{768, 584}, Size{1000, 700}, Size{1016, 784}, Size{1600, 1000}, Size{2400, 1300}}) {
      for (const Theme* theme : {&light_theme(), &dark_theme()}) {
        Scene scene;
        drawn(*view, scene, size, *theme, ProductSpot{ProductSpot::In::a, false, 7, 3});
        std::vector<std::pair<Box, std::string>> taken;
        for (const Item& item : scene.items) {
          const auto* text = std::get_if<Text>(&item);
          if (!text) continue;
          const double width = text_width(text->text, text->size, text->family, text->weight);
          const double before = text->across == Across::left     ? 0
                                : text->across == Across::centre ? width / 2
                                                                 : width;
          const double left = text->at.x - before;
          EXPECT_GE(left, 0) << text->text;
          EXPECT_LE(left + width, size.width + 1) << text->text;
          EXPECT_LE(text->at.y, size.height) << text->text << " at " << size.width;
          // Letters, without what lines have above and below them.
          const Box box{left, text->at.y - text->size / 3, width, text->size / 1.5};
          for (const auto& [other, words] : taken) {
            const bool over = box.x + 1 < other.right() && other.x + 1 < box.right() &&
                              box.y < other.bottom() && other.y < box.bottom();
            EXPECT_FALSE(over) << text->text << " over " << words << " at " << size.width;
          }
          taken.emplace_back(box, text->text);
        }
      }
    }
  }
}

// Of terms that have no room, those come first that lost bits.
TEST(Product, LowRoomsShowWhatIsCut) {
  const Kernel run("hgemm_v7", {256, 256, 256});
  const auto view = run.open(5);
  const auto traces = view->traces(5, 9);
  const auto shown = [&](Size size) {
    Scene scene;
    draw_product(scene, {*view, traces, light_theme(), 5, 9}, size);
    std::vector<std::string> out;
    for (const Item& item : scene.items) {
      if (const auto* text = std::get_if<Text>(&item)) out.push_back(text->text);
    }
    return out;
  };
  const auto has = [](const std::vector<std::string>& all, const std::string& text) {
    return std::find(all.begin(), all.end(), text) != all.end();
  };
  const auto low = shown({1200, 600}), high = shown({1200, 1000});
  std::size_t cut = 0, there = 0;
  for (const sim::TracedTerm& term : traces[5].steps.front().terms) {
    const std::string name = "k " + std::to_string(term.k);
    EXPECT_TRUE(has(high, name)) << name;
    there += has(low, name) ? 1 : 0;
    if (term.kept == term.a * term.b) continue;
    ++cut;
    EXPECT_TRUE(has(low, name)) << name;
  }
  EXPECT_GT(cut, 0u);
  ASSERT_LT(there, 16u);
  EXPECT_TRUE(has(low, "and " + std::to_string(16 - there) + " more, not cut"));
  EXPECT_TRUE(has(shown({400, 264}), "the products of this sum, how the number came about."));
}

// At 1280 x 800 beside a lesson there is no room for the descriptors beside the matrices: they
// stand below them, or how the number came about does, as is asked; what is not there is named with
// the command that shows it. A larger window has both.
TEST(Product, ANarrowRoomHasTheDescriptorsOrTheNumber) {
  const Kernel run("hgemm_v4", {256, 256, 256});
  const auto view = run.open(1);
  const auto traces = view->traces(5, 9);
  const auto drawn_at = [&](Size size, bool number) {
    Scene scene;
    ProductShown shown{*view, traces, light_theme(), 5, 9};
    shown.number_first = number;
    draw_product(scene, shown, size);
    return scene;
  };
  const auto has = [](const Scene& scene, const std::string& words) {
    return std::any_of(scene.items.begin(), scene.items.end(), [&](const Item& item) {
      const auto* text = std::get_if<Text>(&item);
      return text && text->text.find(words) != std::string::npos;
    });
  };
  const auto offers = [](const Scene& scene, const std::string& command) {
    return std::any_of(scene.targets.begin(), scene.targets.end(),
                       [&](const Target& each) { return each.command == command; });
  };
  const Scene bits = drawn_at({696, 584}, false), number = drawn_at({696, 584}, true);
  EXPECT_TRUE(has(bits, "address >> 4"));
  EXPECT_TRUE(has(bits, "61-63"));
  EXPECT_TRUE(has(bits, "How D[5, 9] came about") != has(bits, "how the number came about"));
  EXPECT_TRUE(offers(bits, "product show number"));
  EXPECT_TRUE(has(number, "How D[5, 9] came about"));
  EXPECT_TRUE(has(number, "No room for: descriptors."));
  EXPECT_TRUE(offers(number, "product show descriptors"));
  for (const bool first : {true, false}) {
    const Scene both = drawn_at({1016, 784}, first), wide = drawn_at({1600, 1000}, first);
    for (const Scene* each : {&both, &wide}) {
      EXPECT_TRUE(has(*each, "address >> 4"));
      EXPECT_TRUE(has(*each, "61-63"));
      EXPECT_TRUE(has(*each, "How D[5, 9] came about"));
      EXPECT_FALSE(has(*each, "No room for"));
    }
  }
}

TEST(Product, TextAndDataSayTheSame) {
  const Kernel run("hgemm_v7", {256, 256, 256});
  const auto view = run.open(15);
  const auto traces = view->traces(5, 9);
  const ProductShown shown{*view, traces, light_theme(), 5, 9};
  const Json json = product_json(shown, true);
  EXPECT_EQ(json["sum"].size(), 16u);
  EXPECT_EQ(json["sum"][15]["steps"][0]["terms"].size(), 16u);
  double sum = json["sum"][15]["steps"][0]["kept_of_before"];
  for (const Json& term : json["sum"][15]["steps"][0]["terms"]) sum += term["kept"].get<double>();
  EXPECT_EQ(sum, json["sum"][15]["steps"][0]["sum"].get<double>());
  const std::string text = product_text(shown);
  EXPECT_NE(text.find(json["sum"][15]["after_bits"].get<std::string>()), std::string::npos);
  EXPECT_NE(text.find("no Blackwell was asked"), std::string::npos);
  EXPECT_NE(text.find("otherwise:"), std::string::npos);
}

TEST(Product, OthersHaveNone) {
  const Kernel run("matmul_tiled", {64, 64, 64});
  EXPECT_EQ(run.index().size(), 0u);
}

}  // namespace
}  // namespace tilescope
