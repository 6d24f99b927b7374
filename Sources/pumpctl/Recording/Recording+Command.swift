import DeviceKit
import Glibc
import Transports

extension Recording {
    /// Begins to record the values that the device at `endpoint` tells, if that is asked for; nil if it is not, or can't
    /// be done. Whoever runs the command ends its record.
    ///
    /// - Parameters:
    ///   - isDefault: Whether it is done unless it is asked not to.
    ///   - note: Where to tell what is wrong.
    static func begin(
        _ context: CommandContext, _ endpoint: Endpoint, isDefault: Bool, note: (@Sendable (String) -> Void)? = nil
    ) async throws -> Recording? {
        guard try isWanted(context.options, isDefault: isDefault) else { return nil }
        let note = note ?? context.output.note
        let recording = await context.record.begun { note($0.text) }
        recording?.beginSession(at: endpoint)
        return recording
    }

    /// As `--record` or `--no-record` say; else, for what records by itself, PUMPCTL_RECORD; else the configuration.
    private static func isWanted(_ options: SharedOptions, isDefault: Bool) throws -> Bool {
        if let record = options.record { return record }
        guard isDefault else { return false }
        if let variable = getenv("PUMPCTL_RECORD"), variable.pointee != 0 {
            return String(cString: variable) != "0"
        }
        return try UserConfiguration.load().record ?? true
    }
}
