#include "app/python/cuda_source.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "app/compiled_files.h"
#include "app/compiler.h"
#include "app/descriptions.h"
#include "app/python/values.h"

namespace tilescope::python {
namespace {

// "90a" of "sm_90a", "compute_90a".
std::string architecture_number(const std::string& arch) {
  std::string_view number = arch;
  for (const std::string_view begin : {"sm_", "compute_"}) {
    if (number.starts_with(begin)) number.remove_prefix(begin.size());
  }
  const std::string_view digits = number.substr(0, number.find_last_of("0123456789") + 1);
  const std::string_view letter = number.substr(digits.size());
  const bool fits = (digits.size() == 2 || digits.size() == 3) &&
                    std::all_of(digits.begin(), digits.end(),
                                [](unsigned char c) { return std::isdigit(c) != 0; }) &&
                    (letter.empty() || letter == "a" || letter == "f");
  if (!fits) {
    refuse(fmt::format("arch=\"{}\": sm_80, sm_90a, sm_100a or another one that the compiler has.",
                       arch));
  }
  return std::string(number);
}

std::string folder_of(const CudaSource& source) {
  return std::filesystem::path(source.path).parent_path().string();
}
std::string name_of(const CudaSource& source) {
  return source.path.empty() ? "kernel.cu" : name_in_ptx(source.path);
}

std::string by_nvcc(const CudaSource& source, const std::string& number) {
  bool interrupted = false;
  const auto keep_on = [&] {
    const nb::gil_scoped_acquire held;
    interrupted = interrupted || PyErr_CheckSignals() != 0;
    return !interrupted;
  };
  Outcome<Build> build = Error{};
  {
    const nb::gil_scoped_release released;
    build = compile_text({name_of(source), folder_of(source), source.text, source.options},
                         "compute_" + number, keep_on);
  }
  if (interrupted) throw nb::python_error();
  if (!build) refuse(build.error());
  if (build->compiled()) return std::move(build->ptx);
  std::string all = fmt::format("{} does not compile:", build->name);
  for (const Complaint& each : build->complaints) {
    if (each.weight != Complaint::Weight::warning) all += "\n" + text(each);
  }
  refuse(all);
}

std::string by_nvrtc(const CudaSource& source, const std::string& number) {
  const nb::object compile = nb::module_::import_("tilescope._nvrtc").attr("compile");
  return nb::cast<std::string>(compile(nb::str(source.text.c_str(), source.text.size()),
                                       name_of(source), folder_of(source), number, source.options));
}

}  // namespace

bool is_cuda(std::string_view text) {
  return text.find("__global__") != text.npos && text.find(".address_size") == text.npos;
}

std::string arch_of_device(const std::string& device) {
  const DeviceDescription chip = taken_of_words(device_described(device));
  return fmt::format("sm_{}{}{}", chip.major, chip.minor, chip.major >= 9 ? "a" : "");
}

MadePtx ptx_of_cuda(const CudaSource& source) {
  const std::string number = architecture_number(source.arch);
  const std::string& compiler = source.compiler;
  if (!compiler.empty() && compiler != "nvcc" && compiler != "nvrtc") {
    refuse(
        fmt::format("compiler=\"{}\": nvcc, nvrtc, or None for the first that is here.", compiler));
  }
  const bool nvcc = compiler == "nvcc" || (compiler.empty() && find_nvcc().ok());
  return {name_of(source), nvcc ? by_nvcc(source, number) : by_nvrtc(source, number)};
}

}  // namespace tilescope::python
