public import LineProtocol

/// The state of a pump that was just switched on.
public struct PumpOnReport: Sendable {
    /// The status, reported at least one turn of the firmware's loop after ON; nil if the status could not be read.
    public let status: PumpStatus?
    /// The speed in PWM steps, if the pump has acknowledged it and the status agrees; else nil.
    public let speed: PumpSpeed?

    /// Creates a report from its parts.
    public init(status: PumpStatus?, speed: PumpSpeed?) {
        self.status = status
        self.speed = speed
    }

    /// Reads the state.
    ///
    /// The firmware handles at most one command in each turn of its main loop. The pump's knob sets the speed in the
    /// turn after the one that starts the pump. So TEMP is sent first: a STATUS line that arrives after the answer to
    /// TEMP comes from a still later turn, even if the line is unsolicited.
    ///
    /// - Parameters:
    ///   - pump: A session with the pump, after ON was acknowledged.
    ///   - timeout: The time-out of each query.
    /// - Throws: The reason that the status could not be read: the error of TEMP, except a refusal, or of STATUS.
    public static func read(_ pump: PumpSession, timeout: Duration) async throws(SessionError) -> PumpOnReport {
        do throws(SessionError) { _ = try await pump.readTemperatures(timeout: timeout) } catch {
            // A refusal of TEMP, like its answer, comes from a later turn, so STATUS can follow.
            if error.code != .refused {
                var error = error
                // The caller asked for the status, so the error names STATUS. The error for an unknown reply keeps the
                // name of the query that the reply followed.
                if error.code != .notUnderstood { error.command = "STATUS" }
                throw error
            }
        }
        let status = try await pump.readStatus(timeout: timeout)
        return PumpOnReport(status: status, speed: await pump.state.speed)
    }
}
