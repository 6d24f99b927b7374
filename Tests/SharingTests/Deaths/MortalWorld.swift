import DBus
import DescriptorIO
import DeviceKit
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import Glibc
import LineProtocol
import TestSupport
import Testing

@testable import Sharing
@testable import Transports

/// A shared pump on BLE, and a bluetoothd that can be killed and stopped. The clock advances only in ``step()``.
final class MortalWorld: Sendable {
    let clock = ManualClock()
    let device: SharedDevice
    let fake: FakeBlueZ
    let module: HM10<WitnessedPump>
    /// The lines that the pump has sent.
    let said: Watched<ReceivedText>
    let reports = Watched<[SharingReport.Event]>([])
    /// The number of packets written to the module.
    let packets = Watched(0)
    private let bus: PrivateBus
    private let folder: TemporaryFolder
    private let server: SharingServer
    /// The number of the last call of ``radioTurn()``, the number of the last one whose work is done, and whether
    /// bluetoothd is stopped.
    private let radio = Watched((begun: 0, done: 0, isStopped: false))
    /// A pipe, in which bluetoothd's thread waits for a byte while bluetoothd is stopped.
    private let gate: (CInt, CInt)
    private let strike = Watched<Strike?>(nil)

    /// An event at a certain packet.
    struct Strike: Sendable {
        /// The number of the packet, counted by ``MortalWorld/packets``.
        var number: Int
        /// Whether the packet still reaches the pump.
        var isDelivered: Bool
        var body: @Sendable () -> Void
    }

    init() async throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        gate = (ends[0], ends[1])
        (bus, folder) = (try await PrivateBus(), TemporaryFolder())
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        await fake.addAdapter()
        let pump = WitnessedPump()
        said = pump.said
        module = try await HM10(pump, pace: .onDemand)
        await fake.add(module.radio)
        let settings = SharedDeviceSettings(
            name: "pump", endpoint: try Endpoint("ble:00:15:83:00:00:10"), family: .pump,
            holding: .whileUsed(idle: .seconds(3600)))
        let locks = DeviceLocks(folders: [folder.path])
        let (address, clock, reports) = (bus.address, clock, reports)
        device = SharedDevice(settings, try #require(SharedFamily.row(of: .pump)), clock: clock) { endpoint in
            try await BLEEndpoint.open(
                endpoint, on: .shared, bus: .address(address), clock: clock, as: BLEUse(), locks: locks)
        } tell: { report in
            reports.update { $0.append(report.event) }
        }
        server = SharingServer([device], at: folder.path("control"), clock: clock)
        await watchPackets()
    }

    deinit {
        close(gate.0)
        close(gate.1)
    }

    /// Calls `body` while the device is shared.
    func run(_ body: () async throws -> Void) async throws {
        let share = try await SocketShare.open(device, at: .unix(path: folder.path("pump")))
        try await server.open()
        let running = Task(executorPreference: device.loop) { [device] in await device.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        running.cancel()
        // Closing a link waits for bluetoothd.
        let time = Task { while !Task.isCancelled { await step() } }
        await running.value
        time.cancel()
        await time.value
        await server.close()
        await share.close()
        await fake.stop()
        bus.kill()
        try result.get()
    }

    // MARK: Time

    /// Runs everything that is ready, and then advances the clock by 50 ms.
    func step() async {
        await settle()
        await radioTurn()
        clock.advance(by: .milliseconds(50))
    }

    /// Runs everything that is ready in bluetoothd, unless it is stopped.
    private func radioTurn() async {
        let turn = radio.update { radio -> Int? in
            guard !radio.isStopped else { return nil }
            radio.begun += 1
            return radio.begun
        }
        guard let turn else { return }
        Task { [radio] in
            await settle(Radio.loop)
            radio.update { $0.done = max($0.done, turn) }
        }
        try? await radio.wait(for: "bluetoothd to do what it can") { $0.isStopped || $0.done >= turn ? () : nil }
    }

    /// Steps until a condition is true.
    func until(
        _ what: String, steps: Int = 20_000, _ isSo: () async -> Bool
    ) async throws {
        for _ in 0..<steps {
            if await isSo() { return }
            await step()
        }
        throw NotInTime(what: what, state: "\(reports.state.suffix(10))")
    }

    func untilUp() async throws { try await until("the link is open") { await device.isUp } }

    // MARK: The pump

    func isOn() async -> Bool { await module.host.change { pump, _ in pump.isOn } }

    /// Presses the button on the lid if the pump is on, and advances the pump's time until the firmware has noticed the
    /// press.
    func pressButtonIfOn() async {
        await module.host.change { pump, instant in if pump.isOn { pump.pressButton(at: instant) } }
        await module.host.advance(by: .milliseconds(200))
    }

    /// Counts each packet that is written to the module, and triggers the scheduled event.
    @Radio private func watchPackets() {
        guard let line = module.radio.characteristic("FFE1") else { return }
        let write = line.onWrite
        line.onWrite = { [packets, strike] bytes, request in
            let number = packets.update { count in
                count += 1
                return count
            }
            let due = strike.update { strike -> Strike? in
                guard let due = strike, number >= due.number else { return nil }
                strike = nil
                return due
            }
            if due?.isDelivered != false { try await write?(bytes, request) }
            due?.body()
        }
    }

    /// Schedules an event for the `number`-th packet from now.
    func strike(at number: Int, isDelivered: Bool, _ body: @escaping @Sendable () -> Void) {
        let number = packets.state + number
        strike.update { $0 = Strike(number: number, isDelivered: isDelivered, body: body) }
    }

    /// Triggers the scheduled event now, if it has not happened yet.
    func strikeNow() {
        let due = strike.update { strike in
            defer { strike = nil }
            return strike
        }
        due?.body()
    }

    // MARK: bluetoothd

    /// Whether bluetoothd is stopped.
    var isRadioStopped: Bool { radio.state.isStopped }

    /// Stops bluetoothd and the pump, like SIGSTOP.
    func stopRadio() {
        radio.update { $0.isStopped = true }
        let gate = gate
        Radio.loop.execute {
            var byte: UInt8 = 0
            while read(gate.0, &byte, 1) < 0, errno == EINTR {}
        }
    }

    /// Resumes bluetoothd if it is stopped.
    func resumeRadio() {
        let wasStopped = radio.update { radio in
            defer { radio.isStopped = false }
            return radio.isStopped
        }
        if wasStopped { write(gate.1, "!", 1) }
    }

    // MARK: Clients

    /// Creates a client of the line share.
    ///
    /// - Parameter isStopped: Whether the client reads nothing until ``HeardClient/goOn()``.
    func client(isStopped: Bool = false) async throws -> HeardClient {
        let client = try await HeardClient(at: folder.path("pump"))
        if !isStopped { await client.goOn() }
        return client
    }

    /// Creates a program that uses the pump by its name.
    func program() async throws -> HeardClient {
        let client = try await HeardClient(at: folder.path("control"))
        await client.goOn()
        return client
    }
}

/// A client and its input.
struct HeardClient: Sendable {
    let channel: DescriptorChannel
    let heard = Watched(ReceivedText())

    init(at path: String) async throws {
        channel = try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now + patience)
    }

    /// Begins to read.
    func goOn() async { await channel.gather(into: heard) }

    /// Sends text. A lost connection is no error.
    func say(_ text: String) async { try? await channel.write(Array(text.utf8)) }

    /// The lines received. The last one may be incomplete.
    var lines: [String] {
        let text = heard.state.text
        return text.split(separator: "\r\n", omittingEmptySubsequences: true).flatMap { $0.split(separator: "\n") }
            .map(String.init)
    }

    /// Closes the connection, like a killed program.
    func die() async { await channel.leave() }
}
