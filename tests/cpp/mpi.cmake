# The test of MPISimpleScheduler, a header: libmatlaw holds no MPI.
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND OR NOT MPIEXEC_EXECUTABLE)
  message(STATUS "MPI was not found; the test of MPISimpleScheduler is left out")
  return()
endif()
add_executable(matlaw_mpi_tests mpi/test_mpi_scheduler.cpp toy_law.cpp)
add_dependencies(matlaw_mpi_tests ${_toy_targets})
target_include_directories(matlaw_mpi_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/cpp/src/runtime)
target_compile_definitions(matlaw_mpi_tests PRIVATE MATLAW_TOY_KERNELS="${MATLAW_TOY_KERNELS}")
target_link_libraries(matlaw_mpi_tests PRIVATE matlaw nlohmann_json::nlohmann_json MPI::MPI_CXX GTest::gtest Threads::Threads)
add_test(NAME mpi_scheduler COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 $<TARGET_FILE:matlaw_mpi_tests>)
# Open MPI refuses root and more processes than cores unless told otherwise.
set_tests_properties(mpi_scheduler PROPERTIES PROCESSORS 3 ENVIRONMENT
  "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1")
