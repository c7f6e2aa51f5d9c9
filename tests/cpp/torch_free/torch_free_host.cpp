// A host may include what it needs without torch: this file is compiled without torch's headers in reach.
#include "matlaw/host/BatchGroup.h"
#include "matlaw/host/Law.h"

#include "torch_free_host.h"

#if __has_include(<ATen/ATen.h>)
#error "this file has to be compiled without torch's headers"
#endif

namespace matlaw::toy
{
std::vector<double> one_step(host::QuadratureBatch & batch, const std::vector<double> & strain)
{
  batch.set_input("strain", strain);
  batch.set_input("s", 2.0);
  if (!batch.evaluate(true).ok())
    return {};
  const double * stress = batch.output("stress");
  const std::vector<double> values(stress, stress + batch.n_points() * batch.size("stress"));
  batch.commit();
  return values;
}
}
