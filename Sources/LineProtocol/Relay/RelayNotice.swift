/// What a server that shares a device says by itself, in lines that are not the device's own.
public enum RelayNotice: Sendable, Hashable, CaseIterable {
    /// To who has asked: the device can't be reached, and the line was not sent.
    case notSent
    /// To who has asked: the line was not sent, since a command that makes the device safe went before it.
    case overtaken
    /// To all: the device is away from now on. Of what was under way nobody knows what became of it.
    case lost
    /// To all: the device is back. It may have started anew.
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
