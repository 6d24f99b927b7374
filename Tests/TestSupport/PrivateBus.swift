internal import Glibc
internal import Synchronization

/// A private message bus for a test: `dbus-daemon` on a socket in a temporary folder, without access limits.
///
/// The bus ends when its last user releases it.
public final class PrivateBus: Sendable {
    /// The address to connect to.
    public let address: String
    private let folder: TemporaryFolder
    private let configuration: String
    private let daemon: Mutex<Daemon>
    private let place: Place

    private struct Daemon {
        let process: ChildProcess
        /// The identity of the bus.
        let id: Substring
    }

    /// Starts a bus, and waits until it listens.
    ///
    /// If 32 buses of this process are running, waits for one of them to end first: each needs one of the user's 128
    /// inotify instances.
    ///
    /// - Parameters:
    ///   - denied: The name of a service that no client may send to; nil for none.
    ///   - failing: The name of a service that the bus starts when a client calls it, and that exits immediately with
    ///     status 1; nil for none.
    public init(denying denied: String? = nil, failing: String? = nil) async throws {
        place = await Place()
        let denial = denied.map { "<deny send_destination=\"\($0)\"/>" } ?? ""
        folder = TemporaryFolder()
        let services = failing == nil ? "" : "<servicedir>\(folder.path(""))</servicedir>"
        if let failing {
            _ = folder.write("[D-BUS Service]\nName=\(failing)\nExec=/bin/false\n", to: "\(failing).service")
        }
        configuration = folder.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(folder.path("bus"))</listen>
              <auth>EXTERNAL</auth>
              \(services)
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
                \(denial)
              </policy>
              <limit name="max_replies_per_connection">50000</limit>
              <limit name="max_match_rules_per_connection">50000</limit>
              <limit name="max_incoming_bytes">1000000000</limit>
              <limit name="max_outgoing_bytes">1000000000</limit>
            </busconfig>
            """, to: "bus.conf")
        // Without the bus identity, because a later bus at this address has another one.
        address = "unix:path=\(folder.path("bus"))"
        daemon = Mutex(try await Self.start(configuration))
    }

    private static func start(_ configuration: String) async throws -> Daemon {
        let process = try await ChildProcess([
            "dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1",
            "--config-file=\(configuration)",
        ])
        let address: String = try await process.output.wait(for: "the address of the bus") { output in
            guard let end = output.bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            return String(decoding: output.bytes[..<end], as: UTF8.self)
        }
        return Daemon(process: process, id: address.split(separator: "guid=").last ?? "")
    }

    deinit { removeLocks() }

    /// Removes the lock files of BLE devices on this bus. A link to a device creates one, named by the identity of the
    /// bus, and never removes it.
    private func removeLocks() {
        let folder = "/run/lock/pumpctl"
        let id = daemon.withLock { $0.id.prefix(8) }
        guard let files = opendir(folder) else { return }
        defer { closedir(files) }
        while let file = readdir(files) {
            let name = withUnsafePointer(to: &file.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(file.pointee.d_reclen)) { String(cString: $0) }
            }
            if name.hasPrefix("ble-\(id)-") { unlink("\(folder)/\(name)") }
        }
    }

    /// Environment variables that make other programs use this bus as both the system bus and the session bus.
    public var environment: [String: String] {
        [
            "DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address, "LC_ALL": "C.UTF-8",
            "PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin",
        ]
    }

    /// Runs a program on this bus and waits for its end.
    public func run(_ arguments: [String]) async throws -> ChildProcess.Ending {
        try await ChildProcess(arguments, environment: environment).ending()
    }

    private var process: ChildProcess { daemon.withLock { $0.process } }

    /// Ends the bus like a crash.
    public func kill() { process.send(signal: SIGKILL) }

    /// Ends the bus like a crash, runs `body`, and starts another bus at the same address.
    public func restart(whileDown body: () async throws -> Void = {}) async throws {
        kill()
        _ = try await process.ending()
        removeLocks()
        try await body()
        let daemon = try await Self.start(configuration)
        self.daemon.withLock { $0 = daemon }
    }

    /// The number of times that the bus went to sleep because it had nothing left to do; nil while it is awake. If two
    /// readings are equal, nothing went over the bus in between.
    public var restCount: Int? {
        let status = open("/proc/\(process.processID)/status", O_RDONLY | O_CLOEXEC)
        guard status >= 0 else { return nil }
        defer { close(status) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(status, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        guard lines.contains(where: { $0.hasPrefix("State:\tS") }) else { return nil }
        return lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }?.split(separator: "\t").last.flatMap { Int($0) }
    }

    /// Suspends the process of the bus (SIGSTOP) while `body` runs, so that the bus reads nothing.
    public func pause(while body: () async throws -> Void) async throws {
        let process = process
        process.send(signal: SIGSTOP)
        defer { process.send(signal: SIGCONT) }
        try await body()
    }
}

/// A place for one of at most 32 running buses, given back on release. ``init()`` waits for a free one.
private final class Place: Sendable {
    private struct Places {
        var free = 32
        var waiting: [UnsafeContinuation<Void, Never>] = []
    }

    private static let places = Mutex(Places())

    init() async {
        await withUnsafeContinuation { continuation in
            let isFree = Self.places.withLock { places in
                if places.free > 0 {
                    places.free -= 1
                    return true
                }
                places.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    deinit {
        let next = Self.places.withLock { places -> UnsafeContinuation<Void, Never>? in
            if !places.waiting.isEmpty { return places.waiting.removeFirst() }
            places.free += 1
            return nil
        }
        next?.resume()
    }
}
