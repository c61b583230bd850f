// The theatre: a cluster's pipeline on one stage at one time, to be played. What is in it comes
// from the run's record alone (core/profile/pipeline.h): the tiles of matrices that copies bring,
// the stages of shared memory, mbarriers, tensor core, accumulators, warps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/pipeline.h"
#include "core/record/timeline.h"
#include "viz/theatre/theatre_lanes.h"

namespace tilescope {

// What one looks for from moment to moment.
enum class TheatreStep : std::uint8_t { copy, product, phase, load, any };
std::string_view name_of(TheatreStep step);

// What is done over the time of the run, in its strip at the foot.
struct TheatreActivity {
  static constexpr std::size_t buckets = 512;
  std::string name;
  std::array<float, buckets> share{};  // of a bucket's time that something went on
};

class TheatreView {
 public:
  // The timeline is of this record.
  TheatreView(std::shared_ptr<const sim::Record> record,
              std::shared_ptr<const sim::Timeline> timeline, const std::vector<sim::Role>& roles,
              std::uint64_t cluster);

  const sim::Record& record() const { return *record_; }
  const sim::Timeline& timeline() const { return *timeline_; }
  const sim::Pipeline& pipeline() const { return pipeline_; }
  // Of the cluster's events.
  double begin() const { return static_cast<double>(pipeline_.begin); }
  double end() const { return static_cast<double>(pipeline_.end); }
  // A time at which there is something to see: in the middle of the products, while copies are
  // under way; else in the middle of everything.
  double opening() const { return opening_; }
  // Bytes that copies into shared memory asked L2 for, in the whole run; and of these, those that
  // came from memory.
  std::uint64_t asked() const { return asked_; }
  std::uint64_t missed() const { return missed_; }
  // When L2 had what of a buffer; null: the record does not say, or nothing of it was read.
  const sim::CachedBuffer* cached(std::uint32_t buffer) const;
  const std::vector<TheatreActivity>& activity() const { return activity_; }

  // The next thing of a kind that begins after a time, or the last one before it. Nothing: there is
  // none.
  std::optional<double> next(TheatreStep step, double at) const;
  std::optional<double> previous(TheatreStep step, double at) const;

  // No copies that complete on an mbarrier and no tensor core that works by itself: what its lanes
  // access is shown instead.
  bool moves_by_threads() const { return !lanes_.empty(); }
  const LaneAccesses& lanes() const { return lanes_; }

  // The CTAs that are shown when that of this rank is looked at: both of a pair that multiplies
  // together, else itself.
  std::vector<std::uint8_t> ranks_with(std::uint8_t rank) const;
  // Tensors that copies bring, then those that they write or sums go to: indices into
  // Record::buffers.
  const std::vector<std::uint32_t>& inputs() const { return inputs_; }
  const std::vector<std::uint32_t>& outputs() const { return outputs_; }

 private:
  void find_moments();
  void find_tensors();
  void add_activity(std::string name, const std::vector<sim::EventId>& operations);
  void add_activity_of_lanes();
  void add_spans(std::string name, std::vector<std::pair<double, double>> spans);

  std::shared_ptr<const sim::Record> record_;
  std::shared_ptr<const sim::Timeline> timeline_;
  sim::Pipeline pipeline_;
  LaneAccesses lanes_;
  double opening_ = 0;
  std::uint64_t asked_ = 0, missed_ = 0;
  std::vector<TheatreActivity> activity_;
  std::array<std::vector<double>, 5> moments_;  // by TheatreStep, ascending
  std::vector<std::uint32_t> inputs_, outputs_;
  bool pairs_ = false;
};

}  // namespace tilescope
