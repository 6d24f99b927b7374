import FirmwareSim
import Testing

@Suite("Combinations of faults")
struct FaultListTests {
    /// The error of a pump with these faults; nil if they are accepted.
    private static func problem(_ faults: String, over carrier: SimulatorOption.Carrier = .line) -> String? {
        do throws(SimulatorOptionError) {
            _ = try Simulator.pump.settings(["fault": faults], over: carrier)
            return nil
        } catch { return "\(error)" }
    }

    @Test("A device takes only one drift and at most 64 faults")
    func bounds() throws {
        #expect(Self.problem("drift=50%,drift=50%")?.contains("one clock") == true)
        #expect(Self.problem(Array(repeating: "drift=50%", count: 80).joined(separator: ","))?.isEmpty == false)
        #expect(Self.problem(Array(repeating: "drop", count: 65).joined(separator: ","))?.contains("64") == true)
        #expect(Self.problem(Array(repeating: "drop", count: 64).joined(separator: ",")) == nil)
    }

    @Test("A clock to which many drifts are added does not stop")
    func addedDrifts() throws {
        var board = FaultyDevice(LEDFirmware())
        for _ in 0..<80 { board.add(try Simulator.pump.settings(["fault": "drift=50%"]).faults()) }
        board.receive(Array("LED\n".utf8), at: .zero)
        #expect(board.advance(to: .seconds(9)).flatMap(\.bytes) == Array("LED:0\r\n".utf8))
    }

    @Test(
        "A fault that acts before a line can't depend on the line's beginning, except over BLE",
        arguments: ["delay@line:STATUS", "noise@line:STATUS"])
    func lateDecisions(fault: String) throws {
        #expect(Self.problem(fault)?.contains("line:") == true)
        #expect(Self.problem(fault, over: .radio) == nil)
    }
}
