// What passes between a plugin and libmatlaw_umat: plain C, so that a plugin needs nothing of matlaw when it is linked.
#pragma once

#include <cstdint>

extern "C"
{
  /// The arguments of one call of umat_, by the names of the Abaqus interface. Matrices are stored by columns, but for
  /// ddsdde, of which the settings say how.
  struct matlaw_umat_call
  {
    double * stress;
    double * statev;
    double * ddsdde;
    const double * stran;
    const double * dstran;
    const double * time;
    const double * dtime;
    const double * temp;
    const double * dtemp;
    const double * predef;
    const double * dpred;
    const std::int32_t * ndi;
    const std::int32_t * nshr;
    const std::int32_t * ntens;
    const std::int32_t * nstatv;
    const double * props;
    const std::int32_t * nprops;
    const double * drot;
    double * pnewdt;
    const double * dfgrd0;
    const double * dfgrd1;
    const std::int32_t * noel;
    const std::int32_t * npt;
    const std::int32_t * kstep;
    const std::int32_t * kinc;
  };

  /// Version of this interface: a plugin and a library that disagree do not work together.
  constexpr std::int32_t matlaw_umat_interface = 1;

  using matlaw_umat_open_function = void * (*)(const char * settings, std::int32_t interface);
  using matlaw_umat_evaluate_function = void (*)(void * material, const matlaw_umat_call * call);
}
