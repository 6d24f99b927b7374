/// The meaning of a line from the pump.
public enum PumpMessage: Sendable, Hashable {
    /// `OK`: the first line of a reply to ON, OFF, or SPEED. The last line shows whether the command was carried out.
    case ok
    /// `PUMP:ON` or `PUMP:OFF`: the last line of a reply to ON or OFF.
    case pump(isOn: Bool)
    /// `SPEED:<n>`: the last line of a reply to SPEED, with the PWM duty.
    case speed(PumpSpeed)
    /// `STATUS:{…}`: the reply to STATUS, or unsolicited every 5 s while the pump runs.
    case status(PumpStatus)
    /// `TEMP:…`: the reply to TEMP.
    case temperatures(PumpTemperatures)
    /// `ERROR:<code>`: a reply to a command. The two errors that stop the pump are unsolicited.
    case error(PumpErrorCode)
    /// `MANUAL:ON` or `MANUAL:OFF`: the button on the lid was pressed.
    case manual(isOn: Bool)
    /// Text for people: a boot banner, a debug line, or the text after an unsolicited error.
    case text(String)
    /// A line that the protocol does not define, unchanged.
    case unknown([UInt8])
}

/// The code of an error, spelled as on the wire.
public struct PumpErrorCode: RawRepresentable, Sendable, Hashable {
    /// The text after `ERROR:`.
    public let rawValue: String

    /// Creates a code from any text, since future firmware may send further codes.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The command was longer than 63 bytes.
    public static let commandTooLong = PumpErrorCode(rawValue: "CMD_TOO_LONG")
    /// The firmware does not know the command.
    public static let unknownCommand = PumpErrorCode(rawValue: "UNKNOWN_COMMAND")
    /// The pump is in the error state, so ON is refused. OFF ends the error state.
    public static let pumpStartFailed = PumpErrorCode(rawValue: "PUMP_START_FAILED")
    /// The pump is off or in the error state, so SPEED is refused.
    public static let pumpNotRunning = PumpErrorCode(rawValue: "PUMP_NOT_RUNNING")
    /// The speed is outside 0 to 255.
    public static let invalidSpeedValue = PumpErrorCode(rawValue: "INVALID_SPEED_VALUE")
    /// The pump ran for 30 minutes and was stopped.
    public static let safetyShutoff = PumpErrorCode(rawValue: "SAFETY_SHUTOFF")
    /// The pump was stopped because the skin was warmer than 40.0 °C. Newer firmware also sends this code if the skin
    /// is too cold or a thermistor is broken; the text after the error tells which.
    public static let overheat = PumpErrorCode(rawValue: "OVERHEAT")

    /// Sent by a server that shares the pump: the server has no link to the pump, and has not sent the command.
    public static let deviceAway = PumpErrorCode(rawValue: "DEVICE_AWAY")
    /// Sent by a server that shares the pump: the server has sent an OFF first, and has dropped the command.
    public static let overtaken = PumpErrorCode(rawValue: "OVERTAKEN")

    /// Whether the pump sends this error only unsolicited, never as a reply.
    public var isUnsolicited: Bool { self == .safetyShutoff || self == .overheat }
}
