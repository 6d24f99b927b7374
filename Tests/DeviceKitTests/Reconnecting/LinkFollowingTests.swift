import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("Following a link through losses", .timeLimit(.minutes(5)))
struct LinkFollowingTests {
    private let links = (0..<3).map { _ in ScriptedLink() }
    private let lost = LinkError(.disconnected, name: "scripted", activity: "receive")

    /// Follows the first link, and then the others in turn.
    private func following(
        _ listen: @escaping LinkFollowing<[UInt8]>.Listener = { link in { try await link.receive() } }
    ) throws -> LinkFollowing<[UInt8]> {
        let later = Watched(Array(links.dropFirst()))
        let reconnector = Reconnector(
            try Endpoint("tcp:bench:4000"), links[0],
            open: { endpoint in
                guard !later.state.isEmpty else { throw LinkError(.unsupported, name: endpoint.text, activity: "open") }
                return later.update { $0.removeFirst() as any Link }
            })
        return LinkFollowing(over: links[0], reconnector, listen: listen)
    }

    private func text(_ event: LinkFollowing<[UInt8]>.Element?) -> String {
        switch event {
        case .heard(let bytes): String(decoding: bytes, as: UTF8.self)
        case .lost(let error): error.code.rawValue
        case .back: "back"
        case nil: "nil"
        }
    }

    @Test func `Following goes on at the next link and closes each`() async throws {
        var events = try following().makeAsyncIterator()
        for (number, link) in links.enumerated() {
            await link.deliver("\(number)")
            if number > 0 { #expect(text(try await events.next()) == "back") }
            #expect(text(try await events.next()) == "\(number)")
            await link.end(with: lost)
            #expect(text(try await events.next()) == "disconnected")
            #expect(link.closeCount == 1)
        }
        // An error that waiting can't mend ends the sequence.
        let error = await #expect(throws: LinkError.self) { try await events.next() }
        #expect(error?.code == .unsupported)
        await #expect(throws: CancellationError.self) { try await events.next() }
    }

    @Test func `A link that is lost before it can be read counts as a loss`() async throws {
        let lost = lost
        var events = try following { _ in throw lost }.makeAsyncIterator()
        var texts: [String] = []
        for _ in 0..<4 { texts.append(text(try await events.next())) }
        #expect(texts == ["disconnected", "back", "disconnected", "back"])
        #expect(links.map(\.closeCount) == [1, 1, 0])
    }

    @Test func `Closing closes the link and ends the sequence`() async throws {
        let following = try following()
        var events = following.makeAsyncIterator()
        await following.close()
        await following.close()
        #expect(links[0].closeCount == 1)
        await #expect(throws: CancellationError.self) { try await events.next() }
    }

    @Test func `Breaking out of the loop closes the link`() async throws {
        let following = try following()
        await links[0].deliver("0")
        try await following.closing { for try await _ in following { break } }
        #expect(links[0].closeCount == 1)
        await #expect(throws: CancellationError.self) { for try await _ in following {} }
    }

    @Test func `Cancelling the reader closes the link`() async throws {
        let following = try following()
        let reading = Task { try await following.closing { for try await _ in following {} } }
        await settle()
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(links[0].closeCount == 1)
    }

    @Test func `Following ends after the given number of counted events`() async throws {
        let following = try following()
        for text in ["one", "other", "two"] { await links[0].deliver(text) }
        var texts: [String] = []
        try await following.closing {
            try await following.forEach(until: 2) { event in
                texts.append(text(event))
                return text(event) != "other"
            }
        }
        #expect(texts == ["one", "other", "two"])
        #expect(links[0].closeCount == 1)
    }

    @Test func `Following to the count of 0 waits for no event`() async throws {
        let following = try following()
        try await following.closing { try await following.forEach(until: 0) { _ in true } }
        #expect(links[0].closeCount == 1)
    }
}
