/// The reply to a pump command.
public enum PumpReply: Sendable, Hashable {
    /// The pump was started, at ``PumpSpeed/initial``.
    case on
    /// The pump was stopped.
    case off
    /// The speed was set.
    case speed(PumpSpeed)
    /// The answer to STATUS.
    case status(PumpStatus)
    /// The answer to TEMP.
    case temperatures(PumpTemperatures)
}

/// Matches the lines that answer one pump command: `OK` and a last line, or one line, or an error.
///
/// A last line without `OK` before it may be the rest of an earlier reply, and does not count. The only exception is
/// `PUMP:OFF`.
public struct PumpExchange: CommandExchange {
    private let command: PumpCommand
    private var isAcknowledged = false

    /// Creates an exchange that matches the lines that answer `command`.
    public init(_ command: PumpCommand) { self.command = command }

    public mutating func take(_ message: PumpMessage) -> ExchangeVerdict<PumpReply> {
        switch (message, command) {
        case (.ok, .on), (.ok, .off), (.ok, .speed):
            guard !isAcknowledged else { return .unrelated }
            isAcknowledged = true
            return .partial
        case (.pump(isOn: true), .on) where isAcknowledged: return .complete(.on)
        // PUMP:OFF completes the reply even without OK, which may have been lost: the pump sends PUMP:OFF only in reply
        // to OFF.
        case (.pump(isOn: false), .off): return .complete(.off)
        case (.speed(let speed), .speed(let asked)) where isAcknowledged && speed == asked:
            return .complete(.speed(speed))
        case (.status(let status), .status): return .complete(.status(status))
        case (.temperatures(let temperatures), .temperature): return .complete(.temperatures(temperatures))
        case (.error(let code), _): return mayAnswer(code) ? .refused(code.rawValue) : .unrelated
        default: return .unrelated
        }
    }

    /// Whether `code` can answer the command. An unknown code can answer any command.
    private func mayAnswer(_ code: PumpErrorCode) -> Bool {
        switch (code, command) {
        case (.safetyShutoff, _), (.overheat, _): false
        case (.pumpStartFailed, .on): true
        case (.pumpNotRunning, .speed), (.invalidSpeedValue, .speed): true
        case (.pumpStartFailed, _), (.pumpNotRunning, _), (.invalidSpeedValue, _): false
        default: true
        }
    }
}
