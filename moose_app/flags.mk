# How to compile with matlaw and link it. No header of torch is needed; its libraries are those of libmatlaw.

MATLAW_PYTHON ?= python3
MATLAW_DIR    ?= $(shell $(MATLAW_PYTHON) -m matlaw.config --prefix)
TORCH_DIR     ?= $(shell $(MATLAW_PYTHON) -c 'import torch, pathlib; print(pathlib.Path(torch.__file__).parent)')
MATLAW_EAGER  ?= no
MATLAW_PYTHON_CONFIG ?= python3-config

ifeq ($(wildcard $(MATLAW_DIR)/include/matlaw/host/Law.h),)
  $(error no matlaw/host/Law.h below MATLAW_DIR = '$(MATLAW_DIR)': set MATLAW_DIR to an installation of matlaw)
endif

ADDITIONAL_INCLUDES += -isystem $(MATLAW_DIR)/include
EXTERNAL_FLAGS      += -L$(MATLAW_DIR)/lib -Wl,-rpath,$(MATLAW_DIR)/lib -L$(TORCH_DIR)/lib -Wl,-rpath,$(TORCH_DIR)/lib \
                       -Wl,-rpath-link,$(TORCH_DIR)/lib -lmatlaw

ifeq ($(MATLAW_EAGER),yes)
  EXTERNAL_FLAGS    += -Wl,--no-as-needed -lmatlaw_eager $(shell $(MATLAW_PYTHON_CONFIG) --embed --ldflags) -Wl,--as-needed
endif
