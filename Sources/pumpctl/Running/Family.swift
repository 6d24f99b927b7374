import DescriptorIO
import LineProtocol
import Transports

/// What the commands for any device have to know of a family. Each family writes its own, in its folder.
struct Family: Sendable {
    /// Bits a second of its serial port, where the endpoint names none.
    var baudRate: Int
    /// Opens a simulated device inside this program, by the options of its endpoint.
    var simulate: LinkSchemes.Opener
    /// Why a text that a person typed, of one line or several, must not be sent; nil if it may.
    var danger: @Sendable (_ text: [UInt8]) -> String? = { _ in nil }
    /// The code of the error that a line of the device tells of; nil if it tells of none.
    var errorCode: @Sendable (_ line: Span<UInt8>, LineEnding) -> String? = { _, _ in nil }
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
