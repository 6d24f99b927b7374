internal import LineProtocol

extension FamilyVerification {
    /// The checks of phone-to-phone messages, by docs/protocols.md.
    ///
    /// A phone stores what it receives and passes it on, so nothing is sent without ``VerificationOptions/maySend``. No
    /// message is ever an SOS.
    public static let rescue = FamilyVerification(
        family: "rescue", checks: [messageChecks, writingChecks, receptionChecks].flatMap(\.self),
        begin: RescueCare.begin, finish: { _, _ in }, recover: RescueCare.recover, end: { _ in .harmless },
        isUnasked: { _ in true }, framing: .objects, driven: "the phone")
}

/// The care for a phone. Without permission to send, the phone is only listened to.
private enum RescueCare {
    /// The time limit for a first message.
    private static let patience = Duration.seconds(5)
    /// The time for which further messages are collected.
    private static let further = Duration.seconds(3)

    static func begin(_ bench: Bench) async throws -> FamilyVerification.Readiness {
        if bench.options.maySend {
            if bench.stimulus != nil { try await bench.act("write", "Other", "TEST of pumpctl verify, please ignore") }
            // The message shows whether the phone sends received messages back to the sender, which the protocol does
            // not require.
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

    /// The bench's memory of a phone that sends a received message back to its sender too.
    static let saysAgain = "says again what it receives"

    static func recover(_ bench: Bench) async throws -> Bool {
        try await bench.drain(quiet: .milliseconds(500))
        return true
    }
}

extension Bench {
    /// Whether the phone sends received messages back to the sender.
    var isEchoed: Bool { memory == RescueCare.saysAgain }

    /// Returns a new message, whose id no phone has yet.
    func testMessage(_ part: String) -> TestMessage {
        defer { messageCount += 1 }
        return TestMessage(part, seed: options.seed, number: messageCount)
    }

    /// Sends a message without any end, as on all carriers.
    func say(_ message: TestMessage) async throws { try await send(message.json) }

    /// Waits for a message with the id of `message`; nil if none comes.
    ///
    /// - Parameter keepingIn: Whether the lines that are read belong to the opening.
    func reply(to message: TestMessage, keepingIn: Bool = false) async throws -> JSONMembers? {
        let deadline = elapsed + max(options.timeout, .seconds(1))
        while let line = try await line(by: deadline) {
            if keepingIn { opening.lines.append(line) }
            if let members = JSONMembers(line.bytes), members["id"]?.text?.uppercased() == message.id { return members }
        }
        return nil
    }
}
