import Glibc
import TestSupport

/// The Nano's firmware and the program that runs it, built once for all tests.
enum FirmwareBuild {
    /// Why they can't be built here; nil where they can.
    static let reasonToSkip: String? = {
        let needed = [
            (Executable.find("make") != nil, "make"),
            (Executable.find("avr-gcc") != nil, "gcc-avr"),
            (access("/usr/lib/avr/include/avr/io.h", R_OK) == 0, "avr-libc"),
            (access("/usr/share/arduino/hardware/arduino/avr/cores/arduino/Arduino.h", R_OK) == 0, "arduino-core-avr"),
            (access("/usr/include/simavr/sim_avr.h", R_OK) == 0, "libsimavr-dev"),
        ]
        let missing = needed.filter { !$0.0 }.map(\.1)
        return missing.isEmpty ? nil : "not installed: \(missing.joined(separator: ", "))"
    }()

    static let nanoSim = sources + "/Tests/bench/nano-sim/build/nano-sim"

    static func firmware(thermistors: Int) -> String {
        "\(sources)/hardware/nano-pump/build/nano-pump\(thermistors == 1 ? "-one-thermistor" : "").elf"
    }

    /// Builds what is out of date, the first time; later only waits for that.
    static func ready() async throws { try await build.value }

    private static let build = Task {
        try await make("Tests/bench/nano-sim")
        try await make("hardware/nano-pump", "THERMISTORS=2")
        try await make("hardware/nano-pump", "THERMISTORS=1")
    }

    private struct Failed: Error { var output: String }

    private static func make(_ folder: String, _ arguments: String...) async throws {
        let process = try await ChildProcess(["make", "-C", "\(sources)/\(folder)"] + arguments)
        let ending = try await process.ending(within: .seconds(300))
        guard ending.status == 0 else { throw Failed(output: ending.output + ending.errors) }
    }

    private static let sources: String = {
        // Tests/bench/Rigs/FirmwareBuild.swift
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    }()
}
