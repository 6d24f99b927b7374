public import DeviceKit
internal import DescriptorIO
public import LineProtocol
public import Transports

/// A family whose devices can be shared, as this room knows it.
public struct SharedFamily: Sendable {
    /// The family.
    public let family: Family
    /// Begins to speak with the device at a link, which it owns from then on.
    public let begin: Begin
    /// Reads a line, or message, of a client.
    let read: @Sendable (_ line: [UInt8]) -> ClientLine
    /// What clients are told by the line protocol; nil where it has nothing to say that by.
    public let wording: @Sendable (_ notice: RelayNotice) -> [UInt8]?

    /// How what clients send is cut into lines or messages.
    public let framing: ClientFraming
    /// Whether only silence ends an answer. A client could take an answer that breaks off for a whole one, so it is hung up on.
    public let endsAnswersBySilence: Bool

    /// Begins to speak with a device, over a link that was opened from `endpoint`.
    public typealias Begin =
        @Sendable (
            _ link: any Link, _ endpoint: Endpoint, _ clock: any Clock<Duration>, _ say: @escaping SpeechReceiver
        ) async throws(SessionError) -> any Speaker

    /// A family whose devices speak by `begin`.
    init(
        _ family: Family, framing: ClientFraming = .lines, endsAnswersBySilence: Bool = false,
        read: @escaping @Sendable (_ line: [UInt8]) -> ClientLine = { ClientLine($0, .change) },
        wording: @escaping @Sendable (_ notice: RelayNotice) -> [UInt8]? = { _ in nil }, begin: @escaping Begin
    ) {
        self.family = family
        self.framing = framing
        self.endsAnswersBySilence = endsAnswersBySilence
        self.begin = begin
        self.read = read
        self.wording = wording
    }

    /// A family whose devices answer lines by lines.
    public init<Base: RelayedFamily & FollowedFamily>(
        _ base: Base.Type, wording: @escaping @Sendable (_ notice: RelayNotice) -> [UInt8]? = { _ in nil }
    ) {
        self.init(
            Base.row, read: Self.reader(of: Base.self), wording: wording
        ) { link, _, clock, say throws(SessionError) in
            try await LineSpeaker<Base>(say: say) { observer throws(SessionError) in
                try await Session.begin(over: link, clock: clock, waitsUntilReady: false, observer: observer)
            }
        }
    }

    /// Reads lines as commands of a family.
    private static func reader<Base: RelayedFamily>(of _: Base.Type) -> @Sendable (_ line: [UInt8]) -> ClientLine {
        { bytes in
            let line = RelayedLine<Base>(bytes)
            return ClientLine(bytes, line?.request.effect, request: line)
        }
    }

    /// A family whose answers are no single lines.
    init<Rules: StreamRules>(
        _ family: Family, framing: ClientFraming = .lines, endsAnswersBySilence: Bool = false,
        rules: @escaping @Sendable (_ link: any Link, _ endpoint: Endpoint) -> Rules
    ) {
        self.init(family, framing: framing, endsAnswersBySilence: endsAnswersBySilence) { link, endpoint, clock, say in
            StreamSpeaker.begin(over: link, clock: clock, rules(link, endpoint), say: say)
        }
    }

    /// Tells a client that as many have the device as may, and that nothing more is sent for this one; nil if the family's clients
    /// are told nothing by the server. Printed by a host like what debug builds of a firmware print.
    var fullNotice: [UInt8]? {
        wording(.lost) == nil ? nil : Array("[WARNING] too many programs have the device\r\n".utf8)
    }

    /// The families that this package knows.
    public static let all = [pump, storm, led, peer, rescue, raw]

    /// The family of that row; nil where its devices can't be shared.
    public static func row(of family: Family) -> SharedFamily? { all.first { $0.family == family } }

    /// What was not sent is refused as the pump itself refuses. A host must not take what it is told of a loss for an answer to
    /// what was under way: that is a line as debug builds of the firmware print for people.
    static let pump = SharedFamily(
        .pump, read: reader(of: PumpFamily.self),
        wording: { notice in
            switch notice {
            case .notSent: Array("ERROR:DEVICE_AWAY\r\n".utf8)
            case .overtaken: Array("ERROR:OVERTAKEN\r\n".utf8)
            case .lost: Array("[WARNING] the device is away\r\n".utf8)
            case .back: Array("[WARNING] the device is back\r\n".utf8)
            }
        }
    ) { link, _, clock, say throws(SessionError) in
        // The UART keeps 63 bytes while the firmware sleeps; 40 and what may stand there already are fewer.
        let link = PacedLink(link, pieceLength: 40, pause: PumpFamily.readingTime, clock: clock)
        // Both are done where their code is specialized for the pump.
        return try await LineSpeaker<PumpFamily>(say: say) { session, line, timeout throws(SessionError) in
            try await session.perform(line, timeout: timeout)
        } begin: { observer throws(SessionError) in
            try await Session<Relayed<PumpFamily>>.begin(
                over: link, clock: clock, waitsUntilReady: false, observer: observer)
        }
    }

    static let led = SharedFamily(LEDFamily.self)
}
