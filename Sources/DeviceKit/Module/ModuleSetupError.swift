public import LineProtocol

/// Why a BLE module could not be asked, or was not set.
public struct ModuleSetupError: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// No module has answered, at any of ``ModuleSetupError/rates``.
        case noAnswer = "no_answer"
        /// Another device has answered, of ``ModuleSetupError/family``; ``ModuleSetupError/answer`` is what it said.
        case otherDevice = "other_device"
        /// A module has answered that is none of those that are known; ``ModuleSetupError/answer`` is its version.
        case unknownModule = "unknown_module"
        /// The module has refused the change; ``ModuleSetupError/answer`` is what it said.
        case refused
        /// The change was sent, and reading it back gave ``ModuleSetupError/answer``; nil for nothing.
        case notConfirmed = "not_confirmed"
        /// The module takes no such name: ``ModuleSetupError/reason``.
        case invalidName = "invalid_name"
        /// The module can't be set to that baud rate; ``ModuleSetupError/rates`` are those that it can.
        case unsupportedRate = "unsupported_rate"
        /// A baud rate can be set, and read back, over a serial port only.
        case needsSerialPort = "needs_serial_port"
        /// A daemon has the port.
        case shared
        /// The port could not be opened, or the link broke: ``ModuleSetupError/link``.
        case link
    }

    /// What is known of the module behind it.
    public enum Outcome: String, Sendable, Hashable {
        /// Nothing that changes a module was sent.
        case notSent = "not_sent"
        /// It is as it was.
        case nothingChanged = "nothing_changed"
        /// It may be changed or not.
        case unknown
    }

    /// The kind of failure.
    public var code: Code
    /// What is known of the module behind it.
    public var outcome: Outcome
    /// What was said in answer.
    public var answer: String?
    /// The kind of device that has answered.
    public var family: String?
    /// Baud rates: those that were tried, or that there are. Empty where no serial port leads there.
    public var rates: [Int]
    /// What is wrong with a name.
    public var reason: String?
    /// How the link broke, or could not be opened.
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
    /// The error, after something was sent that changes a module.
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
        case .otherDevice: "\(family.map { "a \($0)" } ?? "another device") answers there, and no module\(said)"
        case .unknownModule: "a module answers that is not known\(said)"
        case .refused: "the module has refused the change\(said)"
        case .notConfirmed: answer == nil ? "the change could not be read back" : "the module has not taken it\(said)"
        case .invalidName: reason ?? "the module takes no such name"
        case .unsupportedRate: "the module can't be set to that baud rate"
        case .needsSerialPort: "a baud rate can be set over a serial port only"
        case .shared: "a daemon has the port"
        case .link: link?.description ?? "the link broke"
        }
    }
}
