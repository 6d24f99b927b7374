import FirmwareSim

/// The events of a run with their times, as text for people.
struct OffTranscript {
    enum Event {
        /// Bytes of the host with this number leave for the pump.
        case sends(Int, [UInt8])
        /// Bytes of another program reach the pump.
        case intrudes([UInt8])
        /// The pump has handled a command.
        case handles([UInt8])
        /// The pump has sent a line, to which a fault may have happened, named by the text.
        case says([UInt8], String)
        case note(String)
    }

    private var events: [(time: Duration, event: Event)] = []

    mutating func add(_ event: Event, at time: Duration) { events.append((time, event)) }

    var text: String {
        events.map { time, event in
            let (seconds, attoseconds) = time.components
            let millis = "\(1000 + attoseconds / 1_000_000_000_000_000)".dropFirst()
            return "\(seconds).\(millis) " + Self.text(of: event)
        }.joined(separator: "\n")
    }

    private static func text(of event: Event) -> String {
        switch event {
        case .sends(let host, let bytes): "host \(host) -> \(quoted(bytes))"
        case .intrudes(let bytes): "others -> \(quoted(bytes))"
        case .handles(let bytes): "            pump handles \(quoted(bytes))"
        case .says(let bytes, let fate): "            pump <- \(quoted(bytes)) \(fate)"
        case .note(let text): "        \(text)"
        }
    }

    private static func quoted(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }
}
