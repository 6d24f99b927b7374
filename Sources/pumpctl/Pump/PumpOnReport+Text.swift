import DeviceKit
import LineProtocol

extension PumpOnReport {
    /// The report on one line for people, with confirmed values only.
    var text: String {
        guard let percent = status?.speedPercent else { return "pump on" }
        return "pump on at \(percent) %" + (speed.map { " (PWM \($0.pwm))" } ?? "")
    }

    /// The report for programs, with confirmed values only.
    var record: ResultRecord {
        let values: ResultRecord = [
            "ok": true, "state": "on", "speed_pwm": speed?.pwm, "speed_percent": status?.speedPercent,
            "skin_fault": status?.skinFaultWhileOn?.rawValue,
        ]
        return values.known
    }

    /// The failure of a pump whose status after ON is not `on`; nil if the pump runs, or if its status could not be
    /// read.
    var failure: Failure? {
        switch status?.power {
        case .error: Failure(PumpRunError(.stoppedForSafety(nil)))
        case .off:
            Failure(
                .refused, code: "stopped",
                "the pump was switched on, and is off again: by its button, a reset of its board, or another program")
        case .unknown:
            Failure(
                .protocolError, code: "not_understood", "the pump acknowledged ON, but its status names no known state",
                hint: "ask for its state: pumpctl status", outcome: "acknowledged")
        case .on, nil: nil
        }
    }
}
