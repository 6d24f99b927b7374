import StrictJSON

/// The effect of a verb at the control socket of a device on the device's client, as a scene.
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
    /// The end of a device's message.
    var end: String { self == .terminal ? "\r\n" : "" }
    /// The end of a client's command.
    var enter: String { self == .terminal ? "\n" : "" }
}
