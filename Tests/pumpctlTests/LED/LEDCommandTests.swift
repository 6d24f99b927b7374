import Foundation
import TestSupport
import Testing

@Suite("pumpctl led")
struct LEDCommandTests {
    @Test("Each command prints the LED's state")
    func simulated() async throws {
        for (command, isOn) in [("get", false), ("on", true), ("off", false), ("toggle", true)] {
            let ending = try await Pumpctl.run("-p", "sim:led", "led", command)
            #expect(ending.status == 0)
            #expect(ending.output == "led \(isOn ? "on" : "off")\n")
        }
        let record = try await Pumpctl.run("-p", "sim:led?lit", "--json", "led", "toggle", "led").object()
        #expect(record["name"] as? String == "led")
        #expect(record["value"] as? Bool == false)
    }

    @Test("A silent board leaves the outcome of a write unknown")
    func silent() async throws {
        let board = try await ScriptedDevice()
        let ending = try await Pumpctl.run("-p", board.port, "--timeout", "0.2", "--json", "led", "off")
        expectFailure(ending, 75, saying: "unknown")
        #expect(try ending.object()["outcome"] as? String == "unknown")
        await board.close()
    }

    @Test(
        "An unknown value, family or verb is refused",
        arguments: [["led", "get", "fan"], ["--family", "storm", "led", "get"], ["led", "blink"]])
    func wrongWords(words: [String]) async throws {
        expectFailure(try await Pumpctl.start(["-p", "sim:led"] + words).ending(), 64, hint: "")
    }
}
