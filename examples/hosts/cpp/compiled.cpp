// A host of a compiled law: loads a stub, pulls a few points in tension, keeps the state, cuts a step that fails.
//
//   matlaw-compile j2_viscoplastic.i --model model -d stress:strain     ->  aoti/model_aoti.i
//   ./compiled aoti/model_aoti.i
#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include <matlaw/host/QuadratureBatch.h>
#include <matlaw/load_model.h>

int main(int argc, char ** argv)
{
  if (argc != 2)
  {
    std::fprintf(stderr, "usage: %s <stub, artifact folder or metadata.json>\n", argv[0]);
    return 2;
  }
  try
  {
    matlaw::host::QuadratureBatch law(matlaw::load_model(argv[1], "model"), 8);
    const auto & names = law.input_names();
    const bool has_time = std::find(names.begin(), names.end(), "t") != names.end();
    const std::int64_t n = law.n_points();

    double time = 0.0;
    double dt = 0.25;
    while (time < 1.0 - 1e-12)
    {
      // Uniaxial strain; each point is pulled a little further than the one before.
      std::vector<double> strain(static_cast<std::size_t>(6 * n), 0.0);
      for (std::int64_t i = 0; i < n; ++i)
        strain[static_cast<std::size_t>(6 * i)] = 0.01 * (time + dt) * (1.0 + 0.1 * static_cast<double>(i));
      law.set_input("strain", strain);
      if (has_time)
        law.set_input("t", time + dt);

      const auto & verdict = law.evaluate(true);
      if (!verdict.ok())
      {
        std::printf("t = %.4f: %zu points failed, the step is cut\n", time + dt, verdict.failed_rows.size());
        law.revert();
        dt /= 2;
        if (dt < 1e-4)
          throw matlaw::FatalError("the time step became too small");
        continue;
      }
      law.commit();
      time += dt;
      const double * stress = law.output("stress");
      std::printf("t = %.4f  stress_xx = %10.4f ... %10.4f  tangent_xxxx = %.6g\n", time, stress[0],
                  stress[6 * (n - 1)], law.tangent("stress", "strain")[0]);
    }
  }
  catch (const std::exception & e)
  {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
