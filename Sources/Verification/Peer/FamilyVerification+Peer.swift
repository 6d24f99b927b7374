internal import LineProtocol

extension FamilyVerification {
    /// The text and image peer, by docs/protocols.md.
    ///
    /// What a check has it show says that it is a test. The toggle is switched with leave only: what it switches is not known.
    public static let peer = FamilyVerification(
        family: "peer", checks: [imageChecks, greetingChecks, wordChecks, textChecks, toggleChecks].flatMap(\.self),
        begin: PeerCare.begin, finish: PeerCare.finish, recover: PeerCare.recover, end: PeerCare.end,
        isUnasked: PeerCare.isUnasked, driven: "what the peer switches")
}

/// How a peer is treated: it is asked for its image first, which changes nothing.
private enum PeerCare {
    /// Longer than a board that was reset takes to hear.
    private static let startTime = Duration.seconds(5)

    static func begin(_ bench: Bench) async throws -> FamilyVerification.Readiness {
        let patience = bench.link.mayHaveReset ? startTime : bench.options.timeout
        let deadline = bench.elapsed + patience
        while bench.elapsed < deadline, let line = try await bench.line(by: deadline) {
            bench.opening.lines.append(line)
            if line.text.hasPrefix("HELLO") { break }
        }
        bench.opening.steps = bench.steps
        for _ in 1...2 {
            let transfer = try await bench.download("GET")
            bench.image = (transfer, [])
            if case .error = transfer.ending { return .ready }
            if transfer.begin != nil { return .ready }
        }
        let got = bench.steps.last { if case .received = $0 { true } else { false } }?.shown ?? "no answer"
        return .unusable(CheckFailure(expected: "IMG_BEGIN … or IMG_ERROR … in answer to GET", got: got))
    }

    /// What people have a peer say comes unasked.
    static func isUnasked(_ line: String) -> Bool { !line.hasPrefix("IMG_") }

    /// What was toggled is off behind each check; what else comes is too much.
    static func finish(_ check: Check, _ bench: Bench) async throws {
        if check.needs.contains(.run) { try await bench.say("OFF") }
        // Of a large image the rest is still coming.
        if bench.image?.transfer.ending == .tooLong { return }
        try await bench.quiet(for: .milliseconds(100))
    }

    static func recover(_ bench: Bench) async throws -> Bool {
        if bench.mayHaveRun { try await bench.say("OFF") }
        try await bench.drain(quiet: .milliseconds(500))
        return true
    }

    static func end(_ bench: Bench) async -> Aftermath {
        if bench.mayHaveRun { try? await bench.say("OFF") }
        return .harmless
    }
}
