/// What one line of the pump means.
public enum PumpMessage: Sendable, Hashable {
    /// `OK`: the command that was sent is one, and may be carried out.
    case ok
    /// `PUMP:ON` or `PUMP:OFF`: the last line of a reply to ON or OFF.
    case pump(isOn: Bool)
    /// `SPEED:<n>`: the last line of a reply to SPEED.
    case speed(PumpSpeed)
    /// `STATUS:{…}`: a reply to STATUS, or unasked every 5 s while the pump runs.
    case status(PumpStatus)
    /// `TEMP:…`: the reply to TEMP.
    case temperatures(PumpTemperatures)
    /// `ERROR:<code>`, in reply to a command or, for the two that stop the pump, unasked.
    case error(PumpErrorCode)
    /// `MANUAL:ON` or `MANUAL:OFF`: the button on the lid was pressed.
    case manual(isOn: Bool)
    /// Text for people: a boot banner, a debug line, what follows an unasked error.
    case text(String)
    /// A line that is nothing of the protocol, as it came.
    case unknown([UInt8])
}

/// What the pump reports as gone wrong, spelt as on the wire.
public struct PumpErrorCode: RawRepresentable, Sendable, Hashable {
    /// What stands behind `ERROR:`.
    public let rawValue: String

    /// A code; any text is one, since firmware may grow more.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The command was longer than 63 bytes.
    public static let commandTooLong = PumpErrorCode(rawValue: "CMD_TOO_LONG")
    /// The firmware does not know the command.
    public static let unknownCommand = PumpErrorCode(rawValue: "UNKNOWN_COMMAND")
    /// ON in the error state: OFF leaves it.
    public static let pumpStartFailed = PumpErrorCode(rawValue: "PUMP_START_FAILED")
    /// SPEED while the pump is off.
    public static let pumpNotRunning = PumpErrorCode(rawValue: "PUMP_NOT_RUNNING")
    /// A speed out of 0 to 255.
    public static let invalidSpeedValue = PumpErrorCode(rawValue: "INVALID_SPEED_VALUE")
    /// The pump ran for 30 minutes and was stopped.
    public static let safetyShutoff = PumpErrorCode(rawValue: "SAFETY_SHUTOFF")
    /// The skin was warmer than 40.0 °C and the pump was stopped.
    public static let overheat = PumpErrorCode(rawValue: "OVERHEAT")

    /// Not of the pump: a server that shares it has no link to it, and has not sent the command.
    public static let deviceAway = PumpErrorCode(rawValue: "DEVICE_AWAY")
    /// Not of the pump: a server that shares it has sent somebody's OFF first, and not the command.
    public static let overtaken = PumpErrorCode(rawValue: "OVERTAKEN")

    /// Whether the pump says this unasked: it never answers a command.
    public var isUnsolicited: Bool { self == .safetyShutoff || self == .overheat }
}
