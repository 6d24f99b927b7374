/// What a UART makes of bytes that were sent at another baud rate: 8N1, each bit looked at in its middle, a framing error
/// passed on as a byte, as an AVR does.
enum GarbledLine {
    /// - Parameters:
    ///   - bytes: What is sent in one go, on a line that was and will be idle.
    ///   - sender: Bits a second.
    ///   - receiver: Bits a second.
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
            time += bitTime * 9.5
            wasHigh = level(time)
        }
        return received
    }
}
