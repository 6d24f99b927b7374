/// A serial line whose ends may have different baud rates.
enum GarbledLine {
    /// Returns the bytes that the receiver's UART makes of the sender's bytes: 8N1, each bit sampled in its middle, and
    /// a framing error passed on as a byte, as by an AVR.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, sent without a pause, on a line that is idle before and after.
    ///   - sender: Bits per second.
    ///   - receiver: Bits per second.
    static func received(_ bytes: [UInt8], from sender: Int, at receiver: Int) -> [UInt8] {
        guard sender != receiver else { return bytes }
        var bits: [Bool] = []
        for byte in bytes {
            bits.append(false)
            for bit in 0..<8 { bits.append(byte >> bit & 1 == 1) }
            bits.append(true)
        }
        func level(_ time: Double) -> Bool {
            let index = Int(time * Double(sender))
            return index < bits.count ? bits[index] : true
        }
        let end = Double(bits.count) / Double(sender)
        let (bitTime, step) = (1 / Double(receiver), 1 / Double(max(sender, receiver)) / 16)
        var received: [UInt8] = []
        var (time, wasHigh) = (0.0, true)
        while time < end {
            let isHigh = level(time)
            guard wasHigh, !isHigh else {
                (wasHigh, time) = (isHigh, time + step)
                continue
            }
            var byte: UInt8 = 0
            for bit in 0..<8 where level(time + bitTime * (1.5 + Double(bit))) { byte |= 1 << bit }
            received.append(byte)
            // The receiver looks for the next start bit from the middle of the stop bit on.
            time += bitTime * 9.5
            wasHigh = level(time)
        }
        return received
    }
}
