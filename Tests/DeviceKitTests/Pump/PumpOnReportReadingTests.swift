import DeviceKit
import DeviceTestKit
import LineProtocol
import Testing

@Suite("Reading the pump after ON", .timeLimit(.minutes(5)))
struct PumpOnReportReadingTests {
    @Test("If the pump is silent, the error names STATUS, not the TEMP before it")
    func silence() async throws {
        let (link, clock) = (ScriptedLink(), ManualClock())
        let pump = try await PumpSession.begin(over: link, clock: clock)
        let reading = Task { () -> SessionError? in
            do throws(SessionError) { _ = try await PumpOnReport.read(pump, timeout: .seconds(3)) } catch {
                return error
            }
            return nil
        }
        for attempt in 1...2 {
            #expect(await link.nextSent() == "TEMP\n")
            await clock.untilSomebodySleeps(until: .seconds(1.5) * attempt)
            clock.advance(by: .seconds(1.5))
        }
        let error = SessionError(.noAnswer, command: "STATUS", outcome: .nothingChanged, waited: .seconds(3))
        #expect(await reading.value == error)
        await pump.close()
    }
}
