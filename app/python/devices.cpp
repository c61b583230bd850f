// The chips that are simulated, as Python asks for them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "app/descriptions.h"
#include "app/python/values.h"
#include "core/run/fit_launch.h"

namespace tilescope::python {

void define_devices(nb::module_& module) {
  module.def(
      "device",
      [](const std::string& name) {
        const DeviceDescription device = taken_of_words(device_described(name));
        nb::dict out;
        out["name"] = device.name;
        out["capability"] = nb::make_tuple(device.major, device.minor);
        out["processors"] = device.processors;
        out["threads"] = device.threads;
        out["shared"] = device.shared;
        out["block_shared"] = device.block_shared;
        out["registers"] = device.registers;
        const bool clusters = device.major >= 9;
        out["cluster"] = clusters ? portable_cluster : 1;
        out["most_cluster"] = clusters ? most_cluster : 1;
        if (device.times.known()) out["l2"] = static_cast<std::uint64_t>(device.times.l2_size);
        return out;
      },
      nb::arg("name"), nb::sig("def device(name: str) -> dict[str, Any]"),
      "A chip that launch(..., device=name) simulates: its name, compute capability, processors "
      "(SMs), and of each the\nthreads, bytes of shared memory and registers that it has room for; "
      "block_shared: bytes that one CTA may have;\ncluster: CTAs of a cluster, and most_cluster "
      "where a "
      "kernel allows what is not portable; l2: bytes of a\nworking set that all SMs touch and L2 "
      "keeps, "
      "of a chip whose times are known.\n\n"
      ">>> import tilescope as ts\n"
      ">>> ts.device(\"h200\")[\"processors\"], ts.device(\"h200\")[\"capability\"]\n"
      "(132, (9, 0))\n"
      ">>> ts.device(\"b200\")[\"l2\"] >> 20, ts.device(\"b200\")[\"cluster\"]\n"
      "(126, 8)\n\n"
      "Error: there is no such chip.");
}

}  // namespace tilescope::python
