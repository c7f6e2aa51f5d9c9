# For the Makefile of another application, after modules.mk and before app.mk for itself: builds and links matlaw's
# objects. It must not be called matlaw.mk: <application>.mk is what MOOSE's app.mk includes by itself.

include $(MATLAW_APP)/flags.mk

APPLICATION_DIR    := $(MATLAW_APP)
APPLICATION_NAME   := matlaw
SUFFIX             := matlaw
BUILD_EXEC         := no
GEN_REVISION       := no
include $(FRAMEWORK_DIR)/app.mk
