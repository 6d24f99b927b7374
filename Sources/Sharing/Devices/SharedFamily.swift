public import DeviceKit
internal import DescriptorIO
public import LineProtocol

/// A family whose devices can be shared, as this room knows it.
public struct SharedFamily: Sendable {
    /// The family.
    public let family: Family
    /// Begins to speak with the device at a link, which it owns from then on.
    public let begin: Begin
    /// Whether a line makes a device safe, so that it goes before all others.
    public let isStop: @Sendable (_ line: [UInt8]) -> Bool
    /// What a client is told, by the line protocol, whose line did not reach the device; nil where the protocol has nothing to
    /// say it by.
    public let refusal: @Sendable (_ code: Refusal) -> [UInt8]?

    /// Begins to speak with a device.
    public typealias Begin =
        @Sendable (_ link: any Link, _ clock: any Clock<Duration>) async throws(SessionError) -> any Speaker

    /// Why a line of a client did not reach the device.
    public enum Refusal: String, Sendable, Hashable, CaseIterable {
        /// The device is not there.
        case deviceAway = "DEVICE_AWAY"
        /// A command that makes the device safe went before it.
        case overtaken = "OVERTAKEN"
    }

    /// A family whose devices speak by `begin`.
    public init(
        _ family: Family, isStop: @escaping @Sendable (_ line: [UInt8]) -> Bool = { _ in false },
        refusal: @escaping @Sendable (_ code: Refusal) -> [UInt8]? = { _ in nil }, begin: @escaping Begin
    ) {
        self.family = family
        self.begin = begin
        self.isStop = isStop
        self.refusal = refusal
    }

    /// A family whose devices answer lines by lines.
    public init<Base: RelayedFamily & FollowedFamily>(
        _ base: Base.Type, refusal: @escaping @Sendable (_ code: Refusal) -> [UInt8]? = { _ in nil }
    ) {
        self.init(
            Base.row, isStop: { RelayedLine<Base>($0)?.request.effect == .stop }, refusal: refusal
        ) { link, clock throws(SessionError) in
            try await LineSpeaker(Session<Relayed<Base>>.begin(over: link, clock: clock, waitsUntilReady: false))
        }
    }

    /// The families that this package knows.
    public static let all = [pump, led]

    /// The family of that row; nil where its devices can't be shared.
    public static func row(of family: Family) -> SharedFamily? { all.first { $0.family == family } }

    /// Answers `ERROR:…`, as the pump does itself to what it refuses.
    static let pump = SharedFamily(
        .pump, isStop: { RelayedLine<PumpFamily>($0)?.request.effect == .stop },
        refusal: { Array("ERROR:\($0.rawValue)\r\n".utf8) }
    ) { link, clock throws(SessionError) in
        // Begun where its code is specialized for the pump.
        try await LineSpeaker(Session<Relayed<PumpFamily>>.begin(over: link, clock: clock, waitsUntilReady: false))
    }

    static let led = SharedFamily(LEDFamily.self)
}
