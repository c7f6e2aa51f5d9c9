// The turn of the material in a step, DROT.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace matlaw::umat
{
class Rotation
{
public:
  /// `drot` is stored by columns.
  explicit Rotation(const double * drot)
  {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
      {
        _r[i][j] = drot[3 * j + i];
        _identity &= _r[i][j] == double(i == j);
      }
  }

  bool identity() const { return _identity; }

  /// True for types of tensors that turn with the material.
  static bool turns(const std::string & type)
  {
    return type == "SR2" || type == "R2" || type == "Vec" || type == "WR2";
  }

  /// Turns one tensor, in Mandel components where it is symmetric.
  void apply(const std::string & type, double * value) const
  {
    if (_identity)
      return;
    if (type == "SR2")
      turn_symmetric(value);
    else if (type == "R2")
      turn_matrix(value);
    else if (type == "Vec" || type == "WR2") // an axial vector turns like any other
      turn_vector(value);
  }

  void turn_symmetric(double * m) const
  {
    if (_identity)
      return;
    const double yz = m[3] * M_SQRT1_2, xz = m[4] * M_SQRT1_2, xy = m[5] * M_SQRT1_2;
    double a[9] = {m[0], xy, xz, xy, m[1], yz, xz, yz, m[2]};
    turn_matrix(a);
    const double turned[6] = {a[0], a[4], a[8], M_SQRT2 * a[5], M_SQRT2 * a[2], M_SQRT2 * a[1]};
    for (int c = 0; c < 6; c++)
      m[c] = turned[c];
  }

  /// Axial vector of the spin that turns the material so in the time `dt` (Hughes and Winget, 1980).
  void spin(double dt, double * axial) const
  {
    const double scale = 2.0 / ((1.0 + _r[0][0] + _r[1][1] + _r[2][2]) * dt);
    axial[0] = scale * (_r[2][1] - _r[1][2]);
    axial[1] = scale * (_r[0][2] - _r[2][0]);
    axial[2] = scale * (_r[1][0] - _r[0][1]);
  }

private:
  /// R a R^T, row by row
  void turn_matrix(double * a) const
  {
    double left[3][3] = {};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
          left[i][j] += _r[i][k] * a[3 * k + j];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
      {
        a[3 * i + j] = 0.0;
        for (int k = 0; k < 3; k++)
          a[3 * i + j] += left[i][k] * _r[j][k];
      }
  }

  void turn_vector(double * v) const
  {
    const double x = v[0], y = v[1], z = v[2];
    for (int i = 0; i < 3; i++)
      v[i] = _r[i][0] * x + _r[i][1] * y + _r[i][2] * z;
  }

  double _r[3][3];
  bool _identity = true;
};
}
