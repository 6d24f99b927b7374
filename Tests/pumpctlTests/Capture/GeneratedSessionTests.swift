import CaptureFormat
import DescriptorIO
import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import pumpctl

@Suite("Generated sessions, captured and replayed", .timeLimit(.minutes(60)))
struct GeneratedSessionTests {
    /// A session's output and its traffic.
    private struct Session: Equatable {
        var text: String
        var wire: [CaptureEvent]
    }

    /// The events of a capture, except the opening of links.
    private static func wire(_ path: String) throws -> [CaptureEvent] {
        var reader = try CaptureReader(path)
        var wire: [CaptureEvent] = []
        while let event = try reader.next() {
            if case .opened = event.content { continue }
            wire.append(event)
        }
        return wire
    }

    /// Runs the seed's host over a link, and captures the link.
    private static func session(
        _ seed: UInt64, over link: any Link, at path: String, in world: QuietWorld
    ) async throws -> Session {
        let capture = try Capture(at: path, by: "test", of: .pump, clock: world.clock) { Issue.record("\($0)") }
        let captured = capture.captured(world.watched(link), openedFrom: link.name, packetCapacity: nil)
        let text = try await world.run {
            var host = GeneratedHost(seed: seed)
            return try await host.run(over: captured, clock: world.clock)
        }
        await capture.finish()
        return Session(text: try #require(text, "seed \(seed) waits for ever"), wire: try wire(path))
    }

    /// Runs a session with the seed's pump.
    private static func original(
        _ seed: UInt64, isDifficult: Bool, at path: String, in world: QuietWorld
    ) async throws -> Session {
        let link = ScriptedLink(on: world.loop)
        let device = Task(executorPreference: world.loop) {
            var pump = GeneratedPump(seed: seed, isDifficult: isDifficult)
            while case let sent = await link.nextSent(), sent != ScriptedLink.nothing {
                for piece in pump.answer(to: sent) {
                    try? await world.clock.sleep(for: piece.delay)
                    await link.deliver([piece.bytes])
                }
            }
        }
        let session = try await session(seed, over: link, at: path, in: world)
        device.cancel()
        await device.value
        return session
    }

    /// Runs a session with a replay of the capture `file`, and captures it again at `path`.
    private static func replay(
        _ seed: UInt64, of file: String, pace: String, at path: String, in world: QuietWorld
    ) async throws -> Session {
        let link = try await ReplayOpener(clock: world.clock).open(
            Endpoint("replay:\(file)?pace=\(pace)"), on: world.loop)
        let session = try await session(seed, over: link, at: path, in: world)
        #expect(link.remark == nil, "seed \(seed)")
        return session
    }

    @Test(
        "A replayed session is byte-identical on the wire and in its output",
        arguments: Seeds(200, soak: 10_000).pieces(10))
    func replays(seeds: Range<UInt64>) async throws {
        let folder = TemporaryFolder()
        let world = QuietWorld()
        for seed in seeds {
            let (first, second) = (folder.path("\(seed)-a"), folder.path("\(seed)-b"))
            // A difficult pump is late or silent, so that its replay needs the original times.
            let isDifficult = seed.isMultiple(of: 2)
            let original = try await Self.original(seed, isDifficult: isDifficult, at: first, in: world)
            #expect(!original.text.isEmpty)
            let replay = try await Self.replay(
                seed, of: first, pace: isDifficult ? "original" : "none", at: second, in: world)
            #expect(replay.text == original.text, "seed \(seed)")
            let isSame = replay.wire.map(\.content) == original.wire.map(\.content)
            #expect(isSame, "seed \(seed)")
        }
    }
}
