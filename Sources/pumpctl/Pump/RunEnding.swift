import LineProtocol

/// What ends a timed run.
enum RunEnding: Sendable {
    case timeIsUp
    /// A signal, or whoever waits for the run.
    case cancelled
    /// The pump has stopped itself, and stands in its error state.
    case stoppedForSafety(PumpErrorCode?)
    /// It stood in its error state before, and refused to start.
    case latched(SessionError)
    /// ON was not sent.
    case notBegun(SessionError)
    case button
    /// Its status says that it is off, and this run has not switched it off.
    case foundOff
    /// What it says of the wearer's skin can't be relied on.
    case skin(SkinFault, PumpStatus)
    case lost(LinkError)
    /// It was not switched on as was asked for, or may not have been.
    case failed(SessionError)

    /// Why the run ended, where the pump is left as it is.
    var failureOfPumpLeftAlone: Failure? {
        switch self {
        case .stoppedForSafety(let code):
            Failure(
                .stoppedForSafety, code: "stopped",
                "the pump was stopped for safety" + (code.map { ": \($0.rawValue)" } ?? ""),
                hint: "find out why, then leave that state: pumpctl off", deviceCode: code?.rawValue)
        case .latched(let error), .notBegun(let error): Failure(error, .pump)
        default: nil
        }
    }

    /// Throws why the run ended before its time. The pump is off.
    func rethrow() throws {
        switch self {
        case .timeIsUp: return
        case .cancelled: throw CancellationError()
        case .button:
            throw Failure(.refused, code: "stopped", "the pump was switched off by its button", outcome: "off")
        case .foundOff:
            throw Failure(.refused, code: "stopped", "the pump was switched off by somebody else", outcome: "off")
        case .skin(let fault, let status):
            throw Failure(
                .stoppedForSafety, code: "sensor_fault",
                "the pump was switched off: \(PumpText.skinFault(fault, status))",
                hint: "repair the skin sensor; for a pump that nobody wears: --ignore-skin", outcome: "off")
        case .lost(let error):
            var failure = Failure(error)
            failure.message += "; the device came back, and the pump is off"
            failure.outcome = "off"
            throw failure
        case .failed(let error):
            var failure = Failure(error, .pump, unknownEffect: nil)
            failure.message += "; the pump is off"
            failure.outcome = "off"
            throw failure
        case .stoppedForSafety, .latched, .notBegun: if let failure = failureOfPumpLeftAlone { throw failure }
        }
    }
}
