public import LineProtocol
public import SerialPort

/// An endpoint for the serial port of a USB device.
///
///     usb:1a86:7523               VID:PID
///     usb:0403:6001/A50285BI      with the serial number
///     usb:1a86:7523@1-2.3         with the physical path
///     usb:0403:6010/FT5X2Q@1-2:1.1    with both; this path names an interface of the device
///
/// The serial number ends at the last `@`, since it may contain any character except a question mark.
public struct USBEndpoint: Sendable, Hashable {
    /// The vendor and product IDs.
    public let identifier: USBIdentifier
    /// The serial number; nil for any.
    public let serialNumber: String?
    /// The physical path in the kernel's notation for devices, `1-2.3`, or interfaces, `1-2.3:1.0`; nil for any.
    public let physicalPath: String?

    init(_ identifier: USBIdentifier, serialNumber: String? = nil, physicalPath: String? = nil) {
        self.identifier = identifier
        self.serialNumber = serialNumber
        self.physicalPath = physicalPath
    }

    /// Parses the address of an endpoint.
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
            throw endpoint.invalid("write usb:VID:PID, usb:VID:PID/SERIAL or usb:VID:PID@PATH, e.g. usb:1a86:7523")
        }
        self.init(
            identifier, serialNumber: parts.count > 1 ? String(parts[1]) : nil,
            physicalPath: physicalPath.map { String($0) })
    }

    /// Returns whether the endpoint matches a port. An endpoint may match several ports.
    public func matches(_ port: SerialPortInfo) -> Bool {
        guard let usb = port.usb, usb.identifier == identifier else { return false }
        if let serialNumber, usb.serialNumber != serialNumber { return false }
        return physicalPath == nil || physicalPath == usb.physicalPath || physicalPath == usb.interfacePath
    }

    /// Returns an endpoint that matches this port and no other of `ports`; nil if the port is not a USB port, or no
    /// endpoint is unique.
    ///
    /// A serial number is preferred to a physical path: the number stays the same when the device is plugged in
    /// elsewhere.
    public static func naming(_ port: SerialPortInfo, among ports: [SerialPortInfo]) -> USBEndpoint? {
        guard let usb = port.usb else { return nil }
        var candidates = [USBEndpoint(usb.identifier, physicalPath: usb.physicalPath)]
        // In an endpoint, `@` in the number would begin a path, and `?` the options.
        if case .serialNumber(let number) = port.identity.distinction, !number.contains("@"), !number.contains("?") {
            candidates.insert(USBEndpoint(usb.identifier, serialNumber: number), at: 0)
        }
        if let path = usb.interfacePath { candidates.append(USBEndpoint(usb.identifier, physicalPath: path)) }
        return candidates.first { endpoint in !ports.contains { $0 != port && endpoint.matches($0) } }
    }
}

extension USBEndpoint: CustomStringConvertible {
    /// The endpoint in the notation of ``Endpoint``.
    public var description: String {
        "usb:\(identifier)" + (serialNumber.map { "/\($0)" } ?? "") + (physicalPath.map { "@\($0)" } ?? "")
    }
}

extension SerialPortInfo.USB {
    /// The interface in the kernel's notation, such as `1-2.3:1.0`, assumed to belong to configuration 1; nil if the
    /// interface's number is unknown.
    fileprivate var interfacePath: String? { interfaceNumber.map { "\(physicalPath):1.\($0)" } }
}
