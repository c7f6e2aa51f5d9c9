# Finds the torch libraries that matlaw links. Of torch's own CMake package it takes no more than its place, and only when
# asked to: that one drags in the CUDA toolkit, compiler flags and Python of the machine on which torch was built.
#
# Looked at in this order: MATLAW_TORCH_ROOT; with MATLAW_TORCH_PACKAGE what find_package(Torch) finds, and nothing else;
# the torch package of the Python interpreter (Python3_EXECUTABLE or Python_EXECUTABLE), the prefixes that CMake searches.
#
# Defines the imported targets
#   matlaw_torch          headers, c10, torch_cpu, torch, and the ABI definition
#   matlaw_torch_python   torch_python besides (only where it is installed)
# and the variables MATLAW_TORCH_VERSION, MATLAW_TORCH_LIBDIR, MATLAW_TORCH_INCLUDE_DIRS.

set(MATLAW_TORCH_ROOT "" CACHE PATH "Folder of a torch installation (holds include/ and lib/)")
option(MATLAW_TORCH_PACKAGE "Take the torch of find_package(Torch), as in a conda environment, not that of a Python" OFF)
set(_matlaw_torch_wanted "2.13")

if(TARGET matlaw_torch)
  return()
endif()

set(_matlaw_torch_hints "")
set(_matlaw_torch_searched "")
if(MATLAW_TORCH_ROOT)
  list(APPEND _matlaw_torch_hints "${MATLAW_TORCH_ROOT}")
elseif(MATLAW_TORCH_PACKAGE)
  find_package(Torch CONFIG REQUIRED)
  list(APPEND _matlaw_torch_hints "${TORCH_INSTALL_PREFIX}")
else()
  if(NOT Python3_EXECUTABLE AND Python_EXECUTABLE)
    set(Python3_EXECUTABLE "${Python_EXECUTABLE}")
  endif()
  if(NOT Python3_EXECUTABLE)
    find_package(Python3 QUIET COMPONENTS Interpreter)
  endif()
  if(Python3_EXECUTABLE)
    # find_spec does not import torch: fast, and it works where torch cannot start.
    execute_process(
      COMMAND "${Python3_EXECUTABLE}" -c
        "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '', end='')"
      OUTPUT_VARIABLE _matlaw_torch_package ERROR_QUIET)
    if(_matlaw_torch_package)
      list(APPEND _matlaw_torch_hints "${_matlaw_torch_package}")
    endif()
    string(APPEND _matlaw_torch_searched " the interpreter ${Python3_EXECUTABLE},")
  endif()
endif()

unset(_matlaw_torch_include CACHE)
unset(_matlaw_torch_header_found CACHE)
find_path(_matlaw_torch_include torch/csrc/inductor/aoti_package/model_package_loader.h
          HINTS ${_matlaw_torch_hints} PATH_SUFFIXES include)
if(NOT _matlaw_torch_include)
  message(FATAL_ERROR
    "matlaw needs torch ${_matlaw_torch_wanted} and found none (searched:${_matlaw_torch_searched} CMAKE_PREFIX_PATH). "
    "Install it (pip install 'torch==${_matlaw_torch_wanted}.*'), or pass -DPython3_EXECUTABLE=<interpreter that has it> "
    "or -DMATLAW_TORCH_ROOT=<folder with include/ and lib/>.")
endif()
get_filename_component(_matlaw_torch_prefix "${_matlaw_torch_include}" DIRECTORY)

set(_matlaw_torch_text "")
foreach(_header IN ITEMS torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS "${_matlaw_torch_include}/${_header}")
    file(READ "${_matlaw_torch_include}/${_header}" _text)
    string(APPEND _matlaw_torch_text "${_text}")
  endif()
endforeach()
foreach(_part IN ITEMS MAJOR MINOR PATCH)
  if(_matlaw_torch_text MATCHES "define TORCH_VERSION_${_part} ([0-9]+)")
    set(_matlaw_torch_${_part} "${CMAKE_MATCH_1}")
  else()
    set(_matlaw_torch_${_part} "unknown")
  endif()
endforeach()
set(MATLAW_TORCH_VERSION "${_matlaw_torch_MAJOR}.${_matlaw_torch_MINOR}.${_matlaw_torch_PATCH}")
if(NOT "${_matlaw_torch_MAJOR}.${_matlaw_torch_MINOR}" STREQUAL "${_matlaw_torch_wanted}")
  message(FATAL_ERROR
    "matlaw needs torch ${_matlaw_torch_wanted}, but ${_matlaw_torch_prefix} holds torch ${MATLAW_TORCH_VERSION}. "
    "Install torch==${_matlaw_torch_wanted}.*, or pass -DPython3_EXECUTABLE or -DMATLAW_TORCH_ROOT for another one.")
endif()

function(_matlaw_torch_library name required)
  find_library(_matlaw_torch_${name}_library ${name} HINTS "${_matlaw_torch_prefix}" PATH_SUFFIXES lib NO_CACHE)
  if(required AND NOT _matlaw_torch_${name}_library)
    message(FATAL_ERROR "torch in ${_matlaw_torch_prefix} has no library ${name}; the installation is damaged, reinstall it.")
  endif()
  set(_matlaw_torch_${name}_library "${_matlaw_torch_${name}_library}" PARENT_SCOPE)
endfunction()
_matlaw_torch_library(c10 TRUE)
_matlaw_torch_library(torch_cpu TRUE)
_matlaw_torch_library(torch TRUE)
_matlaw_torch_library(torch_python FALSE)
get_filename_component(MATLAW_TORCH_LIBDIR "${_matlaw_torch_torch_cpu_library}" DIRECTORY)
set(MATLAW_TORCH_INCLUDE_DIRS "${_matlaw_torch_include}" "${_matlaw_torch_include}/torch/csrc/api/include")

add_library(matlaw_torch INTERFACE IMPORTED GLOBAL)
set_target_properties(matlaw_torch PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${MATLAW_TORCH_INCLUDE_DIRS}"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${MATLAW_TORCH_INCLUDE_DIRS}"
  INTERFACE_LINK_LIBRARIES "${_matlaw_torch_torch_library};${_matlaw_torch_torch_cpu_library};${_matlaw_torch_c10_library}"
  # Every torch since 2.6 is built with the C++11 string ABI; a compiler that defaults to the other one would not link.
  INTERFACE_COMPILE_DEFINITIONS "_GLIBCXX_USE_CXX11_ABI=1"
  INTERFACE_COMPILE_FEATURES cxx_std_20)

if(_matlaw_torch_torch_python_library)
  add_library(matlaw_torch_python INTERFACE IMPORTED GLOBAL)
  set_target_properties(matlaw_torch_python PROPERTIES
    INTERFACE_LINK_LIBRARIES "matlaw_torch;${_matlaw_torch_torch_python_library}")
endif()
message(STATUS "torch ${MATLAW_TORCH_VERSION}: ${_matlaw_torch_prefix}")
