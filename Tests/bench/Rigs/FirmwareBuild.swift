import Glibc
import TestSupport

/// The Nano's firmware and the program that runs it, built once for all tests.
enum FirmwareBuild {
    /// The Debian packages that are missing for the build, as a reason to skip a test; nil if none is missing.
    static let reasonToSkip: String? = {
        let needed = [
            (Executable.find("make") != nil, "make"),
            (Executable.find("avr-gcc") != nil, "gcc-avr"),
            (access("/usr/lib/avr/include/avr/io.h", R_OK) == 0, "avr-libc"),
            (access("/usr/share/arduino/hardware/arduino/avr/cores/arduino/Arduino.h", R_OK) == 0, "arduino-core-avr"),
            (access("/usr/include/simavr/sim_avr.h", R_OK) == 0, "libsimavr-dev"),
            (access("/usr/include/jansson.h", R_OK) == 0, "libjansson-dev"),
        ]
        let missing = needed.filter { !$0.0 }.map(\.1)
        return missing.isEmpty ? nil : "not installed: \(missing.joined(separator: ", "))"
    }()

    static let nanoSim = sources + "/Tests/bench/nano-sim/build/nano-sim"

    /// Returns the path of a variant of the firmware.
    ///
    /// - Parameter isField: Whether the firmware behaves like the devices in the field, without our added safety.
    static func firmware(thermistors: Int, isField: Bool) -> String {
        let name = "nano-pump" + (thermistors == 1 ? "-one-thermistor" : "") + (isField ? "-field" : "")
        return "\(sources)/hardware/nano-pump/build/\(name).elf"
    }

    /// Builds nano-sim and all variants of the firmware on the first call, as far as they are out of date. Later calls
    /// wait for that build.
    static func ready() async throws { try await build.value }

    private static let build = Task {
        try await make("Tests/bench/nano-sim")
        for thermistors in [1, 2] {
            for field in [0, 1] {
                try await make("hardware/nano-pump", "THERMISTORS=\(thermistors)", "FIELD=\(field)")
            }
        }
    }

    private struct Failed: Error { var output: String }

    private static func make(_ folder: String, _ arguments: String...) async throws {
        let process = try await ChildProcess(["make", "-C", "\(sources)/\(folder)"] + arguments)
        let ending = try await process.ending(within: .seconds(300))
        guard ending.status == 0 else { throw Failed(output: ending.output + ending.errors) }
    }

    /// The folder of the package.
    static let sources: String = {
        // Tests/bench/Rigs/FirmwareBuild.swift
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    }()
}
