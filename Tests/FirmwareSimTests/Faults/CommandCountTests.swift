import FirmwareSim
import Testing

@Suite("Counting commands")
struct CommandCountTests {
    /// Sends the writes to a pump with these settings, one per second; returns everything that the pump prints.
    private static func text(_ settings: [String: String], _ writes: [String]) throws -> String {
        let settings = try Simulator.pump.settings(settings)
        let options = PumpFirmwareOptions(lineRate: .unlimited, heat: .fixed(water: 12, skin: 34.5))
        var pump = try FaultyDevice(PumpFirmware(options: options), settings)
        var bytes: [UInt8] = []
        for (index, write) in writes.enumerated() {
            pump.receive(Array(write.utf8), at: .seconds(index))
            bytes += pump.advance(to: .seconds(index + 1)).flatMap(\.bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let off = "OK\r\nPUMP:OFF\r\n"

    @Test(
        "A command begins at its first byte that is no line end",
        arguments: [
            ["OFF\n", "OFF\n", "OFF\n"], ["OFF\r", "OFF\r", "OFF\r"], ["OFF\r\n", "OFF\r\n", "OFF\r\n"],
            ["\nOFF\n", "\n\nOFF\n", "\r\nOFF\r\n"], ["OFF", "\r", "\n", "OFF\r\n", "OFF\r\n"],
        ] as [[String]])
    func counted(writes: [String]) throws {
        for number in 1...3 {
            let expected = (1...3).map { $0 == number ? Self.off + Self.off : Self.off }.joined()
            #expect(try Self.text(["fault": "twice@command:\(number)"], writes) == expected, "\(number)")
        }
        #expect(try Self.text(["fault": "twice@command:4"], writes) == Self.off + Self.off + Self.off)
        #expect(try Self.text(["step": "command:3 press"], writes).contains("MANUAL:ON\r\n"))
        #expect(try Self.text(["step": "command:4 press"], writes) == Self.off + Self.off + Self.off)
    }

    @Test("The overrun fault hits the numbered command, however lines end")
    func overrun() throws {
        for seed in 1...20 {
            let text = try Self.text(
                ["fault": "overrun@command:2", "seed": "\(seed)"], ["OFF\r\n", "\nXYZ\r\n", "\n", "OFF\r\n"])
            // If XYZ loses its line end, the next line end takes its place.
            #expect(text == Self.off + "ERROR:UNKNOWN_COMMAND\r\n" + Self.off, "seed \(seed)")
        }
    }
}
