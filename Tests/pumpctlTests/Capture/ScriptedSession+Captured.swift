import DeviceTestKit

extension ScriptedSession {
    /// A session with a pump, captured by pumpctl 0.1.0 at 2026-11-25T07:00:00.000Z.
    static let captured = ScriptedSession(
        steps: [
            .opened(keepsPacketBounds: false, mayHaveReset: false, mayBeMidLine: false, packetCapacity: nil),
            .sent("STATUS\n"),
            .received("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"),
            .sent("TEMP\n"),
            .received(bytes: [0xff, 0x0a]),
            .received("TEMP:{Water:12.0C,Skin:34.5C}\r\n"),
        ])
}
