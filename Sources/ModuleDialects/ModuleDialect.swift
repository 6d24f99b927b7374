/// The AT commands of a BLE module at its UART, as one maker's firmware takes and answers them.
///
/// Data only, in a target of its own that imports nothing: the simulated module (FirmwareSim) and the program that sets
/// up a real one (DeviceKit) both read it, and must not import each other. Each of them implements its own side of the
/// dialogue.
///
/// ```swift
/// let dialect = ModuleDialect.named("cc41-a")
/// dialect?.baud.set       // "AT+BAUD"
/// dialect?.code(of: 9600) // "4"
/// ```
package struct ModuleDialect: Sendable {
    /// A query for a value of a module.
    package struct Query: Sendable {
        /// The command, without its end.
        package var command: String
        /// The texts that may precede the value in the answer. One maker's firmware versions differ; the simulated
        /// module uses the first text.
        package var answers: [String]
    }

    /// A value that can be queried and changed.
    package struct Setting: Sendable {
        /// The query for the value.
        package var query: Query
        /// The text before the new value in the command that changes it.
        package var set: String
        /// The text before the new value in the answer to that command.
        package var confirmation: String
    }

    /// The unsolicited notices of a module, if they are on.
    package struct Notices: Sendable {
        /// The setting that switches the notices: `1` or `0`.
        package var setting: Setting
        /// The notice that a central has connected.
        package var connected: String
        /// The notice that the central has disconnected.
        package var lost: String
    }

    /// The moment at which a new baud rate takes effect.
    package enum RateChange: Sendable {
        /// As soon as the answer has left.
        case atOnce
        /// After a restart.
        case afterReset
    }

    /// The name of the dialect on a command line, such as `hm-10`.
    package var name: String
    /// The module and its maker.
    package var title: String
    /// The end of a command; empty if a silence ends it.
    package var commandEnd: String
    /// The end of each line of an answer, and of each notice.
    package var lineEnd: String
    /// The query for the version of the firmware.
    package var version: Query
    /// Texts in lower case, of which the version of this firmware contains at least one, in any letter case.
    package var versionMarks: [String]
    /// The query for the module's own address.
    package var address: Query
    /// The query for the role: `0` for a peripheral, `1` for a central.
    package var role: Query
    /// The setting for the name over BLE.
    package var deviceName: Setting
    /// The most bytes of a name; nil if no document states a limit.
    package var longestName: Int?
    /// The setting for the baud rate of the UART, by its code.
    package var baud: Setting
    /// The baud rates, by their codes.
    package var baudRates: [(code: String, rate: Int)]
    /// The rates that the module can be set to, but not back from.
    package var ratesWithoutReturn: [Int]
    /// The moment at which a new baud rate takes effect.
    package var rateChange: RateChange
    /// A further line after the answer to a command that changes something; nil for none.
    package var afterChange: String?
    /// The command that restarts the module, and the lines of its answer.
    package var reset: (command: String, answer: [String])
    /// The answer to an unknown command; nil for none.
    package var refusal: String?
    /// The unsolicited notices; nil for none.
    package var notices: Notices?
    /// Whether a bare ``test`` at the UART ends a connection. If not, all bytes are data while a central is connected.
    package var testDisconnects: Bool
    /// The version and the name that the maker gave the module.
    package var factory: (version: String, name: String)
    /// Whether an address is written with colons.
    package var addressHasColons: Bool

    /// The command that asks whether a module is there, in all dialects.
    package static let test = "AT"
    /// The answer to ``test``.
    package static let testAnswer = "OK"

    /// Returns the code of a baud rate; nil if it has none.
    package func code(of rate: Int) -> String? { baudRates.first { $0.rate == rate }?.code }

    /// Returns the baud rate of a code; nil if there is none.
    package func rate(of code: some StringProtocol) -> Int? { baudRates.first { $0.code == code }?.rate }

    /// Returns the dialect of this name; nil if there is none.
    package static func named(_ name: String) -> ModuleDialect? { all.first { $0.name == name } }
}
