import LineProtocol
import TestSupport

/// Random messages, and damage to their JSON as by a bad carrier or an attacker.
struct RescueTraffic {
    var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// A message with random text.
    mutating func message() -> RescueMessage {
        let position = RescuePosition(
            latitude: Double(random.number(below: 180_001)) / 1000 - 90,
            longitude: Double(random.number(below: 360_001)) / 1000 - 180)
        let time = RescueTime(secondsSince2001: Double(random.number(below: 1_000_000_000)) + 0.25)
        return RescueMessage(
            id: .random(using: &random), content: text(), position: position ?? Self.origin, time: time ?? .beginning,
            category: RescueCategory.known[random.number(below: RescueCategory.known.count)])
    }

    private static let origin = RescuePosition(latitude: 0, longitude: 0)!

    private mutating func text() -> String {
        (0..<random.number(below: 12)).map { _ in Self.words[random.number(below: Self.words.count)] }.joined(
            separator: " ")
    }

    private static let words = [
        "flooding", "{", "}", "\"", "\\", "]", "[", "{\"id\":", "🌊", "é", "\u{1B}[2J", "\n", "\0", "\\u", ":", ",",
        "NaN",
    ]

    /// Returns `json` with one or more random changes.
    mutating func damage(_ json: [UInt8]) -> [UInt8] {
        var json = json
        repeat { damageOnce(&json) } while random.number(below: 2) == 0
        return json
    }

    private mutating func damageOnce(_ json: inout [UInt8]) {
        let place = random.number(below: json.count + 1)
        switch random.number(below: 7) {
        case 0: if place < json.count { json[place] ^= 1 << UInt8(random.number(below: 8)) }
        case 1: json.insert(UInt8(random.number(below: 256)), at: place)
        case 2: json.removeSubrange(place..<min(json.count, place + 1 + random.number(below: 8)))
        case 3: json.insert(contentsOf: json[place..<min(json.count, place + 20)], at: place)
        case 4: json.removeSubrange(place...)
        case 5: json.removeSubrange(..<place)
        default: json.insert(contentsOf: Self.nasty[random.number(below: Self.nasty.count)], at: place)
        }
    }

    /// Pieces of JSON that parsers are known to fail on.
    static let nasty: [[UInt8]] = [
        [UInt8](repeating: UInt8(ascii: "["), count: 5000), Array(String(repeating: "{\"a\":", count: 5000).utf8),
        Array("1e999".utf8), Array("-1e-999".utf8), [UInt8](repeating: UInt8(ascii: "9"), count: 5000),
        Array("\\ud800".utf8), Array("\\udc00\\ud800".utf8), Array("\"id\":\"\",".utf8), [0xEF, 0xBB, 0xBF],
        Array("NaN".utf8), Array("Infinity".utf8), Array("-".utf8), [0x00], [0xFF, 0xFE], [0xED, 0xA0, 0x80],
        Array("\\u0000".utf8), Array("/**/".utf8), Array("'".utf8), Array(",".utf8), Array("{".utf8), Array("}".utf8),
        Array("\"".utf8), Array("\\".utf8), [UInt8](repeating: UInt8(ascii: "{"), count: 300),
        [UInt8](repeating: UInt8(ascii: "\""), count: 300), Array(String(repeating: "{\"", count: 20_000).utf8),
        Array(("{\"a\":[" + String(repeating: "1,", count: 20_000)).utf8),
        Array(("{\"" + String(repeating: "{", count: 20_000)).utf8),
    ]

    /// Cuts `bytes` into pieces of 1 to `most` bytes.
    mutating func split(_ bytes: [UInt8], most: Int) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(1 + random.number(below: most))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}

extension RescueFramer {
    /// Frames `pieces` and the end of input; returns the arrivals and the maximum number of pending bytes.
    static func frame(_ pieces: [[UInt8]]) -> (arrivals: [RescueArrival], mostPending: Int) {
        var framer = RescueFramer()
        var arrivals: [RescueArrival] = []
        var mostPending = 0
        for piece in pieces {
            arrivals += framer.append(piece).map(RescueArrival.init)
            mostPending = max(mostPending, framer.pendingByteCount)
        }
        arrivals += framer.finish().map(RescueArrival.init)
        return (arrivals, mostPending)
    }
}
