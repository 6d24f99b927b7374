internal import LineProtocol

extension LinkContract {
    /// Requirements on an open link with both ends present: bytes pass in both directions, complete and in order.
    static let passing = [
        Requirement("A new link has a name, keeps no packet bounds and has nothing to read") { bench in
            try bench.expect(!bench.link.name.isEmpty, "the link has no name")
            try bench.expect(!bench.link.keepsPacketBounds, "the link keeps packet bounds")
            let length = bench.link.maximumWriteLength
            try bench.expect(length.map { $0 > 0 } ?? true, "maximumWriteLength is \(length ?? 0)")
            try bench.expect("received", try await bench.link.receiveAvailable(), are: [])
        },
        Requirement("Lines pass in both directions") { bench in
            for number in 0..<20 {
                let words = Array("STATUS \(number)\n".utf8)
                try await bench.link.send(words)
                try bench.expect("far end received", try await bench.far.receive(words.count), are: words)
                try await bench.far.send(words)
                try bench.expect("received", try await bench.receive(words.count), are: words)
            }
        },
        Requirement("Bytes that sendAtOnce takes arrive in order with sent bytes, and refused bytes never") { bench in
            var expected: [UInt8] = []
            for number in 0..<20 {
                let words = Array("STATUS \(number)\n".utf8)
                let sending = bench.start { () throws(LinkError) in try bench.link.sendAtOnce(words) }
                if try await sending.outcome.get() { expected += words }
                try await bench.send("LOG \(number)\n")
                expected += Array("LOG \(number)\n".utf8)
            }
            let received = try await bench.far.receive(until: Array("LOG 19\n".utf8))
            try bench.expect("far end received", received, are: expected)
        },
        Requirement("Every byte value passes unchanged") { bench in
            let bytes = (0...255).map { UInt8($0) } + (0...255).reversed().map { UInt8($0) }
            try await bench.link.send(bytes)
            try bench.expect("far end received", try await bench.far.receive(bytes.count), are: bytes)
            try await bench.far.send(bytes)
            try bench.expect("received", try await bench.receive(bytes.count), are: bytes)
        },
        Requirement("An empty send sends nothing") { bench in
            try await bench.link.send([])
            try await bench.send("OFF\n")
            try bench.expect("far end received", try await bench.far.receive(4), are: Array("OFF\n".utf8))
        },
        Requirement("Lines sent in pieces arrive whole in both directions") { bench in
            let words = Array("SPEED:180\r\n".utf8)
            for byte in words { try await bench.link.send([byte]) }
            try bench.expect("far end received", try await bench.far.receive(words.count), are: words)
            // The next piece is sent only after the previous one has arrived: the link receives each separately.
            var received: [UInt8] = []
            for byte in words {
                try await bench.far.send([byte])
                received += try await bench.receive(1)
            }
            try bench.expect("received", received, are: words)
        },
        Requirement("Available bytes are received without waiting") { bench in
            let words = Array("MANUAL:ON\r\n".utf8)
            try bench.expect("received at first", try await bench.link.receiveAvailable(), are: [])
            try await bench.far.send("!")
            try bench.expect("received", try await bench.receive(1), are: Array("!".utf8))
            try await bench.far.send(words)
            // The kernel may deliver the bytes later.
            var received: [UInt8] = []
            while received.count < words.count {
                let bytes = try await bench.link.receiveAvailable()
                received += bytes
                if bytes.isEmpty { try await bench.clock.sleep(for: .milliseconds(1)) }
            }
            try bench.expect("received", received, are: words)
            try bench.expect("received after that", try await bench.link.receiveAvailable(), are: [])
            await bench.link.close()
            try bench.expect("received after closing", try await bench.link.receiveAvailable(), are: [])
        },
        Requirement("Concurrent sends are not interleaved") { bench in
            let length = 30_000  // more than a terminal buffers: each sender must wait
            let sent = (0..<8).map { sender in [UInt8](repeating: UInt8(sender), count: length) }
            // In a group, so that the failure of one part ends the others and is reported.
            try await withThrowingTaskGroup { group in
                for bytes in sent { group.addTask { try await bench.link.send(bytes) } }
                group.addTask {
                    let received = try await bench.far.receive(8 * length)
                    let messages = (0..<8).map { received[$0 * length..<($0 + 1) * length] }
                        .sorted { $0.first ?? 0 < $1.first ?? 0 }
                    try bench.expect("far end received", Array(messages.joined()), are: Array(sent.joined()))
                }
                try await group.waitForAll()
            }
        },
        Requirement("Bytes are sent in the order of the calls") { bench in
            // All three are in flight at once, in this order, on the link's executor.
            let parts = [payload(1 << 18, seed: 2), Array("second".utf8), Array("third".utf8)]
            let sending = parts.map { bench.startSending($0) }
            let received = try await bench.far.receive(parts.joined().count)
            try bench.expect("far end received", received, are: Array(parts.joined()))
            for task in sending { try bench.expect("sending", await task.outcome, endsWith: nil) }
        },
    ]
}
