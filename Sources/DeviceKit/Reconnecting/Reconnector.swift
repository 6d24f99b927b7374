public import DescriptorIO
internal import Glibc
public import LineProtocol
internal import SerialPort
internal import Synchronization
public import Transports

/// Finds a device again that has gone.
///
/// Made while the device is there. A USB serial port is known by what tells the device from others, and is found under
/// whatever name it has when it is back (node-serialport#329); udev says when. Where the device had gone before that could be
/// looked up, nothing that comes under `/dev/ttyUSB0` is taken for it: it may be another. Any other port is tried when something
/// changes in its folder; a pseudo-terminal that has gone is back when a link to it is made anew. A BLE device is known by its
/// address, or by its name where it does not keep its address: where several have that name, none is taken for it. Every
/// endpoint is tried each ``interval`` as well, since a link may lead to another folder, and a server sends no word.
///
/// A device that was reached through a daemon is waited for there: who opened it first when it is back would take it from the
/// daemon, and so from everybody else. Where no daemon listens for ``daemonPatience``, it is looked for as any other.
public final class Reconnector: Sendable {
    /// The longest time between two attempts.
    public static let interval = Duration.seconds(1)

    /// How long a daemon may take to listen again, as one that is restarted.
    public static let daemonPatience = Duration.seconds(5)

    /// Opens a link to an endpoint.
    public typealias Opener = @Sendable (Endpoint) async throws -> any Link

    private let loop: EventLoop
    private let clock: any Clock<Duration>
    private let open: Opener
    private let doubt: @Sendable (LinkError) -> Void
    private let endpoint: Endpoint
    /// The same, where a daemon has the device; nil where none had.
    private let sharedEndpoint: Endpoint?
    private let deviceID: String?
    /// The endpoint by which a daemon has the device.
    private let sharedDevice: String?
    /// What tells the device from others, once it was looked up.
    private let device = Mutex<Device?>(nil)

    private let watch: SessionClock
    /// When the device was found last, by `watch`; nil where it was not yet.
    private let lastFound = Mutex<Duration?>(nil)

    private struct Device {
        /// What tells a USB serial port from others; nil where the device is at none.
        var identity: PortIdentity?
        /// Whether it is a USB serial port that had gone before it was looked up.
        var isUnknown = false
        /// Where the pseudo-terminal was that was opened last; nil where the device is at none.
        var terminal: PseudoTerminalPath?
    }

    /// Finds the device again that `link` was opened to.
    ///
    /// - Parameters:
    ///   - endpoint: Where the device is.
    ///   - link: The link to it. It may have been lost just now, at the risk that the device is not found again: see
    ///     ``link()``.
    ///   - looksNow: Whether to look up at once what tells the device from others, which takes milliseconds; ``look()`` does
    ///     it otherwise.
    ///   - loop: What the attempts run on.
    ///   - clock: Measures the pauses between them; the loop's unless a test has another.
    ///   - open: Opens a link to the device where it is then.
    ///   - doubt: Told why what is there is not taken for the device; once until there is another reason.
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
        // What comes back has started anew by itself.
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

    /// Looks up what tells the device from others, unless that was done: to be called while the device is there.
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

    /// Whether nothing tells the device from another that comes to its endpoint: it had gone before it was looked up.
    public var isDeviceUnknown: Bool { device.withLock { $0?.isUnknown == true } }

    /// Whether a USB adapter is no longer at the path of its endpoint, which says nothing of the device.
    ///
    /// - Parameters:
    ///   - deviceID: Of the device that was there; nil where others could open it as well.
    ///   - node: What is there now; nil for nothing. udev may know it by another path, as in a container.
    static func hasGone(_ endpoint: Endpoint, _ deviceID: String?, node: String?) -> Bool {
        guard endpoint.isUSBSerialPortByNumber(deviceID) else { return false }
        guard let node else { return true }
        return deviceID.map { $0 != node } ?? false
    }

    /// Opens the link as soon as it can be opened.
    ///
    /// - Throws: `LinkError` for what waiting does not mend: ``LineProtocol/LinkError/Code/disconnected`` where no device that
    ///   comes can be known to be the same; what `open` throws otherwise; `CancellationError`.
    public func link() async throws -> any Link { try await link(takingUnknown: false) }

    /// The same, but where ``isDeviceUnknown`` what comes to the endpoint is taken, and may be another device: for what harms
    /// none, as a stop.
    public func unverifiedLink() async throws -> any Link { try await link(takingUnknown: true) }

    /// A server may accept whoever comes and hang up at once, as one does that has a client: what was lost as soon as it was
    /// found is not looked for without a pause.
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
            // Another daemon, or the same one started anew, may have another device of that name.
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
            detail: "pumpctld has \(other) by that name now, and had \(device) before")
    }

    /// The device as a daemon gives it; nil where none had it, or none listens any more.
    private func findAtDaemon(within patience: Duration) async throws -> (any Link)? {
        guard let sharedEndpoint else { return nil }
        var goneSince: Duration?
        while true {
            do { return try await open(sharedEndpoint) } catch let error as LinkError {
                switch error.code {
                case .invalidEndpoint, .unsupported, .wrongFamily, .cancelled: throw error
                case .unavailable:
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

    private func find(takingUnknown: Bool) async throws -> any Link {
        look()
        let (identity, isUnknown) = device.withLock { ($0?.identity, $0?.isUnknown == true) }
        if isUnknown, !takingUnknown { throw unknownAdapter }
        var doubt: LinkError.Code?
        if let identity, let monitor = try? SerialPortMonitor(on: loop) {
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
                // Who makes the next terminal gets the number of this one, and may have done so just now.
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

    /// Whether a pseudo-terminal is there that is the device's.
    ///
    /// - Throws: `LinkError` where none can come that is known to be.
    private func isThere() throws(LinkError) -> Bool {
        switch device.withLock({ $0?.terminal?.destination }) {
        case nil, .same, .replaced: return true
        case .gone: return false
        case .goneForGood:
            throw LinkError(
                .disconnected, name: endpoint.address, activity: "open",
                detail: "the pseudo-terminal has gone, and the next of this name may be another program's",
                hint: "name the terminal by a symbolic link that its owner renews each time")
        }
    }

    private var unknownAdapter: LinkError {
        LinkError(
            .disconnected, name: endpoint.address, activity: "open",
            detail: "the USB adapter had gone before it was known, and the next of this name may be another",
            hint: "plug the adapter in, and start again")
    }

    /// Opens a USB serial port, and tries again while another program has it.
    ///
    /// - Returns: The link, or nil once the port at this path is no longer the device's. Another may have its name then.
    private func link(
        at path: String, of identity: PortIdentity, _ doubt: inout LinkError.Code?
    ) async throws -> (any Link)? {
        // nil if udev can't be asked now.
        func isDevices() -> Bool? {
            try? SerialPortDiscovery.ports().contains { $0.path == path && identity.matches($0) }
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

    /// Opens the link; nil where waiting may mend what is in the way.
    ///
    /// - Parameter doubt: Why what is there was not taken for the device, once that was told.
    private func attempt(_ endpoint: Endpoint, _ doubt: inout LinkError.Code?) async throws -> (any Link)? {
        do {
            return try await open(endpoint)
        } catch let error as LinkError {
            switch error.code {
            case .invalidEndpoint, .unsupported, .cancelled: throw error
            // A port that has just appeared is not yet its group's, and whoever names it may look at it first.
            case .notPermitted, .busy, .unavailable: return nil
            case .ambiguous, .changedDevice, .wrongFamily, .unfit:
                if error.code != doubt { self.doubt(error) }
                doubt = error.code
                return nil
            case .notFound, .disconnected:
                guard endpoint.carrier == .capture else { return nil }
                // A capture has no further link, or the command has departed from it: nothing comes back.
                throw LinkError(
                    .disconnected, name: error.name, activity: error.activity, detail: error.detail, hint: error.hint)
            case .closed, .timedOut, .system: return nil
            }
        }
    }

    private static func terminal(at endpoint: Endpoint) -> PseudoTerminalPath? {
        endpoint.scheme == "serial" ? PseudoTerminalPath(endpoint.address) : nil
    }

    private func pause(_ watch: DirectoryWatch?, _ interval: Duration) async {
        if let watch {
            try? await watch.wait(until: EventLoopClock(loop).now.advanced(by: interval), on: loop)
        } else {
            try? await clock.sleep(for: interval)
        }
    }

    /// The folder in which a serial port appears.
    private static func folder(of endpoint: Endpoint) -> String? {
        guard endpoint.scheme == "serial", let slash = endpoint.address.lastIndex(of: "/") else { return nil }
        return slash == endpoint.address.startIndex ? "/" : String(endpoint.address[..<slash])
    }
}

extension Endpoint {
    /// Where a daemon has the device, if this is only the daemon's name for it. A path that begins in the daemon's working
    /// folder leads elsewhere here.
    fileprivate func ofDevice(at address: SharedDeviceAddress) -> Endpoint? {
        guard scheme == SharedEndpoint.scheme, let device = address.endpoint.flatMap({ try? Endpoint($0) }) else {
            return nil
        }
        return device.scheme != "serial" || device.address.hasPrefix("/") ? device : nil
    }

    /// Whether this is the path of a USB serial port that says nothing of the device, as `/dev/ttyUSB0`: udev's links by-id
    /// and by-path do.
    ///
    /// - Parameter deviceID: Of the device that was there; nil where others could open it as well.
    fileprivate func isUSBSerialPortByNumber(_ deviceID: String?) -> Bool {
        guard scheme == "serial", !address.hasPrefix("/dev/serial/") else { return false }
        if let deviceID { return DeviceID.isUSBSerialPort(deviceID) }
        return address.hasPrefix("/dev/ttyUSB") || address.hasPrefix("/dev/ttyACM")
    }
}
