# Tests of the eager runtime. It leaves libpython to the program that links it: this one does.
if(NOT TARGET matlaw_eager)
  return()
endif()
find_package(Python COMPONENTS Interpreter Development.Embed)
if(NOT Python_Development.Embed_FOUND)
  message(STATUS "libpython was not found; the tests of the eager runtime are left out")
  return()
endif()

file(GLOB _eager_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/test_eager_*.cpp")
add_executable(matlaw_eager_tests ${_eager_sources})
target_precompile_headers(matlaw_eager_tests PRIVATE <ATen/ATen.h> <gtest/gtest.h>)
target_include_directories(matlaw_eager_tests PRIVATE ${PROJECT_SOURCE_DIR}/cpp/src/runtime)
target_link_libraries(matlaw_eager_tests PRIVATE matlaw_eager Python::Python nlohmann_json::nlohmann_json GTest::gtest GTest::gtest_main Threads::Threads)
target_compile_definitions(matlaw_eager_tests PRIVATE MATLAW_EXAMPLES="${PROJECT_SOURCE_DIR}/examples/models"
  MATLAW_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")

# An interpreter that is started in a program takes the environment of the first `python3` on PATH. matlaw has to be
# installed there before the tests run.
get_filename_component(_python_folder "${Python_EXECUTABLE}" DIRECTORY)
add_test(NAME eager COMMAND matlaw_eager_tests "--gtest_filter=-WithoutMatlaw.*:WithOtherPython.*")
set_tests_properties(eager PROPERTIES ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${_python_folder};PYTHONHOME=unset:")

# The same program where Python has its standard library and nothing else.
execute_process(COMMAND "${Python_EXECUTABLE}" -c "import sys; print(sys.base_prefix, end='')" OUTPUT_VARIABLE _python_home)
file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/no_packages")
add_test(NAME eager_without_matlaw COMMAND matlaw_eager_tests "--gtest_filter=WithoutMatlaw.*")
set_tests_properties(eager_without_matlaw PROPERTIES ENVIRONMENT_MODIFICATION
  "PATH=set:${CMAKE_CURRENT_BINARY_DIR}/no_packages;PYTHONHOME=set:${_python_home};PYTHONPATH=unset:;PYTHONNOUSERSITE=set:1")

# The same program where another Python came first.
add_library(matlaw_other_python SHARED other_python/other_python.cpp)
add_test(NAME eager_with_other_python COMMAND matlaw_eager_tests "--gtest_filter=WithOtherPython.*")
set_tests_properties(eager_with_other_python PROPERTIES ENVIRONMENT_MODIFICATION
  "LD_PRELOAD=path_list_prepend:$<TARGET_FILE:matlaw_other_python>")
