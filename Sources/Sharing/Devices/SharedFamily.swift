public import DeviceKit
internal import DescriptorIO
public import LineProtocol
public import Transports

/// The sharing rules of a device family.
public struct SharedFamily: Sendable {
    /// The device family.
    public let family: Family
    /// Starts a speaker, which owns the link from then on. If this throws, the caller closes the link.
    public let begin: Begin
    /// Parses a client's line or message. In a family with ``StreamRules``, each counts as a change, unless it equals
    /// the line of a query in ``DeviceKit/Family/commands``.
    let read: @Sendable (_ line: [UInt8]) -> ClientLine
    /// The wording of a server notice in the family's line protocol; nil if the protocol has no line for the notice.
    public let wording: @Sendable (_ notice: RelayNotice) -> [UInt8]?

    /// The way in which client input is split into lines or messages.
    public let framing: ClientFraming
    /// Whether an answer ends only by silence. Because a client then can't tell a broken answer from a complete one,
    /// the client is disconnected if an answer breaks off.
    public let endsAnswersBySilence: Bool
    /// The content that programs can fetch; nil if there is none.
    let content: SharedContent?

    /// Starts a speaker over a link that was opened from `endpoint`.
    public typealias Begin =
        @Sendable (
            _ link: any Link, _ endpoint: Endpoint, _ clock: any Clock<Duration>, _ say: @escaping SpeechReceiver
        ) async throws(SessionError) -> any Speaker

    /// Creates the rules of a family from a function that starts its speaker.
    init(
        _ family: Family, framing: ClientFraming = .lines, endsAnswersBySilence: Bool = false,
        content: SharedContent? = nil,
        read: (@Sendable (_ line: [UInt8]) -> ClientLine)? = nil,
        wording: @escaping @Sendable (_ notice: RelayNotice) -> [UInt8]? = { _ in nil }, begin: @escaping Begin
    ) {
        self.family = family
        self.framing = framing
        self.endsAnswersBySilence = endsAnswersBySilence
        self.content = content
        self.begin = begin
        self.read = read ?? { ClientLine($0, Self.effect(of: $0, on: family)) }
        self.wording = wording
    }

    /// Returns the effect of the command whose line is `line`; any other line may change the device.
    private static func effect(of line: [UInt8], on family: Family) -> CommandEffect {
        let command = family.commands.first { $0.parameters.isEmpty && line.elementsEqual($0.line.utf8) }
        return command?.effect ?? .change
    }

    /// Creates the rules of a family whose replies are lines.
    ///
    /// - Parameters:
    ///   - base: The family.
    ///   - wording: Returns the wording of a server notice in the family's line protocol; nil if the protocol has no
    ///     line for the notice.
    public init<Base: RelayedFamily & FollowedFamily>(
        _ base: Base.Type, wording: @escaping @Sendable (_ notice: RelayNotice) -> [UInt8]? = { _ in nil }
    ) {
        self.init(
            Base.row, read: Self.reader(of: Base.self), wording: wording
        ) { link, _, clock, say throws(SessionError) in
            try await LineSpeaker<Base>(clock: clock, say: say) { observer throws(SessionError) in
                try await Session.begin(over: link, clock: clock, waitsUntilReady: false, observer: observer)
            }
        }
    }

    /// Parses lines as commands of a family.
    private static func reader<Base: RelayedFamily>(of _: Base.Type) -> @Sendable (_ line: [UInt8]) -> ClientLine {
        { bytes in
            let line = RelayedLine<Base>(bytes)
            return ClientLine(bytes, line?.request.effect, request: line)
        }
    }

    /// Creates the rules of a family whose replies are not single lines.
    init<Rules: StreamRules>(
        _ family: Family, framing: ClientFraming = .lines, endsAnswersBySilence: Bool = false,
        content: SharedContent? = nil,
        rules: @escaping @Sendable (_ link: any Link, _ endpoint: Endpoint) -> Rules
    ) {
        self.init(
            family, framing: framing, endsAnswersBySilence: endsAnswersBySilence, content: content
        ) { link, endpoint, clock, say in
            StreamSpeaker.begin(over: link, clock: clock, rules(link, endpoint), say: say)
        }
    }

    /// The notice to a client that is turned away because of the client limit; nil if the family has no notices. Hosts
    /// print the line, as they print the lines of a firmware's debug builds.
    var fullNotice: [UInt8]? {
        wording(.lost) == nil ? nil : Array("[WARNING] too many programs have the device\r\n".utf8)
    }

    /// The sharing rules of all families that this package knows.
    public static let all = [pump, storm, led, peer, rescue, raw]

    /// Returns the sharing rules of a family; nil if its devices can't be shared.
    public static func row(of family: Family) -> SharedFamily? { all.first { $0.family == family } }

    /// The sharing rules of the pump.
    ///
    /// A line that was not sent is refused with an `ERROR` line, as the pump itself refuses. The notices of a lost link
    /// look like the lines of debug builds, which are text for people: a host must not take a notice for the reply to a
    /// command in flight.
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
        // A piece of 40 bytes leaves room for bytes that are already in the UART's 63-byte buffer, which the firmware
        // does not read while it sleeps.
        let link = PacedLink(link, pieceLength: 40, pause: PumpFamily.readingTime, clock: clock)
        // Both closures are written here so that the compiler specializes their calls for the pump.
        return try await LineSpeaker<PumpFamily>(clock: clock, say: say) {
            session, line, timeout throws(SessionError) in
            try await session.perform(line, timeout: timeout)
        } begin: { observer throws(SessionError) in
            try await Session<Relayed<PumpFamily>>.begin(
                over: link, clock: clock, waitsUntilReady: false, observer: observer)
        }
    }

    static let led = SharedFamily(LEDFamily.self)
}
