# make demo    sets up, builds pumpctl, and shows the main job on a simulated pump
# make test    for each edit: style, unit tests of the sketches, tests of the libraries and of the program
# make check   make test, and the boards in emulators, the circuit, the udev rules, the examples
# make counts  compares what the release costs (size, system calls, ...) with a table; REASON='...' rewrites the table
# make bench   pumpctl on a real kernel with real USB-serial drivers, in a virtual machine
# make soak    for a night: data races, every mutant of the firmware, fresh seeds and long counts
# make docs    the documentation of the libraries and the manual as one static site, in .build/docs
# make all     builds the release and its manual
# make install installs that: PREFIX=/usr/local; make uninstall removes it

SWIFT ?= swift
PREFIX ?= /usr/local
BASE ?= /
export DESTDIR

# Packages needed to build pumpctl: libedit for line editing in the console, linked in; libdbus, linked into a release;
# libudev to find ports; SQLite for pumpctl-record, also linked into a release; toml++, which is header-only.
BUILD_PACKAGES := g++ pkg-config libudev-dev libdbus-1-dev libedit-dev libbsd-dev libmd-dev libncurses-dev libsqlite3-dev \
    libtomlplusplus-dev python3
# Additional packages for `make test`.
TEST_PACKAGES := make socat shellcheck codespell \
    udev umockdev gir1.2-umockdev-1.0 python3-gi dbus-daemon dbus-bin libglib2.0-bin \
    bluez python3-bleak python3-serial python3-yaml systemd
# Additional packages for `make check`: the emulator for the Nano's firmware, and third-party clients.
CHECK_PACKAGES := gcc simavr libsimavr-dev libelf-dev libjansson-dev gcc-avr avr-libc binutils-avr arduino-core-avr \
    picocom tio strace python3-jsonschema nginx-light openssl chromium python3-venv bash-completion zsh fish
# The Python environment of the check of the page, with playwright.
BROWSER := .build/browser

# For a quick start, the release loads neither the C++ library, libgcc_s, libdbus (with libsystemd and five more) nor
# SQLite at run time, and the program's own relocations are packed, which only lld can do. The compiler names generic
# types by functions instead of by text, which the runtime would parse and check against every conformance in the program
# (a quarter of a start's instructions). The functions of a start lie side by side (a third of its memory). For a small
# program, each function has its own section and no symbol is exported, so that the linker can drop unused functions.
STATIC_LIBRARIES := .build/static-libraries
RELEASE := $(SWIFT) build -c release --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld \
    -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xswiftc -Xfrontend -Xswiftc -function-sections \
    -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors \
    -Xlinker --symbol-ordering-file=$(CURDIR)/scripts/start-order.txt -Xlinker --no-warn-symbol-ordering \
    -Xlinker -T -Xlinker $(CURDIR)/scripts/text.ld \
    -Xlinker --no-export-dynamic -Xlinker -z -Xlinker pack-relative-relocs -Xlinker -L$(CURDIR)/$(STATIC_LIBRARIES) \
    --pkg-config-path $(CURDIR)/$(STATIC_LIBRARIES) -Xcc -DCDBUS_REPLACES_LIBSYSTEMD

# Runs one part of the checks and prints its duration.
PART := @scripts/part
# Runs two targets at once. Most parts wait for other programs half of the time.
BOTH := @$(MAKE) --no-print-directory --jobs=2 --output-sync=line

# SKIPS=fail: a test that is skipped because its packages are missing counts as a failure.
SKIPS ?= allow
# Counts the tests of a run and the skipped ones.
COUNT := Tests/runner/run.py $(if $(filter fail,$(SKIPS)),--no-skips)
# Most tests wait for other programs, so more of them run in parallel than there are processors. A board in an emulator
# needs a whole processor.
# Not by `swift test`, which would keep a second run waiting.
RUN_TESTS := pumpctlPackageTests.xctest --testing-library swift-testing --experimental-maximum-parallelization-width
LIBRARIES := .build/debug/$(RUN_TESTS) 8 --skip '^(pumpctlTests|PageServerTests|BenchTests)\.'
# A process of its own, for the threads of its servers.
PAGE := .build/debug/$(RUN_TESTS) 8 --filter '^PageServerTests\.'
PROGRAM := .build/debug/$(RUN_TESTS) 6 --filter '^pumpctlTests\.'
FIRMWARE := .build/debug/$(RUN_TESTS) 4 --filter '^BenchTests\.'

# The folder of the build with the thread sanitizer.
RACES ?= .build/races

# PROGRAMS=release: the program's tests run the release build.
PROGRAMS ?= debug
RELEASE_FOLDER := $(CURDIR)/.build/release

.PHONY: all demo test test-libraries test-program check check-rest check-boards check-programs counts start-order bench soak soak-libraries soak-program soak-firmware soak-machine soak-mutants soak-syscalls soak-http soak-page soak-openapi soak-races races lint benchmark manual docs install uninstall dist deb check-packages clean setup setup-test setup-check build-tests

all: setup $(STATIC_LIBRARIES)
	$(PART) 'release build' $(RELEASE)
	$(PART) 'manual' packaging/manual/build .build/release .build/manual

# The pages by themselves, from the programs that were built.
manual:
	@packaging/manual/build .build/release .build/manual

# The libraries by DocC and the manual as HTML, which look the same at the root of any server, or below BASE=/a/path.
docs: setup
	@scripts/ensure-packages mandoc
	$(PART) 'build of the programs' $(SWIFT) build
	$(PART) 'documentation' env BASE=$(BASE) SWIFT='$(SWIFT)' packaging/docs/build .build/debug .build/docs

# A folder with only the static archive of each library. The linker searches this folder before the system's folders.
# The linker searches the folders named by pkg-config even earlier, so libdbus gets its own .pc file here, which names
# the archive.
$(STATIC_LIBRARIES): Makefile | setup
	@mkdir -p $@
	@for library in libstdc++ libsqlite3; do ln -sf "$$($(CC) -print-file-name=$$library.a)" $@/; done
	@printf '%s\n' 'Name: dbus' 'Description: libdbus as an archive' "Version: $$(pkg-config --modversion dbus-1)" \
	    "Cflags: $$(pkg-config --cflags dbus-1)" 'Libs: -l:libdbus-1.a' >$@/dbus-1.pc
	@touch $@

setup:
	@scripts/ensure-packages $(BUILD_PACKAGES)

setup-test: setup
	@scripts/ensure-packages $(TEST_PACKAGES)

setup-check: setup-test
	@scripts/ensure-packages $(CHECK_PACKAGES)

# Uses the debug build, which `make test` reuses.
demo: setup
	$(SWIFT) build --product pumpctl
	@scripts/demo .build/debug/pumpctl

build-tests: setup-test
	$(PART) 'build of the tests' $(SWIFT) build --build-tests

ifeq ($(PROGRAMS),release)
test: export PUMPCTL_PROGRAMS := $(RELEASE_FOLDER)
test: all
endif

test: lint build-tests
	$(PART) 'sketch of the pump' $(MAKE) -s -C hardware/nano-pump check
	$(PART) 'sketch of the storm sensor' $(MAKE) -s -C hardware/esp32-storm check
	$(PART) 'sketch of the LED board' $(MAKE) -s -C hardware/esp32-led check
	$(PART) 'tests of what runs the tests' python3 -B Tests/runner/check.py --quiet
	$(BOTH) test-libraries test-program

test-libraries:
	$(PART) 'tests of the libraries' $(COUNT) $(LIBRARIES)
	$(PART) 'tests of the HTTP server' $(COUNT) $(PAGE)

test-program:
	$(PART) 'tests of the program' $(COUNT) $(PROGRAM)

check: test check-rest

# The part of `make check` that is not in `make test`. .ci/run calls both.
check-rest: setup-check build-tests $(BROWSER)/ready
	$(BOTH) check-boards check-programs

check-boards:
	$(PART) 'Nano in an emulator' $(MAKE) -s -C Tests/bench/nano-sim check
	$(PART) 'udev rules' hardware/udev/check
	$(PART) 'circuit' hardware/wiring/check
	$(PART) 'tests of the virtual machine' $(MAKE) -s -C Tests/bench/vm check
	$(PART) 'tests against the firmware' $(COUNT) $(FIRMWARE)

check-programs:
	$(PART) 'failing system calls' Tests/bench/syscalls/check.py $(CURDIR)/.build/debug
	$(PART) 'timed runs in shells' Tests/bench/shell/check.py $(CURDIR)/.build/debug
	$(PART) 'completion in shells' /usr/bin/python3 -B Tests/bench/completion/check.py $(CURDIR)/.build/debug
	$(PART) 'JSON output' /usr/bin/python3 -B Tests/bench/json/check.py $(CURDIR)/.build/debug
	$(PART) 'HTTP server under attack' Tests/bench/http/check $(CURDIR)/.build/debug
	$(PART) 'HTTP interface' /usr/bin/python3 -B Tests/bench/openapi/check.py $(CURDIR)/.build/debug
	$(PART) 'page in a browser' $(BROWSER)/bin/python -B Tests/bench/page/check.py $(CURDIR)/.build/debug
	$(PART) 'what the page shows' $(BROWSER)/bin/python -B Tests/bench/page/shown.py
	$(PART) 'examples' Examples/check $(CURDIR)/.build
	$(PART) 'a family of another package' Examples/Scale/check $(CURDIR)/.build

# A soak runs all its parts, even after a failure, with fresh seeds. A failure names its seed; SEEDS=1234 swift test
# --filter NAME repeats it.
soak: setup-check build-tests
	@seeds=$${SEEDS:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')+} && echo "soak: SEEDS=$$seeds" && \
	    $(MAKE) -k SEEDS="$$seeds" SKIPS=fail soak-libraries soak-program soak-firmware soak-machine soak-mutants soak-syscalls soak-http soak-page soak-openapi soak-races docs

# Debian has neither playwright nor schemathesis; PyPI has both.
$(BROWSER)/ready: Tests/bench/page/requirements.txt | setup-check
	/usr/bin/python3 -m venv $(BROWSER)
	$(BROWSER)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	@touch $@

SCHEMATHESIS := .build/schemathesis/bin/schemathesis
$(SCHEMATHESIS): Tests/bench/openapi/requirements.txt
	@scripts/ensure-packages python3-venv
	/usr/bin/python3 -m venv .build/schemathesis
	.build/schemathesis/bin/pip install --quiet --requirement $<
	@touch $@

# A part of a soak may print nothing for hours.
soak-%: COUNT += --silence 14400
soak-libraries:
	$(PART) 'soak of the libraries' env SEEDS=$(SEEDS) $(COUNT) $(LIBRARIES)
soak-program:
	$(PART) 'soak of the program' env SEEDS=$(SEEDS) $(COUNT) $(PROGRAM)
soak-firmware:
	$(PART) 'soak against the firmware' env SEEDS=$(SEEDS) $(COUNT) $(FIRMWARE) --skip FirmwareMutantTests
soak-machine:
	$(MAKE) bench TEST='deaths Endurance'
soak-mutants:
	$(PART) 'mutants of the firmware' $(MAKE) -C Tests/bench/mutants SEEDS=
soak-syscalls:
	$(PART) 'each system call failing once' Tests/bench/syscalls/check.py --all $(CURDIR)/.build/debug
soak-http:
	$(PART) 'soak of the HTTP server' env SEEDS=$(SEEDS) Tests/bench/http/check $(CURDIR)/.build/debug
soak-page: $(BROWSER)/ready
	$(PART) 'soak of the page' env SOAK=1 SEEDS=$(SEEDS) $(BROWSER)/bin/python -B Tests/bench/page/shown.py
soak-openapi: $(SCHEMATHESIS)
	$(PART) 'HTTP interface by schemathesis' env SEEDS=$(SEEDS) python3 -B Tests/bench/openapi/conformance.py \
	    $(CURDIR)/.build/debug $(CURDIR)/$(SCHEMATHESIS)
soak-races:
	$(MAKE) races SEEDS=

# The library tests under the thread sanitizer. Skips tests that can't be preloaded into, or that leave no room for the
# sanitizer. The shim is compiled with the toolchain's clang, which knows Swift's calling convention.
races: setup-test
	$(PART) 'build for races' $(SWIFT) build --build-tests --sanitize=thread --scratch-path $(RACES)
	"$$(dirname "$$(readlink -f "$$(command -v $(SWIFT))")")/clang" -Wall -Wextra -O1 -shared -fPIC \
	    Tests/races/mutex.c -o $(RACES)/mutex.so
	$(PART) 'tests for races' $(COUNT) env LD_PRELOAD=$(abspath $(RACES))/mutex.so \
	    TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/races/suppressions" \
	    $(RACES)/debug/$(RUN_TESTS) 4 \
	    --skip '^(pumpctlTests|BenchTests)\.' --skip 'SerialPortTests\.(Discovery|ReopeningCommand)' --skip 'TroubleTests/fullDisk'

# For large changes: a new order of the functions of a start, by which the next `make all` links.
start-order: all
	@scripts/ensure-packages valgrind
	scripts/start-order "$(RELEASE_FOLDER)/pumpctl"
	rm "$(RELEASE_FOLDER)/pumpctl"

counts: all
	@scripts/ensure-packages strace valgrind
	$(PART) 'counts of the programs' scripts/counts $(if $(REASON),--renew "$(REASON)") "$(RELEASE_FOLDER)"

bench: all
	@if ldd "$(RELEASE_FOLDER)/pumpctl" | grep -E 'libdbus|libsystemd'; then echo 'each start loads these'; exit 1; fi
	@scripts/ensure-packages $$($(MAKE) -s -C Tests/bench/vm packages)
	$(PART) 'build of the virtual machine' $(MAKE) -C Tests/bench/vm ready
	$(PART) 'bench on a real kernel' $(MAKE) -C Tests/bench/vm bench PUMPCTL="$(RELEASE_FOLDER)/pumpctl" TEST="$(TEST)"

lint: setup-test
	$(PART) 'style of the code' $(SWIFT) format lint --strict --recursive \
	    Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Examples/Package.swift Examples/Sources \
	    Examples/Scale/Package.swift Examples/Scale/Sources Examples/Scale/Tests
	$(PART) 'English of the comments' scripts/comments
	$(PART) 'style of the scripts' shellcheck $$(grep -sl '^#!/bin/.*sh' scripts/* packaging/*) .ci/run hardware/udev/check Examples/check Examples/Scale/check

# STRICT=1: fail if a goal is missed.
benchmark: all setup-check $(BROWSER)/ready
	@scripts/ensure-packages dbus-daemon socat picocom strace tio curl
	$(MAKE) -C Benchmarks benchmark
	PUMPCTL_PROGRAMS="$(RELEASE_FOLDER)" $(BROWSER)/bin/python -B Tests/bench/page/figures.py

# Installs what `make all` built, as root if need be: it builds nothing, and needs no compiler.
install:
	@scripts/install "$(PREFIX)"

uninstall:
	@scripts/install --remove "$(PREFIX)"

# An archive and Debian packages of what `make all` built, in .build/packages. packaging/README.md explains them.
dist:
	@scripts/ensure-packages xz-utils binutils
	$(PART) 'archive for any Linux' packaging/dist

deb:
	@scripts/ensure-packages debhelper dpkg-dev
	$(PART) 'Debian packages' packaging/deb

# In systems of Debian 12 and 13 and in a virtual machine, which are made once. About four minutes.
check-packages: all
	@scripts/ensure-packages debhelper dpkg-dev lintian man-db mandoc mmdebstrap xz-utils binutils python3-yaml shellcheck \
	    $$($(MAKE) -s -C Tests/bench/vm packages)
	$(PART) 'build of the virtual machine' $(MAKE) -s -C Tests/bench/vm image boards
	$(PART) 'packages' packaging/check
	$(PART) 'templates for CI servers' packaging/check-templates

clean:
	rm -rf .build Benchmarks/.build Examples/.build Examples/Scale/.build
	$(MAKE) -C hardware/nano-pump clean
	$(MAKE) -C hardware/esp32-storm clean
	$(MAKE) -C hardware/esp32-led clean
	$(MAKE) -C Tests/bench/nano-sim clean
	$(MAKE) -C Tests/bench/esp32-sim clean
