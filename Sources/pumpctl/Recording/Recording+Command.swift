import DeviceKit
import Glibc
import LineProtocol
import RecordFormat
import Transports

extension Recording {
    /// Begins to record the values that the device at `endpoint` tells, if that is asked for; nil if it is not, or can't
    /// be done. The command's record is ended by whoever runs it: see ``CommandRecord``.
    ///
    /// - Parameters:
    ///   - isDefault: Whether it is done unless it is asked not to.
    ///   - note: Where to tell what is wrong.
    static func begin(
        _ context: CommandContext, _ endpoint: Endpoint, isDefault: Bool, note: (@Sendable (String) -> Void)? = nil
    ) async throws -> Recording? {
        guard try RecordChoice.isWanted(context.options, isDefault: isDefault) else { return nil }
        guard let recording = await context.record.recording(context, note ?? context.output.note) else { return nil }
        recording.beginSession(at: endpoint)
        return recording
    }
}

extension Recording.Report {
    /// What people are told.
    var text: String {
        switch self {
        case .failing(let trouble):
            "pumpctl: nothing is recorded for now: \(trouble.text)\n  hint: \(trouble.hint)"
        case .overflowing: "pumpctl: the disk is too slow: not all is recorded"
        case .recovered(let lost): "pumpctl: it is recorded again" + (lost > 0 ? "; \(lost) records are lost" : "")
        case .broken: "pumpctl: pumpctl-record has ended: no more is recorded"
        case .stillWriting: "pumpctl: pumpctl-record still writes, and goes on by itself"
        case .lost(let count): "pumpctl: \(count) records could not be written"
        }
    }
}

/// Whether a command records.
enum RecordChoice {
    /// As `--record` or `--no-record` say; else, for what records by itself, PUMPCTL_RECORD; else the configuration.
    static func isWanted(_ options: SharedOptions, isDefault: Bool) throws -> Bool {
        if let record = options.record { return record }
        guard isDefault else { return false }
        if let variable = getenv("PUMPCTL_RECORD"), variable.pointee != 0 {
            return String(cString: variable) != "0"
        }
        return try Configuration.load().record ?? true
    }
}
