// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors only if PUMPCTL_CI is set, as .ci/run does. Another compiler may warn of more, and that must not stop
// the build of a program that depends on this package. A change of PUMPCTL_CI rebuilds every module.
let warnings: [SwiftSetting] = Context.environment["PUMPCTL_CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        // An async function stays on its caller's executor: no hop between a session, its link and the event loop.
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
        .library(name: "Terminal", targets: ["Terminal"]),
        .library(name: "Charts", targets: ["Charts"]),
        .library(name: "Recorder", targets: ["Recorder", "RecordFormat"]),
        .executable(name: "pumpctl", targets: ["pumpctl"]),
        .executable(name: "pumpctl-record", targets: ["pumpctl-record"]),
        .executable(name: "pumpctld", targets: ["pumpctld"]),
        .executable(name: "fake-bluez", targets: ["fake-bluez"]),
        .library(name: "SyncCounter", type: .dynamic, targets: ["SyncCounter"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // Headers that the Glibc module leaves out: eventfd, inotify, signalfd; and a runtime that asks less, in a release.
        .target(
            name: "CDescriptorIO",
            cSettings: [.define("STATIC_RELEASE", .when(platforms: [.linux], configuration: .release))]),
        .target(name: "DescriptorIO", dependencies: ["CDescriptorIO"], swiftSettings: settings),
        // What Swift can't call: termios2, pty, serial_struct.
        .target(name: "CSerial"),
        // libedit, linked statically: a command that edits no line loads no library for it. Debian: libedit-dev,
        // libbsd-dev, libmd-dev, libncurses-dev.
        .target(
            name: "CLineEditor",
            linkerSettings: [
                .linkedLibrary(":libedit.a"), .linkedLibrary(":libbsd.a"), .linkedLibrary(":libmd.a"),
                .linkedLibrary(":libtinfo.a"),
            ]),
        // What a program on the command line draws and reads on a terminal.
        .target(name: "Terminal", dependencies: ["CLineEditor", "DescriptorIO"], swiftSettings: settings),
        // libudev, which Debian has as a shared library only: a program that looks for ports loads it, and no other. Debian:
        // libudev-dev, for its header.
        .target(name: "CUdev"),
        // libdbus, whose headers and linker flags come from pkg-config. The Makefile links releases with the archive: the
        // shared library brings libsystemd and five more, which cost a start 0.5 ms.
        .systemLibrary(name: "CDBusLibrary", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .target(name: "CDBus", dependencies: ["CDBusLibrary"]),
        .target(name: "DBus", dependencies: ["CDBus", "DescriptorIO"], swiftSettings: settings),
        .target(name: "BlueZ", dependencies: ["DBus", "DescriptorIO"], swiftSettings: settings),
        .target(name: "SerialPort", dependencies: ["CSerial", "CUdev", "DescriptorIO"], swiftSettings: settings),
        .target(name: "LineProtocol", swiftSettings: settings),
        // Tests a firmware over a link, by the protocol's page.
        .target(name: "Verification", dependencies: ["LineProtocol"], swiftSettings: settings),
        // Measures round trips over a link, and says what their time was spent on.
        .target(name: "Latency", dependencies: ["LineProtocol"], swiftSettings: settings),
        .target(
            name: "Transports",
            dependencies: ["LineProtocol", "SerialPort", "BlueZ", "DBus", "DescriptorIO", "CaptureFormat"],
            swiftSettings: settings),
        // What goes over links, byte by byte and with its times, in a file that can be played back.
        .target(
            name: "CaptureFormat", dependencies: ["ControlProtocol", "LineProtocol", "RecordFormat"],
            swiftSettings: settings),
        // What a program does with a device: finding it again, following it, downloads, recording.
        .target(
            name: "DeviceKit",
            dependencies: [
                "Transports", "LineProtocol", "SerialPort", "BlueZ", "DescriptorIO", "RecordFormat", "ModuleDialects",
                "CaptureFormat",
            ],
            swiftSettings: settings),
        // What programs say at a local socket, one JSON object a line: requests, responses and events.
        .target(name: "ControlProtocol", dependencies: ["LineProtocol", "RecordFormat"], swiftSettings: settings),
        // One device for many programs: its queue, its clients, and the ways by which they reach it.
        .target(
            name: "Sharing",
            dependencies: [
                "ControlProtocol", "DeviceKit", "Transports", "LineProtocol", "SerialPort", "DescriptorIO",
                "RecordFormat",
            ],
            swiftSettings: settings),
        // What may keep a program from its device, and what mends that.
        .target(
            name: "Diagnosis",
            dependencies: ["DeviceKit", "Transports", "LineProtocol", "SerialPort", "BlueZ", "DBus", "DescriptorIO"],
            swiftSettings: settings),
        // AT commands of BLE modules, as data, for the simulated module and the program that sets up a real one.
        .target(name: "ModuleDialects", swiftSettings: settings),
        .target(
            name: "FirmwareSim", dependencies: ["DescriptorIO", "SerialPort", "ModuleDialects"], swiftSettings: settings
        ),
        // Simulated devices under control while they run: a socket at which programs press the button.
        .target(
            name: "SimControl", dependencies: ["FirmwareSim", "ControlProtocol", "LineProtocol", "DescriptorIO"],
            swiftSettings: settings),
        // Simulated devices over BLE, apart from FirmwareSim so that a simulator on a wire needs no libdbus.
        .target(
            name: "PeripheralSim", dependencies: ["FirmwareSim", "ModuleDialects", "BlueZ"], swiftSettings: settings),
        // What is recorded, and how it goes from pumpctl to the program that keeps it. GRDB brings Foundation, which costs
        // a start more than a millisecond: pumpctl is not linked with it, and starts pumpctl-record where something is
        // recorded or looked up.
        .target(name: "RecordFormat", swiftSettings: settings),
        // Plots of what was recorded.
        .target(name: "Charts", dependencies: ["LineProtocol", "RecordFormat", "Terminal"], swiftSettings: settings),
        // sched_setattr, which the C library lacks.
        .target(name: "CRecorder"),
        .target(
            name: "Recorder",
            dependencies: ["CRecorder", "RecordFormat", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .executableTarget(
            name: "pumpctl-record", dependencies: ["CNoLocales", "Recorder", "RecordFormat", "DescriptorIO"],
            swiftSettings: settings),
        // No data of locales, in a release: a program with Foundation is 34 MB smaller.
        .target(
            name: "CNoLocales",
            cSettings: [.define("STATIC_RELEASE", .when(platforms: [.linux], configuration: .release))]),
        // toml++, which is headers of C++ only. Debian: libtomlplusplus-dev.
        .target(name: "CTOML"),
        // Files that people write, as TOML, and what is wrong with them.
        .target(name: "TOMLReading", dependencies: ["CTOML", "LineProtocol"], swiftSettings: settings),
        // The daemon that shares devices. It is a program of its own, so that what it links costs pumpctl's start nothing.
        .executableTarget(
            name: "pumpctld",
            dependencies: [
                "Sharing", "DeviceKit", "Transports", "LineProtocol", "SerialPort", "DescriptorIO",
                "RecordFormat", "Terminal", "TOMLReading",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "pumpctl",
            dependencies: [
                "DeviceKit", "Diagnosis", "LineProtocol", "Transports", "BlueZ", "DBus", "SerialPort", "DescriptorIO",
                "FirmwareSim", "PeripheralSim", "SimControl", "ControlProtocol", "RecordFormat", "Terminal", "Charts",
                "Verification", "Latency", "CaptureFormat", "TOMLReading",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // A clock and a link that do what a test says, when it says so; other programs, and waiting for what they say.
        .target(
            name: "TestSupport", dependencies: ["ControlProtocol", "LineProtocol", "DescriptorIO", "CDescriptorIO"],
            path: "Tests/TestSupport", swiftSettings: settings),
        // What tests preload into a program to see what it puts on the disk, and when.
        .target(name: "SyncCounter", path: "Tests/SyncCounter"),
        .testTarget(name: "DescriptorIOTests", dependencies: ["DescriptorIO", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "DBusTests", dependencies: ["DBus", "DescriptorIO", "TestSupport"], swiftSettings: settings),
        // org.bluez without Bluetooth: adapters, devices and a radio that a test makes up.
        .target(
            name: "FakeBlueZ", dependencies: ["DBus", "DescriptorIO", "FirmwareSim", "TestSupport"],
            path: "Tests/FakeBlueZ", swiftSettings: settings),
        // The same as a program, for tests of other packages, for benchmarks, and for trying things by hand.
        .executableTarget(
            name: "fake-bluez", dependencies: ["FakeBlueZ", "DescriptorIO", "FirmwareSim", "TestSupport"],
            path: "Tests/FakeBlueZProgram", swiftSettings: settings),
        .testTarget(
            name: "FakeBlueZTests", dependencies: ["FakeBlueZ", "DBus", "DescriptorIO", "FirmwareSim", "TestSupport"],
            exclude: ["Clients/bleak_client.py"], swiftSettings: settings),
        .testTarget(
            name: "BlueZTests", dependencies: ["BlueZ", "FakeBlueZ", "DBus", "DescriptorIO", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SerialPortTests", dependencies: ["SerialPort", "DescriptorIO", "CSerial", "TestSupport"],
            exclude: ["Discovery/testbed.py"], swiftSettings: settings),
        // What the discovery tests run on mocked devices.
        .executableTarget(
            name: "discovery-probe", dependencies: ["SerialPort"], path: "Tests/DiscoveryProbe",
            swiftSettings: settings),
        .testTarget(
            name: "LineProtocolTests", dependencies: ["LineProtocol", "TestSupport"], resources: [.copy("Fixtures")],
            swiftSettings: settings),
        .testTarget(
            name: "VerificationTests", dependencies: ["Verification", "FirmwareSim", "LineProtocol", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "LatencyTests",
            dependencies: ["Latency", "FirmwareSim", "LineProtocol", "DescriptorIO", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "TransportsTests",
            dependencies: [
                "Transports", "LineProtocol", "SerialPort", "BlueZ", "DBus", "DescriptorIO", "FakeBlueZ", "TestSupport",
                "CaptureFormat",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DeviceKitTests",
            dependencies: [
                "DeviceKit", "Transports", "LineProtocol", "SerialPort", "BlueZ", "DescriptorIO", "RecordFormat",
                "FakeBlueZ", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SharingTests",
            dependencies: [
                "Sharing", "ControlProtocol", "DeviceKit", "Transports", "LineProtocol", "SerialPort", "DescriptorIO",
                "FirmwareSim",
                "FakeBlueZ", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "pumpctldTests",
            dependencies: [
                "pumpctld", "pumpctl", "TOMLReading", "Sharing", "DeviceKit", "Transports", "LineProtocol",
                "DescriptorIO",
                "FirmwareSim", "FakeBlueZ", "TestSupport", .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DiagnosisTests",
            dependencies: [
                "Diagnosis", "DeviceKit", "Transports", "LineProtocol", "SerialPort", "BlueZ", "DBus", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TerminalTests", dependencies: ["Terminal", "DescriptorIO", "SerialPort", "TestSupport"],
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
        // What the recorder's tests kill.
        .executableTarget(
            name: "recorder-probe", dependencies: ["Recorder", "RecordFormat"], path: "Tests/RecorderProbe",
            swiftSettings: settings),
        .testTarget(
            name: "FirmwareSimTests",
            dependencies: ["FirmwareSim", "DescriptorIO", "SerialPort", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "SimControlTests",
            dependencies: ["SimControl", "FirmwareSim", "ControlProtocol", "DescriptorIO", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PeripheralSimTests",
            dependencies: [
                "PeripheralSim", "FirmwareSim", "ModuleDialects", "BlueZ", "DBus", "DescriptorIO", "FakeBlueZ",
                "SerialPort", "SimControl", "ControlProtocol", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CaptureFormatTests",
            dependencies: ["CaptureFormat", "DeviceKit", "Transports", "LineProtocol", "DescriptorIO", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "pumpctlTests",
            dependencies: [
                "pumpctl", "pumpctl-record", "DeviceKit", "Diagnosis", "FakeBlueZ", "BlueZ", "DBus",
                "Transports",
                "FirmwareSim", "PeripheralSim",
                "SerialPort",
                "DescriptorIO", "LineProtocol", "RecordFormat", "Terminal", "TestSupport", "CaptureFormat",
                "Verification",
            ],
            exclude: ["Capture/pump.capture"], swiftSettings: settings),
        .testTarget(
            name: "BenchTests",
            dependencies: [
                "pumpctl", "pumpctl-record", "pumpctld", "Sharing", "DeviceKit", "FirmwareSim", "PeripheralSim",
                "FakeBlueZ", "BlueZ",
                "DBus", "SerialPort", "DescriptorIO", "LineProtocol", "Transports", "TestSupport", "SimControl",
                "ControlProtocol", "Verification",
            ],
            path: "Tests/bench",
            exclude: [
                "vm", "nano-sim", "esp32-sim", "grbl", "mutants", "syscalls", "Faults/outcomes.md",
                "clients/pyserial_client.py",
                "clients/pyserial_terminal.py",
                "README.md",
            ],
            swiftSettings: settings),
    ]
)
