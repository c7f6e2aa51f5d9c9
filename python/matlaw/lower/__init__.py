"""From graphs to libraries: native CPU kernels, and AOTInductor packages."""
