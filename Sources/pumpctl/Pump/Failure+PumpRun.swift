import DeviceKit
import LineProtocol

extension Failure {
    /// A run ended before its time, or not as it should.
    init(_ error: PumpRunError) {
        switch error.cause {
        case .stoppedForSafety(let code):
            self.init(
                .stoppedForSafety, code: "stopped",
                "the pump was stopped for safety" + (code.map { ": \($0.rawValue)" } ?? ""),
                hint: "find out why, then leave that state: pumpctl off", deviceCode: code?.rawValue)
        case .latched(let error), .notBegun(let error): self.init(error, .pump)
        case .button:
            self.init(.refused, code: "stopped", "the pump was switched off by its button", outcome: "off")
        case .foundOff:
            self.init(.refused, code: "stopped", "the pump was switched off by somebody else", outcome: "off")
        case .skin(let fault, let status):
            self.init(
                .stoppedForSafety, code: "sensor_fault",
                "the pump was switched off: \(fault.text(of: status))",
                hint: "repair the skin sensor; for a pump that nobody wears: --ignore-skin", outcome: "off")
        case .lost(let error):
            self.init(error)
            message += "; the device came back, and the pump is off"
            outcome = "off"
        case .failed(let error):
            self.init(error, .pump, unknownEffect: nil)
            message += "; the pump is off"
            outcome = "off"
        case .offFailed(let error, let first):
            self.init(off: error)
            if let first { message = "\(Failure(first, .pump, unknownEffect: nil).message); \(message)" }
        case .notBack(let error):
            self.init(error)
            message += "; the device has not come back, and the pump's own 30 minutes are over"
            outcome = "unknown"
        case .goneForGood(let error):
            self.init(error)
            message += "; the pump may be on"
            outcome = "unknown"
        }
    }
}

extension PumpRun.Report {
    /// What people are told at once; nil where it is told otherwise.
    var note: String? {
        switch self {
        case .offUnanswered(let error): "pumpctl: \(Failure(off: error).message); OFF is sent again until it answers"
        case .lost(let error):
            "pumpctl: \(error); the pump may be on. Reconnecting to switch it off; a second signal gives up"
        case .begins, .on, .leftAlone, .off: nil
        }
    }
}
