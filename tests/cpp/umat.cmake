# Plugins in a host that links nothing of matlaw, and parts of the library that need nothing of it.
add_executable(matlaw_umat_tests umat/test_umat_plugin.cpp umat/test_point_memory.cpp
               ${PROJECT_SOURCE_DIR}/cpp/src/umat/PointMemory.cpp)
target_include_directories(matlaw_umat_tests PRIVATE ${PROJECT_SOURCE_DIR}/cpp/src/umat)
add_dependencies(matlaw_umat_tests matlaw_umat matlaw_umat_plugin)
target_compile_definitions(matlaw_umat_tests PRIVATE
  MATLAW_UMAT_PLUGIN="$<TARGET_FILE:matlaw_umat_plugin>" MATLAW_UMAT_LIBRARY="$<TARGET_FILE:matlaw_umat>")
target_link_libraries(matlaw_umat_tests PRIVATE GTest::gtest GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
gtest_discover_tests(matlaw_umat_tests DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
