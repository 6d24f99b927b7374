import DeviceKit
import LineProtocol
import SerialPort
import Transports

/// The place of a command's device and the carrier of its link, on which the advice in a failure depends.
struct DevicePlace: Sendable, Hashable {
    /// The text of the endpoint.
    let name: String
    let carrier: Carrier
    /// The baud rate that the endpoint names; nil if it names none.
    let baudRate: Int?

    /// Whether the endpoint is probably a pseudo-terminal, on which another program offers the device. The terminal may
    /// be gone, so this depends only on the path.
    private let isOffered: Bool

    /// Creates the place of an endpoint.
    ///
    /// - Parameter text: The endpoint, such as `/dev/ttyUSB0` or `ble:HMSoft`.
    init(_ text: String) {
        name = text
        let endpoint = try? Endpoint(text)
        baudRate = endpoint?.serial?.baudRate
        carrier = endpoint?.carrier ?? .cable
        isOffered = endpoint.map { $0.scheme == "serial" && PseudoTerminalPath.isLikely($0.address) } ?? false
    }
}

/// Advice for a device that does not respond as expected, by the carrier of its link.
extension DevicePlace {
    private static let captureAdvice = "compare with the capture: pumpctl replay FILE"
    private static let trace = "'-v' shows what is sent and received"

    /// Whether the device is outside this program.
    var isReal: Bool { carrier != .simulation && carrier != .capture }

    /// The command that diagnoses the connection; nil if there is none for this endpoint.
    var inquiry: String? {
        switch carrier {
        case .cable, .radio: "pumpctl doctor \(name.asWord)"
        case .network: name.hasPrefix("shared:") ? "pumpctl doctor \(name.asWord)" : nil
        case .simulation, .capture: nil
        }
    }

    /// Returns the advice if there was no reply. Without a place, the device counts as one at a serial port.
    static func adviceOnSilence(at place: DevicePlace?, _ family: Family) -> String {
        switch place?.carrier ?? .cable {
        case .cable where place?.isOffered == true:
            "check that the program that offers the device runs; raise --timeout if the device takes longer to start; \(trace)"
        case .cable:
            "check that the device is switched on, and its baud rate "
                + "\(place?.baudRate ?? family.baudRate); \(trace)"
        case .radio: "check that the device is switched on and near; \(trace)"
        case .network:
            "check on the server that the device is connected and switched on; other programs there may keep it busy: raise "
                + "--timeout; \(trace)"
        case .simulation: "raise --timeout; \(trace)"
        case .capture: captureAdvice
        }
    }

    /// Returns the advice if the reply was unexpected.
    static func adviceOnUnknownReply(_ line: [UInt8], at place: DevicePlace?, _ family: Family) -> String {
        if let other = family.other(recognizing: line) {
            return "use a command of the family \(other): pumpctl --help; or name another device with --port"
        }
        // At a wrong baud rate the received bytes are rarely text.
        let text = String(validating: line, as: UTF8.self) ?? ""
        let isText = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard !isText, place?.carrier ?? .cable == .cable else {
            return "check that the device is of the family \(family); \(trace)"
        }
        return "check the baud rate, and that the device is of the family \(family); \(trace)"
    }

    /// Returns the advice if the link broke.
    static func adviceOnLoss(at place: DevicePlace?) -> String {
        switch place?.carrier ?? .cable {
        case .cable where place?.isOffered == true:
            "restart the program that offers the device, or plug the device in again"
        case .cable: "plug the device in again"
        case .radio: "bring the device nearer, and check that it is switched on"
        case .network: "check that the server runs and has the device"
        case .simulation: "run the command again"
        case .capture: captureAdvice
        }
    }
}
