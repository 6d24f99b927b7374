import DeviceKit
import LineProtocol

/// A scale as a third party would write it: the reply to `WEIGH` is `WEIGHT:123.4`. Unsolicited are `OVERLOAD`, and
/// `READY` when the scale has started.
enum ScaleFamily: DeviceFamily {
    enum Command: Sendable { case weigh }

    enum Message: Sendable, Equatable {
        case weight(Double)
        case overload
        case started
        case unknown([UInt8])
    }

    struct Exchange: CommandExchange {
        func take(_ message: Message) -> ExchangeVerdict<Message> {
            if case .weight = message { .complete(message) } else { .unrelated }
        }
    }

    struct State: DeviceState {
        var grams: Double?

        mutating func apply(_ message: Message) { if case .weight(let weight) = message { grams = weight } }
        mutating func overhear(_ message: Message) { apply(message) }
        mutating func becomeUncertain() { grams = nil }
    }

    static let lineLimit = 64
    static var fence: Command? { nil }
    static var statusQuery: Command? { .weigh }

    static func encode(_ command: Command) -> [UInt8] { Array("WEIGH\n".utf8) }
    static func effect(of command: Command) -> CommandEffect { .query }
    static func exchange(for command: Command) -> Exchange { Exchange() }
    static func isForeign(_ message: Message) -> Bool { if case .unknown = message { true } else { false } }
    static func isStart(_ message: Message) -> Bool { message == .started }

    static func message(line: Span<UInt8>, ending: LineEnding) -> Message {
        let bytes = line.withUnsafeBufferPointer { Array($0) }
        let text = String(decoding: bytes, as: UTF8.self)
        if text == "OVERLOAD" { return .overload }
        if text == "READY" { return .started }
        guard text.hasPrefix("WEIGHT:"), let weight = Double(text.dropFirst("WEIGHT:".count)) else {
            return .unknown(bytes)
        }
        return .weight(weight)
    }
}

extension ScaleFamily: FollowedFamily {
    static let row = Family(
        name: "scale", device: "a scale", baudRate: 9600,
        events: [FamilyEvent("OVERLOAD", "There is more on it than it can bear.", name: "overload")],
        state: [StateField("weight_g", "weight", .number(0...5000), unit: "g")],
        wire: WireRules(follow: FamilyMonitor.follower(of: ScaleFamily.self)))

    static func values(of state: State) -> [String: StateValue] {
        state.grams.map { ["weight_g": .number($0)] } ?? [:]
    }

    static func meaning(of message: Message) -> MessageMeaning {
        switch message {
        case .weight: .state
        case .overload: .event("overload", text: "OVERLOAD")
        case .started: .nothing
        case .unknown(let bytes): .text(bytes)
        }
    }
}
