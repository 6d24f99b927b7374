internal import LineProtocol

extension LinkContract {
    /// Requirements on closing the link at this end.
    static let closing = [
        Requirement("Closing ends a waiting receive with nil") { bench in
            let waiting = bench.startReceiving()
            await bench.settle()
            await bench.link.close()
            try bench.expect(try await waiting.outcome.get() == nil, "the waiting receive() returned bytes")
            try await bench.expectClosed()
        },
        Requirement("Closing ends the sequence of received bytes") { bench in
            let iterating = bench.start { () throws(LinkError) in
                var received: [UInt8] = []
                for try await bytes in bench.link.received {
                    received += bytes
                    if received.count == 3 { await bench.link.close() }
                }
                return received
            }
            for byte: UInt8 in [1, 2, 3] { try await bench.far.send([byte]) }
            try bench.expect("received", try await iterating.outcome.get(), are: [1, 2, 3])
        },
        Requirement("Closing ends waiting sends with closed", needs: .holdsSenderBack) { bench in
            let first = bench.startSending(payload(beyondBuffers, seed: 8))
            let second = bench.startSending(Array("queued".utf8))
            try await bench.far.waitForBytes()
            await bench.settle()
            await bench.link.close()
            try bench.expect("the waiting send", await first.outcome, endsWith: .closed)
            try bench.expect("the queued send", await second.outcome, endsWith: .closed)
        },
        Requirement("Closing twice, or from several tasks at once, is harmless") { bench in
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { await bench.link.close() } }
            }
            await bench.link.close()
            try await bench.expectClosed()
        },
        Requirement("Sending on a closed link fails with closed") { bench in
            await bench.link.close()
            for _ in 0..<2 {
                try await bench.expect("sending", failsWith: .closed) { () throws(LinkError) in
                    try await bench.link.send(Array("ON\n".utf8))
                }
            }
            let sending = bench.start { () throws(LinkError) in try bench.link.sendAtOnce(Array("ON\n".utf8)) }
            let result = await sending.outcome
            // A link that always refuses need not throw.
            if (try? result.get()) != false { try bench.expect("sendAtOnce()", result, endsWith: .closed) }
        },
        Requirement("Bytes sent before closing arrive") { bench in
            try await bench.send("OFF\n")
            await bench.link.close()
            try bench.expect("far end received", try await bench.far.receive(4), are: Array("OFF\n".utf8))
        },
    ]
}
