// The code that `lower` shows below its levels: a kernel of the catalog with its sizes, or a PTX
// file, alone or with a launch file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/lower/code.h"
#include "core/run/catalog_entry.h"

namespace tilescope {

// `asked` gives sizes. With `open`, which is the program's tensor where its numbers are not known,
// the kernel is tried with several sizes, and the numbers are those that `tiles` of it has then.
Outcome<lowering::Code> code_of_kernel(const CatalogEntry& entry, const Request& asked,
                                       const Layout* open);

// A PTX file; entry: empty where it has one. A launch file gives its parameters.
Outcome<lowering::Code> code_of_file(const std::string& ptx, const std::string& entry,
                                     const std::string& launch);

// What --ptx and `lower ptx` name: a kernel, or a file.
Outcome<lowering::Code> code_below_of(const std::string& of, const lowering::Lowering& lowering);

}  // namespace tilescope
