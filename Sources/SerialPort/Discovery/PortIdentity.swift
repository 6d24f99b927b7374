/// The identity of a device. That of a USB device does not depend on the present name of the node.
///
/// An unplugged device may come back as another `ttyUSB` number. It is the same device if VID:PID, serial number,
/// interface and port number are equal. If it has no serial number of its own, like CH340 and PL2303 clones, the
/// physical path must be equal instead of the serial number (node-serialport#329, #829).
///
/// Two devices of a kind to which their maker gave the same serial number have the same identity, unless the number is
/// a known factory default.
public struct PortIdentity: Sendable, Hashable {
    /// The property that distinguishes the device from others of its kind.
    public enum Distinction: Sendable, Hashable {
        /// The device's serial number: the device may be plugged in anywhere.
        case serialNumber(String)
        /// The USB port that the device is plugged into, such as `1-2.3`.
        case physicalPath(String)
        /// The node, for a port without USB.
        case node(String)
    }

    /// The vendor and product; nil for a port without USB.
    public let usb: USBIdentifier?
    /// The property that distinguishes the device from others of its kind.
    public let distinction: Distinction
    /// The number of the device's interface: an FT2232 has two.
    public let interfaceNumber: Int?
    /// The number of the port within the interface: a CH348 has eight.
    public let portNumber: Int?

    /// Creates the identity of the device behind a port.
    public init(of port: SerialPortInfo) {
        usb = port.usb?.identifier
        interfaceNumber = port.usb?.interfaceNumber
        portNumber = port.usb?.portNumber
        distinction =
            if let usb = port.usb {
                if let number = usb.uniqueSerialNumber {
                    .serialNumber(number)
                } else {
                    .physicalPath(usb.physicalPath)
                }
            } else {
                .node(port.path)
            }
    }

    /// Whether a port belongs to the device with this identity.
    public func matches(_ port: SerialPortInfo) -> Bool { port.identity == self }
}

extension SerialPortInfo.USB {
    /// Serial numbers that makers gave to all their devices.
    private static let sharedSerialNumbers: [USBIdentifier: Set<String>] = [
        // The factory default of a CP210x, which makers of cheap modules leave unchanged.
        USBIdentifier(vendor: 0x10C4, product: 0xEA60): ["0001"]
    ]

    /// The serial number; nil if there is none, or if it is a known factory default.
    var uniqueSerialNumber: String? {
        guard let serialNumber, !serialNumber.isEmpty,
            Self.sharedSerialNumbers[identifier]?.contains(serialNumber) != true
        else { return nil }
        return serialNumber
    }
}
