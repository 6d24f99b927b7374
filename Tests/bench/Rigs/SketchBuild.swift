import Glibc
import TestSupport

/// The cores of the ESP32 sketches, each behind a pseudo-terminal, built once for all tests.
enum SketchBuild {
    /// Builds everything out of date on the first call; later calls only wait for that.
    ///
    /// - Returns: The path of the program `name`.
    static func program(_ name: String) async throws -> String {
        try await build.value
        return "\(folder)/build/\(name)"
    }

    private static let build = Task {
        let ending = try await ChildProcess(["make", "-C", folder]).ending(within: .seconds(300))
        guard ending.status == 0 else { throw Failed(output: ending.output + ending.errors) }
    }

    private struct Failed: Error { var output: String }

    private static let folder: String = {
        // Tests/bench/Rigs/SketchBuild.swift
        let bench = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return bench.joined(separator: "/") + "/esp32-sim"
    }()
}
