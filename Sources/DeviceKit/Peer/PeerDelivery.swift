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

    /// Introduces the host with `Hello`, sends `command` once, and closes the link.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - link: The link to the peer.
    ///   - clock: The clock for the time-out.
    ///   - timeout: The longest wait for the acknowledgement of the command, if the peer has acknowledged `Hello`.
    /// - Throws: The errors of `PeerDialogue.meet()` and `PeerDialogue.say(_:)`. If the
    ///   link keeps packet bounds, a command that is too long for one write is not sent, and the link error is
    ///   `unsupported`: the peer would take the parts for separate messages.
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
