import LineProtocol
import Synchronization
import Testing
import Transports

extension LinkContract {
    /// The arrivals at a receiver.
    private final class Arrivals: Sendable {
        private struct State {
            var bytes: [UInt8] = []
            var ends: [LinkError.Code?] = []
            var isLate = false
        }

        private let state = Mutex(State())
        let ended = AsyncStream<Void>.makeStream()
        let came = AsyncStream<Int>.makeStream()

        func take(_ arrival: LinkArrival) {
            state.withLock { state in
                switch arrival {
                case .bytes(let bytes):
                    state.bytes += bytes
                    state.isLate = state.isLate || !state.ends.isEmpty
                    came.continuation.yield(state.bytes.count)
                case .ended(let error):
                    state.ends.append(error?.code)
                    ended.continuation.yield()
                }
            }
        }

        var bytes: [UInt8] { state.withLock { $0.bytes } }
        var ends: [LinkError.Code?] { state.withLock { $0.ends } }
        var isLate: Bool { state.withLock { $0.isLate } }

        func wait(for count: Int) async {
            for await have in came.stream where have >= count { return }
        }

        func waitForEnd() async {
            for await _ in ended.stream { return }
        }
    }

    @Test("A receiver gets all bytes in order, and one end at closing", arguments: Carrier.allCases)
    func forwardAndClose(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let arrivals = Arrivals()
        await link.forward { arrivals.take($0) }
        let bytes = payload(300_000, seed: 11)
        try await far.send(bytes)
        await arrivals.wait(for: bytes.count)
        #expect(arrivals.bytes == bytes)
        await link.close()
        await arrivals.waitForEnd()
        await link.close()
        await link.settle()
        #expect(arrivals.ends == [nil])
        #expect(!arrivals.isLate)
    }

    @Test("A receiver gets the loss of the far end once, after all bytes", arguments: Carrier.allCases)
    func forwardAndVanish(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let arrivals = Arrivals()
        await link.forward { arrivals.take($0) }
        let bytes = payload(20_000, seed: 12)
        try await far.send(bytes)
        if !carrier.keepsLastWords { await arrivals.wait(for: bytes.count) }
        far.vanish()
        await arrivals.waitForEnd()
        await link.close()
        await link.settle()
        #expect(arrivals.bytes == bytes)
        #expect(arrivals.ends == [.disconnected])
        #expect(!arrivals.isLate)
    }

    @Test("A late receiver gets the kept bytes and the end", arguments: Carrier.allCases)
    func forwardAfterVanish(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        try await far.send("!")
        _ = try await link.receive()
        if carrier.keepsLastWords { try await far.send("ERROR:OVERHEAT\r\n") }
        far.vanish()
        await link.settle()
        let arrivals = Arrivals()
        await link.forward { arrivals.take($0) }
        await arrivals.waitForEnd()
        #expect(arrivals.bytes == (carrier.keepsLastWords ? Array("ERROR:OVERHEAT\r\n".utf8) : []))
        #expect(arrivals.ends == [.disconnected])
        await link.close()
    }

    @Test("A receiver added after closing gets the end alone", arguments: Carrier.allCases)
    func forwardAfterClose(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        await link.close()
        let arrivals = Arrivals()
        await link.forward { arrivals.take($0) }
        await arrivals.waitForEnd()
        #expect(arrivals.ends == [nil])
        far.vanish()
    }

    @Test("A receiver is called on the link's executor", arguments: Carrier.allCases)
    func forwardsOnExecutor(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let executor = link.executor
        let isThere = AsyncStream<Bool?>.makeStream()
        await link.forward { _ in isThere.continuation.yield(executor.isIsolatingCurrentContext()) }
        try await far.send("!")
        for await there in isThere.stream {
            #expect(there == true)
            break
        }
        await link.close()
    }
}
