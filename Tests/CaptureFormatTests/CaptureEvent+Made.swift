import CaptureFormat
import TestSupport

extension CaptureEvent {
    /// A random event; every kind occurs for some seed.
    static func made(at time: Duration, by random: inout SplitMix64) -> CaptureEvent {
        CaptureEvent(at: time, link: 1 + random.number(below: 3), content(by: &random))
    }

    private static func content(by random: inout SplitMix64) -> Content {
        switch random.number(below: 8) {
        case 0:
            var facts = CarrierFacts(endpoint: "ble:\(text(by: &random))", name: text(by: &random))
            facts.keepsPacketBounds = random.number(below: 2) == 0
            facts.maximumWriteLength = random.number(below: 2) == 0 ? 20 : nil
            facts.packetCapacity = random.number(below: 2) == 0 ? 512 : nil
            facts.deviceAddress = random.number(below: 2) == 0 ? "00:00:5E:00:53:01" : nil
            facts.isDeviceAddressStable = random.number(below: 2) == 0
            facts.mayHaveReset = random.number(below: 2) == 0
            facts.mayBeMidLine = random.number(below: 2) == 0
            return .opened(facts)
        case 1: return .ended(code: nil, detail: nil)
        case 2: return .ended(code: "disconnected", detail: text(by: &random))
        case 3: return .breakSent(.milliseconds(random.number(below: 1000)))
        case 4, 5: return .sent(piece(by: &random))
        default: return .received(piece(by: &random))
        }
    }

    private static func piece(by random: inout SplitMix64) -> Piece {
        if random.number(below: 3) == 0 {
            return Piece((0..<random.number(below: 40)).map { _ in UInt8(random.number(below: 256)) })
        }
        let line = text(by: &random)
        return Piece(Array((line + "\r\n").utf8), lines: [line])
    }

    private static func text(by random: inout SplitMix64) -> String {
        let parts = [
            "STATUS", "\"", "\\", "\u{0}", "\u{1B}[2J", "ä", "\u{202E}", "😀", "\u{7F}", " 9.5", "\t", "\\u000a",
        ]
        return (0...random.number(below: 6)).map { _ in parts[random.number(below: parts.count)] }.joined()
    }
}
