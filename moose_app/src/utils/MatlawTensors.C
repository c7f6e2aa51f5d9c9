#include "MatlawTensors.h"

namespace MatlawTensors
{
void
toMandel(const RankTwoTensor & tensor, double * to)
{
  for (unsigned int m = 0; m < 6; ++m)
  {
    const unsigned int i = mandel[m][0], j = mandel[m][1];
    to[m] = weight(m) * 0.5 * (tensor(i, j) + tensor(j, i));
  }
}

RankTwoTensor
fromMandel(const double * from)
{
  RankTwoTensor tensor;
  for (unsigned int m = 0; m < 6; ++m)
  {
    const unsigned int i = mandel[m][0], j = mandel[m][1];
    tensor(i, j) = tensor(j, i) = from[m] / weight(m);
  }
  return tensor;
}

void
toFull(const RankTwoTensor & tensor, double * to)
{
  for (unsigned int i = 0; i < 3; ++i)
    for (unsigned int j = 0; j < 3; ++j)
      to[3 * i + j] = tensor(i, j);
}

RankTwoTensor
fromFull(const double * from)
{
  RankTwoTensor tensor;
  for (unsigned int i = 0; i < 3; ++i)
    for (unsigned int j = 0; j < 3; ++j)
      tensor(i, j) = from[3 * i + j];
  return tensor;
}

RankFourTensor
fourthOrder(const double * from, unsigned int rows, unsigned int columns)
{
  // In Mandel components A_ijkl = A_mn / (w_m w_n); each pair of shear indices has two places.
  RankFourTensor tensor;
  for (unsigned int m = 0; m < rows; ++m)
    for (unsigned int n = 0; n < columns; ++n)
    {
      const unsigned int i = rows == 6 ? mandel[m][0] : m / 3, j = rows == 6 ? mandel[m][1] : m % 3;
      const unsigned int k = columns == 6 ? mandel[n][0] : n / 3, l = columns == 6 ? mandel[n][1] : n % 3;
      const double value =
          from[m * columns + n] / ((rows == 6 ? weight(m) : 1.0) * (columns == 6 ? weight(n) : 1.0));
      tensor(i, j, k, l) = value;
      if (rows == 6)
        tensor(j, i, k, l) = value;
      if (columns == 6)
        tensor(i, j, l, k) = value;
      if (rows == 6 && columns == 6)
        tensor(j, i, l, k) = value;
    }
  return tensor;
}

Measure
measure(const std::string & text)
{
  return text == "PK1" ? Measure::PK1 : text == "PK2" ? Measure::PK2 : Measure::CAUCHY;
}

void
toPK1(Measure measure, const RankTwoTensor & f, RankTwoTensor & stress, RankFourTensor & derivative)
{
  if (measure == Measure::PK1)
    return;
  const RankTwoTensor given = stress;
  const RankFourTensor d = derivative;
  const RankTwoTensor inverse = f.inverse();
  const Real jacobian = f.det();
  const bool cauchy = measure == Measure::CAUCHY;
  stress = cauchy ? jacobian * (given * inverse.transpose()) : f * given;
  derivative.zero();
  for (unsigned int i = 0; i < 3; ++i)
    for (unsigned int j = 0; j < 3; ++j)
      for (unsigned int k = 0; k < 3; ++k)
        for (unsigned int l = 0; l < 3; ++l)
        {
          Real value = cauchy ? stress(i, j) * inverse(l, k) : (i == k ? given(l, j) : 0.0);
          for (unsigned int m = 0; m < 3; ++m)
            value += cauchy ? jacobian * (d(i, m, k, l) * inverse(j, m) - given(i, m) * inverse(j, k) * inverse(l, m))
                            : f(i, m) * d(m, j, k, l);
          derivative(i, j, k, l) = value;
        }
}

void
toCauchy(Measure measure, const RankTwoTensor & f, RankTwoTensor & stress, RankFourTensor & derivative)
{
  RankFourTensor d = derivative;
  if (measure != Measure::CAUCHY)
  {
    toPK1(measure, f, stress, derivative);
    const RankTwoTensor p = stress;
    const RankTwoTensor inverse = f.inverse();
    const Real jacobian = f.det();
    stress = p * f.transpose() / jacobian;
    for (unsigned int i = 0; i < 3; ++i)
      for (unsigned int j = 0; j < 3; ++j)
        for (unsigned int k = 0; k < 3; ++k)
          for (unsigned int l = 0; l < 3; ++l)
          {
            Real value = j == k ? p(i, l) : 0.0;
            for (unsigned int m = 0; m < 3; ++m)
              value += derivative(i, m, k, l) * f(j, m);
            d(i, j, k, l) = value / jacobian - stress(i, j) * inverse(l, k);
          }
  }
  derivative.zero();
  for (unsigned int i = 0; i < 3; ++i)
    for (unsigned int j = 0; j < 3; ++j)
      for (unsigned int k = 0; k < 3; ++k)
        for (unsigned int l = 0; l < 3; ++l)
          for (unsigned int m = 0; m < 3; ++m)
            derivative(i, j, k, l) += 0.5 * (d(i, j, k, m) * f(l, m) + d(i, j, l, m) * f(k, m));
}
}
