/// The result of a check, in words. Facts that a program may word in its own way, with names of its commands, have
/// cases of their own.
public enum Fact: Sendable, Hashable {
    /// One sentence without a full stop.
    case text(String)
    /// This version of BlueZ can advertise a device only if bluetoothd runs with `--experimental`.
    case advertisesAsExperiment(bluez: String)
    /// bluetoothd reads the battery of a phone that connects to a device offered here: an iPhone then asks to pair
    /// (bluez#38).
    case readsPhones
}

extension Fact: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self = .text(text) }
}

extension Fact: CustomStringConvertible {
    /// One sentence without a full stop.
    public var description: String {
        switch self {
        case .text(let text): text
        case .advertisesAsExperiment(let version):
            "BlueZ \(version) supports advertising only as an experimental feature, so no device can be offered"
        case .readsPhones:
            "bluetoothd reads the battery of a phone that connects to a device offered here: an iPhone then asks to pair"
        }
    }
}
