extension StormFirmware {
    /// Accepts only `GET_LOG`, which over BLE has no line end.
    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        command == Array("GET_LOG".utf8) ? nil : "is not GET_LOG"
    }
}
