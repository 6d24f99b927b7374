internal import LineProtocol

extension FamilyVerification {
    /// Checks of greetings.
    static let greetingChecks: [Check] = [
        Check("peer.greeting", 15, "a subscriber gets HELLO from <host> @ <time>, in ISO 8601") { bench in
            bench.recall(bench.opening.steps)
            // A greeting without the host's name has 34 bytes, which leaves 30 for the name.
            try await bench.requirePackets(of: 64)
            guard let line = bench.opening.lines.first(where: { $0.text.hasPrefix("HELLO") }) else {
                guard bench.keepsPacketBounds else {
                    throw CheckSkip(reason: "a serial line has no subscriptions, and this peer sent no greeting")
                }
                let got = bench.opening.lines.first?.bytes.shown ?? "nothing"
                throw CheckFailure(expected: "HELLO from <host> @ <ISO 8601 time>", got: got)
            }
            let text = line.message.text
            let parts = text.dropFirst("HELLO from ".count).split(separator: " @ ", omittingEmptySubsequences: false)
            let isGreeting =
                text.hasPrefix("HELLO from ") && parts.count >= 2 && !parts[0].isEmpty
                && ISO8601.isInstant(parts[parts.count - 1])
            try require(isGreeting, "HELLO from <host> @ <ISO 8601 time>", got: line.bytes.shown)
        },
        Check("peer.hello", 4, "Hello is answered by Hello ack, or not at all") {
            bench in
            try await bench.expectNoReply(to: "Hello", but: "Hello ack")
        },
        Check("peer.hello.from", 5, "HELLO from Central @ <time> is not answered") { bench in
            try await bench.expectNoReply(to: "HELLO from Central @ 2026-01-01T00:00:00Z")
        },
    ]

    /// Checks of the requests for an image.
    static let wordChecks: [Check] = [
        Check("peer.get.image", 6, "GET or GET_IMAGE requests the image") { bench in
            try await bench.expectImage("GET_IMAGE")
        },
        Check("peer.get.case", 11, "GET and GET_IMAGE are case-insensitive") { bench in
            try await bench.expectImage("gEt")
        },
        Check("peer.get.trimmed", 12, "spaces around GET and GET_IMAGE are trimmed") { bench in
            try await bench.expectImage("  GET ")
        },
    ]

    /// Checks of messages. Most texts say that they are a test, or resemble a command.
    static let textChecks: [Check] = [
        Check("peer.text.unanswered", 10, "texts are not acknowledged") { bench in
            try await bench.expectNoReply(to: "pumpctl verify: a test message, to GET no answer. Please ignore.")
        },
        Check("peer.text.message", 9, "any other text is shown", needs: [.stimulus]) { bench in
            try await bench.expectMessage("pumpctl verify: a test message. Please ignore.")
        },
        Check("peer.text.words", 9, "any other text is shown, even one like a command", needs: [.run, .stimulus]) {
            bench in
            // A peer may misread one of these texts as ON.
            bench.mayHaveRun = true
            for text in ["ONE test message of pumpctl", "OFF!", "GET IMAGE", "gets"] {
                try await bench.expectMessage(text)
            }
        },
        // The text has 506 characters. The stimulus counts messages, but does not show how much of one is visible.
        Check("peer.text.long", 13, "a text is shown up to 500 characters", needs: [.stimulus]) { bench in
            try await bench.expectMessage("pumpctl verify: a long test message " + String(repeating: ".", count: 470))
        },
        Check("peer.text.bytes", 14, "bytes that are not UTF-8 are shown in hexadecimal", needs: [.stimulus]) { bench in
            try await bench.expectMessage([0xFF, 0xFE, 0x80, 0x41])
        },
    ]

    /// Checks of the toggle. The toggle is switched off after each check.
    static let toggleChecks: [Check] = [
        Check("peer.toggle.unanswered", 10, "ON and OFF are not acknowledged", needs: [.run]) {
            bench in
            bench.mayHaveRun = true
            try await bench.expectNoReply(to: "ON")
            try await bench.expectNoReply(to: "OFF")
        },
        Check("peer.toggle.on", 7, "ON switches on", needs: [.run, .stimulus]) { bench in
            try await bench.expectToggle("ON", true)
        },
        Check("peer.toggle.off", 8, "OFF switches off", needs: [.run, .stimulus]) { bench in
            // Switch on at the device: another check judges ON.
            bench.mayHaveRun = true
            if try await bench.observe("on") != "true" { try await bench.act("toggle") }
            try await bench.expectToggle("OFF", false)
        },
        Check("peer.toggle.case", 11, "ON and OFF are case-insensitive", needs: [.run, .stimulus]) { bench in
            try await bench.expectToggle("oN", true)
            try await bench.expectToggle("oFf", false)
        },
    ]
}

extension Bench {
    /// Sends `text`, fails if the peer replies within 250 ms with anything but the acknowledgement, and makes sure by a
    /// request for the image that the peer still listens.
    ///
    /// A message that a person types at the peer at that moment is not a reply. So the text is sent up to four times,
    /// and the check fails only if a line comes each time.
    fileprivate func expectNoReply(to text: String, but acknowledgement: String? = nil) async throws {
        try requireImageOver()
        var heard: HeardLine?
        for _ in 1...4 {
            try await say(text)
            heard = nil
            let deadline = elapsed + .milliseconds(250)
            while let line = try await line(by: deadline) {
                if let acknowledgement, line.message.text == acknowledgement {
                    note("answers \(text.prefix(5)) with \(acknowledgement)")
                } else {
                    heard = line
                }
            }
            if heard == nil { break }
        }
        let expected = acknowledgement.map { "\($0), or nothing" } ?? "nothing"
        if let heard { throw CheckFailure(expected: expected, got: heard.bytes.shown) }
        try await expectImage("GET")
    }

    fileprivate func expectMessage(_ text: String) async throws { try await expectMessage(Array(text.utf8)) }

    /// Sends `text`, and fails unless the peer has one message more and its toggle is unchanged, by the stimulus.
    fileprivate func expectMessage(_ text: [UInt8]) async throws {
        try requireImageOver()
        let (count, isOn) = (try await observeCount("messages"), try await observe("on"))
        try await say(text)
        // Nothing acknowledges the text: give the peer time to take it.
        try await quiet(for: .milliseconds(150))
        let (now, isStillOn) = (try await observeCount("messages"), try await observe("on"))
        // A peer keeps a limited number of messages, the simulated one 100.
        if now == count, count >= 100 { throw CheckSkip(reason: "the peer keeps no more than \(count) messages") }
        try require(now == count + 1, "\((count + 1).counted("message")) at the peer", got: "\(now)")
        try require(isOn == isStillOn, "on: \(isOn), as before", got: "on: \(isStillOn)")
    }

    /// Sends `word`, and fails unless the toggle is as expected.
    fileprivate func expectToggle(_ word: String, _ isOn: Bool) async throws {
        try requireImageOver()
        mayHaveRun = true
        try await say(word)
        try await quiet(for: .milliseconds(150))
        let now = try await observe("on")
        try require(now == "\(isOn)", "on: \(isOn) after \(word)", got: "on: \(now)")
    }
}
