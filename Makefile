# pvcbench: `make help` lists what there is.

VERSION  := 0.1.0
BUILD    := build
CC       ?= gcc
PKGS     := liburing yaml-0.1 libcjson
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CPPFLAGS += -Irunner -D_GNU_SOURCE -DPVCBENCH_VERSION='"$(VERSION)"'
ALL_CFLAGS = -std=gnu11 -pthread $(WARNINGS) $(if $(WERROR),-Werror) $(CFLAGS) $(shell pkg-config --cflags $(PKGS))
LDLIBS   = $(shell pkg-config --libs $(PKGS)) -lm -pthread
Q        := $(if $(V),,@)

SOURCES := \
	base/err.c base/field.c base/units.c base/workers.c \
	doctor.c expect.c \
	io/aio.c io/engine.c io/file.c io/host.c io/null.c io/psync.c io/target.c io/uring.c \
	kinds/block.c kinds/kind.c \
	main.c \
	measure/hist.c measure/stats.c \
	out/json.c out/progress.c out/text.c \
	plan.c plan_yaml.c result.c run.c verdict.c
