import DeviceKit
import LineProtocol

extension Failure {
    /// Converts an error of a module's setup.
    ///
    /// - Parameter port: The port of the module.
    init(_ error: ModuleSetupError, at port: String) {
        let rates = error.rates.map { "\($0)" }.joined(separator: ", ")
        let status: ExitStatus =
            switch error.code {
            case .noAnswer: .temporaryFailure
            case .otherDevice, .unknownModule, .notConfirmed: .protocolError
            case .refused: .refused
            case .invalidName, .unsupportedRate, .needsSerialPort: .usage
            case .shared: .unavailable
            case .link: .ioError
            }
        self.init(
            status, code: error.code.rawValue, "\(port): \(error)", hint: Self.hint(on: error, rates),
            outcome: error.outcome.rawValue)
        if error.code == .noAnswer, !rates.isEmpty { message += " (tried \(rates) baud)" }
        if let link = error.link {
            self = Failure(link)
            outcome = error.outcome.rawValue
        }
        if error.outcome == .unknown { message += "; whether the module was changed is unknown" }
    }

    private static func hint(on error: ModuleSetupError, _ rates: String) -> String? {
        switch error.code {
        case .noAnswer:
            "disconnect the phone or computer that is connected to the module; check its wiring: its RXD to the adapter's TX, "
                + "its TXD to the adapter's RX; '-v' shows what is sent and received"
        case .otherDevice where error.family == "pump":
            "take the module off the board, and connect its UART to the computer; nothing that changes the pump was sent"
        case .otherDevice: "connect the module's UART to that port, or name another port"
        case .unknownModule: "name the module's dialect: --dialect with hm-10, cc41-a or mlt-bt05"
        case .refused: "identify the module: pumpctl module info; '-v' shows what is sent and received"
        case .notConfirmed: "read the module's settings: pumpctl module info"
        case .invalidName: "choose another name"
        case .unsupportedRate: "choose one of: \(rates)"
        case .needsSerialPort: "connect the module to a serial port of this computer, and name that port"
        case .shared: "stop pumpctld, or remove the port from its configuration"
        case .link: nil
        }
    }
}
