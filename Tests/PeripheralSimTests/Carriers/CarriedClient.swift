import DescriptorIO
import FakeBlueZ
import SerialPort
import TestSupport

/// A program or a phone that uses a device over its carrier.
protocol CarriedClient: Sendable {
    /// Sends bytes in one piece.
    func say(_ bytes: [UInt8]) async throws
    /// Waits for at least `count` bytes; takes and returns all input so far, over BLE notification by notification, on
    /// a line in one piece.
    func hear(_ count: Int) async throws -> [[UInt8]]
    /// Closes the line, or unsubscribes.
    func leave() async throws
    /// Waits until the link breaks.
    func isCutOff() async throws
    /// Opens the line; or subscribes, after connecting if necessary.
    func comeBack() async throws
    func close() async
}

/// A program at a pseudo-terminal.
actor TerminalClient: CarriedClient {
    private struct NotOpen: Error {}

    /// The device's current path; nil after the link broke.
    private var path: String?
    /// The new path of a device whose cable was pulled and plugged in again.
    private let returns: Watched<String?>
    /// Returns ``Reached/departures``.
    private let departures: @Sendable () -> Int
    /// Waits until ``Reached/departures`` is greater than a number.
    private let untilLeft: @Sendable (Int) async throws -> Void
    private var line: (channel: DescriptorChannel, received: Watched<ReceivedText>)?

    /// - Parameter rate: The baud rate at first. When the client comes back, it uses the device's rate, 9600.
    init(_ path: String, returns: Watched<String?>, rate: Int, reached: Watched<Reached>) throws {
        self.path = path
        self.returns = returns
        departures = { reached.state.departures }
        untilLeft = { count in
            _ = try await reached.wait(for: "the end of the visit") { $0.departures > count ? true : nil }
        }
        line = try Self.open(path, rate)
    }

    private static func open(
        _ path: String, _ rate: Int
    ) throws -> (DescriptorChannel, Watched<ReceivedText>) {
        let channel = try SerialPort(path: path, options: SerialOptions(baudRate: rate)).channel()
        return (channel, channel.receivedText())
    }

    func say(_ bytes: [UInt8]) async throws {
        guard let line else { throw NotOpen() }
        try await line.channel.write(bytes)
    }

    func hear(_ count: Int) async throws -> [[UInt8]] {
        guard let line else { throw NotOpen() }
        return try await line.received.wait(for: "\(count) bytes") { received in
            guard received.bytes.count >= count else { return nil }
            defer { received.bytes = [] }
            return received.bytes.isEmpty ? [] : [received.bytes]
        }
    }

    func leave() async throws {
        let count = departures()
        await line?.channel.close()
        line = nil
        try await untilLeft(count)
    }

    func isCutOff() async throws {
        guard let line else { throw NotOpen() }
        _ = try await line.received.all("the line")
        await line.channel.close()
        (self.line, path) = (nil, nil)
    }

    func comeBack() async throws {
        let path =
            if let path { path } else {
                try await returns.wait(for: "the device") { path in
                    defer { path = nil }
                    return path
                }
            }
        self.path = path
        line = try Self.open(path, 9600)
    }

    func close() async { await line?.channel.close() }
}

/// A central that subscribes to one characteristic and writes to one.
actor RadioClient: CarriedClient {
    /// The characteristics by which a central uses a device.
    struct Profile {
        var notifies: String
        var isWritten: String
        /// `request`, or `command` for writes without response.
        var type = "request"

        init(notifies: String, isWritten: String, type: String = "request") {
            (self.notifies, self.isWritten, self.type) = (notifies, isWritten, type)
        }

        /// Uses one characteristic for both.
        init(_ characteristic: String) { self.init(notifies: characteristic, isWritten: characteristic) }
    }

    private let central: TestCentral
    private let profile: Profile
    private var isConnected = true

    /// - Parameter central: A connected central.
    init(_ central: TestCentral, _ profile: Profile) async throws {
        self.central = central
        self.profile = profile
        try await central.subscribe(profile.notifies)
    }

    func say(_ bytes: [UInt8]) async throws {
        try await central.write(bytes, to: profile.isWritten, type: profile.type)
    }

    func hear(_ count: Int) async throws -> [[UInt8]] { try await central.hears(count, of: profile.notifies) }

    func leave() async throws { try await central.unsubscribe(profile.notifies) }

    func isCutOff() async throws {
        try await central.isHungUpOn()
        isConnected = false
    }

    func comeBack() async throws {
        if !isConnected { try await central.connect() }
        isConnected = true
        try await central.subscribe(profile.notifies)
    }

    func close() async { await central.close() }
}
