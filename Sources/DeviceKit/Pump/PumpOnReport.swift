public import LineProtocol

/// What was read of a pump that was just switched on.
public struct PumpOnReport: Sendable {
    /// Its status, a loop turn of the firmware later; nil if it could not be read.
    public let status: PumpStatus?
    /// Its speed in PWM steps, where the pump acknowledged it and the status bears it out.
    public let speed: PumpSpeed?

    /// A report of what was read.
    public init(status: PumpStatus?, speed: PumpSpeed?) {
        self.status = status
        self.speed = speed
    }

    /// Reads it.
    ///
    /// The potentiometer sets the speed in the turn behind the one that started the pump. A STATUS line that is heard behind
    /// the answer to TEMP is of a later turn than both, also where it is one that the pump sends by itself.
    ///
    /// - Throws: Why the status could not be read: nothing is known of the pump then.
    public static func read(_ pump: PumpSession, timeout: Duration) async throws(SessionError) -> PumpOnReport {
        do throws(SessionError) { _ = try await pump.readTemperatures(timeout: timeout) } catch {
            // A refusal is of a later turn too.
            if error.code != .refused {
                var error = error
                // The caller waits for the status. Only a reply that is none is one to the question that was sent.
                if error.code != .notUnderstood { error.command = "STATUS" }
                throw error
            }
        }
        let status = try await pump.readStatus(timeout: timeout)
        return PumpOnReport(status: status, speed: await pump.state.speed)
    }
}
