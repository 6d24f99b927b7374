import BlueZ

extension Failure {
    /// What an error of bluetoothd means to who asked for no link.
    init(_ error: BLEError) {
        let status: ExitStatus =
            switch error.code {
            case .notRunning, .adapterOff, .adapterFull, .busy: .unavailable
            case .noAdapter, .notFound: .noInput
            case .notPermitted, .notPaired: .noPermission
            case .unsupported, .invalidArgument: .usage
            case .disconnected, .closed, .failed: .ioError
            case .timedOut: .temporaryFailure
            case .cancelled: .interrupted
            }
        self.init(status, code: error.code.rawValue, "\(error.activity): \(error.reason)", hint: error.hint)
    }
}
