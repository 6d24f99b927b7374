extension LEDFirmware {
    /// Accepts `LED`, `LED:0` and `LED:1` on a line, and any one byte over BLE.
    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        if isPacket { return command.count == 1 ? nil : "is not one byte" }
        return ["LED", "LED:0", "LED:1"].contains(String(decoding: command, as: UTF8.self)) ? nil : "is not a command"
    }
}
