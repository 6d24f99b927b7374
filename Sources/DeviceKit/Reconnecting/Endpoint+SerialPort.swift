internal import Glibc
public import SerialPort
public import Transports

extension Endpoint {
    /// What is known of the serial port that the endpoint leads to now; nil where there is none.
    public var attachedSerialPort: SerialPortInfo? {
        guard let ports = try? SerialPortDiscovery.ports() else { return nil }
        return switch scheme {
        case "serial": Self.realPath(of: address).flatMap { path in ports.first { $0.path == path } }
        case "usb": try? USBEndpoint(self).resolve(self, among: ports)
        default: nil
        }
    }

    private static func realPath(of path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
