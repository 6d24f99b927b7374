import ControlProtocol

/// What a client of a device sees of what is done to the device through its control socket.
struct VerbRow: Sendable, CustomStringConvertible {
    let family: SimulatedFamily
    /// The verb; of `set` with the name of the option.
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
    /// What ends a message.
    var end: String { self == .terminal ? "\r\n" : "" }
    /// What ends a command.
    var enter: String { self == .terminal ? "\n" : "" }
}
