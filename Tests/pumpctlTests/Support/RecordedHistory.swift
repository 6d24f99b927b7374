import RecordFormat
import TestSupport
import Testing

/// A record whose readings and times a test makes up, in its own folder.
struct RecordedHistory {
    /// The folder for the record (XDG_DATA_HOME).
    let home = TemporaryFolder()

    /// Runs `pumpctl history` on the record, in the time zone `zone`, a value of TZ. The words `before` come before
    /// `history`.
    func show(
        _ arguments: String..., before: [String] = [], zone: String = "UTC", environment: [String: String] = [:]
    ) async throws -> ChildProcess.Ending {
        try await Pumpctl.start(
            before + ["history"] + arguments,
            environment: ["XDG_DATA_HOME": home.path, "TZ": zone].merging(environment) { $1 }
        ).ending()
    }

    /// Records a session with these readings, each with its time in seconds since 1970-01-01T00:00:00Z and its values
    /// as JSON.
    func add(
        family: String = "pump", endpoint: String = "/dev/ttyUSB0", device: String? = nil,
        _ readings: [(Double, String)]
    ) async throws {
        func line(_ seconds: Double, _ content: Record.Content) -> String {
            Record(session: 1, time: RecordTime(milliseconds: Int64(seconds * 1000)), content).line + "\n"
        }
        let first = readings.first?.0 ?? 0
        var text = line(first, .begun(family: family, endpoint: endpoint, device: device))
        for (seconds, json) in readings {
            text += line(seconds, .reading(kind: "status", try #require(Reading(json: json[...]))))
        }
        text += line(readings.last?.0 ?? first, .ended(reason: "closed"))
        let program = try await ChildProcess(
            [Executable.pumpctlRecord, "write"], environment: ["XDG_DATA_HOME": home.path])
        try await program.write(text)
        await program.closeInput()
        // pumpctl-record reports the numbers of written and of lost records: the readings, the beginning and the end.
        #expect(try await program.ending().output == "done\t\(readings.count + 2)\t0\n")
    }
}
