import FoundationEssentials

/// Parses a peer's output as in docs/protocols.md, independently of the host's code.
enum PeerOracle {
    /// An image that was delivered completely: announced, valid base64, and of the announced size.
    struct Image {
        var name: String
        var bytes: [UInt8]
    }

    /// The messages delivered from `start` on: lines, or over BLE notifications.
    static func messages(_ bench: FaultBench<PeerFaultScript.Truth>, from start: Int) -> [String] {
        guard bench.isRadio else { return bench.tape.lines(from: start) }
        return bench.tape.packets(from: start).map {
            String(decoding: Array($0.withoutNULsAround).withoutEnd, as: UTF8.self)
        }
        .filter { !$0.isEmpty }
    }

    /// The images in the messages.
    static func images(in messages: [String]) -> [Image] {
        messages.indices.compactMap { begin in
            guard messages[begin].hasPrefix("IMG_BEGIN ") else { return nil }
            let words = messages[begin].dropFirst("IMG_BEGIN ".count).split(
                separator: " ", omittingEmptySubsequences: false)
            guard words.count > 1, let size = Int(words[words.count - 1]) else { return nil }
            let rest = messages[(begin + 1)...]
            let data = rest.prefix { !$0.hasPrefix("IMG_") }
            guard rest.dropFirst(data.count).first == "IMG_END" else { return nil }
            let text = data.filter { $0.utf8.allSatisfy(isBase64) }.joined()
            guard let bytes = Data(base64Encoded: text), bytes.count == size else { return nil }
            return Image(name: words.dropLast().joined(separator: " "), bytes: Array(bytes))
        }
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2F, 0x3D: true
        default: false
        }
    }
}
