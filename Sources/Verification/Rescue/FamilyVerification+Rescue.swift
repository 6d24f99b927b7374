internal import LineProtocol

extension FamilyVerification {
    /// Phone-to-phone messages, by docs/protocols.md.
    ///
    /// A phone keeps what it is sent, and passes it on: nothing is sent without leave. No message is ever an SOS.
    public static let rescue = FamilyVerification(
        family: "rescue", checks: [messageChecks, writingChecks, receptionChecks].flatMap(\.self),
        begin: RescueCare.begin, finish: { _, _ in }, recover: RescueCare.recover, end: { _ in .harmless },
        isUnasked: { _ in true }, framing: .objects, driven: "the phone")
}

/// How a phone is treated: it is listened to first, and by a stimulus or with leave it is given something to say.
private enum RescueCare {
    /// How long a first message is waited for.
    private static let patience = Duration.seconds(5)
    /// How long further ones are.
    private static let further = Duration.seconds(3)

    static func begin(_ bench: Bench) async throws -> FamilyVerification.Readiness {
        if bench.options.maySend {
            if bench.stimulus != nil { try await bench.act("write", "Other", "TEST of pumpctl verify, please ignore") }
            // It tells whether a phone says again what it has received, which need not be.
            let message = bench.testMessage("first")
            try await bench.say(message)
            bench.memory = try await bench.reply(to: message, keepingIn: true) == nil ? nil : RescueCare.saysAgain
        }
        let deadline = bench.elapsed + patience
        while bench.opening.lines.isEmpty, bench.elapsed < deadline {
            guard let line = try await bench.line(by: deadline) else { break }
            bench.opening.lines.append(line)
        }
        guard !bench.opening.lines.isEmpty else {
            let expected = "a message of the phone" + (bench.options.maySend ? ", or the one that it was sent" : "")
            return .unusable(CheckFailure(expected: expected, got: "nothing in \(patience.inSeconds) s"))
        }
        let end = bench.elapsed + further
        while bench.elapsed < end, let line = try await bench.line(by: end) { bench.opening.lines.append(line) }
        bench.opening.steps = bench.steps
        return .ready
    }

    /// What a bench remembers of a phone that sends what it has received to who has sent it, too.
    static let saysAgain = "says again what it receives"

    static func recover(_ bench: Bench) async throws -> Bool {
        try await bench.drain(quiet: .milliseconds(500))
        return true
    }
}

extension Bench {
    /// Whether the phone says again what it receives.
    var isEchoed: Bool { memory == RescueCare.saysAgain }

    /// A message that no phone has.
    func testMessage(_ part: String) -> TestMessage {
        defer { messageCount += 1 }
        return TestMessage(part, seed: options.seed, number: messageCount)
    }

    /// Sends a message as it goes over any carrier: without an end.
    func say(_ message: TestMessage) async throws { try await send(message.json) }

    /// Waits for a message with the id of that one; nil where none comes.
    ///
    /// - Parameter keepingIn: Whether what comes meanwhile belongs to the opening.
    func reply(to message: TestMessage, keepingIn: Bool = false) async throws -> JSONMembers? {
        let deadline = elapsed + max(options.timeout, .seconds(1))
        while let line = try await line(by: deadline) {
            if keepingIn { opening.lines.append(line) }
            if let members = JSONMembers(line.bytes), members["id"]?.text?.uppercased() == message.id { return members }
        }
        return nil
    }
}
