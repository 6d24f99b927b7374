import Foundation
import Testing
import TestSupport

@Suite("Devices that do not answer like a pump")
struct BadAnswerTests {
    /// A --timeout in seconds. A query is sent again after half of it, and even on a busy machine the device replies to
    /// each within its half.
    private let patience = "6"

    @Test("A port that vanishes during ON leaves the outcome unknown")
    func vanishing() async throws {
        let device = try await ScriptedDevice { _ in nil }
        let ending = try await Pumpctl.run("-p", device.port, "--json", "on")
        expectFailure(
            ending, 74, saying: "the link broke at ON", "whether it was carried out is unknown",
            hint: "plug the device in")
        #expect(try ending.object()["outcome"] as? String == "unknown")
    }

    @Test("Without a reply, each command fails with 75, and off warns that the pump may be on")
    func silence() async throws {
        let device = try await ScriptedDevice()
        let status = try await Pumpctl.run("-p", device.port, "--timeout", "0.3", "status")
        expectFailure(status, 75, saying: "no answer to STATUS", hint: "raise --timeout")
        let off = try await Pumpctl.run("-p", device.port, "--timeout", "0.3", "--json", "off")
        expectFailure(
            off, 75, saying: "no answer to OFF", "the pump may be on", hint: "switch off the supply of the pump")
        #expect(try off.object()["outcome"] as? String == "unknown")
        let send = try await Pumpctl.run("-p", device.port, "--timeout", "0.3", "send", "ON")
        expectFailure(send, 75, saying: "no answer", hint: "raise --timeout")
        await device.close()
    }

    @Test("Half a reply counts as no answer")
    func halfAnswer() async throws {
        let device = try await ScriptedDevice { $0 == "ON" ? "OK\r\n" : "" }
        let ending = try await Pumpctl.run("-p", device.port, "--timeout", "0.3", "on")
        expectFailure(ending, 75, saying: "no answer to ON", "unknown", hint: "status")
        await device.close()
    }

    @Test("Garbage is escaped, and the hint names the baud rate")
    func garbage() async throws {
        let device = try await ScriptedDevice { _ in "\u{1}\u{7F}~\u{3}x\u{1B}[2J?\n" }
        let ending = try await Pumpctl.run("-p", device.port, "--timeout", patience, "status")
        expectFailure(ending, 76, saying: "unexpected reply to STATUS", "\\x01", hint: "baud rate")
        #expect(!ending.errors.contains("\u{1B}"), "what a device says must not drive the terminal")
        await device.close()
    }

    @Test("A line that never ends is an unexpected reply")
    func endlessLine() async throws {
        let device = try await ScriptedDevice { _ in String(repeating: "A", count: 5000) }
        let ending = try await Pumpctl.run("-p", device.port, "--timeout", patience, "status")
        expectFailure(ending, 76, saying: "unexpected reply to STATUS: AAAA", hint: "of the family pump")
        await device.close()
    }

    @Test("A truncated line is an unexpected reply")
    func cutLine() async throws {
        let device = try await ScriptedDevice { _ in "STATUS:{State:O" }
        let ending = try await Pumpctl.run("-p", device.port, "--timeout", patience, "status")
        expectFailure(ending, 76, saying: "unexpected reply to STATUS: STATUS:{State:O", hint: "of the family pump")
        await device.close()
    }

    @Test("A confirmation of another speed counts as no answer")
    func otherSpeed() async throws {
        let device = try await ScriptedDevice { $0.hasPrefix("SPEED") ? "OK\r\nSPEED:0\r\n" : "" }
        let ending = try await Pumpctl.run("-p", device.port, "--timeout", "0.3", "speed", "200")
        expectFailure(ending, 75, saying: "SPEED:200", "unknown", hint: "status")
        await device.close()
    }
}
