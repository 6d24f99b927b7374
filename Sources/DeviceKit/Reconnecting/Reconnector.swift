public import DescriptorIO
internal import Glibc
public import LineProtocol
internal import SerialPort
internal import Synchronization
public import Transports

/// Finds a lost device again.
///
/// Create a reconnector while the device is connected.
///
/// * A USB serial port is identified by its serial number or its physical path. The port is found under any name
///   (node-serialport#329), as soon as udev reports it. If the device was lost before its identity was looked up,
///   ``link()`` accepts no device at a path like `/dev/ttyUSB0`, because it may be another device.
/// * Any other port is tried when something changes in its folder. A pseudo-terminal that has gone is back when the
///   symbolic link that led to it is created again, and leads to a new one.
/// * A BLE device is identified by its address, or by its name if its address changes. If several devices have that
///   name, none is accepted.
/// * Every endpoint other than a USB serial port is also tried at intervals (each ``interval``; for a BLE device up to
///   8 s), because a symbolic link may lead to another folder, and a server does not announce its return.
///
/// A device that was reached through a daemon is awaited at the daemon: a program that opened the returning device
/// first would take it from the daemon, and so from all of the daemon's clients. If no daemon listens for
/// ``daemonPatience``, the device is looked for directly.
public final class Reconnector: Sendable {
    /// The longest pause between two attempts, except for a BLE device. Also the shortest time between finding the
    /// device and beginning the next search.
    public static let interval = Duration.seconds(1)

    /// The longest wait for a daemon to listen again, for example after a restart.
    public static let daemonPatience = Duration.seconds(5)

    /// Opens a link to an endpoint.
    public typealias Opener = @Sendable (Endpoint) async throws -> any Link

    private let loop: EventLoop
    private let clock: any Clock<Duration>
    private let open: Opener
    private let doubt: @Sendable (LinkError) -> Void
    private let endpoint: Endpoint
    /// The endpoint of the device at its daemon; nil if the device was not reached through a daemon.
    private let sharedEndpoint: Endpoint?
    /// The `Link.deviceID` of the device when the reconnector was created.
    private let deviceID: String?
    /// The endpoint at which the daemon has opened the device; nil if it is unknown or there is no daemon.
    private let sharedDevice: String?
    /// The identity of the device, once it was looked up.
    private let device = Mutex<Device?>(nil)

    private let watch: SessionClock
    /// The time on `watch` at which the device was last found again; nil before the first time.
    private let lastFound = Mutex<Duration?>(nil)

    private struct Device {
        /// The identity of a USB serial port; nil for other devices.
        var identity: PortIdentity?
        /// Whether the device is at a USB serial port and was lost before its identity was looked up.
        var isUnknown = false
        /// The path of the pseudo-terminal that was last opened; nil for other devices.
        var terminal: PseudoTerminalPath?
    }

    /// Creates a reconnector for the device at the other end of `link`.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the device.
    ///   - link: The link to the device. The link may have been lost just now, at the risk that the device is not found
    ///     again: see ``link()``.
    ///   - looksNow: Whether to look up the identity of the device at once, which takes milliseconds. Otherwise call
    ///     ``look()``.
    ///   - loop: The event loop of the attempts.
    ///   - clock: The clock for the pauses; nil for the clock of the loop.
    ///   - open: Opens a link to the endpoint at which the device is found.
    ///   - doubt: Receives the reason that a found device is not accepted. During one search, called again only for
    ///     another reason.
    public init(
        _ endpoint: Endpoint, _ link: any Link, looksNow: Bool = true, on loop: EventLoop = .shared,
        clock: (any Clock<Duration>)? = nil, open: @escaping Opener = { try await LinkSchemes.families.open($0) },
        doubt: @escaping @Sendable (LinkError) -> Void = { _ in }
    ) {
        self.loop = loop
        let clock = clock ?? EventLoopClock(loop)
        self.clock = clock
        watch = SessionClock(clock)
        self.open = open
        self.doubt = doubt
        // A device that comes back has restarted already, so its board needs no reset.
        var endpoint = endpoint
        endpoint.serial?.resetsBoard = false
        let own = link.sharedAddress.flatMap { endpoint.ofDevice(at: $0) } ?? endpoint
        let address = link.isDeviceAddressStable ? link.deviceAddress : nil
        self.endpoint = address.map { own.replacingAddress($0) } ?? own
        sharedEndpoint = link.sharedAddress.map { endpoint.shared(at: $0) }
        sharedDevice = link.sharedAddress?.endpoint
        deviceID = link.deviceID
        if looksNow { look() }
    }

    /// Looks up the identity of the device, unless that was done. Call this method while the device is connected.
    public func look() {
        device.withLock { device in
            guard device == nil else { return }
            let terminal = Self.terminal(at: endpoint)
            let port = terminal == nil ? endpoint.attachedSerialPort : nil
            device = Device(
                identity: port?.usb == nil ? nil : port?.identity,
                isUnknown: port == nil
                    && Self.hasGone(endpoint, deviceID, node: DeviceID.serialPort(at: endpoint.address)),
                terminal: terminal)
        }
    }

    /// Whether the device can't be distinguished from another device at its endpoint, because the link was lost before
    /// the device's identity was looked up.
    public var isDeviceUnknown: Bool { device.withLock { $0?.isUnknown == true } }

    /// Whether a USB adapter has gone from a path that does not identify the device.
    ///
    /// - Parameters:
    ///   - deviceID: The identity of the device that was there; nil if the link did not have the device for itself.
    ///   - node: The identity of the device that is at the path now; nil for none. A device can be at the path although
    ///     udev lists no port there, as in a container.
    static func hasGone(_ endpoint: Endpoint, _ deviceID: String?, node: String?) -> Bool {
        guard endpoint.isUSBSerialPortByNumber(deviceID) else { return false }
        guard let node else { return true }
        return deviceID.map { $0 != node } ?? false
    }

    /// Waits for the device without a time limit, and opens a link to it as soon as possible.
    ///
    /// - Throws: `LinkError` if waiting does not help: `LinkError.Code.disconnected` if no returning device can be
    ///   identified as the same one; errors of `open` such as `invalidEndpoint`. `CancellationError`.
    public func link() async throws -> any Link { try await link(takingUnknown: false) }

    /// Opens a link like ``link()``, but accepts any device at the endpoint if ``isDeviceUnknown``. The device may be
    /// another one, so use the link only for commands that can harm no device, such as OFF. Does not wait for a daemon
    /// that has stopped listening.
    ///
    /// - Throws: The errors of ``link()``, except for a USB device that can't be identified.
    public func unverifiedLink() async throws -> any Link { try await link(takingUnknown: true) }

    /// Opens a link, but not before ``interval`` has passed since the device was last found: a server that has another
    /// client may accept a connection and hang up at once.
    private func link(takingUnknown: Bool) async throws -> any Link {
        let (watch, last) = (watch, lastFound.withLock { $0 })
        if let last, last + Self.interval > watch.elapsed() { try await watch.sleep(last + Self.interval) }
        var hasDoubt = false
        while true {
            let link =
                if let link = try await findAtDaemon(within: takingUnknown ? .zero : Self.daemonPatience) {
                    link
                } else {
                    try await find(takingUnknown: takingUnknown)
                }
            // Another daemon, or the same daemon after a restart, may have another device with this name.
            if let sharedDevice, let found = link.sharedAddress?.endpoint, found != sharedDevice {
                await link.close()
                if !hasDoubt { doubt(changed(from: sharedDevice, to: found)) }
                hasDoubt = true
                await pause(nil, Self.interval)
                try Task.checkCancellation()
                continue
            }
            lastFound.withLock { $0 = watch.elapsed() }
            return link
        }
    }

    private func changed(from device: String, to other: String) -> LinkError {
        LinkError(
            .changedDevice, name: endpoint.text, activity: "open",
            detail: "pumpctld's device of this name is \(other) now, and was \(device) before")
    }

    /// Opens the device through its daemon. Returns nil if the device was not reached through a daemon, or if no daemon
    /// has listened for `patience`.
    private func findAtDaemon(within patience: Duration) async throws -> (any Link)? {
        guard let sharedEndpoint else { return nil }
        var goneSince: Duration?
        while true {
            do { return try await open(sharedEndpoint) } catch let error as LinkError {
                switch error.code {
                case .invalidEndpoint, .unsupported, .wrongFamily, .cancelled: throw error
                case .unavailable:
                    // No daemon listens.
                    let since = goneSince ?? watch.elapsed()
                    if watch.elapsed() - since >= patience { return nil }
                    goneSince = since
                default: goneSince = nil
                }
            }
            await pause(nil, Self.interval)
            try Task.checkCancellation()
        }
    }

    /// Finds the device without a daemon, and opens a link to it.
    private func find(takingUnknown: Bool) async throws -> any Link {
        look()
        let (identity, isUnknown) = device.withLock { ($0?.identity, $0?.isUnknown == true) }
        if isUnknown, !takingUnknown { throw unknownAdapter }
        var doubt: LinkError.Code?
        if let identity {
            guard let monitor = try? SerialPortMonitor(on: loop) else {
                return try await link(of: identity, among: SerialPortDiscovery.ports)
            }
            defer { monitor.close() }
            for try await event in monitor {
                guard case .attached(let port) = event, identity.matches(port) else { continue }
                if let link = try await link(at: port.path, of: identity, &doubt) { return link }
            }
            throw CancellationError()
        }
        var pauses = ReconnectionPauses(endpoint)
        while true {
            let watch = Self.folder(of: endpoint).flatMap { DirectoryWatch(path: $0) }
            let now = Self.terminal(at: endpoint)
            if try isThere(), let link = try await attempt(endpoint, &doubt) {
                // The next pseudo-terminal gets the number of a closed one, and may have been created just now, so
                // check again after opening.
                if try isThere(), now == nil || now?.destination == .same {
                    if let now { device.withLock { $0?.terminal = now } }
                    return link
                }
                await link.close()
            }
            await pause(watch, pauses.next())
            try Task.checkCancellation()
        }
    }

    /// Whether the device's pseudo-terminal is there. Always true for a device that is not at a pseudo-terminal.
    ///
    /// - Throws: `LinkError` if no future pseudo-terminal can be identified as the device's.
    private func isThere() throws(LinkError) -> Bool {
        switch device.withLock({ $0?.terminal?.destination }) {
        case nil, .same, .replaced: return true
        case .gone: return false
        case .goneForGood:
            throw LinkError(
                .disconnected, name: endpoint.address, activity: "open",
                detail: "the pseudo-terminal is gone, and a new one of this name may belong to another program",
                hint: "use a symbolic link to the terminal that its owner updates each time")
        }
    }

    private var unknownAdapter: LinkError {
        LinkError(
            .disconnected, name: endpoint.address, activity: "open",
            detail: "the USB adapter was gone before it was identified, and the next of this name may be another",
            hint: "plug the adapter in, and start again")
    }

    /// Finds a USB serial port at intervals, and opens a link to it. Without netlink sockets, udev reports no events.
    ///
    /// - Parameter ports: Returns the present ports.
    func link(
        of identity: PortIdentity, among ports: @Sendable () throws -> [SerialPortInfo]
    ) async throws -> any Link {
        var doubt: LinkError.Code?
        while true {
            for port in (try? ports()) ?? [] where identity.matches(port) {
                if let link = try await link(at: port.path, of: identity, among: ports, &doubt) { return link }
            }
            await pause(nil, Self.interval)
            try Task.checkCancellation()
        }
    }

    /// Opens a USB serial port, and retries as long as waiting may help.
    ///
    /// - Returns: The link; nil once the port at this path is no longer the device's. Another port may have the path
    ///   then.
    private func link(
        at path: String, of identity: PortIdentity,
        among ports: @Sendable () throws -> [SerialPortInfo] = SerialPortDiscovery.ports, _ doubt: inout LinkError.Code?
    ) async throws -> (any Link)? {
        // Returns whether the port at the path is the device's; nil if udev can't be asked now.
        func isDevices() -> Bool? {
            try? ports().contains { $0.path == path && identity.matches($0) }
        }
        while access(path, F_OK) == 0 {
            switch isDevices() {
            case false?: return nil
            case true?:
                guard let link = try await attempt(endpoint.serialPort(at: path), &doubt) else { break }
                if isDevices() == true { return link }
                await link.close()
            case nil: break
            }
            await pause(nil, Self.interval)
            try Task.checkCancellation()
        }
        return nil
    }

    /// Opens a link. Returns nil if waiting may help.
    ///
    /// - Parameter doubt: The last reported reason for not accepting a found device.
    private func attempt(_ endpoint: Endpoint, _ doubt: inout LinkError.Code?) async throws -> (any Link)? {
        do {
            return try await open(endpoint)
        } catch let error as LinkError {
            switch error.code {
            case .invalidEndpoint, .unsupported, .cancelled: throw error
            // udev may not have set the group of a port that has just appeared, and a program that udev starts may have
            // the port open.
            case .notPermitted, .busy, .unavailable: return nil
            case .ambiguous, .changedDevice, .wrongFamily, .unfit:
                if error.code != doubt { self.doubt(error) }
                doubt = error.code
                return nil
            case .notFound, .disconnected:
                guard endpoint.carrier == .capture else { return nil }
                // The capture contains no further link, or the command has deviated from it, so nothing comes back.
                throw LinkError(
                    .disconnected, name: error.name, activity: error.activity, detail: error.detail, hint: error.hint)
            case .closed, .timedOut, .system: return nil
            }
        }
    }

    /// Returns the path to the endpoint's pseudo-terminal; nil if the endpoint leads to none.
    private static func terminal(at endpoint: Endpoint) -> PseudoTerminalPath? {
        endpoint.scheme == "serial" ? PseudoTerminalPath(endpoint.address) : nil
    }

    /// Waits until something changes in the watched folder, at most for `interval`; without a folder, for `interval`.
    private func pause(_ watch: DirectoryWatch?, _ interval: Duration) async {
        if let watch {
            try? await watch.wait(until: EventLoopClock(loop).now.advanced(by: interval), on: loop)
        } else {
            try? await clock.sleep(for: interval)
        }
    }

    /// Returns the folder in which the serial port appears; nil for an endpoint that is not a path.
    private static func folder(of endpoint: Endpoint) -> String? {
        guard endpoint.scheme == "serial", let slash = endpoint.address.lastIndex(of: "/") else { return nil }
        return slash == endpoint.address.startIndex ? "/" : String(endpoint.address[..<slash])
    }
}

extension Endpoint {
    /// Returns the endpoint at which a daemon has opened the device, if this endpoint is `shared:NAME`; otherwise nil.
    /// Also returns nil for a relative path, which refers to the daemon's working folder.
    fileprivate func ofDevice(at address: SharedDeviceAddress) -> Endpoint? {
        guard scheme == SharedEndpoint.scheme, let device = address.endpoint.flatMap({ try? Endpoint($0) }) else {
            return nil
        }
        return device.scheme != "serial" || device.address.hasPrefix("/") ? device : nil
    }

    /// Returns whether the endpoint is a path of a USB serial port that does not identify the device, such as
    /// `/dev/ttyUSB0`. udev's links by-id and by-path do identify the device.
    ///
    /// - Parameter deviceID: The identity of the device that was there; nil if the link did not have the device for
    ///   itself.
    fileprivate func isUSBSerialPortByNumber(_ deviceID: String?) -> Bool {
        guard scheme == "serial", !address.hasPrefix("/dev/serial/") else { return false }
        if let deviceID { return DeviceID.isUSBSerialPort(deviceID) }
        return address.hasPrefix("/dev/ttyUSB") || address.hasPrefix("/dev/ttyACM")
    }
}
