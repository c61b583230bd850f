// What is known here of functions and modules: what a launch needs to gather its parameters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/cuda/api.h"
#include "app/cuda/wire.h"

namespace tilescope::standin {

struct FunctionFacts {
  std::string name;
  CUmodule module = nullptr;
  std::vector<wire::Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
};

// Null: it is no handle of a function or kernel.
std::shared_ptr<const FunctionFacts> facts_of(CUfunction function);

// A function of the module, by its name.
CUresult find_function(CUfunction* function, CUmodule module, const char* name);

}  // namespace tilescope::standin
