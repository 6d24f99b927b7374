extension PumpFirmware {
    /// Accepts commands in any letter case, and plain decimal speeds. The firmware also reads other texts as numbers,
    /// but its protocol does not promise that.
    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        if command.count > PumpCommandLine.capacity { return "is longer than \(PumpCommandLine.capacity) bytes" }
        let word = String(decoding: command, as: UTF8.self).uppercased()
        if ["ON", "OFF", "STATUS", "TEMP"].contains(word) { return nil }
        guard word.hasPrefix("SPEED:") else { return "is not a command" }
        let digits = word.dropFirst("SPEED:".count)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return "has no plain decimal number"
        }
        return Int(digits).map { $0 > 255 } ?? true ? "is out of range: 0 to 255" : nil
    }
}
