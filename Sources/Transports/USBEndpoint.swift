public import LineProtocol
public import SerialPort

/// The serial port of a USB device, as an endpoint names it.
///
///     usb:1a86:7523               VID:PID
///     usb:0403:6001/A50285BI      with the serial number
///     usb:1a86:7523@1-2.3         with the physical path
///     usb:0403:6010/FT5X2Q@1-2:1.1    with both, and the interface of the device
///
/// The serial number ends at the last `@`, since it may hold any character but a question mark.
public struct USBEndpoint: Sendable, Hashable {
    /// Vendor and product.
    public let identifier: USBIdentifier
    /// The serial number; nil if any will do.
    public let serialNumber: String?
    /// The physical path, as the kernel names devices, `1-2.3`, and interfaces, `1-2.3:1.0`; nil if any will do.
    public let physicalPath: String?

    init(_ identifier: USBIdentifier, serialNumber: String? = nil, physicalPath: String? = nil) {
        self.identifier = identifier
        self.serialNumber = serialNumber
        self.physicalPath = physicalPath
    }

    /// Reads the address of an endpoint.
    ///
    /// - Throws: `invalidEndpoint`.
    public init(_ endpoint: Endpoint) throws(LinkError) {
        var rest = endpoint.address[...]
        var physicalPath: Substring?
        if let at = rest.lastIndex(of: "@") {
            physicalPath = rest[rest.index(after: at)...]
            rest = rest[..<at]
        }
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let identifier = parts.first.flatMap({ USBIdentifier($0) }), physicalPath?.isEmpty != true,
            parts.count == 1 || !parts[1].isEmpty
        else {
            throw endpoint.invalid("write usb:VID:PID, usb:VID:PID/SERIAL or usb:VID:PID@PATH, as usb:1a86:7523")
        }
        self.init(
            identifier, serialNumber: parts.count > 1 ? String(parts[1]) : nil,
            physicalPath: physicalPath.map { String($0) })
    }

    /// Whether the endpoint names this port, perhaps among others.
    public func matches(_ port: SerialPortInfo) -> Bool {
        guard let usb = port.usb, usb.identifier == identifier else { return false }
        if let serialNumber, usb.serialNumber != serialNumber { return false }
        return physicalPath == nil || physicalPath == usb.physicalPath || physicalPath == usb.interfacePath
    }

    /// The shortest endpoint that names this port and no other of `ports`; nil where it is no USB port, or none does.
    ///
    /// A serial number goes before a physical path: the device may be plugged in elsewhere.
    public static func naming(_ port: SerialPortInfo, among ports: [SerialPortInfo]) -> USBEndpoint? {
        guard let usb = port.usb else { return nil }
        var candidates = [USBEndpoint(usb.identifier, physicalPath: usb.physicalPath)]
        if case .serialNumber(let number) = port.identity.distinction, !number.contains("@"), !number.contains("?") {
            candidates.insert(USBEndpoint(usb.identifier, serialNumber: number), at: 0)
        }
        if let path = usb.interfacePath { candidates.append(USBEndpoint(usb.identifier, physicalPath: path)) }
        return candidates.first { endpoint in !ports.contains { $0 != port && endpoint.matches($0) } }
    }
}

extension USBEndpoint: CustomStringConvertible {
    /// As it is written.
    public var description: String {
        "usb:\(identifier)" + (serialNumber.map { "/\($0)" } ?? "") + (physicalPath.map { "@\($0)" } ?? "")
    }
}

extension SerialPortInfo.USB {
    /// The interface as the kernel names it, `1-2.3:1.0`: configuration 1, which all such devices have, interface 0.
    fileprivate var interfacePath: String? { interfaceNumber.map { "\(physicalPath):1.\($0)" } }
}
