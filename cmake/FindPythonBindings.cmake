# Finds what the rooms that talk to Python need: Python::Module and pybind11. Imported targets belong to the folder that
# asks for them, so each of these rooms includes this file.
if(NOT TARGET matlaw_torch_python)
  message(FATAL_ERROR "MATLAW_PYTHON needs a torch with Python bindings (libtorch_python). Install the torch package of "
                      "Python, or pass -DMATLAW_PYTHON=OFF to build the compiled runtime alone.")
endif()
if(NOT Python_EXECUTABLE AND Python3_EXECUTABLE)
  set(Python_EXECUTABLE "${Python3_EXECUTABLE}")
endif()
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT pybind11_DIR)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m pybind11 --cmakedir
    OUTPUT_VARIABLE _matlaw_pybind11_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(_matlaw_pybind11_dir)
    set(pybind11_DIR "${_matlaw_pybind11_dir}")
  endif()
endif()
set(PYBIND11_FINDPYTHON ON)
find_package(pybind11 2.13 CONFIG REQUIRED)
