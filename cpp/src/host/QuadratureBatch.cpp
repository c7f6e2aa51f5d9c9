// The public face of Implementation.h.
#include "matlaw/host/QuadratureBatch.h"

#include <numeric>

#include "Implementation.h"
#include "matlaw/Model.h"

namespace matlaw::host
{
namespace
{
void check_length(const QuadratureBatch & batch, const std::string & name, std::size_t got, std::int64_t rows,
                  std::int64_t size)
{
  const std::int64_t expected = rows * size;
  if (static_cast<std::int64_t>(got) != expected)
    throw FatalError("QuadratureBatch of law '" + batch.model()->name() + "': '" + name + "' takes " +
                     std::to_string(expected) + " values (" + std::to_string(rows) + " x " + std::to_string(size) +
                     "), got " + std::to_string(got));
}
}

QuadratureBatch::QuadratureBatch(std::shared_ptr<Model> model, std::int64_t n_points, const Kinematics & kinematics)
    : _impl(std::make_unique<Impl>(std::move(model), n_points, kinematics))
{
}

QuadratureBatch::~QuadratureBatch() = default;
QuadratureBatch::QuadratureBatch(QuadratureBatch &&) noexcept = default;
QuadratureBatch & QuadratureBatch::operator=(QuadratureBatch &&) noexcept = default;

std::int64_t QuadratureBatch::n_points() const noexcept
{
  return _impl->n_points;
}

const std::shared_ptr<Model> & QuadratureBatch::model() const noexcept
{
  return _impl->model;
}

const Kinematics & QuadratureBatch::kinematics() const noexcept
{
  return _impl->variables.kinematics();
}

const std::vector<std::string> & QuadratureBatch::input_names() const noexcept
{
  return _impl->variables.host_inputs();
}

const std::vector<std::string> & QuadratureBatch::output_names() const noexcept
{
  return _impl->model->output_names();
}

const std::vector<std::string> & QuadratureBatch::state_names() const noexcept
{
  return _impl->variables.states();
}

const std::vector<std::pair<std::string, std::string>> & QuadratureBatch::tangent_names() const noexcept
{
  return _impl->variables.tangents();
}

const std::vector<std::int64_t> & QuadratureBatch::shape(const std::string & variable) const
{
  return _impl->variables.host_shape(variable);
}

const std::vector<std::int64_t> & QuadratureBatch::base_shape(const std::string & input) const
{
  return _impl->variables.host_base_shape(input);
}

std::int64_t QuadratureBatch::size(const std::string & variable) const
{
  return count(_impl->variables.host_shape(variable));
}

void QuadratureBatch::set_input(const std::string & name, Span<const double> values)
{
  check_length(*this, name, values.size(), n_points(), size(name));
  _impl->set_input(name, values.data(), false);
}

void QuadratureBatch::set_input(const std::string & name, const double * values)
{
  _impl->set_input(name, values, false);
}

void QuadratureBatch::set_constant(const std::string & name, Span<const double> value)
{
  check_length(*this, name, value.size(), 1, size(name));
  _impl->set_input(name, value.data(), true);
}

void QuadratureBatch::set_input(const std::string & name, double value)
{
  set_constant(name, Span<const double>(&value, 1));
}

void QuadratureBatch::set_input(const std::string & name, Span<const std::int64_t> points, Span<const double> values)
{
  check_length(*this, name, values.size(), static_cast<std::int64_t>(points.size()), size(name));
  _impl->set_input(name, _impl->rows(points), values.data());
}

void QuadratureBatch::set_parameter(const std::string & name, Span<const double> values)
{
  const auto of_one = count(_impl->parameter_shape(name));
  const bool constant = static_cast<std::int64_t>(values.size()) == of_one && n_points() != 1;
  if (!constant)
    check_length(*this, name, values.size(), n_points(), of_one);
  _impl->set_parameter(name, values.data(), constant);
}

std::int64_t QuadratureBatch::parameter_size(const std::string & name) const
{
  return count(_impl->parameter_shape(name));
}

const Verdict & QuadratureBatch::evaluate(bool tangent)
{
  return _impl->evaluate(Rows::all(n_points()), tangent);
}

const Verdict & QuadratureBatch::evaluate_points(Span<const std::int64_t> points, bool tangent)
{
  return _impl->evaluate(_impl->rows(points), tangent);
}

const Verdict & QuadratureBatch::evaluate_range(std::int64_t begin, std::int64_t end, bool tangent)
{
  return _impl->evaluate(_impl->range(begin, end), tangent);
}

const Verdict & QuadratureBatch::verdict() const
{
  _impl->evaluated();
  return _impl->verdict;
}

const double * QuadratureBatch::output(const std::string & name) const
{
  return _impl->output(name).const_data_ptr<double>();
}

const double * QuadratureBatch::tangent(const std::string & out, const std::string & in) const
{
  return _impl->tangent(out, in).const_data_ptr<double>();
}

const double * QuadratureBatch::state(const std::string & name) const
{
  return _impl->state(name).const_data_ptr<double>();
}

const double * QuadratureBatch::full_strain() const
{
  return _impl->full_strain().const_data_ptr<double>();
}

const double * QuadratureBatch::full_stress() const
{
  return _impl->full_stress().const_data_ptr<double>();
}

std::shared_ptr<const double> QuadratureBatch::share_output(const std::string & name) const
{
  return share(_impl->output(name));
}

std::shared_ptr<const double> QuadratureBatch::share_tangent(const std::string & out, const std::string & in) const
{
  return share(_impl->tangent(out, in));
}

std::shared_ptr<const double> QuadratureBatch::share_state(const std::string & name) const
{
  return share(_impl->state(name));
}

std::shared_ptr<const double> QuadratureBatch::share_full_strain() const
{
  return share(_impl->full_strain());
}

std::shared_ptr<const double> QuadratureBatch::share_full_stress() const
{
  return share(_impl->full_stress());
}

void QuadratureBatch::check_commit() const
{
  _impl->check_commit();
}

void QuadratureBatch::commit()
{
  _impl->commit();
}

void QuadratureBatch::revert()
{
  _impl->revert();
}

void QuadratureBatch::set_state(const std::string & name, Span<const double> values)
{
  check_length(*this, name, values.size(), n_points(), size(name));
  _impl->set_state(name, values.data());
}

void QuadratureBatch::set_state(const std::string & name, const double * values)
{
  _impl->set_state(name, values);
}

void QuadratureBatch::set_state(const std::string & name, Span<const std::int64_t> points, Span<const double> values)
{
  check_length(*this, name, values.size(), static_cast<std::int64_t>(points.size()), size(name));
  _impl->set_state(name, _impl->rows(points), values.data());
}

std::vector<std::byte> QuadratureBatch::save() const
{
  return _impl->save();
}

void QuadratureBatch::restore(Span<const std::byte> bytes)
{
  _impl->restore(bytes);
}

void QuadratureBatch::remap(Span<const std::int64_t> from)
{
  _impl->remap(from);
}

void QuadratureBatch::resize(std::int64_t points)
{
  if (points < 0)
    throw FatalError(_impl->batch() + ": n_points must not be negative, got " + std::to_string(points));
  if (points == n_points())
    return;
  std::vector<std::int64_t> from(static_cast<std::size_t>(points), -1);
  std::iota(from.begin(), from.begin() + std::min(points, n_points()), std::int64_t{0});
  _impl->remap(from);
}

std::uint64_t QuadratureBatch::update_weights(const std::string & file)
{
  return model()->update_weights(file);
}
}
