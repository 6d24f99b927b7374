/// Computes the bytes that a UART receives from a sender at another baud rate.
///
/// The receiver looks for the edge of a start bit, then samples the line in the middle of each of the eight data bits
/// that it expects. A byte without a stop bit is kept, as most drivers do.
enum BaudMismatch {
    /// Returns the bytes that the receiver gets if `bytes` are sent back to back.
    ///
    /// - Parameters:
    ///   - sent: The sender's baud rate.
    ///   - received: The receiver's baud rate. Rates up to about 4 % apart understand each other.
    static func received(_ bytes: [UInt8], sentAt sent: Int, receivedAt received: Int) -> [UInt8] {
        guard sent != received, sent > 0, received > 0 else { return bytes }
        let bits: [Bool] = bytes.flatMap { byte in [false] + (0..<8).map { bit in byte & (1 << bit) != 0 } + [true] }
        // Times are in bits of the sender. After the last bit the line is idle, which is level 1.
        let ratio = Double(sent) / Double(received)
        func level(at time: Double) -> Bool { time < Double(bits.count) ? bits[Int(time)] : true }
        var result: [UInt8] = []
        var time = 0.0
        func isEdge(_ index: Int) -> Bool { !bits[index] && (index == 0 || bits[index - 1]) }
        while let start = bits.indices.dropFirst(Int(time.rounded(.up))).first(where: isEdge) {
            let edge = Double(start)
            var byte: UInt8 = 0
            for index in 0..<8 where level(at: edge + (Double(index) + 1.5) * ratio) { byte |= 1 << index }
            result.append(byte)
            time = edge + 9.5 * ratio
        }
        return result
    }
}
