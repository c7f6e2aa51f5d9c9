# The tests called OtherTorch in a process whose torch says that it is of another release.
add_library(matlaw_other_torch SHARED other_torch/other_torch.cpp)
add_test(NAME other_torch COMMAND matlaw_tests "--gtest_filter=OtherTorch.*")
set_tests_properties(other_torch PROPERTIES ENVIRONMENT_MODIFICATION
  "LD_PRELOAD=path_list_prepend:$<TARGET_FILE:matlaw_other_torch>")
