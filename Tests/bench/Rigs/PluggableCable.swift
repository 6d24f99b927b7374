import DescriptorIO
import LineProtocol
import SerialPort
import Synchronization

/// A cable from a rig's pump to a path that a host opens. The cable can be unplugged.
///
/// Each plugging creates another pseudo-terminal, as a USB adapter creates another port. Bytes sent while the cable is
/// unplugged are lost. The board keeps its power.
final class PluggableCable: Sendable {
    /// The port's path while the cable is plugged in.
    let path: String
    private let pump: any Link
    private let port = Mutex<DescriptorChannel?>(nil)

    /// Connects the pump's end. The host's end is unplugged until ``plug()``.
    init(_ rig: any PumpRig, path: String) async throws {
        self.path = path
        pump = try await rig.link()
        await pump.forward { [weak self] arrival in
            guard case .bytes(let bytes) = arrival, let port = self?.port.withLock({ $0 }) else { return }
            _ = try? port.writeAtOnce(bytes)
        }
    }

    /// Connects the host's end: creates a port at ``path``.
    func plug() async throws {
        let port = try PseudoTerminal(link: path).channel()
        self.port.withLock { $0 = port }
        await port.forward { [pump] arrival in
            guard case .success(let bytes?) = arrival else { return }
            _ = try? pump.sendAtOnce(bytes)
        }
    }

    /// Removes the port. A program that has the port open is disconnected.
    func unplug() async {
        let port = port.withLock { port in
            defer { port = nil }
            return port
        }
        await port?.close()
    }

    /// Disconnects both ends.
    func close() async {
        await unplug()
        await pump.close()
    }
}
