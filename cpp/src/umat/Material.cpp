#include "Material.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <utility>

#include "PointMemory.h"
#include "matlaw/errors.h"
#include "solve_small.h"
#include "statev.h"

namespace matlaw::umat
{
/// Arrays of one call; one set for each thread, shared by all materials.
struct Material::Workspace
{
  std::vector<double> inputs, outputs, jacobian;
  /// Mandel components; those that the host does not have are found here
  double old_strain[6], strain_increment[6], old_stress[6];
  double tangent[36];
  /// What a result depends on, and a result, side by side
  std::vector<double> key, result;
  /// By the number of the material
  std::map<std::uint64_t, PointMemory> memories;

  /// Everything that solve() depends on: the inputs have to be there.
  void form_key(const matlaw_umat_call & call, const Hypothesis & hypothesis)
  {
    key.assign({*call.dtime, double(hypothesis.size), double(hypothesis.n_free)});
    key.insert(key.end(), inputs.begin(), inputs.end());
  }

  /// Everything that solve() fills and write() reads.
  void pack_result()
  {
    result.assign(outputs.begin(), outputs.end());
    result.insert(result.end(), strain_increment, strain_increment + 6);
    result.insert(result.end(), tangent, tangent + 36);
  }
  void unpack_result(const double * from)
  {
    std::copy_n(from, outputs.size(), outputs.begin());
    std::copy_n(from + outputs.size(), 6, strain_increment);
    std::copy_n(from + outputs.size() + 6, 36, tangent);
  }
  std::size_t result_size() const { return outputs.size() + 6 + 36; }
};

static std::uint64_t next_number()
{
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

Material::Material(Settings settings) : _settings(std::move(settings)), _number(next_number())
{
  auto law = std::make_unique<Law>(_settings);
  _first = law.get();
  _laws[{}] = std::move(law);
  _binding = bind(_settings, *_first);
}

Material::~Material() = default;

void Material::check_arrays(const matlaw_umat_call & call) const
{
  if (!Hypothesis::exists(*call.ndi, *call.nshr) || *call.ntens != *call.ndi + *call.nshr)
    throw FatalError("The host calls with NDI = " + std::to_string(*call.ndi) +
                     ", NSHR = " + std::to_string(*call.nshr) + ", NTENS = " + std::to_string(*call.ntens) +
                     "; there is 3-D (3, 3, 6), plane strain and axial symmetry (3, 1, 4), plane stress (2, 1, 3) and "
                     "uniaxial stress (1, 0, 1).");
  int needed = _binding.n_statev;
  if (*call.ndi < 3)
  {
    if (_binding.by_deformation_gradient)
      throw FatalError(_settings.path + ": plane and uniaxial stress need a law of the strain; this one takes the "
                                        "deformation gradient.");
    if (_settings.out_of_plane == 0)
      throw FatalError(_settings.path + ": [Umat] out_of_plane_strain is missing: in plane and uniaxial stress the "
                                        "strains that the host does not have are kept in STATEV from there on.");
    const int last = _settings.out_of_plane + 5 - *call.ntens;
    _binding.check_not_written(_settings.path, {"out_of_plane_strain", _settings.out_of_plane, last});
    needed = std::max(needed, last);
  }
  if (*call.nstatv < needed)
    throw FatalError("The host has " + std::to_string(*call.nstatv) + " state variables (NSTATV) for the law of " +
                     _settings.path + ", which needs " + std::to_string(needed) +
                     ". Set that number in the input of the host (MOOSE: num_state_vars, Abaqus: *DEPVAR).");
  if (*call.nprops < _binding.n_props)
    throw FatalError("The host gives " + std::to_string(*call.nprops) + " material constants (NPROPS), but " +
                     _settings.path + " uses entry " + std::to_string(_binding.n_props) +
                     " of PROPS. Give as many (MOOSE: constant_properties, Abaqus: *USER MATERIAL).");
}

const Law & Material::law_for(const matlaw_umat_call & call)
{
  if (_settings.parameters.empty())
    return *_first;
  static thread_local std::vector<double> values;
  values.clear();
  for (const auto & [name, source] : _settings.parameters)
    values.push_back(source.quantity == Quantity::PROPS ? call.props[source.entry - 1] : source.constant[0]);
  {
    const std::shared_lock lock(_mutex);
    if (const auto found = _laws.find(values); found != _laws.end())
      return *found->second;
  }
  const std::unique_lock lock(_mutex);
  auto & law = _laws[values];
  if (!law)
  {
    law = std::make_unique<Law>(_settings);
    std::size_t k = 0;
    for (const auto & [name, source] : _settings.parameters)
    {
      if (!std::isfinite(values[k]))
        throw FatalError("The parameter '" + name + "' of " + _settings.path + " is set to " +
                         std::to_string(values[k]) + " by PROPS.");
      law->set_parameter(name, values[k++]);
    }
  }
  return *law;
}

void Material::set_inputs(Workspace & w, const matlaw_umat_call & call, const Rotation & rotation) const
{
  const double dt = *call.dtime;
  const bool start = _settings.started && call.statev[_settings.started - 1] == 0.0;
  for (const auto & input : _binding.inputs)
  {
    const auto & variable = input.variable;
    double * value = w.inputs.data() + variable.offset;
    const int entry = input.source.entry - 1;
    switch (input.source.quantity)
    {
    case Quantity::OLD_STRAIN:
      std::copy_n(w.old_strain, 6, value);
      break;
    case Quantity::SPIN:
      rotation.spin(dt, value);
      break;
    case Quantity::DEFORMATION_GRADIENT:
    case Quantity::OLD_DEFORMATION_GRADIENT:
    {
      const double * F = input.source.quantity == Quantity::DEFORMATION_GRADIENT ? call.dfgrd1 : call.dfgrd0;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          value[3 * i + j] = F[3 * j + i];
      break;
    }
    case Quantity::STRESS:
      std::copy_n(w.old_stress, 6, value);
      break;
    case Quantity::TIME:
      *value = call.time[1] + dt;
      break;
    case Quantity::OLD_TIME:
      *value = call.time[1];
      break;
    case Quantity::STEP_TIME:
      *value = call.time[0] + dt;
      break;
    case Quantity::TIME_INCREMENT:
      *value = dt;
      break;
    case Quantity::TEMPERATURE:
      *value = *call.temp + *call.dtemp;
      break;
    case Quantity::OLD_TEMPERATURE:
      *value = *call.temp;
      break;
    case Quantity::PREDEF:
      for (std::int64_t i = 0; i < variable.size; i++)
        value[i] = call.predef[entry + i] + call.dpred[entry + i];
      break;
    case Quantity::OLD_PREDEF:
      std::copy_n(call.predef + entry, variable.size, value);
      break;
    case Quantity::PROPS:
      std::copy_n(call.props + entry, variable.size, value);
      break;
    case Quantity::CONSTANT:
      std::copy_n(input.source.constant.data(), variable.size, value);
      break;
    case Quantity::STATEV:
      if (start)
      {
        if (input.initial.empty())
          std::fill_n(value, variable.size, 0.0);
        else
          std::copy_n(input.initial.data(), variable.size, value);
        break;
      }
      state_from_host(variable, call.statev + entry, value);
      if (input.source.rotated)
        for (std::int64_t tensor = 0; tensor < variable.size; tensor += variable.base_size)
          rotation.apply(variable.type, value + tensor);
      break;
    default: // follows the strain
      break;
    }
  }
}

void Material::set_strain(Workspace & w, const matlaw_umat_call & call) const
{
  for (const auto & input : _binding.inputs)
  {
    double * value = w.inputs.data() + input.variable.offset;
    for (int c = 0; c < 6; c++)
      switch (input.source.quantity)
      {
      case Quantity::STRAIN:
        value[c] = w.old_strain[c] + w.strain_increment[c];
        break;
      case Quantity::STRAIN_INCREMENT:
        value[c] = w.strain_increment[c];
        break;
      case Quantity::STRAIN_RATE:
        value[c] = w.strain_increment[c] / *call.dtime;
        break;
      default:
        break;
      }
  }
}

/// What a strain increment in Mandel component `m` makes of a deformation gradient, both row by row.
static void stretch(int m, const double * F, double * change)
{
  constexpr int first[6] = {0, 1, 2, 1, 0, 0}, second[6] = {0, 1, 2, 2, 2, 1};
  std::fill_n(change, 9, 0.0);
  const double size = m < 3 ? 1.0 : M_SQRT1_2;
  for (int j = 0; j < 3; j++)
  {
    change[3 * first[m] + j] = size * F[3 * second[m] + j];
    change[3 * second[m] + j] = size * F[3 * first[m] + j];
  }
}

void Material::form_tangent(Workspace & w, const matlaw_umat_call & call) const
{
  std::fill_n(w.tangent, 36, 0.0);
  for (const auto & [quantity, block] : _binding.tangents)
  {
    const double * values = w.jacobian.data() + block.offset;
    if (quantity == Quantity::DEFORMATION_GRADIENT)
    {
      // The Jaumann rate of the Kirchhoff stress by the rate of deformation, over J: with no spin, the change of stress
      // that D F makes of F, and the stress times the change of volume.
      const auto input = std::find_if(_binding.inputs.begin(), _binding.inputs.end(),
                                      [&, &name = block.input](const auto & i) { return i.variable.name == name; });
      const double * F = w.inputs.data() + input->variable.offset;
      for (int m = 0; m < 6; m++)
      {
        double change[9];
        stretch(m, F, change);
        for (int c = 0; c < 6; c++)
        {
          for (int k = 0; k < 9; k++)
            w.tangent[6 * c + m] += values[9 * c + k] * change[k];
          if (m < 3)
            w.tangent[6 * c + m] += w.outputs[_binding.stress + c];
        }
      }
      continue;
    }
    const double factor = quantity == Quantity::STRAIN_RATE ? 1.0 / *call.dtime : 1.0;
    for (int i = 0; i < 36; i++)
      w.tangent[i] += factor * values[i];
  }
}

Verdict Material::solve(Workspace & w, const Law & law, const matlaw_umat_call & call,
                        const Hypothesis & hypothesis) const
{
  constexpr int most_iterations = 25, most_halvings = 8;
  const int n = hypothesis.n_free;
  const auto & free = hypothesis.free;
  double step[6] = {}, last = 0.0;
  for (int iteration = 0, halvings = 0; iteration <= most_iterations; iteration++)
  {
    set_strain(w, call);
    auto verdict = law.evaluate(w.inputs.data(), w.outputs.data(), w.jacobian.data());
    if (!verdict.converged && (n == 0 || iteration == 0 || verdict.bad_input))
      return verdict;
    const double * stress = w.outputs.data() + _binding.stress;
    double norm = 0.0, scale = 0.0;
    if (verdict.converged)
    {
      form_tangent(w, call);
      if (n == 0)
        return verdict;
      for (int i = 0; i < n; i++)
        norm = std::max(norm, std::abs(stress[free[i]]));
      for (int c = 0; c < 6; c++)
        scale = std::max(scale, 1e-10 * std::abs(stress[c]));
      for (int i = 0; i < 36; i++)
        scale = std::max(scale, 1e-14 * std::abs(w.tangent[i]));
      if (norm <= scale)
        return verdict;
    }
    // A step too long for the law, or one that made it worse, is halved.
    if (iteration > 0 && halvings < most_halvings && (!verdict.converged || norm > last))
    {
      halvings++;
      for (int i = 0; i < n; i++)
        w.strain_increment[free[i]] -= (step[i] *= 0.5);
      continue;
    }
    if (!verdict.converged)
      return verdict;
    halvings = 0;
    last = norm;
    double A[36];
    for (int i = 0; i < n; i++)
    {
      step[i] = -stress[free[i]];
      for (int j = 0; j < n; j++)
        A[i * n + j] = w.tangent[6 * free[i] + free[j]];
    }
    if (!solve_small(n, A, step, 1))
      break;
    for (int i = 0; i < n; i++)
      w.strain_increment[free[i]] += step[i];
  }
  return {false, false, 0.5};
}

Verdict Material::solve_or_remember(Workspace & w, const Law & law, const matlaw_umat_call & call,
                                    const Hypothesis & hypothesis) const
{
  if (_settings.point_memory == 0)
    return solve(w, law, call, hypothesis);
  set_strain(w, call);
  w.form_key(call, hypothesis);
  auto & memory = w.memories.try_emplace(_number, w.key.size(), w.result_size(), _settings.point_memory).first->second;
  if (const double * known = memory.find(*call.noel, *call.npt, &law, w.key.data()))
  {
    w.unpack_result(known);
    return {true, false, 1.0};
  }
  const auto verdict = solve(w, law, call, hypothesis);
  if (verdict.converged)
  {
    w.pack_result();
    memory.keep(w.result.data());
  }
  return verdict;
}

void Material::write(const Workspace & w, const matlaw_umat_call & call, const Hypothesis & hypothesis) const
{
  hypothesis.stress_to_host(w.outputs.data() + _binding.stress, call.stress);
  for (const auto & output : _binding.outputs)
    if (output.source.quantity == Quantity::STATEV)
      state_to_host(output.variable, w.outputs.data() + output.variable.offset, call.statev + output.source.entry - 1);
  if (_settings.started)
    call.statev[_settings.started - 1] = 1.0;
  const int n = hypothesis.n_free, m = hypothesis.size;
  const auto & free = hypothesis.free;
  const auto & kept = hypothesis.components;
  for (int i = 0; i < n; i++)
    call.statev[_settings.out_of_plane - 1 + i] = w.old_strain[free[i]] + w.strain_increment[free[i]];

  // The strains without stress follow the others: - T_kf T_ff^-1 T_fk.
  double A[36], X[36];
  for (int i = 0; i < n; i++)
  {
    for (int j = 0; j < n; j++)
      A[i * n + j] = w.tangent[6 * free[i] + free[j]];
    for (int j = 0; j < m; j++)
      X[i * m + j] = w.tangent[6 * free[i] + kept[j]];
  }
  solve_small(n, A, X, m);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
    {
      double value = w.tangent[6 * kept[i] + kept[j]];
      for (int k = 0; k < n; k++)
        value -= w.tangent[6 * kept[i] + free[k]] * X[k * m + j];
      value *= Hypothesis::factor(kept[i]) * Hypothesis::factor(kept[j]);
      call.ddsdde[_settings.order == Order::ROWS ? i * m + j : j * m + i] = value;
    }
}

std::string Material::bad_inputs(const Workspace & w, bool & from_the_solve) const
{
  from_the_solve = false;
  for (const auto & input : _binding.inputs)
    for (std::int64_t c = 0; c < input.variable.size; c++)
      if (!std::isfinite(w.inputs[input.variable.offset + c]))
      {
        const auto quantity = input.source.quantity;
        from_the_solve = follows_strain(quantity) || quantity == Quantity::OLD_STRAIN || quantity == Quantity::SPIN ||
                         quantity == Quantity::OLD_DEFORMATION_GRADIENT || quantity == Quantity::STRESS;
        return "'" + input.variable.name + "' (component " + std::to_string(c) + ") is " +
               std::to_string(w.inputs[input.variable.offset + c]);
      }
  return "";
}

void Material::fail(const Workspace & w, const matlaw_umat_call & call, const Verdict & verdict)
{
  std::ostringstream where;
  where << "element " << *call.noel << ", integration point " << *call.npt << ", step " << *call.kstep << ", increment "
        << *call.kinc << " (time " << call.time[1] << " to " << call.time[1] + *call.dtime << ")";
  std::string what;
  if (verdict.bad_input)
  {
    bool from_the_solve = false;
    const auto bad = bad_inputs(w, from_the_solve);
    what = "The input " + bad + " at " + where.str() + ", for the law of " + _settings.path + ".";
    if (!from_the_solve)
      throw FatalError(what + " It comes from the input of the host or from its state variables.");
  }
  else
    what = "The law of " + _settings.path + " did not converge at " + where.str() + ".";
  *call.pnewdt = std::min(*call.pnewdt, std::min(verdict.dt_factor, 0.9));
  if (_settings.on_failure == OnFailure::THROW)
    throw ConvergenceError(what, {0});
  // The host goes on over its other points: one message for each try of a step is enough.
  const std::scoped_lock lock(_saying);
  if (std::exchange(_said, {call.time[1], *call.dtime}) != std::pair(call.time[1], *call.dtime))
    std::fprintf(stderr, "matlaw: %s\n", what.c_str());
}

void Material::evaluate(const matlaw_umat_call & call)
{
  check_arrays(call);
  const Law & law = law_for(call);
  static thread_local Workspace w;
  w.inputs.resize(law.input_size());
  w.outputs.resize(law.output_size());
  w.jacobian.resize(law.jacobian_size());

  const Hypothesis hypothesis(*call.ndi, *call.nshr);
  const Rotation rotation(call.drot);
  hypothesis.strain_from_host(call.stran, w.old_strain);
  hypothesis.strain_from_host(call.dstran, w.strain_increment);
  hypothesis.stress_from_host(call.stress, w.old_stress);
  if (hypothesis.n_free > 0)
  {
    // What the host has, it has turned already.
    double turned[6] = {};
    for (int i = 0; i < hypothesis.n_free; i++)
      turned[hypothesis.free[i]] = call.statev[_settings.out_of_plane - 1 + i];
    rotation.turn_symmetric(turned);
    for (int i = 0; i < hypothesis.n_free; i++)
      w.old_strain[hypothesis.free[i]] = turned[hypothesis.free[i]];
  }
  set_inputs(w, call, rotation);
  const auto verdict = solve_or_remember(w, law, call, hypothesis);
  if (verdict.converged)
    write(w, call, hypothesis);
  else
    fail(w, call, verdict);
}
}
