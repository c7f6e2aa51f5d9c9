# A host that includes QuadratureBatch.h is compiled without torch's headers in reach.
add_library(matlaw_torch_free_host OBJECT torch_free/torch_free_host.cpp)
target_include_directories(matlaw_torch_free_host PRIVATE ${MATLAW_INCLUDE_DIR})
# MOOSE and its like are compiled as C++17.
set_target_properties(matlaw_torch_free_host PROPERTIES CXX_STANDARD 17)
target_link_libraries(matlaw_tests PRIVATE matlaw_torch_free_host)
