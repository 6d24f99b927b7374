import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import RecordFormat
import StrictJSON
import Synchronization
import Testing
import TestSupport

@testable import Sharing
@testable import Transports

/// A simulated pump that programs use by its name, through the control socket of a daemon. Time advances only through
/// ``clock``.
final class ControlRig: Sendable {
    let clock = ManualClock()
    let device: SharedDevice
    let server: SharingServer
    let host: DeviceHost<PumpFirmware>
    let path: String
    /// The reports of the device and the server.
    let reports: Watched<[SharingReport.Event]>
    /// The recorded readings.
    let readings = Watched<[String]>([])
    /// The recorded changes of the device.
    let changes = Watched<[String]>([])
    private let folder: TemporaryFolder
    private let plug: Plug

    /// Whether the pump is plugged in, and its end of the cable.
    private final class Plug: Sendable {
        let state = Mutex<(isIn: Bool, cable: DescriptorChannel?)>((true, nil))
    }

    /// - Parameters:
    ///   - family: The family of the device; any other than the pump needs `link`.
    ///   - isPlugged: Whether the pump is plugged in from the start.
    ///   - limit: The number of programs at the socket beyond which a program may send only OFF and queries.
    ///   - link: A link to open instead of a link to the simulated pump.
    ///   - recorder: The program that keeps the record; nil if the pump is not recorded.
    init(
        _ holding: LinkHolding = .always, family: Family = .pump, isPlugged: Bool = true,
        limit: Int = SharingServer.standardLimit,
        link: (any Link)? = nil, recorder: CompanionProgram? = nil,
        surroundings: Surroundings = Surroundings()
    ) throws {
        // 716 is the knob's position for the speed at which ON starts.
        let options = PumpFirmwareOptions(thermistors: .two, heat: .fixed(water: 12, skin: 34), potentiometer: 716)
        let host = DeviceHost(PumpFirmware(options: options), pace: .onDemand)
        let (plug, reports) = (Plug(), Watched<[SharingReport.Event]>([]))
        plug.state.withLock { $0.isIn = isPlugged }
        let settings = SharedDeviceSettings(
            name: "pump", endpoint: try Endpoint("tcp:nowhere:1"), family: family,
            shares: [.tcp(host: "localhost", port: 4000)], holding: holding, isRecorded: recorder != nil)
        device = SharedDevice(settings, try #require(SharedFamily.row(of: family)), clock: clock) { _ in
            guard plug.state.withLock({ $0.isIn }) else {
                throw LinkError(.notFound, name: "the pump", activity: "open")
            }
            if let link { return link }
            let (ours, theirs) = try DescriptorChannel.pair()
            await host.attach(theirs)
            plug.state.withLock { $0.cable = theirs }
            return DescriptorLink(ours, name: "the pump", deviceID: "tty-188-0") { _ in }
        } record: { [readings, changes] entry in
            switch entry {
            case .reading(let reading): readings.update { $0.append(reading.json) }
            case .event("command", let text): changes.update { $0.append(text) }
            default: break
            }
        } tell: { report in
            reports.update { $0.append(report.event) }
        }
        let folder = TemporaryFolder()
        path = folder.path("socket")
        server = SharingServer(
            [device], at: path, limit: limit, clock: clock, recorder: recorder, surroundings: surroundings
        ) { event in
            reports.update { $0.append(event) }
        }
        (self.folder, self.plug, self.host, self.reports) = (folder, plug, host, reports)
    }

    /// Calls `body` while the device is shared, once its link is up.
    static func run(_ body: (ControlRig) async throws -> Void) async throws {
        let rig = try ControlRig()
        try await rig.run {
            try await rig.untilUp()
            try await body(rig)
        }
    }

    /// Calls `body` while the device is shared.
    func run(_ body: () async throws -> Void) async throws {
        try await server.open()
        let running = Task(executorPreference: device.loop) { [device] in await device.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        running.cancel()
        await running.value
        await server.close()
        try result.get()
    }

    // MARK: Actions

    /// Waits until the link is up. Meanwhile the clock advances in steps of 100 ms.
    func untilUp() async throws { try await until(isUp: true) }

    /// Waits until the link is down. Meanwhile the clock advances in steps of 100 ms.
    func untilAway() async throws { try await until(isUp: false) }

    private func until(isUp: Bool) async throws {
        for _ in 0..<1000 {
            if await device.isUp == isUp { return }
            await settle()
            clock.advance(by: .milliseconds(100))
        }
        throw NotInTime(what: "the pump is \(isUp ? "there" : "away")", state: "\(reports.state)")
    }

    func plugIn() { plug.state.withLock { $0.isIn = true } }

    /// Pulls the pump's cable: the link breaks, and can't be opened until ``plugIn()``.
    func unplug() async {
        let cable = plug.state.withLock { state in
            state.isIn = false
            return state.cable
        }
        await cable?.close()
    }

    /// Presses the button on the lid, and advances the pump's time until the firmware has noticed the press.
    func pressButton() async {
        await host.change { $0.pressButton(at: $1) }
        await host.advance(by: .milliseconds(200))
    }

    /// The lines sent to the device.
    var sentLines: [String] {
        reports.state.compactMap { event in
            if case .sends(let line, _) = event { String(decoding: line, as: UTF8.self) } else { nil }
        }
    }

    /// Waits until the server hangs up on a client; returns the reason.
    func dropping() async throws -> String {
        try await reports.wait(for: "a client is hung up on") { events in
            for case .dropped(_, let reason) in events { return reason }
            return nil
        }
    }

    /// Connects a program, and reads its greeting.
    func client() async throws -> ControlClient {
        let client = try await stranger()
        let hello = try await client.message()
        #expect(hello["event"] == "hello")
        return client
    }

    /// Connects a program, whose greeting is not read yet.
    func stranger() async throws -> ControlClient {
        ControlClient(
            try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now + patience))
    }
}

/// A program at the socket. Each request of ``send(_:)`` and each received message is checked against the schema.
final class ControlClient {
    let channel: DescriptorChannel
    private var bytes: [UInt8] = []

    init(_ channel: DescriptorChannel) { self.channel = channel }

    /// Sends text unchanged.
    func say(_ text: String) async throws { try await channel.write(Array(text.utf8)) }

    /// Sends a request.
    func send(_ request: JSONValue) async throws {
        if !JSONSchema.pumpctld.fits(request, "request") { Issue.record("no request by the schema: \(request.json)") }
        try await say(request.json + "\n")
    }

    /// Sends a request; returns the next message.
    func ask(_ verb: String, _ arguments: [String: JSONValue] = [:]) async throws -> JSONValue {
        try await send(.object(arguments.merging(["id": 1, "do": .text(verb)]) { $1 }))
        return try await message()
    }

    /// Sends a request that is refused; returns the error.
    func refusal(_ verb: String, _ arguments: [String: JSONValue] = [:]) async throws -> JSONValue {
        let response = try await ask(verb, arguments)
        #expect(response["ok"] == false)
        return try #require(response["error"], "\(response.json)")
    }

    /// Sends a line, valid or not; returns the next message.
    func answer(to line: String) async throws -> JSONValue {
        try await say(line + "\n")
        return try await message()
    }

    /// Waits for the next message.
    func message() async throws -> JSONValue {
        let line = try #require(try await line(), "hung up on")
        let value = try JSONValue(parsing: line)
        if !JSONSchema.pumpctld.fits(value, "message") { Issue.record("no message by the schema: \(line)") }
        return value
    }

    /// Waits for the next raw line; nil after a hang-up.
    func line() async throws -> String? {
        while true {
            if let end = bytes.firstIndex(of: 0x0A) {
                defer { bytes.removeSubrange(...end) }
                return String(decoding: bytes[..<end].filter { $0 != 0x0D }, as: UTF8.self)
            }
            do throws(DescriptorError) {
                guard let more = try await channel.read() else { return nil }
                bytes += more
            } catch {
                if error.code == .disconnected { return nil }
                throw error
            }
        }
    }
}
