import DeviceKit
import LineProtocol

extension Failure {
    /// Creates the failure for a run that ended early or with an error.
    init(_ error: PumpRunError) {
        switch error.cause {
        case .stoppedForSafety(let code):
            self.init(
                .stoppedForSafety, code: "stopped", "\(error)",
                hint: "find out why the pump was stopped, then leave the error state: pumpctl off",
                deviceCode: code?.rawValue)
        case .latched(let error), .notBegun(let error): self.init(error, .pump)
        case .button, .foundOff: self.init(.refused, code: "stopped", "\(error)", outcome: "off")
        case .skin:
            self.init(
                .stoppedForSafety, code: "sensor_fault", "\(error)",
                hint: "repair the skin sensor; for a pump that nobody wears: --ignore-skin", outcome: "off")
        case .lost(let link), .notBack(let link), .goneForGood(let link):
            self.init(link)
            (message, outcome) = ("\(error)", error.aftermath == .off ? "off" : "unknown")
            if error.aftermath == .perhapsOn, DevicePlace(link.name).isReal { hint = Self.offByHand }
        case .failed(let error):
            self.init(error, .pump, unknownEffect: nil)
            (message, outcome) = ("\(message); the pump is off", "off")
        case .offFailed(let error, let first):
            self = Failure(offFailing: error, at: nil) ?? Failure(off: error)
            if let first { message = "\(Failure(first, .pump, unknownEffect: nil).message); \(message)" }
        }
    }
}

extension PumpRun.Report {
    /// The note that the pump may be on, or was on for too long; nil for any other report.
    var note: String? {
        switch self {
        case .offUnanswered(let error):
            "pumpctl: \(Failure(off: error).message); OFF is repeated until the pump is off; a second signal gives up"
        case .lost(let error):
            "pumpctl: \(error); the pump may be on. Reconnecting to switch it off; a second signal gives up"
        case .overrun(let time):
            "pumpctl: the pump was switched off \(time.inSeconds) s late: pumpctl was stopped, the computer was suspended, "
                + "the device was away, or OFF had to be repeated"
        case .begins, .on, .runs, .leftAlone, .off: nil
        }
    }
}
