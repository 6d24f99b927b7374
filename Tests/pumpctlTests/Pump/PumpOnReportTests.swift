import DeviceKit
import LineProtocol
import Testing

@testable import pumpctl

@Suite("Report after switching on")
struct PumpOnReportTests {
    /// The report after ON, if the following STATUS has this state.
    private func report(_ power: String) -> PumpOnReport {
        let line = Array("STATUS:{State:\(power),Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C}".utf8)
        guard case .status(let status) = PumpMessage(line: line.span) else {
            return PumpOnReport(status: nil, speed: nil)
        }
        return PumpOnReport(status: status, speed: nil)
    }

    @Test("A pump that is off again is a failure")
    func off() {
        #expect(report("OFF").failure?.status == .refused)
        #expect(report("OFF").failure?.code == "stopped")
    }

    @Test("A pump that stopped itself is a failure")
    func stopped() { #expect(report("ERROR").failure?.status == .stoppedForSafety) }

    @Test("A running pump, or a status that was not read, is no failure")
    func on() {
        #expect(report("ON").failure == nil)
        #expect(PumpOnReport(status: nil, speed: nil).failure == nil)
    }
}
