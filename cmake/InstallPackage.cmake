# The CMake package of matlaw: targets, configuration, version, and how torch is found. And its pkg-config files.
include(CMakePackageConfigHelpers)

if(SKBUILD)
  # The prefix of the package is the Python package itself: matlaw/lib/cmake/matlaw -> matlaw
  set(_matlaw_package_prefix "matlaw")
else()
  set(_matlaw_package_prefix "")
endif()
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/matlawConfig.cmake.in" "${PROJECT_BINARY_DIR}/matlawConfig.cmake"
  # Absolute: a relative one would be taken relative to the package's own prefix.
  INSTALL_DESTINATION "${CMAKE_INSTALL_PREFIX}/${MATLAW_INSTALL_CMAKEDIR}"
  INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}/${_matlaw_package_prefix}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/matlawConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/matlawConfig.cmake"
  "${PROJECT_BINARY_DIR}/matlawConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindTorchLibraries.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/MatlawAddArtifact.cmake"
  DESTINATION "${MATLAW_INSTALL_CMAKEDIR}" COMPONENT runtime)
install(EXPORT ${MATLAW_EXPORT} NAMESPACE matlaw:: DESTINATION "${MATLAW_INSTALL_CMAKEDIR}" COMPONENT runtime)

# pkg-config: everything relative to the file itself, torch too where it moves with the package.
if(SKBUILD)
  set(MATLAW_PC_TORCH "\${prefix}/../torch")
elseif("${MATLAW_TORCH_LIBDIR}" STREQUAL "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(MATLAW_PC_TORCH "\${prefix}")
else()
  get_filename_component(MATLAW_PC_TORCH "${MATLAW_TORCH_LIBDIR}" DIRECTORY)
endif()
set(_matlaw_packages matlaw)
if(TARGET matlaw_torch_python AND MATLAW_PYTHON)
  list(APPEND _matlaw_packages matlaw-eager)
endif()
foreach(package IN LISTS _matlaw_packages)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${MATLAW_INSTALL_LIBDIR}/pkgconfig" COMPONENT runtime)
endforeach()
