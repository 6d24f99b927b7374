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

    /// Why something could not be sent. Whatever took the device away, it is gone to who sends.
    init(sending error: BLEError, name: String) {
        self.init(error, name: name, activity: "send")
        if error.code == .notRunning || error.code == .notFound { code = .disconnected }
    }

    /// Why the device did not say that it is there.
    init(confirming error: BLEError, name: String) {
        self.init(sending: error, name: name)
        activity = "confirm the connection"
        if error.code == .timedOut { code = .disconnected }
    }
}
