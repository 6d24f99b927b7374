import LineProtocol
import Testing

@Suite("Pump commands")
struct PumpCommandTests {
    static let commands: [(PumpCommand, String, CommandEffect)] = [
        (.on, "ON\n", .change),
        (.off, "OFF\n", .stop),
        (.speed(.initial), "SPEED:180\n", .change),
        (.status, "STATUS\n", .query),
        (.temperature, "TEMP\n", .query),
    ]

    @Test("A command is its word and one line feed", arguments: commands)
    func isEncoded(command: PumpCommand, bytes: String, effect: CommandEffect) {
        #expect(PumpFamily.encode(command) == Array(bytes.utf8))
        #expect(PumpFamily.effect(of: command) == effect)
    }

    @Test("A speed is sent in digits and fits the firmware's 63-byte buffer", arguments: 0...255)
    func setsSpeedInDigits(pwm: Int) throws {
        let command = PumpCommand.speed(try #require(PumpSpeed(pwm: pwm)))
        #expect(command.text == "SPEED:\(pwm)")
        #expect(PumpFamily.encode(command).count <= 63)
    }
}
