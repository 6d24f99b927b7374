/// A notice in a line that comes from the server that shares a device, not from the device.
public enum RelayNotice: Sendable, Hashable, CaseIterable {
    /// To the sender of a line: the device can't be reached, and the line was not sent.
    case notSent
    /// To the sender of a line: the line was not sent, because a command that makes the device safe preceded it.
    case overtaken
    /// To all clients: the link to the device is lost. The outcome of commands in flight is unknown.
    case lost
    /// To all clients: the device can be reached again. The device may have restarted.
    case back
}

extension PumpFamily {
    public static func relayNotice(by message: PumpMessage) -> RelayNotice? {
        switch message {
        case .error(.deviceAway): .notSent
        case .error(.overtaken): .overtaken
        case .text("[WARNING] the device is away"): .lost
        case .text("[WARNING] the device is back"): .back
        default: nil
        }
    }
}
