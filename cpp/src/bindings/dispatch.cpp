// Schedulers for Python.
#include <memory>
#include <string>
#include <vector>

#include <c10/util/Exception.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "matlaw/dispatch/SimpleScheduler.h"
#include "matlaw/dispatch/StaticHybridScheduler.h"
#include "matlaw/dispatch/device_of_rank.h"
#include "modules.h"

namespace py = pybind11;

namespace matlaw::bindings
{
using namespace dispatch;

static at::Device device(const std::string & name)
{
  try
  {
    return at::Device(name);
  }
  catch (const c10::Error &)
  {
    throw FatalError("There is no device '" + name + "'; expected cpu, cuda or cuda:<number>.");
  }
}

/// A number of rows, which has to be whole.
static std::int64_t rows(const std::string & what, const py::object & value)
{
  if (!PyIndex_Check(value.ptr()))
    throw FatalError(what + " must be a whole number; got " + py::cast<std::string>(py::repr(value)) + ".");
  return py::cast<std::int64_t>(py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr())));
}

void bind_dispatch(py::module_ & module)
{
  py::class_<DeviceConfig>(module, "DeviceConfig")
      .def(py::init(
               [](const std::string & name, const py::object & chunk_rows, const py::object & capacity, double priority)
               {
                 return DeviceConfig{.device = device(name),
                                     .chunk_rows = rows("DeviceConfig: chunk_rows", chunk_rows),
                                     .capacity = rows("DeviceConfig: capacity", capacity),
                                     .priority = priority};
               }),
           py::arg("device"), py::arg("chunk_rows") = py::int_(0), py::arg("capacity") = py::int_(0),
           py::arg("priority") = 1.0)
      .def_property_readonly("device", [](const DeviceConfig & config) { return config.device.str(); })
      .def_readonly("chunk_rows", &DeviceConfig::chunk_rows)
      .def_readonly("capacity", &DeviceConfig::capacity)
      .def_readonly("priority", &DeviceConfig::priority);
  py::class_<Scheduler, std::shared_ptr<Scheduler>>(module, "Scheduler")
      .def_property_readonly("devices", &Scheduler::devices);
  py::class_<SimpleScheduler, Scheduler, std::shared_ptr<SimpleScheduler>>(module, "SimpleScheduler")
      .def(py::init(
               [](const std::string & name, const py::object & chunk_rows, const py::object & capacity)
               {
                 return std::make_shared<SimpleScheduler>(device(name), rows("SimpleScheduler: chunk_rows", chunk_rows),
                                                          rows("SimpleScheduler: capacity", capacity));
               }),
           py::arg("device"), py::arg("chunk_rows") = py::int_(0), py::arg("capacity") = py::int_(0));
  py::class_<StaticHybridScheduler, Scheduler, std::shared_ptr<StaticHybridScheduler>>(module, "StaticHybridScheduler")
      .def(py::init(
               [](const std::vector<DeviceConfig> & devices, bool several_cpus)
               {
                 return std::make_shared<StaticHybridScheduler>(devices,
                                                                several_cpus ? CpuDevices::SEVERAL : CpuDevices::ONE);
               }),
           py::arg("devices"), py::arg("several_cpus") = false);
  module.def(
      "device_of_rank",
      [](int rank, int ranks, const std::vector<std::string> & names, bool share)
      {
        std::vector<at::Device> devices;
        for (const auto & name : names)
          devices.push_back(device(name));
        return device_of_rank(rank, ranks, devices, share ? Sharing::ALLOWED : Sharing::REFUSED).str();
      },
      py::arg("rank"), py::arg("ranks"), py::arg("devices"), py::arg("share") = false);
}
}
