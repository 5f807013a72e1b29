# pvcbench: `make help` lists what there is. V=1 shows commands, WERROR=1 makes warnings errors.

VERSION  := 0.1.0
BUILD    ?= build
CC       := $(if $(filter default,$(origin CC)),gcc,$(CC))
PKGS     := liburing yaml-0.1 libcjson libcurl libmicrohttpd libcrypto
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
HARDEN   := $(if $(findstring -fsanitize,$(CFLAGS)),,-fstack-protector-strong \
	$(if $(filter -O2,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
CPPFLAGS += -Irunner -D_GNU_SOURCE -DPVCBENCH_VERSION='"$(VERSION)"' \
	$(if $(filter -static%,$(PIE)),-DPVCBENCH_STATIC)
COMPILE   = $(CC) -std=gnu11 -pthread -fPIE $(WARNINGS) $(if $(WERROR),-Werror) $(CPPFLAGS) \
	$(HARDEN) $(CFLAGS) $(shell pkg-config --cflags $(PKGS))
PIE      := -pie
LINK      = $(CC) $(PIE) -pthread -Wl,-z,relro,-z,now,--as-needed,--gc-sections $(CFLAGS) \
	$(LDFLAGS)
LDLIBS    = $(shell pkg-config $(if $(filter -static%,$(PIE)),--static) --libs $(PKGS)) -lm
HOST      = $(shell $(CC) -dumpmachine)
STATIC_LIBS ?= $(BUILD)/static-libs/$(HOST)
PLAN     ?= quick
Q        := $(if $(V),,@)
say       = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-6s %s\n' $(1) $(2))
JOBS      = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE   = $(MAKE) --no-print-directory $(JOBS)

SOURCES  := $(sort builtin.c web.c $(patsubst runner/%,%,$(wildcard runner/*.c runner/*/*.c)))
objects   = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
PLANS    := $(sort $(filter-out %/kustomization.yaml,$(wildcard manifests/plans/*.yaml)))
SCHEMAS  := $(wildcard docs/*.schema.json)
CHART_JS := /usr/share/javascript/chart.js/chart.min.js
WEB      := web_report_html=runner/web/report.html web_report_css=runner/web/report.css \
	web_report_js=runner/web/report.js web_chart_js=$(CHART_JS)

# A test program names the runner sources that it links: `/* links: base/err.c base/units.c */`
links     = $(filter %.c,$(shell sed -n '/ links:/,/\*\//p' $(1)))
PROGRAMS := $(patsubst tests/%.c,%,$(sort $(wildcard tests/unit/t_*.c tests/golden/*.c)))
FUZZERS  := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.PHONY: help deps build bench test lint unit tests fuzzers asan docs man fuzz bench-accuracy \
	bench-engine bench-ring bench-scale bench-exact bench-merge bench-peers bench-verdicts \
	format static image push manifests up logs down rerun results dist check-export clean FORCE

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.* ## /\1\t/p' Makefile | expand -t 18

deps: ## install the Debian packages that building and testing need
	$(Q).ci/deps build test

build: $(BUILD)/pvcbench ## compile build/pvcbench (the default)

bench: ## build, then run PLAN (quick) on the directory TARGET (build/bench)
	$(Q).ci/deps build
	$(Q)$(SUBMAKE) build
	$(Q)$(if $(TARGET),,mkdir -p $(BUILD)/bench)
	$(Q)$(BUILD)/pvcbench run $(PLAN) --target '$(or $(TARGET),$(BUILD)/bench)' \
		$(if $(TARGET),,--set container_fs=true)

test: ## run every suite, or only those in SUITES
	$(Q).ci/deps build test
	$(Q)$(SUBMAKE) build tests fuzzers
	$(Q)$(SUBMAKE) BUILD=$(BUILD)/asan CFLAGS='$(SANITIZE)' tests
	$(Q)BUILD=$(BUILD) tests/run-all $(SUITES)

lint: ## run the rules that are tests
	$(Q).ci/deps build test
	$(Q)BUILD=$(BUILD) tests/run-all lint

unit: tests ## run the unit tests
	$(Q)BUILD=$(BUILD) tests/run-all unit

asan: ## run the unit tests under sanitizers (address, undefined)
	$(Q)$(SUBMAKE) BUILD=$(BUILD)/asan CFLAGS='$(SANITIZE)' build tests
	$(Q)BUILD=$(BUILD) tests/run-all asan

docs: ## print the reference pages in docs/ anew
	$(Q)BUILD=$(BUILD) docs/generate

man: build ## write build/pvcbench.1 from what --help says
	$(Q)docs/man $(BUILD)/pvcbench >$(BUILD)/pvcbench.1

fuzz: fuzzers ## fuzz the readers, SECONDS (60) each
	$(Q)BUILD=$(BUILD) FUZZ_SECONDS=$(or $(SECONDS),60) tests/run-all fuzz

bench-accuracy: build ## compare with fio on this machine (TARGET, ROUNDS)
	$(Q)BUILD=$(BUILD) tests/bench/accuracy

bench-engine: build ## what a request costs, against fio on one CPU (PLACES, ENGINES, DEPTHS)
	$(Q)BUILD=$(BUILD) tests/bench/engine

bench-ring: ## what each way to set up io_uring is worth (FILE, DEPTH, DIRECT=direct)
	$(Q)$(MAKE) -s -C tests/run BUILD='$(abspath $(BUILD))' '$(abspath $(BUILD))/tests/ring'
	$(Q)$(if $(FILE),,mkdir -p $(BUILD)/bench; head -c 256M /dev/urandom >$(BUILD)/bench/ring)
	$(Q)taskset -c 0 $(BUILD)/tests/ring $(or $(FILE),$(BUILD)/bench/ring) $(or $(DEPTH),16) \
		$(DIRECT)

bench-scale: static ## rate, CPU and memory by threads and depth, the start (THREADS, DEPTHS)
	$(Q)$(MAKE) -s -C tests/run BUILD='$(abspath $(BUILD))' '$(abspath $(BUILD))/tests/start'
	$(Q)PVCBENCH='$(BUILD)/pvcbench-static' BUILD=$(BUILD) tests/bench/scale

bench-verdicts: build ## arrange each limit, count verdicts missed or false (ROUNDS, SEED, ONLY)
	$(Q)BUILD=$(BUILD) tests/bench/verdicts

bench-merge: build ## merge 1,000 and 10,000 results: time and memory
	$(Q)BUILD=$(BUILD) tests/bench/merge

bench-exact: build ## hold latencies and rates against a volume that is known to the microsecond
	$(Q)BUILD=$(BUILD) tests/bench/exact

bench-peers: build ## how long PEERS (200) processes take to begin a test together
	$(Q)BUILD=$(BUILD) tests/bench/peers

# Not -static-pie: that relocates itself at each start, a page fault for each of OpenSSL's tables.
# With a cross compiler as CC the packages are those of the other architecture: see Dockerfile.
static: ## build build/pvcbench-static, one file that needs no library
	$(if $(findstring -linux-gnu-,$(CC)),,$(Q).ci/deps build static)
	$(Q)CC='$(CC)' .ci/static-libs '$(STATIC_LIBS)'
	$(Q)PKG_CONFIG_LIBDIR='$(STATIC_LIBS)/lib/pkgconfig:/usr/lib/$(HOST)/pkgconfig' \
		$(SUBMAKE) BUILD=$(BUILD)/static-$(HOST) PIE=-static CFLAGS=-O2 LDFLAGS=-s build
	$(Q)cp $(BUILD)/static-$(HOST)/pvcbench $(BUILD)/pvcbench-static

image: ## build the image localhost/pvcbench:VERSION, with docker, podman or buildah
	$(Q)VERSION=$(VERSION) manifests/image build $(IMAGE)

push: ## build the image, push it as IMAGE, write IMAGE into kustomization.yaml
	$(Q)VERSION=$(VERSION) manifests/image push $(IMAGE)

manifests: ## render every overlay with kubectl and check what comes out
	$(Q).ci/deps build test
	$(Q)BUILD=$(BUILD) tests/run-all manifests

up: ## start the root's benchmarks in the cluster of kubectl, or that of CLASS; WITH components
logs: ## follow them, and say what those wait for that have not started
down: ## remove them and their volumes
rerun: ## remove them and start anew, each on a new volume
results: ## print their summaries, and put their logs into build/results
dist: ## one file for kubectl apply -f per class in build/dist
check-export: ## check the two values of an own SFS Turbo
up logs down rerun results dist check-export:
	$(Q)BUILD=$(BUILD) manifests/kube $@ $(CLASS)

format: ## clang-format every C file
	$(Q)clang-format-14 -i $$(git ls-files '*.c' '*.h')

clean: ## remove what was built
	$(Q)rm -rf $(BUILD)

# In a static program glibc warns of what reads nsswitch.conf; see init_once in io/http.c.
quiet     = -e ': in function ' -e 'requires at runtime the shared libraries'
$(BUILD)/pvcbench: $(call objects,$(SOURCES))
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LDLIBS) 2>$@.err || { cat $@.err >&2; exit 1; }
	$(Q)grep -v $(quiet) $@.err >&2 || :

$(BUILD)/obj/%.o: runner/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

# What `pvcbench version` names.
$(BUILD)/obj/main.o: private CPPFLAGS += -DPVCBENCH_LIBRARIES='\
	$(foreach package,$(filter-out libcrypto,$(PKGS)),\
	"$(package) $(shell pkg-config --modversion $(package))\n")'

$(addprefix $(BUILD)/obj/,builtin.o web.o): $(BUILD)/obj/%.o: $(BUILD)/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

$(BUILD)/builtin.c: runner/embed.sh $(PLANS) $(SCHEMAS)
	@mkdir -p $(@D)
	$(call say,EMBED,$@)
	$(Q)runner/embed.sh plans $@ $(PLANS)

$(BUILD)/web.c: runner/embed.sh $(foreach file,$(WEB),$(lastword $(subst =, ,$(file))))
	@mkdir -p $(@D)
	$(call say,EMBED,$@)
	$(Q)runner/embed.sh files $@ out/html.h $(WEB)

# Everything is compiled again when the compiler or a flag changes.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(COMPILE))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(COMPILE))' > $@

tests: $(addprefix $(BUILD)/,$(PROGRAMS))

define program_rule
$(BUILD)/$(1): tests/$(1).c $(call objects,$(call links,tests/$(1).c))
	@mkdir -p $$(@D)
	$$(call say,TEST,$$@)
	$$(Q)$$(COMPILE) -Itests/unit -MMD -MP -MT $$@ -MF $$@.d -c -o $$@.o $$<
	$$(Q)$$(LINK) -o $$@ $$@.o $$(filter %.o,$$^) -lcmocka $$(LDLIBS)
endef
$(foreach program,$(PROGRAMS),$(eval $(call program_rule,$(program))))

fuzzers: $(addprefix $(BUILD)/fuzz/,$(FUZZERS))

# Fuzzers are built in one step by clang, from the sources that they name.
HEADERS  := $(wildcard runner/*.h runner/*/*.h)
define fuzz_rule
$(BUILD)/fuzz/$(1): tests/fuzz/$(1).c $(patsubst runner/builtin.c,$(BUILD)/builtin.c,\
		$(addprefix runner/,$(call links,tests/fuzz/$(1).c))) $(HEADERS)
	@mkdir -p $$(@D)
	$$(call say,FUZZ,$$@)
	$$(Q)clang -std=gnu11 $$(CPPFLAGS) $$(SANITIZE) -fsanitize=fuzzer \
		$$(shell pkg-config --cflags $$(PKGS)) -o $$@ $$(filter %.c,$$^) $$(LDLIBS)
endef
$(foreach fuzzer,$(FUZZERS),$(eval $(call fuzz_rule,$(fuzzer))))

-include $(patsubst %.o,%.d,$(call objects,$(SOURCES))) $(PROGRAMS:%=$(BUILD)/%.d)
