import DeviceKit
import LineProtocol
import Testing

@testable import pumpctl

@Suite("What was read of a pump that was just switched on")
struct PumpOnReportTests {
    private func report(_ power: String) -> PumpOnReport {
        let line = Array("STATUS:{State:\(power),Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C}".utf8)
        guard case .status(let status) = PumpMessage(line: line.span) else {
            return PumpOnReport(status: nil, speed: nil)
        }
        return PumpOnReport(status: status, speed: nil)
    }

    @Test("A pump that is off again is not on")
    func off() {
        #expect(report("OFF").failure?.status == .refused)
        #expect(report("OFF").failure?.code == "stopped")
    }

    @Test("A pump that has stopped itself is not on")
    func stopped() { #expect(report("ERROR").failure?.status == .stoppedForSafety) }

    @Test("Where it runs, or nothing was read, there is no failure")
    func on() {
        #expect(report("ON").failure == nil)
        #expect(PumpOnReport(status: nil, speed: nil).failure == nil)
    }
}
