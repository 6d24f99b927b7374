internal import Glibc
public import SerialPort
public import Transports

extension Endpoint {
    /// The serial port to which the endpoint leads now; nil if there is none, if several ports match a `usb:` endpoint,
    /// or if udev does not list the port, as in a container.
    public var attachedSerialPort: SerialPortInfo? {
        switch scheme {
        case "serial":
            guard let path = Self.realPath(of: address) else { return nil }
            return try? SerialPortDiscovery.ports().first { $0.path == path }
        case "usb":
            guard let ports = try? SerialPortDiscovery.ports() else { return nil }
            return try? USBEndpoint(self).resolve(self, among: ports)
        default: return nil
        }
    }

    private static func realPath(of path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
