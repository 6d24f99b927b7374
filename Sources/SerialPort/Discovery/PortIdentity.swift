/// What tells one device from others, whatever its node is called today.
///
/// A device that is unplugged and plugged in again may come back as another `ttyUSB` number. It is the same when VID:PID,
/// serial number and interface are; where it has no serial number of its own, as CH340 and PL2303 clones, when VID:PID,
/// physical path and interface are (node-serialport#329, #829).
///
/// Two devices to which their maker gave one serial number have one identity.
public struct PortIdentity: Sendable, Hashable {
    /// What the identity rests on.
    public enum Distinction: Sendable, Hashable {
        /// The device's serial number: it may be plugged in anywhere.
        case serialNumber(String)
        /// Where it is plugged in, as `1-2.3`.
        case physicalPath(String)
        /// The node, for a port that is not USB.
        case node(String)
    }

    /// Vendor and product; nil for a port that is not USB.
    public let usb: USBIdentifier?
    /// What the identity rests on.
    public let distinction: Distinction
    /// The interface of the device, of which an FT2232 has two.
    public let interfaceNumber: Int?
    /// The port of the interface, of which a CH348 has eight.
    public let portNumber: Int?

    /// The identity of a port.
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

    /// Whether a port belongs to the device that this is the identity of.
    public func matches(_ port: SerialPortInfo) -> Bool { port.identity == self }
}

extension SerialPortInfo.USB {
    /// Serial numbers that makers gave to every one of their devices.
    private static let sharedSerialNumbers: [USBIdentifier: Set<String>] = [
        // What a CP210x has until its maker programs it, which those of cheap modules never do.
        USBIdentifier(vendor: 0x10C4, product: 0xEA60): ["0001"]
    ]

    /// The serial number, if it tells this device from others of its kind.
    var uniqueSerialNumber: String? {
        guard let serialNumber, !serialNumber.isEmpty,
            Self.sharedSerialNumbers[identifier]?.contains(serialNumber) != true
        else { return nil }
        return serialNumber
    }
}
