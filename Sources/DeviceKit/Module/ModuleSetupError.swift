public import LineProtocol

/// The reason that a BLE module could not be read or set.
public struct ModuleSetupError: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// No module answers at any of ``ModuleSetupError/rates``.
        case noAnswer = "no_answer"
        /// The device is no module: a device of ``ModuleSetupError/family`` has sent ``ModuleSetupError/answer``.
        case otherDevice = "other_device"
        /// The module's dialect is unknown; ``ModuleSetupError/answer`` is the module's version, nil for none.
        case unknownModule = "unknown_module"
        /// The module has refused the change with ``ModuleSetupError/answer``.
        case refused
        /// The change was sent, but reading back returned another value, ``ModuleSetupError/answer``; nil for no value.
        case notConfirmed = "not_confirmed"
        /// The module can't have this name; see ``ModuleSetupError/reason``.
        case invalidName = "invalid_name"
        /// The module does not support this baud rate; ``ModuleSetupError/rates`` are the supported ones.
        case unsupportedRate = "unsupported_rate"
        /// A baud rate can be set, and read back, only over a serial port.
        case needsSerialPort = "needs_serial_port"
        /// A daemon has the port open, and the link leads through the daemon.
        case shared
        /// The port could not be opened, or the link broke; see ``ModuleSetupError/link``.
        case link
    }

    /// The known state of the module after the failure.
    public enum Outcome: String, Sendable, Hashable {
        /// No command that changes the module was sent.
        case notSent = "not_sent"
        /// The module is unchanged.
        case nothingChanged = "nothing_changed"
        /// The module may have been changed.
        case unknown
    }

    /// The kind of failure.
    public var code: Code
    /// The known state of the module after the failure.
    public var outcome: Outcome
    /// The answer of the device, or the value that was read back; nil if there is none.
    public var answer: String?
    /// The name of the family of the device that has answered; nil except for `otherDevice`.
    public var family: String?
    /// For `noAnswer`, the baud rates that were tried, including rates that the adapter does not support. For
    /// `unsupportedRate`, the rates that the module supports. Empty for other codes, and if the device is not at a
    /// serial port.
    public var rates: [Int]
    /// The flaw of the name; nil except for `invalidName`.
    public var reason: String?
    /// The error of the link; nil if the link has not failed.
    public var link: LinkError?

    init(
        _ code: Code, _ outcome: Outcome, answer: String? = nil, family: String? = nil, rates: [Int] = [],
        reason: String? = nil, link: LinkError? = nil
    ) {
        self.code = code
        self.outcome = outcome
        self.answer = answer
        self.family = family
        self.rates = rates
        self.reason = reason
        self.link = link
    }
}

extension ModuleSetupError {
    /// A copy of the error with the outcome `unknown`, for failures after a change was sent.
    var ofUnknownOutcome: ModuleSetupError {
        var error = self
        error.outcome = .unknown
        return error
    }
}

extension ModuleSetupError: CustomStringConvertible {
    public var description: String {
        let said = answer.map { ": \($0.printable())" } ?? ""
        return switch code {
        case .noAnswer: "no module answers"
        case .otherDevice: "\(family.map { "a \($0)" } ?? "another device") answers, not a module\(said)"
        case .unknownModule: "unknown type of module\(said)"
        case .refused: "the module refused the change\(said)"
        case .notConfirmed:
            answer == nil ? "the change could not be read back" : "the module reports another value\(said)"
        case .invalidName: reason ?? "the module does not accept this name"
        case .unsupportedRate: "the module does not support this baud rate"
        case .needsSerialPort: "setting the baud rate needs a serial port"
        case .shared: "the port is in use by a daemon"
        case .link: link?.description ?? "the link broke"
        }
    }
}
