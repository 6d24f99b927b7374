internal import LineProtocol

extension LinkContract {
    /// Requirements on a link whose far end vanishes, like an unplugged device.
    static let vanishing = [
        Requirement("The last bytes of a vanished far end are received before the disconnection") { bench in
            // More than two reads of 4096 bytes, so that the link must read on after the far end has gone.
            let words = payload(9000, seed: 9)
            try await bench.far.send(words)
            var received: [UInt8] = []
            if !bench.abilities.contains(.keepsLastBytes) { received += try await bench.receive(words.count) }
            bench.far.vanish()
            received += try await bench.receive(words.count - received.count)
            try bench.expect("received", received, are: words)
            for _ in 0..<3 {
                try await bench.expectDisconnected()
                try await bench.expect("receiveAvailable()", failsWith: .disconnected) { () throws(LinkError) in
                    try await bench.link.receiveAvailable()
                }
            }
            try await bench.expect("sending", failsWith: .disconnected) { () throws(LinkError) in
                try await bench.link.send(Array("ON\n".utf8))
            }
        },
        Requirement("A vanished far end wakes a waiting receive, and closing then ends the link") { bench in
            let waiting = bench.startReceiving()
            await bench.settle()
            bench.far.vanish()
            try bench.expect("the waiting receive", await waiting.outcome, endsWith: .disconnected)
            try await bench.expectDisconnected()
            await bench.link.close()
            try await bench.expectClosed()
        },
        Requirement("A vanished far end ends waiting sends", needs: .holdsSenderBack) { bench in
            let first = bench.startSending(payload(beyondBuffers, seed: 10))
            let second = bench.startSending(Array("queued".utf8))
            try await bench.far.waitForBytes()
            await bench.settle()
            bench.far.vanish()
            try bench.expect("the waiting send", await first.outcome, endsWith: .disconnected)
            try bench.expect("the queued send", await second.outcome, endsWith: .disconnected)
            try await bench.expectDisconnected()
        },
        Requirement("The sequence of received bytes throws once when the far end vanishes") { bench in
            let iterating = bench.start { () throws(LinkError) in
                var count = 0
                do throws(LinkError) {
                    for try await bytes in bench.link.received {
                        count += bytes.count
                        if count == 5 { bench.far.vanish() }
                    }
                } catch {
                    guard error.code == .disconnected else { throw error }
                    return count
                }
                return -1
            }
            try await bench.far.send("HELLO")
            let count = try await iterating.outcome.get()
            try bench.expect(count >= 0, "the sequence ended without an error")
            try bench.expect(count == 5, "the sequence threw after \(count) bytes, expected 5")
        },
        sendingToVanished,
    ]

    /// Sending to a vanished far end fails, and raises no SIGPIPE.
    package static let sendingToVanished = Requirement(
        "Sending to a vanished far end fails with disconnected"
    ) { bench in
        bench.far.vanish()
        // TCP accepts the first bytes, and learns of the loss only from the response to them.
        while true {
            do throws(LinkError) { try await bench.link.send(Array("ON\n".utf8)) } catch { break }
            try await bench.clock.sleep(for: .milliseconds(1))
        }
        for _ in 0..<2 {
            try await bench.expect("sending", failsWith: .disconnected) { () throws(LinkError) in
                try await bench.link.send(Array("ON\n".utf8))
            }
        }
    }
}

extension LinkBench {
    fileprivate func expectDisconnected() async throws {
        try await expect("receive()", failsWith: .disconnected) { () throws(LinkError) in try await link.receive() }
    }
}
