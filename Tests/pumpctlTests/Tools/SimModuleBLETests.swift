import DeviceTestKit
import FakeBlueZ
import Foundation
import TestSupport
import Testing

@Suite("pumpctl sim module --ble", .timeLimit(.minutes(5)))
struct SimModuleBLETests {
    @Test("--wait prints one object with the port and the control socket")
    func wait() async throws {
        let bus = try await PrivateBus()
        let fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
        await fake.addAdapter()
        let folder = TemporaryFolder()
        let control = folder.path("control")
        let ending = try await Pumpctl.run(
            "sim", "module", "--ble", "--unpaced", "--control", control, "--wait", environment: bus.environment)
        #expect(ending.status == 0)
        #expect(ending.output.split(separator: "\n").count == 1, "\(ending)")
        let ready = try ending.object()
        #expect(ready["control"] as? String == control)
        let port = try #require(ready["port"] as? String)
        #expect(port.hasPrefix("/dev/pts/"))
        #expect(try await Pumpctl.run("sim", "ctl", control, "stop").status == 0)
        await fake.stop()
    }

    @Test(
        "Expectations on the baud rate are refused without a pseudo-terminal",
        arguments: [["module", "--ble", "--tcp", "0"], ["pump", "--ble"], ["pump", "--tcp", "0"]])
    func terminalOnly(options: [String]) async throws {
        let ending = try await Pumpctl.start(["sim"] + options + ["--expect", "baud"]).ending()
        expectFailure(ending, 64, saying: "which only a pseudo-terminal shows", hint: "pumpctl sim")
    }
}
