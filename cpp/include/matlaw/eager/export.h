// Marks what libmatlaw_eager.so offers to others; everything else in it is hidden, pybind11 types above all.
#pragma once

#if defined(__GNUC__)
#define MATLAW_EAGER_API __attribute__((visibility("default")))
#else
#define MATLAW_EAGER_API
#endif
