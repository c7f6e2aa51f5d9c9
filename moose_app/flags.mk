# How to compile with matlaw and link it. No header of torch is needed; its libraries are those of libmatlaw.

MATLAW_PYTHON ?= python3
MATLAW_EAGER  ?= no
MATLAW_PYTHON_CONFIG ?= python3-config
# Asked once, not each time that make looks at a variable.
ifndef MATLAW_DIR
  MATLAW_DIR := $(shell $(MATLAW_PYTHON) -m matlaw.config --prefix)
endif
ifndef TORCH_DIR
  TORCH_DIR := $(shell $(MATLAW_PYTHON) -c 'import importlib.util; print(importlib.util.find_spec("torch").submodule_search_locations[0])')
endif

ifeq ($(wildcard $(MATLAW_DIR)/include/matlaw/host/Law.h),)
  $(error no matlaw/host/Law.h below MATLAW_DIR = '$(MATLAW_DIR)': set MATLAW_DIR to an installation of matlaw)
endif

ADDITIONAL_INCLUDES += -isystem $(MATLAW_DIR)/include
EXTERNAL_FLAGS      += -L$(MATLAW_DIR)/lib -Wl,-rpath,$(MATLAW_DIR)/lib -L$(TORCH_DIR)/lib -Wl,-rpath,$(TORCH_DIR)/lib \
                       -Wl,-rpath-link,$(TORCH_DIR)/lib -lmatlaw

ifeq ($(MATLAW_EAGER),yes)
  MATLAW_PYTHON_FLAGS := $(shell $(MATLAW_PYTHON_CONFIG) --embed --ldflags)
  # Nothing names a symbol of it. libtool moves options of the linker in front of libraries, so this one cannot be taken back.
  EXTERNAL_FLAGS      += -Wl,--no-as-needed -lmatlaw_eager $(MATLAW_PYTHON_FLAGS)
endif
