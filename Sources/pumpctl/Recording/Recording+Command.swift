import DeviceKit
import Glibc
import Transports

extension Recording {
    /// Starts to record the values of the device at `endpoint`; returns nil if the user does not want a recording, or
    /// if the recording can't begin. The command's runner ends the recording.
    ///
    /// - Parameters:
    ///   - isDefault: Whether the command records unless the user has chosen otherwise. If not, an unreadable
    ///     configuration counts as no choice.
    ///   - note: Prints problems of the recording; nil for standard error.
    /// - Throws: `UserConfigurationError` if `isDefault`, and the configuration is needed and can't be read.
    static func begin(
        _ context: CommandContext, _ endpoint: Endpoint, isDefault: Bool, note: (@Sendable (String) -> Void)? = nil
    ) async throws -> Recording? {
        let choice = isDefault ? try context.recordChoice() : try? context.recordChoice()
        guard choice ?? isDefault else { return nil }
        let note = note ?? context.output.note
        let recording = await context.record.begun { note($0.text) }
        recording?.beginSession(at: endpoint)
        return recording
    }
}

extension CommandContext {
    /// Returns the user's choice: `--record` or `--no-record`, otherwise PUMPCTL_RECORD, otherwise the configuration;
    /// nil if the user has made none.
    func recordChoice() throws(UserConfigurationError) -> Bool? {
        if let record = options.record { return record }
        if let variable = getenv("PUMPCTL_RECORD"), variable.pointee != 0 {
            return String(cString: variable) != "0"
        }
        return try configuration.get().record
    }
}
