internal import LineProtocol

extension FamilyVerification {
    /// The checks of a text and image peer, by docs/protocols.md.
    ///
    /// The checks send messages that a peer shows to a person. Most messages say that they are a test, or resemble a
    /// command. The toggle, which ON and OFF switch, is used only with ``VerificationOptions/mayRun``, because nobody
    /// knows what it drives.
    public static let peer = FamilyVerification(
        family: "peer", checks: [imageChecks, greetingChecks, wordChecks, textChecks, toggleChecks].flatMap(\.self),
        begin: PeerCare.begin, finish: PeerCare.finish, recover: PeerCare.recover, end: PeerCare.end,
        isUnasked: PeerCare.isUnasked, driven: "the device that the peer switches")
}

/// Keeps a peer safe during a verification. The first request, for the image of the peer, changes nothing.
private enum PeerCare {
    /// Longer than the time for which a board reads nothing after a reset.
    private static let startTime = Duration.seconds(5)

    /// Listens until a greeting comes or the time for it is over, and then requests the image, to which every peer
    /// replies. The greeting comes once, after the link was opened, and on a serial line perhaps not at all. A request
    /// that stays unanswered is repeated once.
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

    /// Returns true for all lines that do not begin with `IMG_`: people can type any message at the peer, which comes
    /// unsolicited.
    static func isUnasked(_ line: String) -> Bool { !line.hasPrefix("IMG_") }

    /// Switches the toggle off after a check that may have switched it on. Fails the check if a further line that
    /// begins with `IMG_` comes within 100 ms.
    static func finish(_ check: Check, _ bench: Bench) async throws {
        if check.needs.contains(.run) { try await bench.say("OFF") }
        // The rest of a large image is still arriving.
        if bench.image?.transfer.ending == .tooLong { return }
        try await bench.quiet(for: .milliseconds(100))
    }

    static func recover(_ bench: Bench) async throws -> Bool {
        if bench.mayHaveRun { try await bench.say("OFF") }
        try await bench.drain(quiet: .milliseconds(500))
        return true
    }

    static func end(_ bench: Bench) async -> Aftermath {
        guard bench.mayHaveRun else { return .harmless }
        // A peer acknowledges nothing: OFF counts as carried out once it was sent.
        do { try await bench.say("OFF") } catch { return .perhapsOn("OFF was not sent to the peer: \(error)") }
        return .harmless
    }
}
