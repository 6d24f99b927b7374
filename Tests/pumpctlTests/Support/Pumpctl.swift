import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import pumpctl

/// Runs the real `pumpctl` like a person or another program.
enum Pumpctl {
    /// Starts the program with a clean environment: no configuration, no port unless named, no state from earlier runs.
    ///
    /// - Parameters:
    ///   - environment: More variables, which have priority over the clean environment.
    ///   - terminal: The path of a terminal for the standard streams; nil to read them in this process.
    ///   - program: The words before the arguments: `pumpctl`, or a shell that runs it.
    static func start(
        _ arguments: [String], environment: [String: String] = [:], terminal: String? = nil,
        program: [String] = [Executable.pumpctl]
    ) async throws -> ChildProcess {
        let ours = ProcessInfo.processInfo.environment
        var all = [
            "PATH": "/usr/bin:/bin", "HOME": ChildProcess.impossibleHome, "XDG_STATE_HOME": "/proc/nowhere",
            "NO_COLOR": "1", "PUMPCTL_RECORD": "0",
        ]
        all["LD_LIBRARY_PATH"] = ours["LD_LIBRARY_PATH"]
        all.merge(environment) { $1 }
        // A long --timeout by default: simulated devices reply at once, but this machine may be busy.
        let isPatient = CommandLine(arguments).command.helpMessage(columns: 200).contains("--timeout <seconds>")
        let isTold = arguments.contains { $0.hasPrefix("--timeout") }
        // `verify --as-device` without --run waits for an app, and accepts no --timeout.
        let isOffered = arguments.contains("--as-device") && !arguments.contains("--run")
        let timeout = isPatient && !isTold && !isOffered ? ["--timeout", "100"] : []
        return try await ChildProcess(
            program + timeout + arguments, environment: all, terminal: terminal, streamsOnTerminal: terminal != nil)
    }

    /// Starts the program like ``start(_:environment:terminal:program:)``, and waits for its end.
    static func run(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> ChildProcess.Ending {
        try await start(arguments, environment: environment).ending()
    }
}

/// Returns the parser's error message for `arguments`, without starting a process. Fails the test if the parser accepts
/// them.
func refusal(of arguments: [String], _ location: SourceLocation = #_sourceLocation) -> String {
    let error = #expect(throws: (any Error).self, sourceLocation: location) {
        try CommandLine(arguments).parsed()
    }
    return error.map { PumpctlCommand.message(for: $0) } ?? ""
}

extension ChildProcess.Ending {
    /// The lines of standard output as JSON objects.
    func objects() throws -> [NSDictionary] {
        try output.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary, "\(line)")
        }
    }

    /// The only line of standard output as a JSON object.
    func object() throws -> NSDictionary {
        let objects = try objects()
        return try #require(objects.count == 1 ? objects.first : nil, "\(output)")
    }
}

/// Expects a proper failure: with this status, these words in standard error, and without traces of a crash.
///
/// - Parameter hint: A part of the hint; empty for any hint; nil if a hint is not required.
func expectFailure(
    _ ending: ChildProcess.Ending, _ status: Int32, saying words: String..., hint: String? = nil,
    _ location: SourceLocation = #_sourceLocation
) {
    #expect(ending.status == status, "\(ending)", sourceLocation: location)
    for word in words { #expect(ending.errors.contains(word), "\(ending.errors)", sourceLocation: location) }
    if let hint {
        let hints = ending.errors.split(separator: "\n").filter { $0.contains("hint: ") }
        #expect(hints.contains { hint.isEmpty || $0.contains(hint) }, "\(ending.errors)", sourceLocation: location)
    }
    for trace in ["Fatal error", "Stack dump", "Thread 0", ".swift:"] {
        #expect(!ending.errors.contains(trace), "\(ending.errors)", sourceLocation: location)
    }
}
