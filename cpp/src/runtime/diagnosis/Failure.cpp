#include "matlaw/Failure.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <ATen/core/Tensor.h>

#include "support/text.h"

namespace matlaw
{
namespace
{
/// An input stands out when its norm is this many times the median.
constexpr double odd_ratio = 10.0;

double last_residual(const FailedRow & row)
{
  return row.residuals.empty() ? 0.0 : row.residuals.back();
}

double norm_of(const at::Tensor & values, std::size_t row)
{
  return values.select(0, std::int64_t(row)).to(at::kDouble).norm().item<double>();
}

/// "'strain' (norm 0.31, median of the call 0.002)", those furthest from the median first
std::vector<std::string> odd_inputs(const Failure & failure, std::size_t row)
{
  std::vector<std::pair<double, std::string>> odd;
  for (const auto & [name, values] : failure.inputs)
  {
    const auto typical = failure.typical.find(name);
    if (typical == failure.typical.end())
      continue;
    const auto norm = norm_of(values, row);
    const auto ratio = norm / typical->second;
    if (norm > 0 && ratio > odd_ratio) // infinite where the median is zero
      odd.emplace_back(ratio, "'" + name + "' (norm " + support::number_text(norm) + ", median of the call " +
                                  support::number_text(typical->second) + ")");
  }
  std::sort(odd.begin(), odd.end(), std::greater<>());
  std::vector<std::string> texts;
  for (auto & [ratio, text] : odd)
    texts.push_back(std::move(text));
  if (texts.size() > 3)
    texts.resize(3);
  return texts;
}

std::string joined(const std::vector<std::string> & texts)
{
  std::string list;
  for (const auto & text : texts)
    list += (list.empty() ? "" : ", ") + text;
  return list;
}

/// Scalars by value, tensors by norm; the first few.
std::string input_summary(const Failure & failure, std::size_t row)
{
  std::vector<std::string> texts;
  for (const auto & [name, values] : failure.inputs)
  {
    if (texts.size() == 6)
    {
      texts.emplace_back("...");
      break;
    }
    const auto of_row = values.select(0, std::int64_t(row)).to(at::kDouble);
    texts.push_back(of_row.dim() ? "|" + name + "| = " + support::number_text(of_row.norm().item<double>())
                                 : name + " = " + support::number_text(of_row.item<double>()));
  }
  return joined(texts);
}

/// True while the residual still fell by a tenth or more in each of the last two iterations.
bool falls(const std::vector<double> & residuals)
{
  const auto n = residuals.size();
  return n >= 3 && residuals[n - 1] < 0.9 * residuals[n - 2] && residuals[n - 2] < 0.9 * residuals[n - 3];
}

std::string advice(const FailedRow & row)
{
  const std::string cut = "Cut the time step and retry from the old state";
  switch (row.reason)
  {
  case Reason::ITERATION_LIMIT:
    if (falls(row.residuals))
      return "It was still converging: raise max_its of the law's [Solvers] block, or cut the time step and retry from "
             "the old state.";
    return cut + "; where small steps fail too, try a line search (NewtonWithLineSearch), check the parameters, or "
                 "loosen atol and rtol if |r| stays just above them.";
  case Reason::RESIDUAL_NOT_FINITE:
    return cut + "; where small steps fail too, a parameter or an old state is out of the range of the law (a root or "
                 "power of a negative number, a division by zero).";
  case Reason::SINGULAR_JACOBIAN:
  case Reason::SINGULAR_TANGENT:
    return cut + "; where small steps fail too, an unknown has no influence on any residual: check for parameters that "
                 "are zero.";
  case Reason::LINEAR_SOLVER:
    return "Raise the iteration limit or loosen the tolerance of the linear solver, use a better preconditioner, or "
           "cut "
           "the time step.";
  case Reason::OUTPUT_NOT_FINITE:
    return cut + "; where small steps fail too, an input or parameter is out of the range of the law.";
  default:
    return cut + ".";
  }
}
}

const char * name(Reason reason) noexcept
{
  constexpr const char * names[] = {"NONE",
                                    "ITERATION_LIMIT",
                                    "RESIDUAL_NOT_FINITE",
                                    "SINGULAR_JACOBIAN",
                                    "LINEAR_SOLVER",
                                    "SINGULAR_TANGENT",
                                    "OUTPUT_NOT_FINITE",
                                    "INPUT_NOT_FINITE",
                                    "TIME_DOES_NOT_ADVANCE"};
  return names[std::size_t(reason)];
}

std::string reason_text(const FailedRow & row, std::int64_t miters, const std::string & name_of_place)
{
  const auto where =
      row.iterations == 0 ? std::string("at the initial guess") : "in iteration " + std::to_string(row.iterations);
  const auto with = row.residuals.empty() ? std::string() : " with |r| = " + support::number_text(row.residuals.back());
  const auto in = name_of_place.empty() ? std::string() : " in '" + name_of_place + "'";
  switch (row.reason)
  {
  case Reason::NONE:
    return row.status == Status::CONVERGED ? "converged" : "failed among the other rows of its call, but not alone";
  case Reason::ITERATION_LIMIT:
    return "iteration limit of " + std::to_string(miters) + " reached" + in + with;
  case Reason::RESIDUAL_NOT_FINITE:
    return "residual not finite " + where + in;
  case Reason::SINGULAR_JACOBIAN:
    return "singular Jacobian " + where + in + with;
  case Reason::LINEAR_SOLVER:
    return "linear solver exhausted " + where + in + with;
  case Reason::SINGULAR_TANGENT:
    return "solved" + in + ", but the Jacobian at the solution is singular: there is no tangent";
  case Reason::OUTPUT_NOT_FINITE:
    return "output '" + name_of_place + "' not finite";
  case Reason::INPUT_NOT_FINITE:
    return "'" + name_of_place + "' is NaN or infinite";
  case Reason::TIME_DOES_NOT_ADVANCE:
    return "time '" + name_of_place + "' does not advance";
  }
  return "";
}

std::size_t Failure::worst() const
{
  std::size_t worst = 0;
  for (std::size_t i = 1; i < rows.size(); i++)
  {
    const auto residual = last_residual(rows[i]), largest = last_residual(rows[worst]);
    if (!std::isnan(largest) && !(residual <= largest))
      worst = i;
  }
  return worst;
}

std::string Failure::message() const
{
  std::ostringstream what;
  what << "Model '" << model << "' did not converge in " << failed_rows.size() << " of " << n_rows << " rows ("
       << support::row_list(failed_rows) << ").";
  if (!rows.empty())
  {
    const auto at = worst();
    const auto & row = rows[at];
    what << (failed_rows.size() > 1 ? " Worst is row " : " Row ") << row.row << ": " << row.text;
    if (row.residuals.size() > 1)
      what << ", |r| from " << support::number_text(row.residuals.front()) << " to "
           << support::number_text(row.residuals.back()) << " (needed < " << support::number_text(atol) << ", or < "
           << support::number_text(rtol * row.residuals.front()) << ")";
    what << ".";
    if (const auto odd = odd_inputs(*this, at); !odd.empty())
      what << " Inputs of it that stand out: " << joined(odd) << ".";
    else if (!inputs.empty())
      what << " Its inputs: " << input_summary(*this, at) << ".";
    what << " " << advice(row);
  }
  if (!file.empty())
    what << " Step through it: matlaw-replay " << file;
  return what.str();
}
}
