// Records of runs: any bytes get a record or a sentence; and so does a good record that was edited,
// with lengths and checksums made to fit, so that the edits reach what sections hold. What is read
// can be written, drawn and searched.
//
// An input is read as it is, and then as edits of a small record: four bytes each, of place (a
// share of the section), operation and value; the first byte chooses the section.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/io/record_file.h"
#include "core/record/timeline.h"
#include "tests/sim/record/synthetic_record.h"

namespace {

using namespace tilescope;
using Bytes = std::vector<std::byte>;

void read(const Bytes& file) {
  const Outcome<sim::Record> record = read_record(file, "fuzz.tsr");
  if (!record) {
    const Error& error = record.error();
    if (error.sentence.empty() || !std::string_view(error.where).starts_with("fuzz.tsr, byte ")) {
      std::abort();
    }
    return;
  }
  const Outcome<sim::Record> again = read_record(write_record(*record), "fuzz.tsr");
  if (!again || !(again->events == record->events) || !(again->tracks == record->tracks)) {
    std::abort();
  }
  const sim::Timeline timeline(*record);
  std::vector<sim::TrackId> tracks;
  for (sim::TrackId t = 0; t < record->tracks.size(); ++t) tracks.push_back(t);
  for (const sim::Cycle to : {sim::Cycle{2000}, sim::never_ends}) {
    for (const sim::TrackId track : tracks) {
      timeline.spans(track, 100, to, 50);
      timeline.totals(track, 100, to);
    }
    timeline.arrows(tracks, 0, to, 100);
    timeline.next({}, to / 2);
    timeline.previous({}, to);
    timeline.find({}, 0, to, 10);
  }
}

// The content of each section of a small record.
const std::vector<Bytes>& sections() {
  static const std::vector<Bytes> all = [] {
    sim::SyntheticPipeline pipeline;
    pipeline.processors = pipeline.blocks = 2;
    pipeline.steps = 6;
    pipeline.writers = 1;
    sim::Record record = sim::synthetic_record(pipeline);
    record.buffers = {{"A", DType::f16, {64, 128}}, {"D", DType::f32, {7}}};
    for (sim::EventId id = 0; id < record.events.size(); id += 3) {
      sim::MemoryUse use;
      use.event = id;
      use.of = static_cast<sim::MemoryUse::Of>(id % 4);
      use.writes = id % 2 == 0;
      use.buffer = id % 2;
      use.rows = 16;
      use.column = id * 300;
      use.columns = 64;
      record.uses.push_back(use);
    }
    const Bytes file = write_record(record);
    std::vector<Bytes> out;
    for (std::size_t at = 16; at < file.size();) {
      std::size_t length = 0;
      for (std::size_t i = 0; i < 8; ++i) {
        length |= static_cast<std::size_t>(file[at + 4 + i]) << 8 * i;
      }
      const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at + 20);
      out.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
      at += 20 + length;
    }
    return out;
  }();
  return all;
}

Bytes sealed(const std::vector<Bytes>& contents) {
  static const Bytes head = [] {
    const Bytes file = write_record(sim::Record{});
    return Bytes(file.begin(), file.begin() + 16);
  }();
  constexpr std::string_view names = "RUN CODERPRTTRAKEVNTCNTRPIPEUSESLANECAUSL2  ";
  Bytes out = head;
  for (std::size_t s = 0; s < contents.size(); ++s) {
    for (const char c : names.substr(4 * s, 4)) out.push_back(static_cast<std::byte>(c));
    const std::uint64_t sum = record_checksum(contents[s]);
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(contents[s].size() >> 8 * i));
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(sum >> 8 * i));
    out.insert(out.end(), contents[s].begin(), contents[s].end());
  }
  return out;
}

void edit(Bytes& content, const std::uint8_t* how) {
  const std::size_t place = (std::size_t{how[0]} << 8 | how[1]) * (content.size() + 1) >> 16;
  const auto at = content.begin() + static_cast<std::ptrdiff_t>(place);
  const auto value = static_cast<std::byte>(how[3]);
  const bool inside = place < content.size();
  switch (how[2] % 5) {
    case 0:
      if (inside) *at = value;
      break;
    case 1:
      if (inside) *at ^= static_cast<std::byte>(1 << how[3] % 8);
      break;
    case 2:
      content.insert(at, 1 + how[3] % 9, std::byte{0xff});
      break;
    case 3:
      content.insert(at, value);
      break;
    case 4:
      content.erase(at, at + std::min<std::ptrdiff_t>(content.end() - at, 1 + how[3] % 16));
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  read({begin, begin + size});
  if (size == 0) {
    read(sealed(sections()));
    return 0;
  }
  std::vector<Bytes> contents = sections();
  Bytes& content = contents[data[0] % contents.size()];
  for (std::size_t i = 1; i + 4 <= std::min<std::size_t>(size, 64); i += 4) edit(content, data + i);
  read(sealed(contents));
  return 0;
}
