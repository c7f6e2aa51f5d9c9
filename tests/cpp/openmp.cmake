# A host that uses OpenMP itself, a program of its own.
find_package(OpenMP QUIET COMPONENTS CXX)
if(NOT OpenMP_CXX_FOUND OR MATLAW_SANITIZE)
  message(STATUS "No OpenMP, or a sanitizer that does not know it: the test of an OpenMP host is left out")
  return()
endif()
add_executable(matlaw_openmp_tests openmp/test_openmp_host.cpp toy_law.cpp)
add_dependencies(matlaw_openmp_tests ${_toy_targets})
target_include_directories(matlaw_openmp_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/cpp/src/runtime)
target_compile_definitions(matlaw_openmp_tests PRIVATE MATLAW_TOY_KERNELS="${MATLAW_TOY_KERNELS}")
target_link_libraries(matlaw_openmp_tests PRIVATE OpenMP::OpenMP_CXX matlaw nlohmann_json::nlohmann_json
  GTest::gtest GTest::gtest_main Threads::Threads)
add_test(NAME openmp_host COMMAND matlaw_openmp_tests)
