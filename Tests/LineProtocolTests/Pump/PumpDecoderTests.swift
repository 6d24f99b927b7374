import LineProtocol
import Testing

@Suite("The pump's decoder")
struct PumpDecoderTests {
    static let replies: [(String, PumpMessage)] = [
        ("OK", .ok),
        ("PUMP:ON", .pump(isOn: true)),
        ("PUMP:OFF", .pump(isOn: false)),
        ("MANUAL:ON", .manual(isOn: true)),
        ("MANUAL:OFF", .manual(isOn: false)),
        ("ERROR:CMD_TOO_LONG", .error(.commandTooLong)),
        ("ERROR:UNKNOWN_COMMAND", .error(.unknownCommand)),
        ("ERROR:PUMP_START_FAILED", .error(.pumpStartFailed)),
        ("ERROR:PUMP_NOT_RUNNING", .error(.pumpNotRunning)),
        ("ERROR:INVALID_SPEED_VALUE", .error(.invalidSpeedValue)),
        ("ERROR:SAFETY_SHUTOFF", .error(.safetyShutoff)),
        ("ERROR:OVERHEAT", .error(.overheat)),
        ("ERROR:WATER_EMPTY_2", .error(PumpErrorCode(rawValue: "WATER_EMPTY_2"))),
    ]

    @Test("Every reply and error code is decoded, also an unknown error code", arguments: replies)
    func knowsReplies(line: String, message: PumpMessage) {
        #expect(PumpMessage(text: line) == message)
    }

    @Test("Only SAFETY_SHUTOFF and OVERHEAT are unsolicited errors", arguments: replies)
    func knowsUnaskedErrors(line: String, message: PumpMessage) {
        guard case .error(let code) = message else { return }
        #expect(code.isUnsolicited == ["ERROR:SAFETY_SHUTOFF", "ERROR:OVERHEAT"].contains(line))
    }

    @Test("Every speed from 0 to 255 is decoded", arguments: 0...255)
    func readsSpeed(pwm: Int) throws {
        let speed = try #require(PumpSpeed(pwm: pwm))
        #expect(PumpMessage(text: "SPEED:\(pwm)") == .speed(speed))
    }

    @Test(
        "Human-readable text is passed on",
        arguments: [
            "HELLO:PUMP v1", "HELLO:", "=", "========================================", "Device: Arduino Nano",
            "Version: 1.0", "Baud Rate: 9600", "Ready for commands...", "Reset: watchdog", "Maximum runtime exceeded",
            "Skin temperature too low: 8.2C", "Skin thermistor open or shorted", "Water thermistor open or shorted",
            "Skin temperature too high: 41.2C", "Skin temperature too high: ?C", "[BT] Received: ON",
            "[PUMP] Speed set to 180", "[MAIN] STATUS:{State:ON}", "[BUTTON]", "[SETUP] …", "[POT] 512", "[WARNING] OK",
        ])
    func passesOnText(line: String) {
        #expect(PumpMessage(text: line) == .text(line))
    }

    @Test(
        "The bytes of an unknown line are kept",
        arguments: [
            "", " ", "\u{0}", "ok", "OK ", " OK", "OKOK", "OK\u{0}", "O", "PUMP", "PUMP:", "PUMP:on", "PUMP:ON ",
            "PUMP:ONN",
            "PUMP:ERROR", "MANUAL:", "MANUAL:O", "SPEED:", "SPEED:256", "SPEED:999", "SPEED:-1", "SPEED:+1", "SPEED: 1",
            "SPEED:1 ", "SPEED:0180", "SPEED:18446744073709551796", "SPEED:abc", "SPEED:1.0", "speed:1", "ERROR",
            "ERROR:",
            "ERROR: OVERHEAT", "ERROR:overheat", "ERROR:OVER HEAT", "ERROR:OVERHEAT\u{0}", "ERROR:É", "TEMP", "TEMP:",
            "TEMP:C", "TEMP:-", "TEMP:abc", "TEMP:?C", "TEMP:{}", "TEMP:{", "TEMP:}", "TEMP:{Water:12.0C",
            "TEMP:Water:12.0C}",
            "STATUS", "STATUS:", "STATUS:{", "STATUS:}", "STATUS:State:ON", "STATUS:{State:ON", "STATUS:State:ON}",
            "STATUS:{State:ON} ", "STATUS: {State:ON}", " STATUS:{State:ON}", "status:{State:ON}", "XSTATUS:{State:ON}",
            "[bt] x", "[BT", "[OTHER] x", "BT]", "== x", "=-=", "hello:", "Device", "Skin temperature", "AT+NAME",
        ])
    func keepsUnknown(line: String) {
        #expect(PumpMessage(text: line) == .unknown(Array(line.utf8)))
        #expect(PumpFamily.isForeign(PumpMessage(text: line)))
    }

    @Test(
        "A line that is not UTF-8 is kept byte for byte",
        arguments: [[0xFF], [0x4F, 0x4B, 0xC3], [0x00, 0xED, 0xA0, 0x80], [0xC0, 0xAF]])
    func keepsInvalidText(bytes: [UInt8]) {
        #expect(PumpMessage(line: bytes.span) == .unknown(bytes))
    }

    @Test("A line decodes the same with any line end, but not if it was cut", arguments: PumpLines.all)
    func ignoresEnding(line: String) {
        let message = PumpMessage(text: line)
        #expect(!PumpFamily.isForeign(message))
        #expect(PumpMessage(text: line, ending: .carriageReturn) == message)
        #expect(PumpMessage(text: line, ending: .cut) == .unknown(Array(line.utf8)))
        #expect(PumpFamily.message(line: Array(line.utf8).span, ending: .lineFeed) == message)
    }

    @Test("The fixture of pump lines is not empty")
    func hasFixture() {
        #expect(PumpLines.all.count > 40)
    }
}
