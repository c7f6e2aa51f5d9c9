// What the libraries of all .pt2 files have in common: torch's own source of their interface, and the class that each
// graph's model derives from, which graphs therefore need not compile again.
#include <_inductor/codegen/aoti_runtime/interface.cpp>

template class torch::aot_inductor::AOTInductorModelBase<torch::aot_inductor::AOTInductorModel>;
