import LineProtocol

/// What was read of a pump that was just switched on.
struct PumpOnReport: Sendable {
    /// Its status, a loop turn of the firmware later; nil where none came.
    let status: PumpStatus?
    /// Its speed in PWM steps, where the pump acknowledged it and the status bears it out.
    let speed: PumpSpeed?

    /// Reads it.
    ///
    /// The potentiometer sets the speed in the turn behind the one that started the pump. A STATUS line that is heard behind
    /// the answer to TEMP is of a later turn than both, also where it is one that the pump sends by itself.
    static func read(_ pump: PumpSession, timeout: Duration) async throws(SessionError) -> PumpOnReport {
        do throws(SessionError) {
            do throws(SessionError) { _ = try await pump.readTemperatures(timeout: timeout) } catch {
                // A refusal is of a later turn too.
                guard error.code == .refused else { throw error }
            }
            let status = try await pump.readStatus(timeout: timeout)
            return PumpOnReport(status: status, speed: await pump.state.speed)
        } catch {
            switch error.code {
            case .noAnswer, .notUnderstood, .refused: return PumpOnReport(status: nil, speed: nil)
            case .linkLost, .closed, .cancelled, .overtaken: throw error
            }
        }
    }

    /// On one line, for people: nothing that was not read.
    var text: String {
        guard let percent = status?.speedPercent else { return "pump on" }
        return "pump on at \(percent) %" + (speed.map { " (PWM \($0.pwm))" } ?? "")
    }

    var record: PumpChangeRecord {
        PumpChangeRecord(
            state: "on", speedPWM: speed.map { Int($0.pwm) }, speedPercent: status?.speedPercent.map { Int($0) },
            skinFault: status?.skinFaultWhileOn)
    }

    /// Why the pump does not run though it was switched on; nil where it does, or nothing was read.
    var failure: Failure? {
        switch status?.power {
        case .error: RunEnding.stoppedForSafety(nil).failureOfPumpLeftAlone
        case .off:
            Failure(
                .refused, code: "stopped", "the pump was switched on, and is off again: its button, or somebody else")
        case .on, .unknown, nil: nil
        }
    }
}
