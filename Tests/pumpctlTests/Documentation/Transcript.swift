import Foundation
import TestSupport

/// The terminal transcript of a page: commands after `$ `, each followed by its output.
struct Transcript {
    /// A command, and its output as lines.
    struct Step {
        var command: String
        var output: [String] = []
    }

    private(set) var steps: [Step] = []

    /// Reads all `console` blocks of a page as one transcript.
    init(_ page: MarkdownPage) {
        for line in page.blocks.filter({ $0.kind == "console" }).flatMap(\.lines) {
            if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if !steps.isEmpty {
                steps[steps.count - 1].output.append(line)
            }
        }
    }

    /// Runs the commands in one shell; returns the steps with the output of this run.
    func run(in folder: TemporaryFolder) async throws -> [Step] {
        let mark = "-- the next command --"
        // `mark` keeps the exit status, because a command may print the status of the previous one.
        let prologue = "exec 2>&1\nmark() { local status=$?; echo '\(mark)'; return $status; }\n"
        let script = prologue + steps.map { "mark\n\($0.command)\n" }.joined()
        let ending = try await Self.run(script: script, in: folder)
        let parts = ending.output.components(separatedBy: mark + "\n").dropFirst()
        return zip(steps, parts).map { step, part in
            Step(command: step.command, output: part.split(separator: "\n").map(String.init))
        }
    }

    /// Returns the line without the parts that differ between runs: dates, times, durations in minutes, and measured
    /// values. Several blanks become one.
    static func masked(_ line: String) -> String {
        line.replacing(/\d{4}-\d\d-\d\d/, with: "DATE").replacing(/\d\d:\d\d:\d\d/, with: "TIME")
            .replacing(/\d+ min/, with: "MINUTES").replacing(/-?\d+\.\d+/, with: "VALUE")
            .replacing(/_c":\d+/, with: "_c\":VALUE").replacing(/[ ]+/, with: " ")
    }
}

extension Transcript {
    /// Runs a page's script in bash with this package's programs. `folder` replaces `/tmp` and is the home folder.
    static func run(script: String, in folder: TemporaryFolder) async throws -> ChildProcess.Ending {
        var ending = try await bash(script.replacing("/tmp/", with: folder.path + "/"), home: folder)
        ending.output = ending.output.replacing(folder.path + "/", with: "/tmp/")
        return ending
    }

    /// Runs a script in bash with this package's programs in PATH.
    static func bash(_ script: String, home: TemporaryFolder) async throws -> ChildProcess.Ending {
        return try await ChildProcess(
            Shell.bash("set -u\n" + script),
            environment: [
                "PATH": "\(Executable.folder):/usr/bin:/bin", "HOME": home.path, "TZ": "UTC",
                "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
            ]
        ).ending()
    }
}
