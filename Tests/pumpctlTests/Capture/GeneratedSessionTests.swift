import CaptureFormat
import DescriptorIO
import DeviceKit
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import pumpctl

@Suite("Sessions that are captured and played back", .timeLimit(.minutes(5)))
struct GeneratedSessionTests {
    /// What a session has printed, and what went over its link.
    private struct Session: Equatable {
        var text: String
        var wire: [CaptureEvent.Content]
    }

    private static func wire(_ path: String) throws -> [CaptureEvent.Content] {
        var reader = try CaptureReader(path)
        var wire: [CaptureEvent.Content] = []
        while let event = try reader.next() {
            if case .opened = event.content { continue }
            wire.append(event.content)
        }
        return wire
    }

    private static func session(_ seed: UInt64, over link: any Link, capturedAt path: String) async throws -> Session {
        let clock = ManualClock()
        let capture = try Capture(at: path, by: "test", of: .pump, clock: clock) { Issue.record("\($0)") }
        let captured = capture.captured(link, openedFrom: link.name, packetCapacity: nil)
        var host = GeneratedHost(seed: seed)
        let text = try await host.run(over: captured, clock: clock)
        await capture.finish()
        return Session(text: text, wire: try wire(path))
    }

    /// With the pump of a seed.
    private static func original(_ seed: UInt64, at path: String) async throws -> Session {
        let link = ScriptedLink()
        let device = Task {
            var pump = GeneratedPump(seed: seed)
            while case let sent = await link.nextSent(), sent != ScriptedLink.nothing {
                await link.deliver(pump.answer(to: sent))
            }
        }
        let session = try await session(seed, over: link, capturedAt: path)
        device.cancel()
        await device.value
        return session
    }

    @Test("1,000 sessions are equal to the byte on the wire, and in what commands print", arguments: 0..<10)
    func replays(hundred: Int) async throws {
        let folder = TemporaryFolder()
        for number in 0..<100 {
            let seed = UInt64(hundred * 100 + number)
            let (first, second) = (folder.path("\(seed)-a"), folder.path("\(seed)-b"))
            let original = try await Self.original(seed, at: first)
            #expect(!original.text.isEmpty)
            let link = try await ReplayOpener().open(Endpoint("replay:\(first)?pace=none"))
            let replay = try await Self.session(seed, over: link, capturedAt: second)
            #expect(link.remark == nil)
            #expect(replay.text == original.text, "seed \(seed)")
            let isSame = replay.wire == original.wire
            #expect(isSame, "seed \(seed)")
        }
    }
}
