import DescriptorIO
import DeviceTestKit
import FirmwareSim
import TestSupport
import Testing

@Suite("Advancing time", .timeLimit(.minutes(3)))
struct AdvancingTests {
    /// A device that sends 1 KiB per second.
    private struct Chatter: SimulatedDevice {
        private var next = Duration.seconds(1)
        static let length = 1024

        mutating func receive(_ bytes: [UInt8], at instant: Duration) {}

        mutating func advance(to instant: Duration) -> [Emission] {
            var emissions: [Emission] = []
            while next <= instant {
                emissions.append(Emission(bytes: [UInt8](repeating: 0x2E, count: Self.length), time: next))
                next += .seconds(1)
            }
            return emissions
        }

        var nextActivity: Duration? { next }
        var isQuiescent: Bool { true }
        mutating func reset(at instant: Duration) {}
    }

    @Test("A client that reads gets all output of the skipped time", arguments: [false, true])
    func reading(hasFlowControl: Bool) async throws {
        // The clock stands still, so the host waits for the client without a limit.
        let host = DeviceHost(Chatter(), pace: .realTime(HostClock()), hasFlowControl: hasFlowControl)
        let (near, far) = try DescriptorChannel.pair(on: .shared)
        await host.attach(far)
        let total = 4096 * Chatter.length
        let reading = Task {
            var count = 0
            while count < total, let bytes = try await near.read() { count += bytes.count }
            return count
        }
        await host.advance(by: .seconds(4096))
        #expect(try await reading.value == total)
        #expect(await host.lostBytes == 0)
        #expect(await host.handle.observe()["lost_bytes"] == nil)
        await near.close()
    }

    @Test("A client that does not read is waited for once, for 2 s, and its lost bytes are counted")
    func silent() async throws {
        let clock = HostClock()
        let host = DeviceHost(Chatter(), pace: .realTime(clock))
        let (near, far) = try DescriptorChannel.pair(on: .shared)
        await host.attach(far)
        let advancing = Task { await host.advance(by: .seconds(8192)) }
        _ = try await clock.sleepsBegun.wait(for: "that a client is waited for") { $0 > 0 ? true : nil }
        await settle()
        // The longest wait for a client.
        clock.advance(to: .seconds(2))
        await advancing.value
        #expect(await host.change { _, now in now } == .seconds(8194))
        let lost = await host.lostBytes
        // In 8192 s the device sends 8 MiB. The buffers of the host and of the socket hold less than half of that.
        #expect((4 << 20)..<(8 << 20) ~= lost, "\(lost)")
        #expect(await host.handle.observe()["lost_bytes"] == .integer(lost))
        await near.close()
    }

    @Test("A client that leaves is no longer waited for")
    func leaving() async throws {
        let host = DeviceHost(Chatter(), pace: .realTime(HostClock()))
        let (near, far) = try DescriptorChannel.pair(on: .shared)
        await host.attach(far)
        let advancing = Task { await host.advance(by: .seconds(8192)) }
        await settle()
        await near.close()
        await advancing.value
        #expect(await host.change { _, now in now } == .seconds(8192))
    }

    /// A radio that has no room while 64 KiB wait, and records the most bytes that have waited.
    private final class Radio: EmissionListener {
        let waiting = Watched(0)
        let most = Watched(0)
        var isFull: Bool { waiting.state >= ClientLine.highWater }

        func hears(_ emission: Emission) -> Bool { true }

        func take(_ emissions: [Emission]) -> Int {
            waiting.update { $0 += emissions.map(\.bytes.count).reduce(0, +) }
            most.update { [waiting] in $0 = max($0, waiting.state) }
            return 0
        }
    }

    @Test("While a client does not read, a radio that sends is still waited for")
    func radio() async throws {
        let clock = HostClock()
        let host = DeviceHost(Chatter(), pace: .realTime(clock))
        let (near, far) = try DescriptorChannel.pair(on: .shared)
        await host.attach(far)
        let radio = Radio()
        await host.attach(radio)
        let advancing = Task { await host.advance(by: .seconds(8192)) }
        let sending = Task {
            while !Task.isCancelled {
                _ = try await radio.waiting.wait(for: "a full radio") { $0 >= ClientLine.highWater ? true : nil }
                radio.waiting.update { $0 = 0 }
                await host.listenerHasRoom()
            }
        }
        _ = try await clock.sleepsBegun.wait(for: "that the client is waited for") { $0 > 0 ? true : nil }
        await settle()
        clock.advance(to: .seconds(2))
        await advancing.value
        #expect(radio.most.state < ClientLine.highWater + 2 * Chatter.length)
        sending.cancel()
        await near.close()
    }

    @Test("A radio that is detached is no longer waited for")
    func detaching() async throws {
        let host = DeviceHost(Chatter(), pace: .realTime(HostClock()))
        let radio = Radio()
        await host.attach(radio)
        let advancing = Task { await host.advance(by: .seconds(8192)) }
        _ = try await radio.waiting.wait(for: "a full radio") { $0 >= ClientLine.highWater ? true : nil }
        await settle()
        await host.detach(radio)
        await advancing.value
        #expect(await host.change { _, now in now } == .seconds(8192))
    }

    @Test("Other tasks run while time advances")
    func turns() async throws {
        let host = DeviceHost(Chatter(), pace: .onDemand)
        let loop = EventLoop.shared
        let seen = await Task(executorPreference: loop) {
            let advancing = Task(executorPreference: loop) { await host.advance(by: .seconds(100_000)) }
            var seen = Duration.zero
            while seen == .zero { seen = await host.change { _, now in now } }
            await advancing.value
            return seen
        }.value
        #expect(seen < .seconds(100_000))
        #expect(await host.change { _, now in now } == .seconds(100_000))
    }
}
