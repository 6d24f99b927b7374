import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@testable import DeviceKit

/// The pace of a console link. Text pasted into a console arrives all at once, but a pump reads only one line per turn
/// of its loop.
@Suite(.timeLimit(.minutes(5))) struct ConsoleLinkTests {
    private let device = ScriptedLink()
    private let clock = ManualClock()
    private let events = AsyncStream.makeStream(of: ConsoleLink.Event.self)

    private func link() async -> ConsoleLink {
        await ConsoleLink(device, ends: nil, readingTime: .milliseconds(200), clock: clock) {
            [continuation = events.continuation] in
            continuation.yield($0)
        }
    }

    @Test("Lines entered faster than the device reads are sent one by one, in order")
    func pace() async throws {
        let link = await link()
        for line in ["SPEED:1", "SPEED:2", "OFF"] { link.send(Array(line.utf8)) }
        #expect(await device.nextSent() == "SPEED:1\n")
        for line in ["SPEED:2\n", "OFF\n"] {
            let end = clock.now.offset + .milliseconds(200)
            await clock.untilSomebodySleeps(until: end)
            #expect(device.unreadSent == [])
            clock.advance(by: .milliseconds(200))
            #expect(await device.nextSent() == line)
        }
        #expect(await link.close() == [])
    }

    @Test("A line is sent at once if the device has read the one before")
    func pause() async throws {
        let link = await link()
        for line in ["ON", "OFF"] {
            link.send(Array(line.utf8))
            #expect(await device.nextSent() == line + "\n")
            // The device's reading time begins once the line is sent, so the clock must not advance before.
            while !link.unsent.isEmpty { await settle() }
            clock.advance(by: .milliseconds(200))
        }
        #expect(await link.close() == [])
    }

    @Test("Closing first sends the waiting lines")
    func drain() async throws {
        let link = await link()
        for line in ["STATUS", "OFF"] { link.send(Array(line.utf8)) }
        #expect(await device.nextSent() == "STATUS\n")
        let closing = Task { await link.close() }
        await clock.untilSomebodySleeps(until: .milliseconds(200))
        clock.advance(by: .milliseconds(200))
        #expect(await device.nextSent() == "OFF\n")
        #expect(await closing.value == [])
        #expect(device.closeCount == 1)
    }

    @Test("A cancelled close returns the unsent lines")
    func cancelled() async throws {
        let link = await link()
        for line in ["STATUS", "SPEED:1", "OFF"] { link.send(Array(line.utf8)) }
        #expect(await device.nextSent() == "STATUS\n")
        let closing = Task { await link.close() }
        await clock.untilSomebodySleeps(until: .milliseconds(200))
        closing.cancel()
        #expect(await closing.value == [Array("SPEED:1".utf8), Array("OFF".utf8)])
        #expect(device.closeCount == 1)
        #expect(device.unreadSent == [])
    }

    @Test("A line that the link refuses is reported, and the next one does not wait")
    func failure() async throws {
        device.failSends(with: LinkError(.disconnected, name: "scripted", activity: "send"))
        let link = await link()
        for line in ["ON", "OFF"] { link.send(Array(line.utf8)) }
        #expect(await link.close() == [])
        events.continuation.finish()
        var lines: [String] = []
        for await case .notSent(let line, _) in events.stream { lines.append(String(decoding: line, as: UTF8.self)) }
        #expect(lines == ["ON", "OFF"])
    }
}
