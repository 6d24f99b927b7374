public import BlueZ
public import LineProtocol

extension LinkError {
    /// Converts an error of a Bluetooth operation.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - name: The endpoint or link.
    ///   - activity: The failed activity; nil for the activity of `error`.
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
        let detail: String? =
            switch error.code {
            // The description of the code already states the reason.
            case .notFound, .busy, .notPermitted, .unsupported, .closed, .timedOut, .cancelled: error.explanation
            default: error.reason
            }
        self.init(code, name: name, activity: activity ?? error.activity, detail: detail, hint: error.hint)
    }

    /// Converts an error as ``init(_:name:activity:)`` does. If the device requires pairing, or may require it, the
    /// hint tells a person how to pair.
    init(_ error: BLEError, name: String, activity: String? = nil, pairing: PairingAdvice) {
        self.init(error, name: name, activity: activity)
        switch error.code {
        case .notPaired: hint = pairing.text
        // The device is not paired, and did not answer.
        case .timedOut where error.hint != nil: hint = pairing.possibility
        default: break
        }
    }

    /// Converts an error of sending. If the device, bluetoothd or the bus is gone, the code is `disconnected`.
    init(sending error: BLEError, name: String, activity: String = "send", pairing: PairingAdvice) {
        self.init(error, name: name, activity: activity, pairing: pairing)
        if [.notRunning, .noBus, .notFound].contains(error.code) { (code, detail) = (.disconnected, error.reason) }
    }

    /// Converts an error of confirming the connection.
    init(confirming error: BLEError, name: String, pairing: PairingAdvice) {
        self.init(sending: error, name: name, pairing: pairing)
        activity = "confirm the connection"
        // The device is out of reach. Missing pairing is not the cause.
        if error.code == .timedOut { (code, hint) = (.disconnected, nil) }
    }
}

extension LinkError {
    /// Creates the error for a device without the characteristics that the endpoint needs.
    ///
    /// - Parameter services: The services of the device.
    init(unfit services: [GATTService], for wanted: BLEEndpoint, name: String) {
        let all = services.filter { !GATTRoute.everybodysServices.contains($0.uuid) }.flatMap(\.characteristics)
        let list = all.prefix(8).map { "\($0.uuid) (\($0.flagWords.joined(separator: ", ")))" }
        let rest = all.count > list.count ? ", and \(all.count - list.count) more" : ""
        let kinds = wanted.profiles.map { "?profile=\($0.name)" }.joined(separator: " ")
        self.init(
            .unfit, name: name, activity: "find",
            detail: "the device has " + (all.isEmpty ? "no characteristics" : list.joined(separator: ", ") + rest),
            hint: wanted.isRouteNamed
                ? "name a writable characteristic, and one that notifies: ?write=UUID&hear=UUID"
                : "name the characteristics: ?write=UUID&hear=UUID; or the kind of device: \(kinds)")
    }
}
