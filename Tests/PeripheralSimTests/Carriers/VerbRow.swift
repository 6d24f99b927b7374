import ControlProtocol

/// The effect on a device's client of a verb at the control socket.
struct VerbRow: Sendable, CustomStringConvertible {
    let family: SimulatedFamily
    /// The verb; `set` is followed by the option's name.
    let verb: String
    let scene: [Beat]

    init(_ family: SimulatedFamily, _ verb: String, _ scene: Beat...) {
        (self.family, self.verb, self.scene) = (family, verb, scene)
    }

    var description: String { "\(family) \(verb)" }

    static func rows(over carrier: Carrier) -> [VerbRow] {
        pump + storm(carrier) + led(carrier) + peer(carrier) + rescue(carrier) + module(carrier)
    }
}

extension Carrier {
    /// The end of a message.
    var end: String { self == .terminal ? "\r\n" : "" }
    /// The end of a command.
    var enter: String { self == .terminal ? "\n" : "" }
}
