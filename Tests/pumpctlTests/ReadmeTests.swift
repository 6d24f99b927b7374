import Foundation
import Glibc
import Testing
import TestSupport

@Suite("The README")
struct ReadmeTests {
    /// The lines of shell under a heading.
    private static func script(under heading: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
        let block = try #require(section.components(separatedBy: "```sh\n").dropFirst().first)
        return try #require(block.components(separatedBy: "```").first)
    }

    @Test("What it does without hardware works as a script, and leaves nothing behind")
    func withoutHardware() async throws {
        let folder = TemporaryFolder()
        let pump = folder.path("pump")
        let lines = try Self.script(under: "Without hardware").replacing("/tmp/pump", with: pump)
        // The simulator is ended by its last line, and takes the link away a moment later.
        let script = """
            \(lines)
            for attempt in $(seq 600); do test -L \(pump) || exit 0; sleep 0.05; done; exit 9
            """
        let programs = (Executable.pumpctl as NSString).deletingLastPathComponent
        let ending = try await ChildProcess(
            ["bash", "-eu", "-o", "pipefail", "-c", script],
            environment: [
                "PATH": "\(programs):/usr/bin:/bin", "HOME": "/nonexistent", "PUMPCTL_RECORD": "0",
                "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
            ]
        ).ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.contains("pump on at"))
        #expect(ending.output.contains("STATUS:{State:ON"))
    }

    @Test("It names every option that an endpoint takes")
    func endpointOptions() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        for option in [
            "baud", "bits", "parity", "stop", "flow", "dtr", "rts", "hupcl", "shared", "lowlatency", "reset", "family",
            "profile", "adapter", "pair", "thermistors", "knob",
        ] { #expect(text.contains("`\(option)`") || text.contains("`?\(option)"), "\(option)") }
    }
}
