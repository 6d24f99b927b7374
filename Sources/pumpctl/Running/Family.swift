import DescriptorIO
import LineProtocol
import Transports

/// What the commands for any device have to know of a family. Each family writes its own, in its folder.
struct Family: Sendable {
    /// Bits a second of its serial port, where the endpoint names none.
    var baudRate: Int
    /// How long it may need to read a line that was typed: what comes meanwhile may be lost.
    var readingTime = Duration.zero
    /// Opens a simulated device inside this program, by the options of its endpoint.
    var simulate: LinkSchemes.Opener
    /// Why a text that a person typed, of one line or several, must not be sent; nil if it may.
    var danger: @Sendable (_ text: [UInt8]) -> String? = { _ in nil }
    /// The code of the error that a line of the device tells of; nil if it tells of none.
    var errorCode: @Sendable (_ line: Span<UInt8>, LineEnding) -> String? = { _, _ in nil }
    /// Whether a line is one that a device of this family says, and that no other would.
    var recognizes: @Sendable (_ line: [UInt8]) -> Bool = { _ in false }
    /// The command that asks for the state of a device; nil where there is none.
    var question: String?
    /// What mends the error of that code.
    var hint: @Sendable (_ errorCode: String) -> String? = { _ in nil }
}

extension FamilyName {
    /// The table of families.
    var facts: Family {
        switch self {
        case .pump: .pump
        case .storm: .storm
        case .led: .led
        case .peer: .peer
        case .rescue: .rescue
        }
    }
}
