import DeviceKit
import LineProtocol

extension PumpOnReport {
    /// On one line, for people: nothing that was not read.
    var text: String {
        guard let percent = status?.speedPercent else { return "pump on" }
        return "pump on at \(percent) %" + (speed.map { " (PWM \($0.pwm))" } ?? "")
    }

    var record: ResultRecord {
        ResultRecord(
            pump: "on", speedPWM: speed.map { Int($0.pwm) }, speedPercent: status?.speedPercent.map { Int($0) },
            skinFault: status?.skinFaultWhileOn)
    }

    /// Why the pump does not run though it was switched on; nil where it does, or nothing was read.
    var failure: Failure? {
        switch status?.power {
        case .error: Failure(PumpRunError(.stoppedForSafety(nil)))
        case .off:
            Failure(
                .refused, code: "stopped", "the pump was switched on, and is off again: its button, or somebody else")
        case .on, .unknown, nil: nil
        }
    }
}
