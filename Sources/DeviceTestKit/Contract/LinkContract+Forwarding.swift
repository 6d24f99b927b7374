internal import LineProtocol
internal import Synchronization

extension LinkContract {
    /// Requirements on `Link.forward(to:)`.
    static let forwarding = [
        Requirement("A receiver gets all bytes in order, and one end at closing") { bench in
            let arrivals = Arrivals()
            await bench.link.forward { arrivals.take($0) }
            let bytes = payload(300_000, seed: 11)
            try await bench.far.send(bytes)
            await arrivals.wait(for: bytes.count)
            await bench.link.close()
            await arrivals.waitForEnd()
            await bench.link.close()
            await bench.settle()
            try bench.expect(arrivals, got: bytes, thenEnd: nil)
        },
        Requirement("A receiver gets the loss of the far end once, after all bytes") { bench in
            let arrivals = Arrivals()
            await bench.link.forward { arrivals.take($0) }
            let bytes = payload(20_000, seed: 12)
            try await bench.far.send(bytes)
            if !bench.abilities.contains(.keepsLastBytes) { await arrivals.wait(for: bytes.count) }
            bench.far.vanish()
            await arrivals.waitForEnd()
            await bench.link.close()
            await bench.settle()
            try bench.expect(arrivals, got: bytes, thenEnd: .disconnected)
        },
        Requirement("A late receiver gets the kept bytes and the end") { bench in
            let words = bench.abilities.contains(.keepsLastBytes) ? "ERROR:OVERHEAT\r\n" : ""
            // Read once: a link may watch its carrier only from the first read on.
            try await bench.far.send("!")
            _ = try await bench.receive(1)
            try await bench.far.send(words)
            bench.far.vanish()
            await bench.settle()
            let arrivals = Arrivals()
            await bench.link.forward { arrivals.take($0) }
            await arrivals.waitForEnd()
            try bench.expect(arrivals, got: Array(words.utf8), thenEnd: .disconnected)
        },
        Requirement("A receiver added after closing gets the end alone") { bench in
            await bench.link.close()
            let arrivals = Arrivals()
            await bench.link.forward { arrivals.take($0) }
            await arrivals.waitForEnd()
            try bench.expect(arrivals, got: [], thenEnd: nil)
        },
        Requirement("A receiver is called on the link's executor") { bench in
            let executor = bench.link.executor
            let isThere = AsyncStream<Bool?>.makeStream()
            await bench.link.forward { _ in isThere.continuation.yield(executor.isIsolatingCurrentContext()) }
            try await bench.far.send("!")
            for await there in isThere.stream {
                // nil means that the executor does not know.
                return try bench.expect(there != false, "the receiver was called elsewhere")
            }
        },
    ]

    /// The arrivals at a receiver. `isLate` means that bytes came after an end.
    fileprivate final class Arrivals: Sendable {
        private struct State {
            var bytes: [UInt8] = []
            var ends: [LinkError.Code?] = []
            var isLate = false
        }

        private let state = Mutex(State())
        private let ended = AsyncStream<Void>.makeStream()
        private let came = AsyncStream<Int>.makeStream()

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
}

extension LinkBench {
    /// Expects that exactly these bytes and one end came, in this order.
    fileprivate func expect(
        _ arrivals: LinkContract.Arrivals, got bytes: [UInt8], thenEnd code: LinkError.Code?
    ) throws {
        try expect(!arrivals.isLate, "the receiver got bytes after the end")
        try expect("the receiver got", arrivals.bytes, are: bytes)
        let (ends, end) = (arrivals.ends.map { $0?.rawValue ?? "closed" }, code?.rawValue ?? "closed")
        try expect(ends == [end], "the receiver got the ends \(ends); expected one, \(end)")
    }
}
