# matlaw_add_artifact(<target>
#   INPUT <file.i> MODEL <name>
#   [DERIVATIVES OUT:IN ...] [PARAMETERS <name> ...] [OVERRIDES Models/x/E:=1 ...]
#   [BACKEND both|inductor|native] [DEVICE cpu|cuda] [DTYPE float64|float32] [CPU_TARGETS <target> ...]
#   [EXTENSIONS <file.py> ...] [DEPENDS <file> ...] [OUTPUT_DIR <folder>])
#
# Compiles the model as part of the build, and again when the input file, a file that it includes, an extension or a file
# of DEPENDS (a table that the law reads) changes. Writes <folder>/<name>_aoti.i, the stub to load, and the artifact
# <folder>/<name>/ beside it; <folder> is ${CMAKE_CURRENT_BINARY_DIR}/<target> when not given. The options are those of
# matlaw-compile, which the variable MATLAW_COMPILE names.
#
# The target has the properties MATLAW_STUB and MATLAW_ARTIFACT: their absolute paths.
include_guard(GLOBAL)

function(_matlaw_included_files file result)
  set(found "")
  if(EXISTS "${file}")
    file(STRINGS "${file}" lines REGEX "^[ \t]*!include[ \t]")
    get_filename_component(folder "${file}" DIRECTORY)
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[ \t]*!include[ \t]+" "" included "${line}")
      string(REGEX REPLACE "#.*" "" included "${included}")
      string(STRIP "${included}" included)
      string(REGEX REPLACE "^['\"](.*)['\"]$" "\\1" included "${included}")
      get_filename_component(included "${included}" ABSOLUTE BASE_DIR "${folder}")
      _matlaw_included_files("${included}" below)
      list(APPEND found "${included}" ${below})
    endforeach()
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

function(matlaw_add_artifact target)
  set(one INPUT MODEL BACKEND DEVICE DTYPE OUTPUT_DIR)
  set(many DERIVATIVES PARAMETERS OVERRIDES CPU_TARGETS EXTENSIONS DEPENDS)
  cmake_parse_arguments(PARSE_ARGV 1 law "" "${one}" "${many}")
  if(law_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "matlaw_add_artifact(${target}): unknown arguments: ${law_UNPARSED_ARGUMENTS}")
  endif()
  foreach(needed IN ITEMS INPUT MODEL)
    if(NOT law_${needed})
      message(FATAL_ERROR "matlaw_add_artifact(${target}): ${needed} is missing")
    endif()
  endforeach()
  if(NOT MATLAW_COMPILE)
    message(FATAL_ERROR "matlaw_add_artifact(${target}): matlaw-compile was not found. It comes with the Python package "
                        "matlaw; pass -DMATLAW_COMPILE=<path of matlaw-compile>.")
  endif()
  get_filename_component(input "${law_INPUT}" ABSOLUTE)
  if(NOT EXISTS "${input}")
    message(FATAL_ERROR "matlaw_add_artifact(${target}): there is no file ${input}")
  endif()
  if(NOT law_OUTPUT_DIR)
    set(law_OUTPUT_DIR "${target}")
  endif()
  get_filename_component(folder "${law_OUTPUT_DIR}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")

  set(command "${MATLAW_COMPILE}" "${input}" --model "${law_MODEL}" --output-dir "${folder}" --quiet)
  foreach(option IN ITEMS BACKEND DEVICE DTYPE)
    if(law_${option})
      string(TOLOWER "--${option}" flag)
      list(APPEND command "${flag}" "${law_${option}}")
    endif()
  endforeach()
  foreach(pair IN ITEMS "DERIVATIVES|--derivative" "PARAMETERS|--parameter" "CPU_TARGETS|--cpu-target")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 option)
    list(GET pair 1 flag)
    if(law_${option})
      list(APPEND command "${flag}" ${law_${option}})
    endif()
  endforeach()
  set(extensions "")
  foreach(extension IN LISTS law_EXTENSIONS)
    get_filename_component(file "${extension}" ABSOLUTE)
    if(EXISTS "${file}")
      set(extension "${file}")
      list(APPEND extensions "${file}")
    endif()
    list(APPEND command --load "${extension}")
  endforeach()
  list(APPEND command ${law_OVERRIDES})

  _matlaw_included_files("${input}" included)
  # A file that starts to include another has to be looked through again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${input}" ${included})
  set(depends "${input}" ${included} ${extensions} "${MATLAW_COMPILE}")
  foreach(file IN LISTS law_DEPENDS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND depends "${file}")
  endforeach()

  set(stub "${folder}/${law_MODEL}_aoti.i")
  add_custom_command(
    OUTPUT "${stub}"
    BYPRODUCTS "${folder}/${law_MODEL}/metadata.json"
    COMMAND ${command}
    # An artifact that is up to date is left alone; the build has to see that it was looked at.
    COMMAND "${CMAKE_COMMAND}" -E touch "${stub}"
    DEPENDS ${depends}
    COMMENT "Compiling the law ${law_MODEL} of ${law_INPUT}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${stub}")
  set_target_properties(${target} PROPERTIES MATLAW_STUB "${stub}" MATLAW_ARTIFACT "${folder}/${law_MODEL}")
endfunction()
