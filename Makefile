# make demo    sets up, builds, and shows the main job on a simulated pump
# make test    sets up, builds, and passes every test
# make races   passes the libraries' tests under the thread sanitizer
# make bench   runs pumpctl on a real kernel with real USB-serial drivers, in a virtual machine
# make install PREFIX=/usr/local

SWIFT ?= swift
PREFIX ?= /usr/local

# What pumpctl is built with: libedit for the console's line editing, linked in; libdbus, linked into a release; libudev to
# find ports; SQLite for pumpctl-record, linked into a release too.
BUILD_PACKAGES := pkg-config libudev-dev libdbus-1-dev libedit-dev libbsd-dev libmd-dev libncurses-dev libsqlite3-dev
# What the tests run against: the Nano's firmware in an emulator, and other people's clients.
TEST_PACKAGES := gcc g++ make simavr libsimavr-dev libelf-dev libjansson-dev gcc-avr avr-libc binutils-avr arduino-core-avr \
    python3-serial socat picocom tio shellcheck \
    udev umockdev gir1.2-umockdev-1.0 python3-gi dbus-daemon dbus-bin libglib2.0-bin \
    bluez python3-bleak systemd

# For a quick start: no C++ library, libdbus (with libsystemd and five more) or SQLite to load and bind, and the program's own
# relocations packed, which only lld does.
STATIC_LIBRARIES := .build/static-libraries
RELEASE := $(SWIFT) build -c release --static-swift-stdlib -Xswiftc -use-ld=lld \
    -Xlinker -z -Xlinker pack-relative-relocs -Xlinker -L$(CURDIR)/$(STATIC_LIBRARIES) \
    --pkg-config-path $(CURDIR)/$(STATIC_LIBRARIES) -Xcc -DCDBUS_REPLACES_LIBSYSTEMD

# Tells how long a part of what is tested takes.
PART := @scripts/part

# SKIPS=fail: a test that is skipped, as its packages are missing, counts as a failure.
SKIPS ?= allow
# Counts the tests of a run, and those that were skipped.
COUNT := Tests/runner/run.py $(if $(filter fail,$(SKIPS)),--no-skips)
# How many tests run at once. Programs have deadlines by the real clock: too many on few processors miss them.
RUN_TESTS := $(SWIFT) test --skip-build --experimental-maximum-parallelization-width

# What is built with the thread sanitizer.
RACES ?= .build/races

.PHONY: all demo test races bench lint benchmark install clean setup setup-test

all: setup $(STATIC_LIBRARIES)
	$(PART) 'build of pumpctl' $(RELEASE) --product pumpctl
	$(PART) 'build of pumpctl-record' $(RELEASE) --product pumpctl-record
	$(PART) 'build of pumpctl-scenario' $(RELEASE) --product pumpctl-scenario
	$(PART) 'build of pumpctld' $(RELEASE) --product pumpctld

# A folder with only the archive of each library, which the linker searches before the system's folders. It searches the
# folders that pkg-config names even earlier, so libdbus has a .pc file here, which names the archive.
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

demo: all
	@scripts/demo "$$($(RELEASE) --show-bin-path)/pumpctl"

# What is tested is built without warnings: see Package.swift.
test races: export PUMPCTL_CI := 1

test: setup-test lint
	$(PART) 'firmware of the pump' $(MAKE) -C hardware/nano-pump check
	$(PART) 'firmware of the pump on a simulated Nano' $(MAKE) -s -C Tests/bench/nano-sim check
	$(PART) 'firmware of the storm sensor' $(MAKE) -C hardware/esp32-storm check
	$(PART) 'firmware of the LED board' $(MAKE) -C hardware/esp32-led check
	$(PART) 'udev rules' hardware/udev/check
	$(PART) 'the circuit' hardware/wiring/check
	$(PART) 'tests of what runs the tests' python3 -B Tests/runner/check.py --quiet
	$(PART) 'tests of the bench' $(MAKE) -s -C Tests/bench/vm check
	$(PART) 'build of the tests' $(SWIFT) build --build-tests
	$(PART) 'examples' Examples/check "$$($(SWIFT) build --show-bin-path)"
	$(PART) 'a family of another package' Examples/Scale/check "$$($(SWIFT) build --show-bin-path)"
	$(PART) 'tests of the libraries' $(COUNT) $(RUN_TESTS) 8 --skip '^(pumpctlTests|BenchTests)\.'
	$(PART) 'tests of the program' $(COUNT) $(RUN_TESTS) 4 --filter '^pumpctlTests\.'
	$(PART) 'tests against the firmware' $(COUNT) $(RUN_TESTS) 4 --filter '^BenchTests\.'

# The tests of the libraries, watched for data races. Left out is what can't be preloaded to, or has no room for the
# sanitizer. The clang of the toolchain knows how Swift calls.
races: setup-test
	$(PART) 'build for races' $(SWIFT) build --build-tests --sanitize=thread --scratch-path $(RACES)
	"$$(dirname "$$(readlink -f "$$(command -v $(SWIFT))")")/clang" -Wall -Wextra -O1 -shared -fPIC \
	    Tests/races/mutex.c -o $(RACES)/mutex.so
	$(PART) 'tests for races' $(COUNT) env LD_PRELOAD=$(abspath $(RACES))/mutex.so \
	    TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/races/suppressions" \
	    $(RUN_TESTS) 4 --sanitize=thread --scratch-path $(RACES) \
	    --skip '^(pumpctlTests|BenchTests)\.' --skip 'SerialPortTests\.(Discovery|ReopeningCommand)' --skip 'TroubleTests/fullDisk'

bench: all
	@if ldd "$$($(RELEASE) --show-bin-path)/pumpctl" | grep -E 'libdbus|libsystemd'; then echo 'each start loads these'; exit 1; fi
	@scripts/ensure-packages $$($(MAKE) -s -C Tests/bench/vm packages)
	$(PART) 'build of the virtual machine' $(MAKE) -C Tests/bench/vm ready
	$(PART) 'bench on a real kernel' $(MAKE) -C Tests/bench/vm bench \
	    PUMPCTL="$$($(RELEASE) --show-bin-path)/pumpctl" TEST="$(TEST)" AGAIN="$(AGAIN)"

lint: setup-test
	$(PART) 'style of the code' $(SWIFT) format lint --strict --recursive \
	    Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Examples/Package.swift Examples/Sources \
	    Examples/Scale/Package.swift Examples/Scale/Sources Examples/Scale/Tests
	$(PART) 'style of the scripts' shellcheck $$(grep -l '^#!/bin/.*sh' scripts/*) .ci/run hardware/udev/check Examples/check Examples/Scale/check

benchmark: all
	@scripts/ensure-packages dbus-daemon socat
	$(RELEASE) --product fake-bluez
	$(MAKE) -C Benchmarks benchmark

install: all
	install -D -m 755 "$$($(RELEASE) --show-bin-path)/pumpctl" $(DESTDIR)$(PREFIX)/bin/pumpctl
	install -D -m 755 "$$($(RELEASE) --show-bin-path)/pumpctl-record" $(DESTDIR)$(PREFIX)/libexec/pumpctl/pumpctl-record
	install -D -m 755 "$$($(RELEASE) --show-bin-path)/pumpctl-scenario" $(DESTDIR)$(PREFIX)/libexec/pumpctl/pumpctl-scenario
	install -D -m 755 "$$($(RELEASE) --show-bin-path)/pumpctld" $(DESTDIR)$(PREFIX)/libexec/pumpctl/pumpctld
	install -D -m 644 packaging/systemd/pumpctld.service $(DESTDIR)$(PREFIX)/lib/systemd/system/pumpctld.service
	sed -i 's|/usr/local/|$(PREFIX)/|' $(DESTDIR)$(PREFIX)/lib/systemd/system/pumpctld.service
	install -D -m 644 packaging/sysusers.d/pumpctld.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/pumpctld.conf
	install -D -m 644 packaging/pumpctld.toml $(DESTDIR)$(PREFIX)/share/doc/pumpctl/pumpctld.toml

clean:
	rm -rf .build Benchmarks/.build Examples/.build Examples/Scale/.build
	$(MAKE) -C hardware/nano-pump clean
	$(MAKE) -C hardware/esp32-storm clean
	$(MAKE) -C hardware/esp32-led clean
	$(MAKE) -C Tests/bench/nano-sim clean
	$(MAKE) -C Tests/bench/esp32-sim clean
