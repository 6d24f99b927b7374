import DeviceKit
import DeviceTestKit
import Foundation
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("The peer monitor", .timeLimit(.minutes(5)))
struct PeerMonitorTests {
    @Test func `Each link gets a greeting, and its loss and return are events`() async throws {
        let (first, second) = (ScriptedLink(), ScriptedLink())
        let reconnector = Reconnector(try Endpoint("tcp:bench:4000"), first, open: { _ in second })
        let monitor = PeerMonitor(over: first, reconnector)
        var events = monitor.makeAsyncIterator()
        await first.deliver("one\n")
        #expect(try await event(&events)?.text == "one")
        #expect(await first.nextSent() == "Hello\n")
        await first.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        #expect(try await event(&events)?.kind == .lost)
        #expect(try await event(&events)?.kind == .back)
        await second.deliver("ON\n")
        #expect(try await event(&events)?.toggle == "on")
        #expect(await second.nextSent() == "Hello\n")
        await monitor.close()
        #expect(first.closeCount == 1 && second.closeCount == 1)
    }

    @Test func `Input before a loss is reported although the greeting cannot be sent`()
        async throws
    {
        let (first, second) = (ScriptedLink(), ScriptedLink())
        let reconnector = Reconnector(try Endpoint("tcp:bench:4000"), first, open: { _ in second })
        let loss = LinkError(.disconnected, name: "scripted", activity: "receive")
        await first.deliver("one\n")
        first.failSends(with: loss)
        await first.end(with: loss)
        let monitor = PeerMonitor(over: first, reconnector)
        var events = monitor.makeAsyncIterator()
        #expect(try await event(&events)?.text == "one")
        #expect(try await event(&events)?.kind == .lost)
        #expect(try await event(&events)?.kind == .back)
        await monitor.close()
    }

    @Test func `Input is reported while the greeting is blocked`() async throws {
        let link = ScriptedLink()
        link.holdSends()
        let monitor = PeerMonitor(over: link, Reconnector(try Endpoint("tcp:bench:4000"), link, open: { _ in link }))
        var events = monitor.makeAsyncIterator()
        await link.deliver("one\n")
        #expect(try await event(&events)?.text == "one")
        link.releaseSends()
        await monitor.close()
    }

    @Test func `A greeting that fails is reported as a loss`() async throws {
        let link = ScriptedLink()
        link.failSends(with: LinkError(.notPermitted, name: "scripted", activity: "send"))
        let monitor = PeerMonitor(
            over: link, Reconnector(try Endpoint("tcp:bench:4000"), link, open: { _ in ScriptedLink() }))
        var events = monitor.makeAsyncIterator()
        let first = try await events.next()
        guard case .lost(let error) = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        #expect(error.code == .notPermitted)
        await monitor.close()
    }

    private func event(_ events: inout PeerMonitor.Iterator) async throws -> PeerEvent? {
        try await events.next().flatMap { PeerEvent($0) }
    }

    private static let image = PeerImage(name: "a\u{1B}.png", byteCount: 3)

    @Test(
        arguments: [
            (.acknowledgement, "Hello acknowledged", #"{"event":"acknowledged"}"#),
            (.toggle(false), "toggle off", #"{"event":"toggle","toggle":"off"}"#),
            (
                .text(PeerText(Array("雨\u{7}".utf8), isContinuation: true)), "text  …雨\\x07",
                #"{"characters":2,"continued":true,"event":"text","text":"雨\u0007"}"#
            ),
            (.text(PeerText([0x61, 0xFF])), "bytes 61 ff", #"{"event":"bytes","hex":"61 ff"}"#),
            (
                .imageBegins(image), "image a\\x1b.png, 3 bytes",
                #"{"bytes":3,"event":"image_begins","file":"a\u001b.png"}"#
            ),
            (.imageEnds, "image is complete", #"{"event":"image_ends"}"#),
            (
                .imageFailed(PeerImageError(.sizeMismatch, of: image, after: 2)), "image failed: size_mismatch",
                #"{"bytes":2,"error":"size_mismatch","event":"image_failed","file":"a\u001b.png"}"#
            ),
            (.imageRefused(reason: "not_png"), "no image: not_png", #"{"error":"not_png","event":"image_refused"}"#),
        ] as [(PeerPiece, String, String)])
    func `Each piece becomes an event as text and as JSON`(piece: PeerPiece, text: String, json: String) throws {
        let event = try #require(PeerEvent(piece))
        #expect("\(event)" == text)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(event), as: UTF8.self) == json)
    }

    @Test func `A long message is shown up to the peer's limit`() throws {
        let long = String(repeating: "a", count: PeerText.shownCharacters + 1)
        let event = try #require(PeerEvent(.text(PeerText(Array(long.utf8)))))
        #expect("\(event)" == "text  \(long.dropLast())… (the first 500 of 501 characters)")
        #expect(event.isSaidByPeople && event.text == long)
        #expect(PeerEvent(.imageData([1])) == nil)
    }
}
