import DescriptorIO
import Glibc
import LineProtocol
import SerialPort
import Transports

/// Finds a device again that has gone.
///
/// Made while the device is there. A USB serial port is known by what tells the device from others, and is found under
/// whatever name it has when it is back (node-serialport#329); udev says when. Any other port is tried when something
/// changes in its folder; a pseudo-terminal that has gone is back when a link to it is made anew. A BLE device is known by its address, or by its name where it does not keep its address: where
/// several have that name, none is taken for it. Every endpoint is tried each ``interval`` as well, since a link may lead to
/// another folder, and a server sends no word.
struct Reopening {
    /// The longest time between two attempts.
    static let interval = Duration.seconds(1)

    private let context: CommandContext
    private let use: LinkUse
    private let endpoint: Endpoint
    private let identity: PortIdentity?
    private let terminal: PseudoTerminalPath?

    /// Looks up what tells the device that `link` was opened to from others.
    init(_ endpoint: Endpoint, _ link: any Link, _ context: CommandContext, for use: LinkUse = .watching) {
        self.context = context
        self.use = use
        // What comes back has started anew by itself.
        let endpoint = endpoint.removing("reset")
        let address = link.isDeviceAddressStable ? link.deviceAddress : nil
        self.endpoint = address.map { endpoint.replacingAddress($0) } ?? endpoint
        let port = Self.serialPort(at: endpoint)
        identity = port?.usb == nil ? nil : port?.identity
        terminal = endpoint.scheme == "serial" ? PseudoTerminalPath(endpoint.address) : nil
    }

    /// What is known of the serial port at `endpoint`; nil where there is none.
    static func serialPort(at endpoint: Endpoint) -> SerialPortInfo? {
        guard let ports = try? SerialPortDiscovery.ports() else { return nil }
        return switch endpoint.scheme {
        case "serial": realPath(of: endpoint.address).flatMap { path in ports.first { $0.path == path } }
        case "usb": try? USBEndpoint(endpoint).resolve(endpoint, among: ports)
        default: nil
        }
    }

    /// Opens the link as soon as it can be opened.
    ///
    /// - Parameter note: Where to show what goes over it, if that is asked for.
    /// - Throws: `LinkError` for what waiting does not mend; `CancellationError`.
    func link(note: @escaping @Sendable (String) -> Void) async throws -> any Link {
        var doubt: LinkError.Code?
        if let identity, let monitor = try? SerialPortMonitor(on: context.loop) {
            defer { monitor.close() }
            for try await event in monitor {
                guard case .attached(let port) = event, identity.matches(port) else { continue }
                if let link = try await open(endpoint.serialPort(at: port.path), note, &doubt) { return link }
            }
            throw CancellationError()
        }
        var pauses = ReopeningPauses(endpoint)
        while true {
            let watch = Self.folder(of: endpoint).flatMap { DirectoryWatch(path: $0) }
            if try isThere(), let link = try await attempt(endpoint, note, &doubt) {
                // Who makes the next terminal gets the number of this one, and may have done so just now.
                if try isThere() { return link }
                await link.close()
            }
            await pause(watch, pauses.next())
            try Task.checkCancellation()
        }
    }

    /// Whether a pseudo-terminal is there that is the device's.
    ///
    /// - Throws: `LinkError` where none can come that is known to be.
    private func isThere() throws(LinkError) -> Bool {
        switch terminal?.destination {
        case nil, .same, .replaced: return true
        case .gone: return false
        case .goneForGood:
            throw LinkError(
                .disconnected, name: endpoint.address, activity: "open",
                detail: "the pseudo-terminal has gone, and the next of this name may be another program's",
                hint: "use a link, which tells that the device is back: pumpctl sim pump --link /tmp/pump")
        }
    }

    /// Opens a port that is there, in spite of those who look at it first; nil once it is gone again.
    private func open(
        _ port: Endpoint, _ note: @escaping @Sendable (String) -> Void, _ doubt: inout LinkError.Code?
    ) async throws -> (any Link)? {
        while access(port.address, F_OK) == 0 {
            if let link = try await attempt(port, note, &doubt) { return link }
            await pause(nil, Self.interval)
            try Task.checkCancellation()
        }
        return nil
    }

    /// Opens the link; nil where waiting may mend what is in the way.
    ///
    /// - Parameter doubt: Why what is there was not taken for the device, once that was noted.
    private func attempt(
        _ endpoint: Endpoint, _ note: @escaping @Sendable (String) -> Void, _ doubt: inout LinkError.Code?
    ) async throws -> (any Link)? {
        do {
            // A module that saves power may be heard only once in a while.
            return try await context.openLink(endpoint, for: use, isBounded: false, note: note)
        } catch let error as LinkError {
            switch error.code {
            case .invalidEndpoint, .unsupported, .cancelled: throw error
            // A port that has just appeared is not yet its group's, and whoever names it may look at it first.
            case .notPermitted, .busy, .unavailable: return nil
            case .ambiguous, .changedDevice, .wrongFamily, .unfit:
                if error.code != doubt { note("pumpctl: \("\(error)".printable()); waiting") }
                doubt = error.code
                return nil
            case .notFound, .disconnected, .closed, .timedOut, .system: return nil
            }
        }
    }

    private func pause(_ watch: DirectoryWatch?, _ interval: Duration) async {
        let deadline = context.clock.now.advanced(by: interval)
        if let watch {
            try? await watch.wait(until: deadline, on: context.loop)
        } else {
            try? await context.clock.sleep(until: deadline)
        }
    }

    private static func realPath(of path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The folder in which a serial port appears.
    private static func folder(of endpoint: Endpoint) -> String? {
        guard endpoint.scheme == "serial", let slash = endpoint.address.lastIndex(of: "/") else { return nil }
        return slash == endpoint.address.startIndex ? "/" : String(endpoint.address[..<slash])
    }
}

/// The times between attempts to open a link again.
struct ReopeningPauses {
    /// The longest time between two attempts to reach a BLE device, of which each scans for it.
    static let longestRadioInterval = Duration.seconds(8)

    private let grows: Bool
    private var interval = Reopening.interval

    init(_ endpoint: Endpoint) { grows = endpoint.scheme == "ble" }

    /// The next pause: of a BLE device twice as long each time, for others ``Reopening/interval``.
    mutating func next() -> Duration {
        defer { if grows { interval = min(interval * 2, Self.longestRadioInterval) } }
        return interval
    }
}
