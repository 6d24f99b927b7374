public import LineProtocol

/// The result of sending a command to a peer.
///
/// ```swift
/// let link = try await LinkSchemes.families.open(Endpoint("ble:QDevice1"))
/// print(try await PeerDelivery.say(.toggle(true), over: link).isAcknowledged)
/// ```
public struct PeerDelivery: Sendable, Hashable {
    /// Whether the peer has acknowledged the command. False does not mean that the command was lost: the published peer
    /// acknowledges nothing.
    public let isAcknowledged: Bool
    /// Whether anything arrived from the peer. A peer need not answer.
    public let hasHeard: Bool

    /// Sends `Hello` and then `command`, each once, and closes the link.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - link: The link to the peer.
    ///   - clock: The clock for the time-out.
    ///   - timeout: The longest wait for the acknowledgement, if the peer acknowledges at all.
    /// - Throws: The errors of ``LineProtocol/PeerDialogue/meet()`` and ``LineProtocol/PeerDialogue/say(_:)``. The link
    ///   error is `unsupported` if the command is longer than one write of the link: it is not split, because the peer
    ///   would take the parts for two messages.
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
