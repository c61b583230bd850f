// Broken records of runs: each gets one sentence that says what is wrong and where.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/io/record_file.h"
#include "tests/sim/record/synthetic_record.h"

namespace tilescope {
namespace {

using Bytes = std::vector<std::byte>;

Bytes good() {
  sim::SyntheticPipeline pipeline;
  pipeline.processors = pipeline.blocks = 2;
  pipeline.steps = 2;
  pipeline.writers = 1;
  return write_record(sim::synthetic_record(pipeline));
}

Error refusal(const Bytes& file) {
  const Outcome<sim::Record> record = read_record(file, "run.tsr");
  if (record.ok()) return {ErrorKind::refused, "it was read", ""};
  EXPECT_EQ(record.error().kind, ErrorKind::unreadable);
  return record.error();
}

std::string sentence(const Bytes& file) {
  return refusal(file).sentence;
}

Bytes bytes_of_text(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// Where a section's head begins: name, length, checksum.
std::size_t head_of(const Bytes& file, std::size_t section) {
  std::size_t at = 16;
  for (; section > 0; --section) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 8; ++i)
      length |= static_cast<std::size_t>(file[at + 4 + i]) << 8 * i;
    at += 20 + length;
  }
  return at;
}

// The section with this content instead, and a checksum that fits.
Bytes with_section(Bytes file, std::size_t section, const Bytes& content) {
  const std::size_t at = head_of(file, section), end = head_of(file, section + 1);
  const std::uint64_t sum = record_checksum(content);
  for (std::size_t i = 0; i < 8; ++i) {
    file[at + 4 + i] = static_cast<std::byte>(content.size() >> 8 * i);
    file[at + 12 + i] = static_cast<std::byte>(sum >> 8 * i);
  }
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at + 20);
  file.erase(begin, file.begin() + static_cast<std::ptrdiff_t>(end));
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(at + 20), content.begin(), content.end());
  return file;
}

Bytes content_of(const Bytes& file, std::size_t section) {
  return {file.begin() + static_cast<std::ptrdiff_t>(head_of(file, section) + 20),
          file.begin() + static_cast<std::ptrdiff_t>(head_of(file, section + 1))};
}

constexpr std::size_t code = 1, tracks = 3, events = 4, pipes = 6, uses = 7, lanes = 8;

TEST(BrokenRecord, TheGoodOneIsRead) {
  EXPECT_EQ(sentence(good()), "it was read");
  EXPECT_EQ(sentence(with_section(good(), events, content_of(good(), events))), "it was read");
}

TEST(BrokenRecord, NotARecord) {
  EXPECT_EQ(sentence({}), "run.tsr is empty; tilescope run KERNEL --record F.tsr writes a record.");
  EXPECT_EQ(sentence(bytes_of_text("{\"traceEvents\":[]}")),
            "run.tsr is not the record of a run (it does not begin with \\x89TSR); tilescope run "
            "KERNEL --record F.tsr writes one.");
  Bytes file = good();
  file.erase(file.begin() + 4);  // as when \r\n became \n
  EXPECT_EQ(sentence(file),
            "run.tsr was changed as if it were text (its line ends differ): copy it again, as "
            "binary.");
}

TEST(BrokenRecord, OfAnotherVersion) {
  Bytes file = good();
  for (const char* version : {"2", "7"}) {  // one before it, and one to come
    file[8] = static_cast<std::byte>(*version - '0');
    EXPECT_EQ(sentence(file),
              "run.tsr is a record of version " + std::string(version) +
                  ", and this program reads versions 3 to 6: record the run again.");
  }
  EXPECT_EQ(refusal(file).where, "run.tsr, byte 8");
  file = good();
  file[12] = std::byte{8};
  EXPECT_EQ(sentence(file), "run.tsr has 8 sections, and a record of version 6 has 11.");
}

TEST(BrokenRecord, EveryPrefixIsRefused) {
  const Bytes file = good();
  for (std::size_t n = 0; n < file.size(); ++n) {
    const Error error = refusal({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)});
    if (n > 0) {
      EXPECT_NE(error.sentence.find("is cut short: it ends inside "), std::string::npos) << n;
    }
  }
  const std::string end = sentence({file.begin(), file.end() - 1});
  EXPECT_EQ(end.substr(0, 57), "run.tsr is cut short: it ends inside its section 'L2  ', ");
}

TEST(BrokenRecord, EveryBitThatIsChangedIsSeen) {
  const Bytes file = good();
  for (std::size_t i = 0; i < file.size(); ++i) {
    Bytes changed = file;
    changed[i] ^= static_cast<std::byte>(1 << i % 8);
    EXPECT_NE(sentence(changed), "it was read") << i;
  }
  Bytes changed = file;
  const std::size_t at = head_of(file, tracks) + 20;
  changed[at + 3] ^= std::byte{4};
  EXPECT_EQ(refusal(changed).where, "run.tsr, byte " + std::to_string(at));
  EXPECT_NE(sentence(changed).find("is damaged: the checksum of its section 'TRAK' ("),
            std::string::npos);
}

TEST(BrokenRecord, MoreThanARecord) {
  Bytes file = good();
  file.push_back({});
  EXPECT_EQ(sentence(file),
            "run.tsr goes on for 1 bytes after its last section: it is not one record alone.");
}

TEST(BrokenRecord, ContentThatCannotBe) {
  const auto broken = [](std::size_t section, const std::vector<int>& content) {
    Bytes bytes;
    for (const int byte : content) bytes.push_back(static_cast<std::byte>(byte));
    return sentence(with_section(good(), section, bytes));
  };
  // One event: kind and stall, what differs, track, begin, length.
  EXPECT_EQ(broken(events, {1, 0, 0, 0, 10, 5}), "it was read");
  EXPECT_EQ(broken(events, {1, 0, 0, 0, 10, 5, 9}),
            "run.tsr has a broken section 'EVNT': 1 bytes too many.");
  EXPECT_EQ(broken(events, {1, 7, 0, 0, 10, 5}),
            "run.tsr has a broken section 'EVNT': event 0 is of no known kind.");
  EXPECT_EQ(broken(events, {1, 0xf8, 0, 0, 10, 5}),
            "run.tsr has a broken section 'EVNT': event 0 has no known stall.");
  EXPECT_EQ(broken(events, {1, 0, 0, 126, 10, 5}),
            "run.tsr has a broken section 'EVNT': event 0 is on track 63, of 28.");
  EXPECT_EQ(broken(events, {1, 0, 128, 0, 10, 5, 1}),
            "run.tsr has a broken section 'EVNT': event 0 is caused by event 1, of 1.");
  EXPECT_EQ(broken(events, {1, 0, 128, 0, 10, 5}),
            "run.tsr has a broken section 'EVNT': a number or text that is cut off.");
  EXPECT_EQ(broken(events, {1, 5, 8, 0, 10, 0, 1, 0}),
            "run.tsr has a broken section 'EVNT': event 0 is report 1, of 1.");
  // So many events that no memory holds them.
  EXPECT_EQ(broken(events, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}),
            "run.tsr has a broken section 'EVNT': a number or text that is cut off.");
  EXPECT_EQ(broken(code, {1, 4, 'a', '.', 'c', 'u', 1, 0, 0, 1, 3, 0, 0, 0}),
            "run.tsr has a broken section 'CODE': an instruction is of source 1, of 1.");
  EXPECT_EQ(broken(code, {1, 4, 'a', '.', 'c', 'u', 1, 0, 0, 0, 3, 0, 0, 7}),
            "run.tsr has a broken section 'CODE': an instruction has a product of no known type.");
  EXPECT_EQ(broken(tracks, {1, 0, 14, 0, 0}),
            "run.tsr has a broken section 'TRAK': a track of no known unit.");
  EXPECT_EQ(broken(pipes, {3}), "run.tsr has a broken section 'PIPE': 3 units, and there are 13.");
  EXPECT_EQ(broken(uses, {1, 1, 'A', 99, 0, 0}),
            "run.tsr has a broken section 'USES': a buffer of no known type.");
  EXPECT_EQ(broken(uses, {0, 1, 0, 0x0f, 0, 0, 0, 0, 0, 0}),
            "run.tsr has a broken section 'USES': a use of no known kind.");
  EXPECT_EQ(broken(uses, {0, 1, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0}),
            "run.tsr has a broken section 'USES': a use of an event that is not there.");
  EXPECT_EQ(broken(uses, {0, 1, 0, 3, 0, 5, 0, 1, 0, 1}),
            "run.tsr has a broken section 'USES': a use of buffer 5, of 0.");
  EXPECT_EQ(broken(lanes, {0, 1, 0x0f, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
            "run.tsr has a broken section 'LANE': an access of no known kind.");
  EXPECT_EQ(broken(lanes, {0, 1, 0, 4, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
            "run.tsr has a broken section 'LANE': an access of a track that is not there.");
  EXPECT_EQ(broken(lanes, {0, 1, 0, 4, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0}),
            "run.tsr has a broken section 'LANE': an access of a buffer that is not there.");
  EXPECT_EQ(broken(lanes, {0, 1, 0, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0}),
            "run.tsr has a broken section 'LANE': an access of lanes that are not there.");
}

}  // namespace
}  // namespace tilescope
