# The CMake package of matlaw: targets, configuration, version, and how torch is found. And its pkg-config file.
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
matlaw_install_pkg_config(matlaw runtime)
