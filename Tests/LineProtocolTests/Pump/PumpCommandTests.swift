import LineProtocol
import Testing

@Suite("A pump command")
struct PumpCommandTests {
    static let commands: [(PumpCommand, String, CommandEffect)] = [
        (.on, "ON\n", .change),
        (.off, "OFF\n", .stop),
        (.speed(.initial), "SPEED:180\n", .change),
        (.status, "STATUS\n", .query),
        (.temperature, "TEMP\n", .query),
    ]

    @Test("goes out as its word and one line feed", arguments: commands)
    func isEncoded(command: PumpCommand, bytes: String, effect: CommandEffect) {
        #expect(PumpFamily.encode(command) == Array(bytes.utf8))
        #expect(PumpFamily.effect(of: command) == effect)
    }

    @Test("fits the firmware's buffer of 63 bytes, and sets a speed in digits only", arguments: 0...255)
    func setsSpeedInDigits(pwm: Int) throws {
        let command = PumpCommand.speed(try #require(PumpSpeed(pwm: pwm)))
        #expect(command.text == "SPEED:\(pwm)")
        #expect(PumpFamily.encode(command).count <= 63)
    }
}
