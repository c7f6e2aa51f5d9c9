// MOOSE tensors from and to the numbers of a law: symmetric tensors in Mandel components, all else row-major.
#pragma once

#include <string>

#include "MooseTypes.h"
#include "RankFourTensor.h"
#include "RankTwoTensor.h"

namespace MatlawTensors
{
/// Row and column of the Mandel components xx, yy, zz, sqrt2 yz, sqrt2 xz, sqrt2 xy.
constexpr unsigned int mandel[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
constexpr double sqrt2 = 1.4142135623730951;

inline double
weight(unsigned int component)
{
  return component < 3 ? 1.0 : sqrt2;
}

/// The symmetric part of `tensor`, 6 numbers.
void toMandel(const RankTwoTensor & tensor, double * to);
RankTwoTensor fromMandel(const double * from);

/// 9 numbers, row-major.
void toFull(const RankTwoTensor & tensor, double * to);
RankTwoTensor fromFull(const double * from);

/// A derivative of one second-order tensor by another: `rows` and `columns` are 6 (Mandel) or 9 (all components).
RankFourTensor fourthOrder(const double * from, unsigned int rows, unsigned int columns);

/// Which stress a law of the deformation gradient F gives: Cauchy s, first Piola-Kirchhoff P, second S.
enum class Measure
{
  CAUCHY,
  PK1,
  PK2
};

/// "CAUCHY", "PK1" or "PK2"; anything else, which means a law of the strain, counts as CAUCHY.
Measure measure(const std::string & text);

/// `stress` and its derivative by F become P = J s F^-T = F S and dP/dF.
void toPK1(Measure measure, const RankTwoTensor & f, RankTwoTensor & stress, RankFourTensor & derivative);

/// `stress` and its derivative by F become s = P F^T / J and the derivative along a rate of deformation,
/// sym_kl ds_ij/dF_km F_lm, which is what kernels on the deformed mesh take for the derivative by the strain.
void toCauchy(Measure measure, const RankTwoTensor & f, RankTwoTensor & stress, RankFourTensor & derivative);

/// Symmetric 3x3 of a row or column of a derivative, 6 numbers: d(scalar)/d(strain) and d(stress)/d(scalar).
inline RankTwoTensor
secondOrder(const double * from, unsigned int size)
{
  return size == 6 ? fromMandel(from) : fromFull(from);
}
}
