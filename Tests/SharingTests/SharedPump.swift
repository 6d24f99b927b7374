import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import Glibc
import LineProtocol
import Synchronization
import TestSupport
import Testing
import Transports

@testable import Sharing

/// A shared simulated pump. The pump's own time advances only as far as its replies need. The time of the shared device
/// advances only through ``clock``.
final class SharedPump: Sendable {
    let clock = ManualClock()
    let device: SharedDevice
    let host: DeviceHost<PumpFirmware>
    let reports = Watched<[SharingReport.Event]>([])
    /// Whether opening the link may complete.
    let mayOpen = Watched(true)
    /// The path of the share.
    let path: String
    private let clientLimit: Int
    private let folder = TemporaryFolder()
    /// The pump's end of its cable; nil while unplugged.
    private let cable = Mutex<DescriptorChannel?>(nil)
    private let isPlugged = Mutex(true)

    /// - Parameters:
    ///   - isPlugged: Whether the pump is plugged in from the start.
    ///   - clientLimit: The maximum number of clients at the socket.
    ///   - link: A link to open instead of a link to the simulated pump.
    ///   - onReport: Called immediately with each report.
    init(
        _ holding: LinkHolding = .always, isPlugged: Bool = true, clientLimit: Int = SocketShare.standardLimit,
        link: (any Link)? = nil,
        onReport: @escaping @Sendable (SharingReport.Event) -> Void = { _ in }
    ) throws {
        // 716 is the knob's position for the speed at which ON starts.
        let options = PumpFirmwareOptions(
            thermistors: .two, heat: .fixed(water: 12, skin: 34), potentiometer: 716)
        let host = DeviceHost(PumpFirmware(options: options), pace: .onDemand)
        self.host = host
        self.clientLimit = clientLimit
        path = folder.path("pump")
        let settings = SharedDeviceSettings(
            name: "pump", endpoint: try Endpoint("tcp:nowhere:1"), family: .pump, holding: holding)
        let opener = Opener()
        device = SharedDevice(settings, try #require(SharedFamily.row(of: .pump)), clock: clock) { _ in
            if let link { return link }
            return try await opener.open()
        } tell: { [reports] report in
            reports.update { $0.append(report.event) }
            onReport(report.event)
        }
        self.isPlugged.withLock { $0 = isPlugged }
        opener.pump.withLock { $0 = self }
    }

    /// Opens the link to the pump. The device gets its opener before the ``SharedPump`` is complete.
    private final class Opener: Sendable {
        let pump = Mutex<SharedPump?>(nil)

        func open() async throws -> any Link {
            try? await pump.withLock({ $0 })?.mayOpen.wait(for: "the leave to open") { $0 ? () : nil }
            guard let pump = pump.withLock({ $0 }), pump.isPlugged.withLock({ $0 }) else {
                throw LinkError(.notFound, name: "the pump", activity: "open")
            }
            let (ours, theirs) = try DescriptorChannel.pair()
            await pump.host.attach(theirs)
            pump.cable.withLock { $0 = theirs }
            return DescriptorLink(ours, name: "the pump")
        }
    }

    /// Calls `body` while the device is shared.
    func run(_ body: () async throws -> Void) async throws {
        let share = try await SocketShare.open(device, at: .unix(path: path), limit: clientLimit)
        let running = Task(executorPreference: device.loop) { [device] in await device.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        running.cancel()
        await running.value
        await share.close()
        try result.get()
    }

    // MARK: Actions

    /// Waits until the link is up. Meanwhile the clock advances in steps of 100 ms.
    func untilUp() async throws { try await until("the pump is there") { $0 } }

    /// Waits until the link is down. Meanwhile the clock advances in steps of 100 ms.
    func untilDown() async throws { try await until("the pump is away") { !$0 } }

    private func until(_ what: String, _ isReached: (Bool) -> Bool) async throws {
        for _ in 0..<10_000 {
            if isReached(await device.isUp) { return }
            await settle()
            clock.advance(by: .milliseconds(100))
        }
        throw NotInTime(what: what, state: "\(reports.state)")
    }

    /// Pulls the pump's cable: the link breaks, and can't be opened until ``plug()``.
    func unplug() async {
        isPlugged.withLock { $0 = false }
        let cable = cable.withLock { $0 }
        await cable?.close()
    }

    func plug() { isPlugged.withLock { $0 = true } }

    // MARK: Clients

    /// Connects a client to the Unix socket.
    func client() async throws -> LineClientEnd {
        LineClientEnd(
            try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now + patience))
    }
}

/// A client's end of its connection to a shared device.
final class LineClientEnd: Sendable {
    let channel: DescriptorChannel
    private let framer = Mutex<[UInt8]>([])

    init(_ channel: DescriptorChannel) { self.channel = channel }

    /// Opens a pseudo-terminal.
    convenience init(atTerminal path: String) throws {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
        self.init(DescriptorChannel(taking: descriptor, kind: .stream))
    }

    /// Takes up to `count` bytes of the input read so far.
    func take(_ count: Int) -> [UInt8] {
        framer.withLock { bytes in
            defer { bytes.removeFirst(min(count, bytes.count)) }
            return Array(bytes.prefix(count))
        }
    }

    /// Stores input that was read.
    func put(_ more: [UInt8]) { framer.withLock { $0 += more } }

    func say(_ text: String) async throws { try await channel.write(Array(text.utf8)) }

    /// Waits for the next line, without its end; nil after a hang-up.
    func line() async throws -> String? {
        while true {
            let line = framer.withLock { bytes -> String? in
                guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
                defer { bytes.removeSubrange(...end) }
                return String(decoding: bytes[..<end].filter { $0 != 0x0D }, as: UTF8.self)
            }
            if let line { return line }
            do throws(DescriptorError) {
                guard let more = try await channel.read() else { return nil }
                framer.withLock { $0 += more }
            } catch {
                guard error.code == .disconnected else { throw error }
                return nil
            }
        }
    }

    /// Waits for the next `count` lines; returns fewer after a hang-up.
    func lines(_ count: Int) async throws -> [String] {
        var lines: [String] = []
        while lines.count < count, let line = try await line() { lines.append(line) }
        return lines
    }

    /// Sends a line; returns the next `count` lines received.
    func ask(_ text: String, for count: Int = 1) async throws -> [String] {
        try await say(text + "\n")
        return try await lines(count)
    }

    func leave() async { await channel.close() }
}

extension LineClientEnd {
    /// Shuts down the client's sending side. The client can still read.
    func sayNoMore() async { try? await channel.withDescriptor { _ = shutdown($0, CInt(SHUT_WR)) } }
}
