// An elasto-plastic block, clamped at x = 0 and pulled at x = 2, with a law compiled by matlaw.
//
//   matlaw-compile ../../models/j2_plastic.i --model model -d stress:strain      ->  aoti/model_aoti.i
//   ./pull --law aoti/model_aoti.i
//
// pull.i is the same problem for matlaw-fe, and gives the same numbers. docs/mfem.md explains this program.
#include <cmath>
#include <cstdio>
#include <fstream>

#include <matlaw/errors.h>

#include "Equilibrium.h"

/// What the command line chooses.
struct Settings
{
  const char * law = "aoti/model_aoti.i";
  const char * model = "model";
  const char * output = "pull";
  int divisions = 3;
  double stretch = 0.01;
  double end = 1.0;
  double dt = 0.1;
  double dt_min = 1e-4;
  int newton_iterations = 15;
};

static Settings read_settings(int argc, char ** argv)
{
  Settings s;
  mfem::OptionsParser options(argc, argv);
  options.AddOption(&s.law, "-l", "--law", "The law: a stub, an artifact folder or metadata.json.");
  options.AddOption(&s.model, "-m", "--model", "Name of the law's model.");
  options.AddOption(&s.output, "-o", "--output", "Folder for the results.");
  options.AddOption(&s.divisions, "-n", "--divisions", "Elements per unit length.");
  options.AddOption(&s.stretch, "-s", "--stretch", "Displacement of the face x = 2 at the end.");
  options.AddOption(&s.end, "-e", "--end", "Time at the end.");
  options.AddOption(&s.dt, "-dt", "--time-step", "Time step, also the largest.");
  options.AddOption(&s.dt_min, "-dtm", "--smallest-time-step", "Give up below this time step.");
  options.AddOption(&s.newton_iterations, "-i", "--iterations", "Newton iterations until a step is cut.");
  options.Parse();
  if (!options.Good())
  {
    options.PrintUsage(std::cerr);
    throw matlaw::FatalError("wrong options");
  }
  return s;
}

/// Degrees of freedom on a face. MakeCartesian3D numbers the faces 1 to 6: z = 0, y = 0, x = max, y = max, x = 0, z =
/// max.
static mfem::Array<int> on_face(mfem::FiniteElementSpace & space, int face, int component)
{
  mfem::Array<int> marker(space.GetMesh()->bdr_attributes.Max());
  marker = 0;
  marker[face - 1] = 1;
  mfem::Array<int> dofs;
  space.GetEssentialTrueDofs(marker, dofs, component);
  return dofs;
}

static void write_displacements(const std::string & path, const mfem::Mesh & mesh, const mfem::GridFunction & u)
{
  std::ofstream file(path);
  file.precision(17);
  file << "x,y,z,ux,uy,uz\n";
  const int n = mesh.GetNV();
  for (int i = 0; i < n; ++i)
  {
    const double * at = mesh.GetVertex(i);
    file << at[0] << ',' << at[1] << ',' << at[2] << ',' << u(i) << ',' << u(n + i) << ',' << u(2 * n + i) << '\n';
  }
}

/// Mean von Mises stress of each element.
static void von_mises(const MaterialPoints & points, const mfem::FiniteElementSpace & space, mfem::GridFunction & mean)
{
  for (int e = 0; e < space.GetNE(); ++e)
  {
    const int n = points.rule(*space.GetFE(e)).GetNPoints();
    mean(e) = 0.0;
    for (int q = 0; q < n; ++q)
    {
      const double * s = points.stress(e, q);
      const double p = (s[0] + s[1] + s[2]) / 3.0;
      double squares = 0.0;
      for (int c = 0; c < 6; ++c)
        squares += std::pow(c < 3 ? s[c] - p : s[c], 2);
      mean(e) += std::sqrt(1.5 * squares) / n;
    }
  }
}

static void run(const Settings & s)
{
  mfem::Mesh mesh =
      mfem::Mesh::MakeCartesian3D(2 * s.divisions, s.divisions, s.divisions, mfem::Element::HEXAHEDRON, 2.0, 1.0, 1.0);
  const mfem::H1_FECollection trilinear(1, 3);
  mfem::FiniteElementSpace space(&mesh, &trilinear, 3, mfem::Ordering::byNODES);
  mfem::GridFunction u(&space);
  u = 0.0;

  MaterialPoints points(space, s.law, s.model);

  const mfem::Array<int> pulled = on_face(space, 3, 0);
  mfem::Array<int> prescribed;
  for (int component = 0; component < 3; ++component)
    for (const int face : {3, 5})
      prescribed.Append(on_face(space, face, component));
  Equilibrium equilibrium(space, points, prescribed);

  // The consistent tangent of an associated law is symmetric; another law needs mfem::GMRESSolver here.
  mfem::CGSolver linear;
  mfem::GSSmoother smoother;
  linear.SetPreconditioner(smoother);
  linear.SetRelTol(1e-13);
  linear.SetAbsTol(0.0);
  linear.SetMaxIter(10000);
  linear.SetPrintLevel(mfem::IterativeSolver::PrintLevel().None());
  mfem::NewtonSolver newton;
  newton.SetSolver(linear);
  newton.SetOperator(equilibrium);
  newton.SetRelTol(1e-10);
  newton.SetAbsTol(1e-8);
  newton.SetMaxIter(s.newton_iterations);
  newton.SetPrintLevel(mfem::IterativeSolver::PrintLevel().None());
  newton.iterative_mode = true; // starts from u

  mfem::L2_FECollection constants(0, 3);
  mfem::FiniteElementSpace by_element(&mesh, &constants);
  mfem::GridFunction stress(&by_element);
  stress = 0.0;
  mfem::ParaViewDataCollection paraview("fields", &mesh);
  paraview.SetPrefixPath(s.output);
  paraview.RegisterField("displacement", &u);
  paraview.RegisterField("von_mises_stress", &stress);
  paraview.SetCycle(0);
  paraview.SetTime(0.0);
  paraview.Save();

  std::ofstream history(std::string(s.output) + "/history.csv");
  history.precision(17);
  history << "time,force\n0,0\n";

  const mfem::Vector no_load; // an empty right-hand side is zero
  mfem::Vector accepted = u;
  double time = 0.0;
  double dt = s.dt;
  for (int step = 1; time < s.end * (1.0 - 1e-12);)
  {
    const double next = std::min(time + dt, s.end);
    equilibrium.set_time(next);
    u.SetSubVector(pulled, s.stretch * next / s.end);
    bool converged = false;
    double factor = 0.5;
    try
    {
      newton.Mult(no_load, u);
      converged = newton.GetConverged();
      if (!converged)
        std::printf("t = %.6f: Newton did not converge, the step is cut\n", next);
    }
    catch (const LawFailed & failure)
    {
      std::printf("t = %.6f: %s, the step is cut\n", next, failure.what());
      factor = std::min(factor, failure.dt_factor);
    }
    if (!converged)
    {
      points.revert();
      u = accepted;
      dt = factor * (next - time);
      if (dt < s.dt_min)
        throw matlaw::FatalError("the time step fell below " + std::to_string(s.dt_min));
      continue;
    }

    points.commit();
    accepted = u;
    time = next;
    dt = std::min(s.dt, 2.0 * dt);

    double force = 0.0;
    for (const int dof : pulled)
      force += equilibrium.internal_forces()(dof);
    std::printf("t = %.6f  Newton iterations %d  force %.10g\n", time, newton.GetNumIterations(), force);
    history << time << ',' << force << '\n';
    von_mises(points, space, stress);
    paraview.SetCycle(step++);
    paraview.SetTime(time);
    paraview.Save();
  }
  write_displacements(std::string(s.output) + "/displacements.csv", mesh, u);
}

int main(int argc, char ** argv)
{
  try
  {
    run(read_settings(argc, argv));
  }
  catch (const std::exception & error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
