public import LineProtocol

/// What is known of something that was said to a peer.
///
/// ```swift
/// let link = try await LinkSchemes.families.open(Endpoint("ble:QDevice1"))
/// print(try await PeerDelivery.say(.toggle(true), over: link).isAcknowledged)
/// ```
public struct PeerDelivery: Sendable, Hashable {
    /// Whether the peer has acknowledged it. False says nothing: the published peer acknowledges nothing.
    public let isAcknowledged: Bool
    /// Whether anything came from the peer, which need not answer.
    public let hasHeard: Bool

    /// Says `Hello` and then `command`, once, and closes the link.
    ///
    /// - Parameter timeout: How long the acknowledgement is waited for, where the peer acknowledges at all.
    /// - Throws: As ``LineProtocol/PeerDialogue/meet()`` and ``LineProtocol/PeerDialogue/say(_:)``; with a link error `unsupported`
    ///   where the command is longer than the link takes in one piece. It is not sent in two, which would be two messages.
    public static func say(
        _ command: PeerCommand, over link: any Link, clock: any Clock<Duration> = ContinuousClock(),
        timeout: Duration = PeerDialogue.defaultTimeout
    ) async throws(SessionError) -> PeerDelivery {
        var dialogue = PeerDialogue(over: link, clock: clock, timeout: timeout)
        let result: Result<Bool, SessionError>
        do throws(SessionError) {
            try await dialogue.meet()
            result = .success(try await dialogue.say(command))
        } catch {
            result = .failure(error)
        }
        await link.close()
        return PeerDelivery(isAcknowledged: try result.get(), hasHeard: dialogue.hasHeard)
    }
}
