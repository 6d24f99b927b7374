internal import LineProtocol
internal import Synchronization

extension LinkContract {
    /// Requirements on sending while the other end does not read, in either direction.
    static let backPressure = [
        Requirement(
            "Sending waits while the far end does not read, and loses nothing", needs: .holdsSenderBack
        ) { bench in
            let bytes = payload(beyondBuffers)
            let hasReturned = Flag()
            let sending = bench.start { () throws(LinkError) in
                try await bench.link.send(bytes)
                hasReturned.raise()
            }
            try await bench.far.waitForBytes()
            await bench.settle()
            try bench.expect(!hasReturned.isRaised, "send() returned before the far end had read; \(limitBuffers)")
            try bench.expect("far end received", try await bench.far.receive(bytes.count), are: bytes)
            try bench.expect("sending", await sending.outcome, endsWith: nil)
        },
        Requirement(
            "The far end is blocked while nobody receives, and nothing is lost", needs: .holdsFarEndBack
        ) { bench in
            // Read once: a link may watch its carrier only from the first read on, and only then could it read ahead
            // without limit.
            try await bench.far.send("!")
            try bench.expect("received", try await bench.receive(1), are: Array("!".utf8))

            let bytes = payload(beyondBuffers, seed: 3)
            // The link may read some bytes of the carrier, which makes room for more, but it must stop.
            var taken = 0
            while taken < bytes.count {
                let count = try await bench.far.sendUntilRefused(Array(bytes[taken...]))
                if count == 0 { break }
                taken += count
                await bench.settle()
            }
            try bench.expect(taken > 0, "the far end could send nothing")
            try bench.expect(
                taken < bytes.count, "the far end could send \(taken) bytes that nobody received; \(limitBuffers)")
            // A separate task sends another 64 KiB while this one receives: nothing was lost if they arrive directly
            // after the bytes sent before.
            let rest = Array(bytes[taken...].prefix(1 << 16))
            async let sending: Void = bench.far.send(rest)
            let received = try await bench.receive(taken + rest.count)
            try await sending
            try bench.expect("received", received, are: Array(bytes[..<(taken + rest.count)]))
        },
        Requirement("Large transfers pass in both directions at once") { bench in
            // More than a terminal or a Unix socket buffers by default, so that both directions wait at times.
            let out = payload(1 << 18, seed: 4)
            let back = payload(1 << 18, seed: 5)
            // In a group, so that the failure of one part ends the others and is reported.
            try await withThrowingTaskGroup { group in
                group.addTask { try await bench.link.send(out) }
                group.addTask { try await bench.far.send(back) }
                group.addTask {
                    try bench.expect("far end received", try await bench.far.receive(out.count), are: out)
                }
                group.addTask { try bench.expect("received", try await bench.receive(back.count), are: back) }
                try await group.waitForAll()
            }
        },
    ]

    /// A number of bytes that is larger than all kernel buffers between the two ends of a link.
    static let beyondBuffers = 1 << 20

    private static let limitBuffers = "limit the buffers (SO_SNDBUF, SO_RCVBUF) to less than 1 MiB"

    /// A flag that can be raised once.
    private final class Flag: Sendable {
        private let state = Mutex(false)
        var isRaised: Bool { state.withLock { $0 } }
        func raise() { state.withLock { $0 = true } }
    }
}
