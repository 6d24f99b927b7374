// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors only if PUMPCTL_CI is set, as in .ci/run: another compiler may warn of more, and must still be
// able to build programs that depend on this package. A change of PUMPCTL_CI rebuilds every module.
let warnings: [SwiftSetting] = Context.environment["PUMPCTL_CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        // An async function stays on its caller's executor, without hops between a session, its link and the event
        // loop.
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + warnings

let package = Package(
    name: "pumpctl",
    products: [
        .library(name: "DescriptorIO", targets: ["DescriptorIO"]),
        .library(name: "DBus", targets: ["DBus"]),
        .library(name: "BlueZ", targets: ["BlueZ"]),
        .library(name: "SerialPort", targets: ["SerialPort"]),
        .library(name: "LineProtocol", targets: ["LineProtocol"]),
        .library(name: "Verification", targets: ["Verification"]),
        .library(name: "Latency", targets: ["Latency"]),
        .library(name: "Transports", targets: ["Transports"]),
        .library(name: "DeviceKit", targets: ["DeviceKit"]),
        .library(name: "Sharing", targets: ["Sharing"]),
        .library(name: "Diagnosis", targets: ["Diagnosis"]),
        .library(name: "FirmwareSim", targets: ["FirmwareSim"]),
        .library(name: "PeripheralSim", targets: ["PeripheralSim"]),
        .library(name: "SimControl", targets: ["SimControl"]),
        .library(name: "DeviceTestKit", targets: ["DeviceTestKit"]),
        .library(name: "Terminal", targets: ["Terminal"]),
        .library(name: "Charts", targets: ["Charts"]),
        .library(name: "Recorder", targets: ["Recorder", "RecordFormat"]),
        .executable(name: "pumpctl", targets: ["pumpctl"]),
        .executable(name: "pumpctl-record", targets: ["pumpctl-record"]),
        .executable(name: "pumpctld", targets: ["pumpctld"]),
        .executable(name: "pumpctl-page", targets: ["pumpctl-page"]),
        .executable(name: "fake-bluez", targets: ["fake-bluez"]),
        .library(name: "SyncCounter", type: .dynamic, targets: ["SyncCounter"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // Before 2.100.0 the number of headers could crash a server (CVE-2026-28980).
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    ],
    targets: [
        // The version, embedded from the file VERSION at compile time.
        .target(name: "CVersion"),
        // Headers that the Glibc module lacks: eventfd, inotify, signalfd. Release builds also replace parts of the
        // Swift runtime, so that starting takes fewer system calls.
        .target(
            name: "CDescriptorIO",
            cSettings: [.define("STATIC_RELEASE", .when(platforms: [.linux], configuration: .release))]),
        .target(name: "DescriptorIO", dependencies: ["CDescriptorIO"], swiftSettings: settings),
        // Wrappers for interfaces that Swift can't call: termios2, pty, serial_struct.
        .target(name: "CSerial"),
        // libedit, linked statically, so that commands without line editing load no library for it. Debian:
        // libedit-dev, libbsd-dev, libmd-dev, libncurses-dev.
        .target(
            name: "CLineEditor",
            linkerSettings: [
                .linkedLibrary(":libedit.a"), .linkedLibrary(":libbsd.a"), .linkedLibrary(":libmd.a"),
                .linkedLibrary(":libtinfo.a"),
            ]),
        // Terminal input and output of command-line programs.
        .target(name: "Terminal", dependencies: ["CLineEditor", "DescriptorIO"], swiftSettings: settings),
        // libudev, which Debian ships only as a shared library; it is loaded at run time, only by programs that look
        // for ports. Debian: libudev-dev, for its header.
        .target(name: "CUdev"),
        // libdbus, with headers and linker flags from pkg-config. The Makefile links releases with the static library:
        // the shared library loads libsystemd and five more, which adds 0.5 ms to each start.
        .systemLibrary(name: "CDBusLibrary", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .target(name: "CDBus", dependencies: ["CDBusLibrary"]),
        .target(name: "DBus", dependencies: ["CDBus", "DescriptorIO"], swiftSettings: settings),
        .target(name: "BlueZ", dependencies: ["DBus", "DescriptorIO"], swiftSettings: settings),
        .target(name: "SerialPort", dependencies: ["CSerial", "CUdev", "DescriptorIO"], swiftSettings: settings),
        // Reads and writes JSON without Foundation, which would make each start slower, and which accepts an object
        // with a member twice.
        .target(name: "StrictJSON", swiftSettings: settings),
        .target(name: "LineProtocol", dependencies: ["StrictJSON"], swiftSettings: settings),
        // Tests a firmware over a link against the protocol.
        .target(name: "Verification", dependencies: ["LineProtocol", "StrictJSON"], swiftSettings: settings),
        // Measures round trips over a link, and reports the parts of their time.
        .target(name: "Latency", dependencies: ["LineProtocol"], swiftSettings: settings),
        // Clocks and links that a test controls, and the contract of links. It imports no test library.
        .target(name: "DeviceTestKit", dependencies: ["LineProtocol", "DescriptorIO"], swiftSettings: settings),
        .target(
            name: "Transports",
            dependencies: ["LineProtocol", "SerialPort", "BlueZ", "DBus", "DescriptorIO", "CaptureFormat"],
            swiftSettings: settings),
        // Captures of all bytes on a link with their times, in files that can be replayed.
        .target(
            name: "CaptureFormat", dependencies: ["LineProtocol", "RecordFormat", "StrictJSON"],
            swiftSettings: settings),
        // Operations on devices: reconnecting, following, downloads, recording.
        .target(
            name: "DeviceKit",
            dependencies: [
                "Transports", "LineProtocol", "SerialPort", "BlueZ", "StrictJSON", "DescriptorIO", "RecordFormat",
                "ModuleDialects",
                "CaptureFormat",
            ],
            swiftSettings: settings),
        // The protocol of local control sockets, one JSON object a line: requests, responses and events.
        .target(name: "ControlProtocol", dependencies: ["StrictJSON", "RecordFormat"], swiftSettings: settings),
        // Shares one device among many programs: its queue, its clients, and the kinds of shares.
        .target(
            name: "Sharing",
            dependencies: [
                "CVersion", "ControlProtocol", "DeviceKit", "Transports", "LineProtocol", "SerialPort", "BlueZ",
                "StrictJSON",
                "DescriptorIO",
                "RecordFormat",
            ],
            swiftSettings: settings),
        // Finds reasons why a program can't reach its device, and remedies.
        .target(
            name: "Diagnosis",
            dependencies: [
                "CVersion", "DeviceKit", "Transports", "LineProtocol", "SerialPort", "BlueZ", "DBus", "DescriptorIO",
            ],
            swiftSettings: settings),
        // The AT commands of BLE modules, as data, for the simulated module and for the program that configures a real
        // one.
        .target(name: "ModuleDialects", swiftSettings: settings),
        .target(
            name: "FirmwareSim", dependencies: ["DescriptorIO", "SerialPort", "ModuleDialects"], swiftSettings: settings
        ),
        // Controls running simulated devices through a socket, such as by pressing their button.
        .target(
            name: "SimControl",
            dependencies: ["FirmwareSim", "ControlProtocol", "LineProtocol", "StrictJSON", "DescriptorIO"],
            swiftSettings: settings),
        // Simulated BLE devices, separate from FirmwareSim, so that a simulator on a wire needs no libdbus.
        .target(
            name: "PeripheralSim", dependencies: ["FirmwareSim", "ModuleDialects", "BlueZ"], swiftSettings: settings),
        // The format of records between pumpctl and pumpctl-record. GRDB imports Foundation, which adds more than a
        // millisecond to each start, so pumpctl is not linked with it: it starts pumpctl-record to record or to read
        // the record.
        .target(name: "RecordFormat", dependencies: ["StrictJSON"], swiftSettings: settings),
        // Charts of records.
        .target(name: "Charts", dependencies: ["LineProtocol", "RecordFormat", "Terminal"], swiftSettings: settings),
        // A wrapper for sched_setattr, which the C library lacks.
        .target(name: "CRecorder"),
        .target(
            name: "Recorder",
            dependencies: ["CRecorder", "RecordFormat", "StrictJSON", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .executableTarget(
            name: "pumpctl-record",
            dependencies: ["CNoLocales", "Recorder", "RecordFormat", "StrictJSON", "DescriptorIO"],
            swiftSettings: settings),
        // Removes the locale data in release builds, which makes a program with Foundation 34 MB smaller.
        .target(
            name: "CNoLocales",
            cSettings: [.define("STATIC_RELEASE", .when(platforms: [.linux], configuration: .release))]),
        // toml++, a header-only C++ library. Debian: libtomlplusplus-dev.
        .target(name: "CTOML"),
        // Reads configuration files in TOML, and reports errors in them.
        .target(name: "TOMLReading", dependencies: ["CTOML", "LineProtocol"], swiftSettings: settings),
        // The daemon that shares devices: a separate program, so that its libraries add nothing to pumpctl's start.
        .executableTarget(
            name: "pumpctld",
            dependencies: [
                "CVersion", "Sharing", "Diagnosis", "DeviceKit", "Transports", "LineProtocol", "SerialPort", "BlueZ",
                "DescriptorIO",
                "RecordFormat", "Terminal", "TOMLReading",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // An HTTP server for the devices of a daemon: a client of the daemon's socket, without code for devices.
        .target(
            name: "PageServer",
            dependencies: [
                "CPageFiles", "DescriptorIO", "StrictJSON", "RecordFormat",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings, linkerSettings: [.linkedLibrary("crypt")]),
        // The files that the server offers, embedded at compile time.
        .target(name: "CPageFiles", exclude: ["page"]),
        .executableTarget(
            name: "pumpctl-page",
            dependencies: [
                "CVersion", "DescriptorIO", "PageServer", "RecordFormat",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "pumpctl",
            dependencies: [
                "CVersion", "DeviceKit", "Diagnosis", "LineProtocol", "Transports", "BlueZ", "DBus", "SerialPort",
                "DescriptorIO",
                "FirmwareSim", "PeripheralSim", "SimControl", "StrictJSON", "RecordFormat",
                "Terminal", "Charts",
                "Verification", "Latency", "CaptureFormat", "TOMLReading",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings,
            // At a fixed address, a start has no pointers to adjust, which is an eighth of its time. pumpctld and
            // pumpctl-page, which serve others, stay at random addresses.
            linkerSettings: [
                .unsafeFlags(["-Xclang-linker", "-no-pie"], .when(platforms: [.linux], configuration: .release))
            ]),

        // Helpers that run other programs and wait for their output, and fixtures that tests share.
        .target(
            name: "TestSupport",
            dependencies: ["LineProtocol", "StrictJSON", "DescriptorIO", "CDescriptorIO"],
            path: "Tests/TestSupport", swiftSettings: settings),
        // A library that tests preload into a program to observe when it syncs files to the disk.
        .target(name: "SyncCounter", path: "Tests/SyncCounter"),
        .testTarget(
            name: "DescriptorIOTests", dependencies: ["DescriptorIO", "DeviceTestKit", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "DBusTests", dependencies: ["DBus", "DescriptorIO", "DeviceTestKit", "TestSupport"],
            swiftSettings: settings),
        // A fake org.bluez, with adapters, devices and a radio that a test defines.
        .target(
            name: "FakeBlueZ", dependencies: ["DBus", "DescriptorIO", "FirmwareSim", "TestSupport"],
            path: "Tests/FakeBlueZ", swiftSettings: settings),
        // The fake org.bluez as a program, for tests of other packages, for benchmarks, and for trying things by hand.
        .executableTarget(
            name: "fake-bluez", dependencies: ["FakeBlueZ", "DescriptorIO", "FirmwareSim", "TestSupport"],
            path: "Tests/FakeBlueZProgram", swiftSettings: settings),
        .testTarget(
            name: "FakeBlueZTests",
            dependencies: ["FakeBlueZ", "DBus", "DescriptorIO", "FirmwareSim", "DeviceTestKit", "TestSupport"],
            exclude: ["Clients/bleak_client.py"], swiftSettings: settings),
        .testTarget(
            name: "BlueZTests",
            dependencies: ["BlueZ", "FakeBlueZ", "DBus", "DescriptorIO", "DeviceTestKit", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SerialPortTests", dependencies: ["SerialPort", "DescriptorIO", "CSerial", "TestSupport"],
            exclude: ["Discovery/testbed.py"], swiftSettings: settings),
        // The program that the discovery tests run on mocked devices.
        .executableTarget(
            name: "discovery-probe", dependencies: ["SerialPort"], path: "Tests/DiscoveryProbe",
            swiftSettings: settings),
        .testTarget(
            name: "StrictJSONTests", dependencies: ["StrictJSON", "TestSupport"], exclude: ["reference.py"],
            swiftSettings: settings),
        .testTarget(
            name: "LineProtocolTests", dependencies: ["LineProtocol", "DeviceTestKit", "TestSupport"],
            resources: [.copy("Fixtures")],
            swiftSettings: settings),
        .testTarget(
            name: "VerificationTests",
            dependencies: [
                "Verification", "FirmwareSim", "LineProtocol", "StrictJSON", "DeviceTestKit", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LatencyTests",
            dependencies: ["Latency", "FirmwareSim", "LineProtocol", "DescriptorIO", "DeviceTestKit", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "TransportsTests",
            dependencies: [
                "Transports", "LineProtocol", "SerialPort", "BlueZ", "DBus", "DescriptorIO", "FakeBlueZ",
                "DeviceTestKit", "TestSupport",
                "CaptureFormat",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DeviceTestKitTests", dependencies: ["DeviceTestKit", "LineProtocol"], swiftSettings: settings),
        .testTarget(
            name: "DeviceKitTests",
            dependencies: [
                "DeviceKit", "Transports", "LineProtocol", "SerialPort", "BlueZ", "DescriptorIO", "RecordFormat",
                "FakeBlueZ", "StrictJSON", "DeviceTestKit", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SharingTests",
            dependencies: [
                "Sharing", "StrictJSON", "DeviceKit", "Transports", "LineProtocol", "SerialPort", "BlueZ",
                "DescriptorIO", "RecordFormat",
                "FirmwareSim", "SimControl",
                "FakeBlueZ", "DeviceTestKit", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "pumpctldTests",
            dependencies: [
                "pumpctld", "pumpctl", "TOMLReading", "Sharing", "DeviceKit", "Transports", "LineProtocol",
                "DescriptorIO",
                "FirmwareSim", "FakeBlueZ", "DeviceTestKit", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PageServerTests",
            dependencies: [
                "PageServer", "StrictJSON", "RecordFormat", "DescriptorIO", "DeviceTestKit", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DiagnosisTests",
            dependencies: [
                "Diagnosis", "DescriptorIO", "DeviceKit", "Transports", "LineProtocol", "SerialPort", "BlueZ", "DBus",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TerminalTests",
            dependencies: ["Terminal", "DescriptorIO", "SerialPort", "DeviceTestKit", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ChartsTests", dependencies: ["Charts", "RecordFormat", "Terminal", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "RecorderTests",
            dependencies: [
                "Recorder", "RecordFormat", "recorder-probe", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        // The program that the recorder's tests kill.
        .executableTarget(
            name: "recorder-probe", dependencies: ["Recorder", "RecordFormat"], path: "Tests/RecorderProbe",
            swiftSettings: settings),
        .testTarget(
            name: "FirmwareSimTests",
            dependencies: ["FirmwareSim", "DescriptorIO", "SerialPort", "DeviceTestKit", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SimControlTests",
            dependencies: [
                "SimControl", "FirmwareSim", "SerialPort", "StrictJSON", "DescriptorIO", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PeripheralSimTests",
            dependencies: [
                "PeripheralSim", "FirmwareSim", "ModuleDialects", "BlueZ", "DBus", "DescriptorIO", "FakeBlueZ",
                "SerialPort", "SimControl", "StrictJSON", "DeviceTestKit", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CaptureFormatTests",
            dependencies: [
                "CaptureFormat", "DeviceKit", "Transports", "LineProtocol", "DescriptorIO", "DeviceTestKit",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "pumpctlTests",
            dependencies: [
                "pumpctl", "pumpctl-record", "DeviceKit", "Diagnosis", "FakeBlueZ", "BlueZ", "DBus",
                "Transports",
                "FirmwareSim", "PeripheralSim",
                "SerialPort",
                "DescriptorIO", "LineProtocol", "RecordFormat", "Terminal", "DeviceTestKit", "TestSupport",
                "CaptureFormat",
                "Verification",
            ],
            exclude: ["Capture/pump.capture"], swiftSettings: settings),
        .testTarget(
            name: "BenchTests",
            dependencies: [
                "pumpctl", "pumpctl-record", "pumpctld", "Sharing", "DeviceKit", "FirmwareSim", "PeripheralSim",
                "FakeBlueZ", "BlueZ",
                "DBus", "SerialPort", "DescriptorIO", "LineProtocol", "Transports", "DeviceTestKit", "TestSupport",
                "SimControl",
                "StrictJSON", "Verification",
            ],
            path: "Tests/bench",
            exclude: [
                "vm", "nano-sim", "esp32-sim", "grbl", "mutants", "syscalls", "http", "openapi", "page", "completion",
                "json", "shell",
                "Faults/outcomes.md",
                "clients/pyserial_client.py",
                "clients/pyserial_terminal.py",
                "README.md",
            ],
            swiftSettings: settings),
    ]
)

// The plugin that makes the documentation, only for `make docs`: nobody else downloads it.
if Context.environment["PUMPCTL_DOCS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}
