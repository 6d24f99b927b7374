internal import LineProtocol
internal import StrictJSON

extension FamilyVerification {
    /// Checks of the phone's handling of a received message. Checks of a message's members need a phone that sends the
    /// message back; for the others, a stimulus that counts messages is enough.
    static let receptionChecks: [Check] = [
        Check(
            "rescue.received.whole", 17, "a message is passed on with its content, place, time and category",
            needs: [.send]
        ) {
            bench in
            let message = bench.testMessage("whole")
            let again = try await bench.sayAndHear(message)
            let numbers = [
                ("latitude", message.latitude), ("longitude", message.longitude), ("timestamp", message.timestamp),
            ]
            for (name, number) in numbers {
                let got = again[name]?.number.map { "\($0)" } ?? "none"
                try require(again[name]?.number == number, "\(name) \(number)", got: got)
            }
            for (name, text) in [("content", message.content), ("category", message.category)] {
                try require(again[name]?.text == text, "\(name) \(text)", got: again[name]?.text ?? "none")
            }
        },
        Check(
            "rescue.received.pending", 15, "a received message is stored with the status pending_sync",
            needs: [.send]
        ) {
            bench in
            var message = bench.testMessage("pending")
            message.status = "synced"
            let status = try await bench.sayAndHear(message)["status"]?.text
            try require(status == "pending_sync", "pending_sync", got: status ?? "no status")
        },
        Check("rescue.received.once", 16, "a message whose id is known is not stored again", needs: [.send]) { bench in
            let message = bench.testMessage("once")
            try await bench.expectStored(1, of: [message]) { try await bench.say(message) }
            try await bench.expectStored(0, of: [message]) { try await bench.say(message) }
        },
        Check(
            "rescue.received.parts", 2, "a message that does not fit into one packet is sent in pieces", needs: [.send]
        ) {
            bench in
            let message = bench.testMessage("parts")
            let bytes = Array(message.json.utf8)
            try await bench.expectStored(1, of: [message]) {
                // 20 bytes is the least that a BLE packet holds.
                for start in stride(from: 0, to: bytes.count, by: 20) {
                    try await bench.send(Array(bytes[start..<min(start + 20, bytes.count)]))
                }
            }
        },
        Check("rescue.received.two", 4, "two messages in a row are read as two", needs: [.send]) { bench in
            let messages = [bench.testMessage("two, the first"), bench.testMessage("two, the second")]
            try await bench.expectStored(2, of: messages) {
                try await bench.send(messages.map(\.json).joined())
            }
        },
        Check(
            "rescue.received.restart", 18, "a received message survives a restart", needs: [.send, .stimulus]
        ) { bench in
            let message = bench.testMessage("restart")
            try await bench.expectStored(1, of: [message]) { try await bench.say(message) }
            let count = try await bench.observeCount("received")
            try await bench.act("reset")
            try await bench.drain(quiet: .seconds(1))
            let after = try await bench.observeCount("received")
            try require(after == count, "\(count.counted("message")) after a restart, as before", got: "\(after)")
            try await bench.expectStored(0, of: [message]) { try await bench.say(message) }
        },
    ]
}

extension Bench {
    /// Sends a message, and returns the copy that the phone sends back.
    ///
    /// - Throws: ``CheckSkip`` if the phone sends nothing back. `CheckFailure` if the phone sends messages back, but
    ///   not this one.
    fileprivate func sayAndHear(_ message: TestMessage) async throws -> JSONValue {
        guard isEchoed else { throw CheckSkip(reason: "the phone does not send received messages back") }
        try await say(message)
        guard let again = try await reply(to: message) else {
            throw CheckFailure(expected: "the message \(message.id) sent back", got: "no such message")
        }
        return again
    }

    /// Runs `body`, and fails unless the phone then has exactly `number` new messages, by the count of the stimulus and
    /// by the messages that the phone sends back. Skips the check if there is no stimulus and the
    /// phone sends no messages back.
    fileprivate func expectStored(
        _ number: Int, of messages: [TestMessage], _ body: () async throws -> Void
    ) async throws {
        let before = stimulus == nil ? nil : try await observeCount("received")
        guard isEchoed || before != nil else {
            throw CheckSkip(reason: "the phone does not send received messages back, and no stimulus counts them")
        }
        try await body()
        var again: [String] = []
        // For a message that should not come, one second is enough.
        let deadline = elapsed + (number == 0 ? .seconds(1) : max(options.timeout, .seconds(1)))
        while again.count < max(number, 1), let line = try await line(by: deadline) {
            guard let id = JSONValue(received: line.bytes)?["id"]?.text?.uppercased() else { continue }
            if messages.contains(where: { $0.id == id }) { again.append(id) }
        }
        if let before {
            let stored = try await observeCount("received") - before
            try require(stored == number, "\(number.counted("message")) stored", got: "\(stored)")
        }
        if isEchoed {
            let expected =
                number == 0
                ? "no known message sent back" : "each of \(number.counted("message")) sent back"
            try require(Set(again).count == number, expected, got: "\(again.count) sent back")
        }
    }
}
