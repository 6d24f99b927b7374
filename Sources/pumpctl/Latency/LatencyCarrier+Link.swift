import DescriptorIO
import DeviceKit
import Glibc
import Latency
import LineProtocol
import SerialPort
import Transports

extension LatencyCarrier {
    /// Determines the carrier of a link.
    init(of link: any Link, at endpoint: Endpoint) {
        var innermost = link
        while let wrapper = innermost as? any LinkWrapper { innermost = wrapper.link }
        // The server that shares a device does not say how it reaches the device.
        if link.sharedAddress != nil {
            self.init(.network)
        } else if let port = innermost as? DescriptorLink, let path = port.portPath {
            let isTerminal = PseudoTerminalPath(path) != nil
            self.init(
                isTerminal ? .terminal : .port, byteTime: port.byteTime, latencyTimer: LatencyTimer.time(ofPort: path))
        } else if endpoint.scheme == "sim" {
            self.init(.simulation)
        } else if endpoint.scheme == "ble" {
            self.init(.radio, confirmsWrites: (innermost as? any ConfirmingLink)?.confirmsWrites ?? false)
        } else {
            self.init(.network)
        }
    }
}

/// The latency timer of a USB adapter, after which the adapter passes on a packet that is not full.
enum LatencyTimer {
    /// Returns the latency timer of a port; nil if the port's driver does not report one. The driver `ftdi_sio` reports
    /// it.
    ///
    /// - Parameters:
    ///   - path: The port; may be a symbolic link.
    ///   - folder: The folder in which the kernel lists terminals.
    static func time(ofPort path: String, in folder: String = "/sys/class/tty") -> Duration? {
        guard let node = realpath(path, nil) else { return nil }
        defer { free(node) }
        let name = String(cString: node).split(separator: "/").last ?? ""
        let text = TextFile.contents(of: "\(folder)/\(name)/device/latency_timer")
        let number = text?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
        return number.flatMap { (0...255).contains($0) ? .milliseconds($0) : nil }
    }
}
