public import BlueZ
public import LineProtocol

extension LinkError {
    /// What an error of bluetoothd means to the user of a link.
    ///
    /// - Parameters:
    ///   - name: The endpoint or the link concerned.
    ///   - activity: What was being done; nil for what the error says.
    public init(_ error: BLEError, name: String, activity: String? = nil) {
        let code: Code =
            switch error.code {
            case .notRunning, .noBus, .adapterOff, .adapterFull: .unavailable
            case .noAdapter, .notFound: .notFound
            case .busy: .busy
            case .notPermitted, .notPaired: .notPermitted
            case .unsupported: .unsupported
            case .disconnected: .disconnected
            case .closed: .closed
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case .invalidArgument, .failed: .system
            }
        self.init(code, name: name, activity: activity ?? error.activity, detail: error.reason, hint: error.hint)
    }

    /// As ``init(_:name:activity:)``, with what a person can do where the device wants to be paired.
    init(_ error: BLEError, name: String, activity: String? = nil, pairing: PairingAdvice) {
        self.init(error, name: name, activity: activity)
        switch error.code {
        case .notPaired: hint = pairing.text
        // The device is not paired, and has not answered.
        case .timedOut where error.hint != nil: hint = pairing.possibility
        default: break
        }
    }

    /// Why something could not be sent. Whatever took the device away, it is gone to who sends.
    init(sending error: BLEError, name: String, activity: String = "send", pairing: PairingAdvice) {
        self.init(error, name: name, activity: activity, pairing: pairing)
        if [.notRunning, .noBus, .notFound].contains(error.code) { code = .disconnected }
    }

    /// Why the device did not say that it is there.
    init(confirming error: BLEError, name: String, pairing: PairingAdvice) {
        self.init(sending: error, name: name, pairing: pairing)
        activity = "confirm the connection"
        // It is out of reach, rather than that it wants to be paired.
        if error.code == .timedOut { (code, hint) = (.disconnected, nil) }
    }
}

extension LinkError {
    /// A device has not what the endpoint needs.
    ///
    /// - Parameter services: What it has.
    init(unfit services: [GATTService], for wanted: BLEEndpoint, name: String) {
        let all = services.filter { !GATTRoute.everybodysServices.contains($0.uuid) }.flatMap(\.characteristics)
        let list = all.prefix(8).map { "\($0.uuid) (\($0.flagWords.joined(separator: ", ")))" }
        let rest = all.count > list.count ? ", and \(all.count - list.count) more" : ""
        let kinds = wanted.profiles.map { "?profile=\($0.name)" }.joined(separator: " ")
        self.init(
            .unfit, name: name, activity: "find",
            detail: all.isEmpty ? "it has no characteristics" : "it has " + list.joined(separator: ", ") + rest,
            hint: wanted.isRouteNamed
                ? "name a characteristic that can be written, and one that notifies: ?write=UUID&hear=UUID"
                : "name the characteristics: ?write=UUID&hear=UUID; or the kind of device: \(kinds)")
    }
}
