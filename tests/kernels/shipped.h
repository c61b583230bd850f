// The catalog's kernels as they are shipped, for tests: their PTX, and a small run of one.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "kernels/catalog/catalog.h"

namespace tilescope::test {

inline std::string shipped_ptx(const std::string& kernel) {
  std::ifstream file(std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/" + kernel + ".ptx");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline Job shipped_job(const std::string& kernel, const Sizes& s) {
  Request request;
  request.sizes = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
  Outcome<Job> job = make_job(**find_kernel(kernel), request, shipped_ptx(kernel));
  EXPECT_TRUE(job.ok()) << kernel;
  return *job;
}

}  // namespace tilescope::test
