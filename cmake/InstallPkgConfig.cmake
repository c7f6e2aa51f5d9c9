# matlaw_install_pkg_config(<name> <component>) installs <name>.pc.
#
# Everything in it is relative to the file itself, torch too where it moves with the package.
if(SKBUILD)
  set(MATLAW_PC_TORCH "\${prefix}/../torch")
elseif("${MATLAW_TORCH_LIBDIR}" STREQUAL "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(MATLAW_PC_TORCH "\${prefix}")
else()
  get_filename_component(MATLAW_PC_TORCH "${MATLAW_TORCH_LIBDIR}" DIRECTORY)
endif()

function(matlaw_install_pkg_config name component)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${MATLAW_INSTALL_LIBDIR}/pkgconfig" COMPONENT ${component})
endfunction()
