public import DescriptorIO
internal import LineProtocol

/// The traffic of one link as data: the bytes sent and received, in order, from its opening to its end.
/// `pumpctl replay FILE --as-test` writes such a session.
///
///     let link = ScriptedSession.captured.link()
///     async let departure = ScriptedSession.captured.play(on: link)
///     let status = try await PumpSession.withSession(over: link, clock: ManualClock()) { try await $0.readStatus() }
///     #expect(await departure == nil)
public struct ScriptedSession: Sendable {
    /// A step of a session.
    public enum Step: Sendable, Hashable {
        /// The host opens the link, which has these properties. Only the first step can be this one.
        case opened(keepsPacketBounds: Bool, mayHaveReset: Bool, mayBeMidLine: Bool, packetCapacity: Int?)
        /// The host sends this in one piece.
        case sent(bytes: [UInt8])
        /// The device sends this, and the host receives it in one piece.
        case received(bytes: [UInt8])
        /// The link is lost, with the raw value of a `LinkError.Code`; an unknown value counts as `disconnected`.
        case lost(String)

        /// The host sends `text` in one piece.
        public static func sent(_ text: String) -> Step { .sent(bytes: Array(text.utf8)) }
        /// The device sends `text`, and the host receives it in one piece.
        public static func received(_ text: String) -> Step { .received(bytes: Array(text.utf8)) }
    }

    /// The steps, in order.
    public let steps: [Step]

    /// Creates a session.
    public init(steps: [Step]) { self.steps = steps }

    /// The link for playing the session.
    public func link(on loop: EventLoop = .shared) -> ScriptedLink {
        guard case .opened(let keepsPacketBounds, let mayHaveReset, let mayBeMidLine, let packetCapacity)? = steps.first
        else { return ScriptedLink(on: loop) }
        return ScriptedLink(
            keepsPacketBounds: keepsPacketBounds, mayHaveReset: mayHaveReset, mayBeMidLine: mayBeMidLine,
            packetCapacity: packetCapacity, on: loop)
    }

    /// Plays the device's side on a link from ``link(on:)``, and compares the host's side. Returns at the first
    /// deviation, or after the last step.
    ///
    /// - Returns: The host's first deviation, such as `step 3: expected "OFF\n", got "ON\n"`; nil if there is none. The
    ///   number is an index of ``steps``, from 0.
    public func play(on link: ScriptedLink) async -> String? {
        for (number, step) in steps.enumerated() {
            switch step {
            case .opened: continue
            case .received(let bytes): await link.deliver([bytes])
            case .lost(let code):
                let code = LinkError.Code(rawValue: code) ?? .disconnected
                await link.end(with: LinkError(code, name: link.name, activity: "receive"))
            case .sent(let bytes):
                let (expected, got) = (String(decoding: bytes, as: UTF8.self), await link.nextSent())
                if got != expected {
                    return "step \(number): expected \(expected.debugDescription), got \(got.debugDescription)"
                }
            }
        }
        let rest = link.unreadSent
        return rest.isEmpty ? nil : "behind the last step: got \(rest)"
    }
}
