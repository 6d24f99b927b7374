import DescriptorIO
import DeviceKit
import Glibc
import Latency
import LineProtocol
import SerialPort
import Transports

extension LatencyCarrier {
    /// What is known of the carrier of a link.
    init(of link: any Link, at endpoint: Endpoint) {
        var innermost = link
        while let wrapper = innermost as? any LinkWrapper { innermost = wrapper.link }
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

/// The timer by which a USB adapter hands on bytes that do not fill a packet.
enum LatencyTimer {
    /// The timer of a port, as its driver tells it: `ftdi_sio` does; nil where it does not.
    ///
    /// - Parameters:
    ///   - path: The port, also by a link.
    ///   - folder: Where the kernel lists terminals.
    static func time(ofPort path: String, in folder: String = "/sys/class/tty") -> Duration? {
        guard let node = realpath(path, nil) else { return nil }
        defer { free(node) }
        let name = String(cString: node).split(separator: "/").last ?? ""
        let text = TextFile.contents(of: "\(folder)/\(name)/device/latency_timer")
        let number = text?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
        return number.flatMap { (0...255).contains($0) ? .milliseconds($0) : nil }
    }
}
