// Run by mpiexec with three processes on this machine.
#include "matlaw/dispatch/MPISimpleScheduler.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/dispatch/DispatchedModel.h"
#include "shared_artifacts.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::dispatch;
using namespace matlaw::toy;

namespace
{
const std::vector<at::Device> gpus{at::Device(at::kCUDA, 0), at::Device(at::kCUDA, 1), at::Device(at::kCUDA, 2)};

int rank()
{
  int result = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &result);
  return result;
}

int total(int value)
{
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
}

TEST(MPIScheduler, each_process_takes_a_device_of_its_own)
{
  const MPISimpleScheduler scheduler(MPI_COMM_WORLD, gpus, 64, 256);
  EXPECT_EQ(scheduler.local().ranks, 3);
  EXPECT_EQ(scheduler.local().rank, rank());
  ASSERT_EQ(scheduler.devices().size(), 1u);
  EXPECT_EQ(scheduler.devices()[0].device, gpus[std::size_t(rank())]);
  EXPECT_EQ(scheduler.devices()[0].chunk_rows, 64);
  EXPECT_EQ(scheduler.devices()[0].capacity, 256);
}

TEST(MPIScheduler, ranks_are_those_of_the_callers_communicator)
{
  MPI_Comm backwards = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank(), &backwards);
  EXPECT_EQ(MPISimpleScheduler(backwards, gpus).devices()[0].device, gpus[std::size_t(2 - rank())]);
  MPI_Comm_free(&backwards);

  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() == 1 ? 1 : 0, rank(), &part);
  const MPISimpleScheduler scheduler(part, gpus);
  EXPECT_EQ(scheduler.local().ranks, rank() == 1 ? 1 : 2);
  EXPECT_EQ(scheduler.devices()[0].device, gpus[rank() == 2 ? 1 : 0]);
  MPI_Comm_free(&part);
}

TEST(MPIScheduler, too_few_devices_are_refused_in_every_process)
{
  const std::vector<at::Device> two(gpus.begin(), gpus.begin() + 2);
  int refused = 0;
  try
  {
    MPISimpleScheduler(MPI_COMM_WORLD, two);
  }
  catch (const FatalError & e)
  {
    refused = std::string(e.what()).find("3 processes run on this machine, but it has 2 devices") != std::string::npos;
  }
  EXPECT_EQ(total(refused), 3);
  const MPISimpleScheduler shared(MPI_COMM_WORLD, two, 0, 0, Sharing::ALLOWED);
  EXPECT_EQ(shared.devices()[0].device, gpus[std::size_t(rank() % 2)]);
}

TEST(MPIScheduler, no_communicator)
{
  EXPECT_PRED_FORMAT2(mentions, fatal_error([] { MPISimpleScheduler(MPI_COMM_NULL, gpus); }), (Words{"MPI_COMM_NULL"}));
}

TEST(MPIScheduler, runs_a_law)
{
  const ToyLaw law;
  const std::vector<at::Device> cpus(3, at::Device(at::kCPU));
  const auto model =
      dispatch::load_model(law.stub().string(), "toy", std::make_shared<MPISimpleScheduler>(MPI_COMM_WORLD, cpus, 16));
  const auto inputs = toy_inputs(50 + rank());
  EXPECT_TRUE(same_bits(model->forward(inputs).at("stress"), law.load()->forward(inputs).at("stress")));
}

TEST(MPIScheduler, runs_a_law_of_packages)
{
  const auto stub = shared_stub("j2_viscoplastic-both");
  if (stub.empty())
    GTEST_SKIP() << no_artifacts;
  const std::vector<at::Device> cpus(3, at::Device(at::kCPU));
  const LoadOptions options{.backend = Backend::INDUCTOR, .threads = 1, .runtime = Runtime::AOTI};
  const auto model =
      dispatch::load_model(stub, "model", std::make_shared<MPISimpleScheduler>(MPI_COMM_WORLD, cpus, 16), options);
  const auto alone = matlaw::load_model(stub, "model", options);
  const std::int64_t rows = 50 + rank();
  TensorMap inputs;
  for (std::size_t k = 0; k < model->input_names().size(); k++)
  {
    std::vector<std::int64_t> shape = {rows};
    shape.insert(shape.end(), model->input_base_shapes()[k].begin(), model->input_base_shapes()[k].end());
    inputs[model->input_names()[k]] = at::zeros(shape, at::kDouble);
  }
  inputs["t"] = at::ones({rows}, at::kDouble);
  inputs["strain"] = 2e-3 * at::sin(at::arange(rows * 6, at::kDouble)).reshape({rows, 6});
  const auto found = model->jacobian(inputs), expected = alone->jacobian(inputs);
  for (const auto & [value, same] :
       {std::pair(found.first.at("stress"), expected.first.at("stress")),
        std::pair(found.second.at("stress").at("strain"), expected.second.at("stress").at("strain"))})
    EXPECT_LE((value - same).abs().max().item<double>(), 1e-14 * same.abs().max().item<double>());
}

int main(int argc, char ** argv)
{
  ::testing::InitGoogleTest(&argc, argv);
  const auto outside = fatal_error([] { MPISimpleScheduler(MPI_COMM_WORLD, gpus); });
  MPI_Init(&argc, &argv);
  int failed = RUN_ALL_TESTS();
  failed |= outside.find("MPI_Init") == std::string::npos;
  MPI_Finalize();
  const auto after = fatal_error([] { MPISimpleScheduler(MPI_COMM_WORLD, gpus); });
  return failed | int(after.find("finalised") == std::string::npos);
}
