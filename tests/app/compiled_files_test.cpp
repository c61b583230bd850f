// What goes into a compilation of a kernel that was changed.
#include "app/compiled_files.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tilescope {
namespace {

namespace fs = std::filesystem;

class CompiledFiles : public ::testing::Test {
 protected:
  CompiledFiles()
      : root(fs::temp_directory_path() / ("tilescope_tree_" + std::to_string(getpid()))) {
    write("kernels/blackwell/mine.cu",
          "#include \"kernels/device/tma.h\"\n#include \"beside.h\"\n");
    write("kernels/blackwell/beside.h", "// beside\n");
    write("beside.h", "// of somebody else\n");
  }
  ~CompiledFiles() override {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  }
  CudaFiles files() {
    auto found = cuda_files((root / "kernels/blackwell/mine.cu").string());
    EXPECT_TRUE(found) << (found ? "" : found.error().sentence);
    return found ? *found : CudaFiles{};
  }

  fs::path root;
};

TEST_F(CompiledFiles, TheProgramsHeadersServeWhereThereAreNone) {
  const CudaFiles found = files();
  ASSERT_TRUE(found.headers.count("kernels/device/tma.h"));
  EXPECT_TRUE(found.headers.at("kernels/device/tma.h").ours);
  ASSERT_TRUE(found.headers.count("beside.h"));
  EXPECT_EQ(found.headers.at("beside.h").text, "// beside\n");
}

TEST_F(CompiledFiles, AHeaderOfTheTreeComesBeforeTheProgramsOwn) {
  const std::string before = key_of(files(), "sm_100a", "13");
  write("kernels/device/tma.h", "// changed\n");
  const CudaFiles found = files();
  ASSERT_TRUE(found.headers.count("kernels/device/tma.h"));
  EXPECT_FALSE(found.headers.at("kernels/device/tma.h").ours);
  EXPECT_EQ(found.headers.at("kernels/device/tma.h").text, "// changed\n");
  EXPECT_NE(key_of(found, "sm_100a", "13"), before) << "it is compiled anew";
}

}  // namespace
}  // namespace tilescope
