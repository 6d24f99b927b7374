/// A test message to a phone. Its content says that it is a test, its position is in the ocean, and its category raises
/// no alarm. Its numbers are exact in binary, so that a phone that passes them on need not round them.
struct TestMessage {
    let id: String
    let content: String
    var status = "pending_sync"
    let latitude = 0.015625
    let longitude = -0.03125
    let timestamp = 752_263_200.5
    let category = "Other"

    /// - Parameters:
    ///   - part: The aspect under test, for the content.
    ///   - seed: The seed of the ids in this verification.
    ///   - number: The number of the message in this verification.
    init(_ part: String, seed: UInt64, number: UInt64) {
        id = Self.id(seed, number)
        content = "TEST of pumpctl verify (\(part)), please ignore"
    }

    var json: String {
        "{\"id\":\"\(id)\",\"content\":\"\(content)\",\"latitude\":\(latitude),\"longitude\":\(longitude),"
            + "\"timestamp\":\(timestamp),\"status\":\"\(status)\",\"category\":\"\(category)\"}"
    }

    /// Returns an upper-case UUID in the form of version 4. SplitMix64's output function makes it from the seed and the
    /// number, so that a verification with the same seed sends the same ids.
    private static func id(_ seed: UInt64, _ number: UInt64) -> String {
        let digits = [2 * number, 2 * number + 1].map { index in
            var bits = seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
            bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
            bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
            bits ^= bits >> 31
            let text = String(bits, radix: 16, uppercase: true)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        let (high, low) = (Array(digits[0]), Array(digits[1]))
        return String(high[0..<8]) + "-" + String(high[8..<12]) + "-4" + String(high[13..<16]) + "-A"
            + String(low[1..<4]) + "-" + String(low[4..<16])
    }
}
