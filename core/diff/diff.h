// Every element of a result against what it should be: how many are wrong, how far off, where, and
// (with an Execution) who wrote them.
//
// Two tensors of one shape and element type are compared element by element in row-major order;
// core/diff/measure.h says what each error is and when an element is wrong. The work is done in
// pieces of the caller's size, so it can show progress and be cancelled:
//
//     auto differ = Differ::start(c, reference, {.tolerance = {1e-5, 1e-8}});
//     while (!differ->advance(1 << 20)) { ... }
//     DiffReport report = differ->report();
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/diff/heat_map.h"
#include "core/diff/measure.h"
#include "core/error.h"
#include "core/run/job.h"

namespace tilescope {

// What a type's own rounding excuses, where nobody said anything else: zero for integers; for
// floats the defaults of torch.testing.assert_close, which people know.
Tolerance tolerance_for(DType type);

struct DiffOptions {
  Tolerance tolerance;
  bool nan_equal = true;
  std::size_t first = 8, worst = 8;             // mismatches listed
  std::int64_t heat_rows = 64, heat_cols = 64;  // at most so many bins
};

// One wrong element.
struct Mismatch {
  std::int64_t index = 0;  // row-major
  double got = 0, want = 0;
  std::string got_text, want_text;  // exact, also for 64-bit integers
  Measure error;
  std::optional<Site> writer;  // filled by name_writers; nothing: never written
};

template <class T>
struct Extreme {
  T value = 0;
  std::int64_t index = -1;  // the first element that has it; -1: no element differs
};

struct DiffReport {
  std::string got_name, want_name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  DiffOptions options;

  std::uint64_t compared = 0;
  std::uint64_t wrong = 0;
  std::uint64_t exact = 0;       // the same value (+0 and -0 are), or NaN twice where that is equal
  std::uint64_t not_finite = 0;  // differ by infinity; left out of the mean
  Extreme<double> max_absolute, max_relative;
  Extreme<std::uint64_t> max_ulp;
  double mean_absolute = 0;

  std::vector<Mismatch> first;  // the first wrong elements, in row-major order
  std::vector<Mismatch> worst;  // by absolute error, largest first; ties in row-major order
  HeatMap heat;
  bool traced = false;  // name_writers was called: an empty writer means "never written"

  bool ok() const { return wrong == 0; }
};

class Differ {
 public:
  // Both tensors must outlive the Differ. Shapes or types that differ, and tolerances that are
  // negative or not finite, are a mismatch; a tensor whose bytes do not fill its shape too.
  static Outcome<Differ> start(const Buffer& got, const Buffer& want, DiffOptions options);

  // Compares about `count` more elements; true when all are done.
  bool advance(std::int64_t count);
  std::int64_t done() const { return next_; }
  std::int64_t total() const { return total_; }
  // The report on what was compared so far.
  DiffReport report() const;

 private:
  struct Candidate {
    double absolute;
    std::int64_t index;
  };

  Differ(const Buffer& got, const Buffer& want, DiffOptions options);
  static bool worse(const Candidate& a, const Candidate& b);
  void compare_run(std::int64_t end, HeatBin& bin);
  bool add_summary(std::int64_t end, HeatBin& bin);
  void record(std::int64_t index, const Measure& m, HeatBin& bin);
  void remember(std::int64_t index, const Measure& m);

  const Buffer* got_;
  const Buffer* want_;
  std::int64_t total_ = 0, next_ = 0;
  DiffReport report_;  // without its two lists
  double sum_absolute_ = 0;
  std::vector<std::int64_t> first_;
  std::vector<Candidate> worst_;  // a heap, the least bad in front
};

// All at once.
Outcome<DiffReport> diff(const Buffer& got, const Buffer& want, DiffOptions options);

// One element, wrong or not; the tensors must be fit for Differ::start.
Mismatch mismatch_at(const Buffer& got, const Buffer& want, const DiffOptions& options,
                     std::int64_t index);

// Asks the execution who wrote each listed mismatch; `buffer` is the result's place in the job.
void name_writers(DiffReport& report, const Execution& execution, std::size_t buffer);

// "(3, 17)": a row-major index as coordinates.
std::string index_text(std::int64_t index, const std::vector<std::int64_t>& shape);

// "written by block (3,0,0), warp 2, lane 5 at kernels/elementwise/elementwise_add.cu:42", or
// "never written".
std::string writer_text(const std::optional<Site>& writer);

// A few aligned lines for people; ends in a newline.
std::string text(const DiffReport& report);

}  // namespace tilescope
