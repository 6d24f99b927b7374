import LineProtocol
import Synchronization
import Testing
import Transports

/// A flag that can be raised once.
private final class Flag: Sendable {
    private let state = Mutex(false)
    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
}

extension LinkContract {
    /// A number of bytes that is larger than all kernel buffers between the two ends of a link.
    private static let beyondBuffers = 1 << 20

    @Test("Sending waits while the far end does not read, and loses nothing", arguments: Carrier.allCases)
    func sendingWaits(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let bytes = payload(Self.beyondBuffers)
        let hasReturned = Flag()
        let sending = link.start { () throws(LinkError) in
            try await link.send(bytes)
            hasReturned.raise()
        }
        try await far.waitForBytes()
        await link.settle()
        #expect(!hasReturned.isRaised)
        let received = try await far.receive(bytes.count)
        // #expect alone would print both arrays in full.
        let isSame = received == bytes
        #expect(isSame)
        #expect(await sending.outcome.code == nil)
        #expect(hasReturned.isRaised)
        await link.close()
    }

    @Test("The far end is blocked while nobody receives, and nothing is lost", arguments: Carrier.holdingBack)
    func receivingHoldsBack(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        // The first read makes the loop watch the link: from now on it reads input as it arrives.
        try await far.send("!")
        #expect(try await link.receive() == Array("!".utf8))

        let bytes = payload(Self.beyondBuffers, seed: 3)
        let taken = try await far.sendUntilRefused(bytes)
        #expect(taken > 0)
        #expect(taken < bytes.count)
        await link.settle()
        // A separate task sends the rest while this one receives.
        let rest = Array(bytes[taken...].prefix(1 << 16))
        async let sending: Void = far.send(rest)
        let received = try await link.receive(taken + rest.count)
        try await sending
        let isSame = received == Array(bytes[..<(taken + rest.count)])
        #expect(isSame)
        await link.close()
    }

    @Test("Large transfers pass in both directions at once", arguments: Carrier.allCases)
    func bothWays(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let out = payload(1 << 18, seed: 4)
        let back = payload(1 << 18, seed: 5)
        // In a group, so that the failure of one part ends the others and is reported.
        try await withThrowingTaskGroup { group in
            group.addTask { try await link.send(out) }
            group.addTask { try await far.send(back) }
            group.addTask {
                let isSame = try await far.receive(out.count) == out
                #expect(isSame)
            }
            group.addTask {
                let isSame = try await link.receive(back.count) == back
                #expect(isSame)
            }
            try await group.waitForAll()
        }
        await link.close()
    }
}
