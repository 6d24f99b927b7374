internal import BlueZ
internal import LineProtocol

extension LinkError {
    /// What an error of bluetoothd means to the user of a link.
    init(_ error: BLEError, name: String, activity: String? = nil) {
        let code: Code =
            switch error.code {
            case .notRunning, .adapterOff: .unavailable
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
    init(sending error: BLEError, name: String, pairing: PairingAdvice) {
        self.init(error, name: name, activity: "send", pairing: pairing)
        if error.code == .notRunning || error.code == .notFound { code = .disconnected }
    }

    /// Why the device did not say that it is there.
    init(confirming error: BLEError, name: String, pairing: PairingAdvice) {
        self.init(sending: error, name: name, pairing: pairing)
        activity = "confirm the connection"
        // It is out of reach, rather than that it wants to be paired.
        if error.code == .timedOut { (code, hint) = (.disconnected, nil) }
    }
}
