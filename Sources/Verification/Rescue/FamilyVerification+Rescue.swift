internal import LineProtocol
internal import StrictJSON

extension FamilyVerification {
    /// The checks of phone-to-phone messages, by docs/protocols.md.
    ///
    /// A phone stores received messages and passes them on, so no message is sent without
    /// ``VerificationOptions/maySend``. No message has the category SOS. All messages of a phone count as unsolicited,
    /// since it may send one at any time, also one of another phone.
    public static let rescue = FamilyVerification(
        family: "rescue", checks: [messageChecks, writingChecks, receptionChecks].flatMap(\.self),
        begin: RescueCare.begin, finish: { _, _ in }, recover: RescueCare.recover, end: { _ in .harmless },
        isUnasked: { _ in true }, framing: .objects, driven: "the phone")
}

/// The handling of a phone before and between the checks. Without permission to send, the checks only listen to the
/// phone.
private enum RescueCare {
    /// The time limit for the first message from the phone.
    private static let patience = Duration.seconds(5)
    /// The time for which further messages are collected after the first. Without permission to send, the checks
    /// take 8 s at most: see docs/verify.md.
    private static let further = Duration.seconds(3)

    static func begin(_ bench: Bench) async throws -> FamilyVerification.Readiness {
        if bench.options.maySend {
            // A message that is written on the phone makes the phone send: see rescue-14 in docs/protocols.md.
            if bench.stimulus != nil { try await bench.act("write", "Other", "TEST of pumpctl verify, please ignore") }
            // This test message shows whether the phone sends received messages back to the sender, which the
            // protocol does not require.
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
            let expected = "a message from the phone" + (bench.options.maySend ? ", or the test message sent back" : "")
            return .unusable(CheckFailure(expected: expected, got: "nothing in \(patience.inSeconds) s"))
        }
        let end = bench.elapsed + further
        while bench.elapsed < end, let line = try await bench.line(by: end) { bench.opening.lines.append(line) }
        bench.opening.steps = bench.steps
        return .ready
    }

    /// The value of ``Bench/memory`` for a phone that sends received messages back to their sender.
    static let saysAgain = "says again what it receives"

    static func recover(_ bench: Bench) async throws -> Bool {
        try await bench.drain(quiet: .milliseconds(500))
        return true
    }
}

extension Bench {
    /// Whether the phone sends received messages back to the sender.
    var isEchoed: Bool { memory == RescueCare.saysAgain }

    /// Returns a new message. Its id is new to any phone if the seed of this verification is new.
    func testMessage(_ part: String) -> TestMessage {
        defer { messageCount += 1 }
        return TestMessage(part, seed: options.seed, number: messageCount)
    }

    /// Sends a message without a line end, as the protocol demands on all carriers.
    func say(_ message: TestMessage) async throws { try await send(message.json) }

    /// Waits for a message with the id of `message`, and returns it; nil if none comes within the timeout, or within
    /// 1 s if that is longer.
    ///
    /// - Parameter keepingIn: Whether to add the lines that are read to ``Bench/opening``.
    func reply(to message: TestMessage, keepingIn: Bool = false) async throws -> JSONValue? {
        let deadline = elapsed + max(options.timeout, .seconds(1))
        while let line = try await line(by: deadline) {
            if keepingIn { opening.lines.append(line) }
            if let members = JSONValue(received: line.bytes), members["id"]?.text?.uppercased() == message.id {
                return members
            }
        }
        return nil
    }
}
