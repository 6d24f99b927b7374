import DeviceKit
import Glibc
import Transports

extension Recording {
    /// Begins to record the values that the device at `endpoint` tells, if that is asked for; nil if it is not, or can't
    /// be done. Whoever runs the command ends its record.
    ///
    /// - Parameters:
    ///   - isDefault: Whether it is done unless the user has chosen otherwise.
    ///   - note: Where to tell what is wrong.
    static func begin(
        _ context: CommandContext, _ endpoint: Endpoint, isDefault: Bool, note: (@Sendable (String) -> Void)? = nil
    ) async throws -> Recording? {
        // A command that records only if it is asked to does without a configuration that can't be read.
        let choice = isDefault ? try context.recordChoice() : try? context.recordChoice()
        guard choice ?? isDefault else { return nil }
        let note = note ?? context.output.note
        let recording = await context.record.begun { note($0.text) }
        recording?.beginSession(at: endpoint)
        return recording
    }
}

extension CommandContext {
    /// The user's choice, by `--record` or `--no-record`, else by PUMPCTL_RECORD, else by the configuration; nil if none was
    /// made.
    func recordChoice() throws(UserConfigurationError) -> Bool? {
        if let record = options.record { return record }
        if let variable = getenv("PUMPCTL_RECORD"), variable.pointee != 0 {
            return String(cString: variable) != "0"
        }
        return try configuration.get().record
    }
}
