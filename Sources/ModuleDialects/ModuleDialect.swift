/// The AT commands of a BLE module at its UART, as the firmware of one maker takes and answers them.
///
/// Data only, in a target of its own that imports nothing: the simulated module (FirmwareSim) and the program that sets up
/// a real one (DeviceKit) both read it, and must not import each other. What a module does with a command, and how a
/// program asks, each of them has written for itself.
///
/// ```swift
/// let dialect = ModuleDialect.named("cc41-a")
/// dialect?.baud.set       // "AT+BAUD"
/// dialect?.code(of: 9600) // "4"
/// ```
package struct ModuleDialect: Sendable {
    /// A value that a module can be asked for.
    package struct Query: Sendable {
        /// The command, without its end.
        package var command: String
        /// What stands in front of the value in the answer. Firmware of one maker differs: the first is what the simulated
        /// module says.
        package var answers: [String]
    }

    /// A value that can be asked for, and changed.
    package struct Setting: Sendable {
        /// What asks for it.
        package var query: Query
        /// What stands in front of the new value in the command that changes it.
        package var set: String
        /// What stands in front of the new value in the answer to that.
        package var confirmation: String
    }

    /// What a module says unasked while its notices are on.
    package struct Notices: Sendable {
        /// Whether they are on: `1` or `0`.
        package var setting: Setting
        /// A central has connected.
        package var connected: String
        /// The central is gone.
        package var lost: String
    }

    /// When a new baud rate is in effect.
    package enum RateChange: Sendable {
        /// As soon as the answer has left.
        case atOnce
        /// After a restart.
        case afterReset
    }

    /// What a person calls it on a command line, as `hm-10`.
    package var name: String
    /// The module and its maker.
    package var title: String
    /// What ends a command: nothing where a silence does.
    package var commandEnd: String
    /// What ends each line of an answer, and each notice.
    package var lineEnd: String
    /// The version of the firmware.
    package var version: Query
    /// What the version of this firmware has in it, in lower case.
    package var versionMarks: [String]
    /// The module's own address.
    package var address: Query
    /// `0` for a peripheral, `1` for a central.
    package var role: Query
    /// What it is called over BLE.
    package var deviceName: Setting
    /// The most bytes of a name; nil where no document says so.
    package var longestName: Int?
    /// The baud rate of the UART, by its code.
    package var baud: Setting
    /// The baud rates, by their codes.
    package var baudRates: [(code: String, rate: Int)]
    /// A rate that the module can be set to, and not back from.
    package var ratesWithoutReturn: [Int]
    /// When a new baud rate is in effect.
    package var rateChange: RateChange
    /// A further line behind the answer to a command that changes something; nil for none.
    package var afterChange: String?
    /// The command that restarts the module, and the lines of its answer.
    package var reset: (command: String, answer: [String])
    /// What a command is answered that it does not know; nil for nothing.
    package var refusal: String?
    /// What it says unasked; nil for nothing.
    package var notices: Notices?
    /// Whether a bare ``test`` at the UART ends a connection. Otherwise all is data while a central is connected.
    package var testDisconnects: Bool
    /// What the maker has it say: its version, and its name.
    package var factory: (version: String, name: String)
    /// Whether an address is written with colons.
    package var addressHasColons: Bool

    /// The command that asks whether a module is there, in all dialects.
    package static let test = "AT"
    /// What it is answered.
    package static let testAnswer = "OK"

    /// The code of a baud rate; nil where it has none.
    package func code(of rate: Int) -> String? { baudRates.first { $0.rate == rate }?.code }

    /// The baud rate of a code; nil where there is none.
    package func rate(of code: some StringProtocol) -> Int? { baudRates.first { $0.code == code }?.rate }

    /// The dialect of that name; nil where there is none.
    package static func named(_ name: String) -> ModuleDialect? { all.first { $0.name == name } }
}
