import Glibc
import TestSupport

/// The ESP32 sketches without the code of their boards, each behind a pseudo-terminal, built once for all tests.
enum SketchBuild {
    /// Builds all programs of `esp32-sim` on the first call, as far as they are out of date. Later calls wait for that
    /// build.
    ///
    /// - Returns: The path of the program `name`, such as `led-sim`.
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
