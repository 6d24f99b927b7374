/// A way in which a phone, or the radio link to the phone, damages a message. `elsewhere` stands for a latitude beyond
/// the pole.
enum PhoneFault: CaseIterable {
    case cutOff, noNumber, numberTooLarge, elsewhere, loneSurrogate, fieldTwice, deepNesting, badID, noise,
        byteOrderMark

    /// Returns the damaged form of `message`, or bytes that are no message at all.
    func damage(_ message: PhoneMessage) -> [UInt8] {
        let json = message.json
        return switch self {
        case .cutOff: Array(json.prefix(json.count / 2))
        case .noNumber: Self.adding("\"latitude\":NaN", to: json)
        case .numberTooLarge: Self.adding("\"altitude\":1e999,\"longitude\":1e999", to: json)
        case .elsewhere: Self.changed(message) { $0.latitude += 90 }
        case .loneSurrogate: Self.adding("\"note\":1,\"content\":\"\\ud800\"", to: json)
        case .fieldTwice: Self.adding("\"status\":\"synced\"", to: json)
        case .deepNesting:
            Array("{\"id\":".utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 1000)
                + [UInt8](repeating: UInt8(ascii: "]"), count: 1000) + [UInt8(ascii: "}")]
        case .badID: Array("{\"id\":\"not-a-uuid\",".utf8) + Self.withoutID(json)
        // Among them ends of an array, a string and an object, and the sequence that clears a terminal.
        case .noise: [0x00, 0xFF, 0x5D, 0x22, 0x7D, 0x1B, 0x5B, 0x32, 0x4A]
        case .byteOrderMark: [0xEF, 0xBB, 0xBF]
        }
    }

    /// Puts a field before the closing brace.
    private static func adding(_ field: String, to json: [UInt8]) -> [UInt8] {
        json.dropLast() + Array(",\(field)}".utf8)
    }

    private static func changed(_ message: PhoneMessage, _ change: (inout PhoneMessage) -> Void) -> [UInt8] {
        var message = message
        change(&message)
        return message.json
    }

    /// Returns the object after its opening brace, with the id under another name.
    private static func withoutID(_ json: [UInt8]) -> [UInt8] {
        Array(String(decoding: json.dropFirst(), as: UTF8.self).replacing("\"id\":", with: "\"uuid\":").utf8)
    }
}
