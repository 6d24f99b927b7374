extension LEDFamily: RelayedFamily {
    public typealias LineExchange = LEDLineExchange

    public static func request(by line: [UInt8]) -> LineRequest<LEDFamily>? {
        if line.isEmpty { return nil }
        for endpoint in LEDEndpoint.all {
            let name = Array(endpoint.lineName.utf8)
            if line == name { return LineRequest(.query, LEDLineExchange(LEDExchange(.read(endpoint)))) }
            guard line.starts(with: name + [UInt8(ascii: ":")]) else { continue }
            let text = String(decoding: line[(name.count + 1)...], as: UTF8.self)
            guard let value = endpoint.kind.value(text: text) else { continue }
            return LineRequest(.change, LEDLineExchange(LEDExchange(.write(endpoint, value))))
        }
        // A board does not answer an unknown line.
        return LineRequest(.change, LEDLineExchange(nil), isAnswered: false)
    }

    /// Always false: the board may send every message unsolicited.
    public static func isAnswer(_ message: LEDMessage) -> Bool { false }

    public static var stopAnswer: [String] { [] }
}

/// Recognizes the answer of an LED board to one line of a client.
public struct LEDLineExchange: CommandExchange {
    private var exchange: LEDExchange?

    init(_ exchange: LEDExchange?) { self.exchange = exchange }

    public mutating func take(_ message: LEDMessage) -> ExchangeVerdict<Void> {
        if case .complete = exchange?.take(message) { .complete(()) } else { .unrelated }
    }
}
