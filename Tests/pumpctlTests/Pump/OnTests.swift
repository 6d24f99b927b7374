import FirmwareSim
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("pumpctl on")
struct OnTests {
    @Test("The reported speed is the one set by the knob", arguments: [(0, 0), (300, 30), (1023, 100)])
    func knob(reading: Int, percent: Int) async throws {
        let pump = try await BenchPump()
        await pump.host.change { pump, _ in pump.setPotentiometer(reading) }
        let ending = try await Pumpctl.run("-p", pump.port, "on")
        #expect(ending.output == "pump on at \(percent) %\n", "\(ending)")
        _ = try await Pumpctl.run("-p", pump.port, "off")
        let json = try await Pumpctl.run("-p", pump.port, "--json", "on")
        // The knob has not moved since the first ON, so that the pump keeps the speed with which ON starts it.
        #expect(try json.object() == ["ok": true, "state": "on", "speed_percent": 70])
        await pump.close()
    }

    @Test("on asks for the status after the reply to TEMP, when the firmware has read the knob")
    func laterTurn() async throws {
        // The firmware reads the knob in the turn of its main loop after the one that starts the pump.
        let isKnobRead = Mutex(false)
        let device = try await ScriptedDevice { line in
            isKnobRead.withLock { isKnobRead in
                isKnobRead = isKnobRead && line != "ON" || line == "TEMP"
                return switch line {
                case "ON": "OK\r\nPUMP:ON\r\n"
                case "TEMP": "TEMP:34.5\r\n"
                case "STATUS": "STATUS:{State:ON,Speed:\(isKnobRead ? 30 : 70)%,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"
                default: ""
                }
            }
        }
        let ending = try await Pumpctl.run("-p", device.port, "on")
        #expect(ending.output == "pump on at 30 %\n", "\(ending)")
        await device.close()
    }

    @Test("Interrupted before the reply, the outcome is unknown")
    func interrupted() async throws {
        let device = try await ScriptedDevice()
        let program = try await Pumpctl.start(["-p", device.port, "--json", "on"])
        _ = try await device.heard.wait(for: "ON") { $0.text.contains("ON\n") ? true : nil }
        program.send(signal: SIGINT)
        let ending = try await program.ending()
        expectFailure(ending, 130, saying: "unknown")
        #expect(try ending.object()["outcome"] as? String == "unknown")
        await device.close()
    }

    @Test("If the status is refused, ON is reported as acknowledged, not the pump as on", arguments: [[], ["--json"]])
    func noStatus(options: [String]) async throws {
        let device = try await ScriptedDevice { line in
            switch line {
            case "ON": "OK\r\nPUMP:ON\r\n"
            case "TEMP": "TEMP:34.5\r\n"
            case "STATUS": "ERROR:UNKNOWN_COMMAND\r\n"
            default: ""
            }
        }
        let ending = try await Pumpctl.start(["-p", device.port, "--timeout", "100"] + options + ["on"]).ending()
        expectFailure(
            ending, 1, saying: "the device refused STATUS", "the pump acknowledged ON, and its state is now unknown",
            hint: "pumpctl status")
        if options.isEmpty {
            #expect(ending.output == "")
        } else {
            #expect(try ending.object()["outcome"] as? String == "acknowledged")
        }
        await device.close()
    }

    @Test("A board reset after its acknowledgement is not reported as on")
    func resetBehindOn() async throws {
        // The second command is the TEMP that follows ON.
        let ending = try await Pumpctl.run("-p", "sim:pump?fault=reset@command:2", "--timeout", "3", "--json", "on")
        expectFailure(ending, 75, saying: "the pump acknowledged ON", "the device now reports: pump off")
        #expect(try ending.object()["ok"] as? Bool == false)
    }

    @Test("A status without a known state is an error")
    func unknownState() async throws {
        let device = try await ScriptedDevice { line in
            switch line {
            case "ON": "OK\r\nPUMP:ON\r\n"
            case "TEMP": "TEMP:34.5\r\n"
            case "STATUS": "STATUS:{SkinTemp:34.5C}\r\n"
            default: ""
            }
        }
        let ending = try await Pumpctl.run("-p", device.port, "on")
        expectFailure(ending, 76, saying: "its status names no known state", hint: "pumpctl status")
        #expect(ending.output == "")
        await device.close()
    }

    @Test(
        "A link lost after the acknowledgement is reported with the acknowledged ON",
        arguments: [false, true])
    func linkLost(isJSON: Bool) async throws {
        let device = try await ScriptedDevice { line in
            switch line {
            case "ON": "OK\r\nPUMP:ON\r\n"
            default: ""
            }
        }
        let program = try await Pumpctl.start(["-p", device.port] + (isJSON ? ["--json"] : []) + ["on"])
        _ = try await device.heard.wait(for: "TEMP") { $0.text.contains("TEMP\n") ? true : nil }
        await device.close()
        let ending = try await program.ending()
        expectFailure(
            ending, 74, saying: "the link broke at STATUS", "the pump acknowledged ON, and its state is now unknown",
            hint: "pumpctl status")
        if isJSON { #expect(try ending.object()["outcome"] as? String == "acknowledged") }
    }

    @Test(
        "Interrupted after the acknowledgement, on reports the acknowledged ON",
        arguments: [SIGINT, SIGTERM], [false, true])
    func interruptedBehindOn(by signal: CInt, isJSON: Bool) async throws {
        let device = try await ScriptedDevice { $0 == "ON" ? "OK\r\nPUMP:ON\r\n" : "" }
        let program = try await Pumpctl.start(
            ["-p", device.port, "--timeout", "60"] + (isJSON ? ["--json"] : []) + ["on"])
        _ = try await device.heard.wait(for: "TEMP") { $0.text.contains("TEMP\n") ? true : nil }
        program.send(signal: signal)
        let ending = try await program.ending()
        expectFailure(ending, 128 + signal, saying: "the pump acknowledged ON", hint: "pumpctl status")
        if isJSON { #expect(try ending.object()["outcome"] as? String == "acknowledged") }
        await device.close()
    }

    @Test("Interrupted at SPEED, on reports the acknowledged ON and the unknown speed")
    func interruptedAtSpeed() async throws {
        let device = try await ScriptedDevice { $0 == "ON" ? "OK\r\nPUMP:ON\r\n" : "" }
        let program = try await Pumpctl.start(["-p", device.port, "--timeout", "60", "--json", "on", "--speed", "99"])
        _ = try await device.heard.wait(for: "SPEED") { $0.text.contains("SPEED:99\n") ? true : nil }
        program.send(signal: SIGINT)
        let ending = try await program.ending()
        expectFailure(ending, 130, saying: "whether it was carried out is unknown", "the pump acknowledged ON")
        #expect(try ending.object()["outcome"] as? String == "unknown")
        await device.close()
    }

    @Test("A pump that stopped for safety at once is not reported as on")
    func stopped() async throws {
        let device = try await ScriptedDevice { line in
            switch line {
            case "ON": "OK\r\nPUMP:ON\r\n"
            case "TEMP": "TEMP:41.5\r\n"
            case "STATUS": "STATUS:{State:ERROR,WaterTemp:12.0C,SkinTemp:41.5C}\r\n"
            default: ""
            }
        }
        let ending = try await Pumpctl.run("-p", device.port, "on")
        expectFailure(ending, 3, saying: "stopped for safety", hint: "pumpctl off")
        #expect(ending.output == "")
        await device.close()
    }

    @Test("A stale error before the reply to ON is not taken for a refusal")
    func lateError() async throws {
        let device = try await ScriptedDevice { line in
            switch line {
            case "ON": "ERROR:UNKNOWN_COMMAND\r\nOK\r\nPUMP:ON\r\n"
            case "TEMP": "TEMP:34.5\r\n"
            case "STATUS": "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"
            default: ""
            }
        }
        let ending = try await Pumpctl.run("-p", device.port, "on")
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output == "pump on at 70 %\n")
        await device.close()
    }

    @Test(
        "A faulty skin sensor is reported by on, status and monitor while the pump runs", arguments: ["on", "status"])
    func sensor(command: String) async throws {
        let pump = try await BenchPump()
        await pump.host.change { pump, _ in pump.setSkinThermistor(.open) }
        _ = try await Pumpctl.run("-p", pump.port, "on")
        let ending = try await Pumpctl.run("-p", pump.port, command)
        #expect(ending.status == 0)
        #expect(ending.errors.contains("warning: the skin sensor reads"), "\(ending)")
        let json = try await Pumpctl.run("-p", pump.port, "--json", command)
        #expect(try json.object()["skin_fault"] as? String == "open")
        let monitor = try await Pumpctl.run("-p", pump.port, "--json", "monitor", "--count", "1")
        #expect(try monitor.object()["event"] as? String == "sensor_fault")
        let text = try await Pumpctl.run("-p", pump.port, "monitor", "--count", "1")
        #expect(text.output.contains("ALARM: the skin sensor reads"), "\(text)")
        _ = try await Pumpctl.run("-p", pump.port, "off")
        #expect(try await Pumpctl.run("-p", pump.port, "status").errors == "", "it matters only while the pump runs")
        await pump.close()
    }

    @Test("A pump without temperatures is reported to lack overheat protection")
    func noSensor() async throws {
        let device = try await ScriptedDevice { line in
            switch line {
            case "ON": "OK\r\nPUMP:ON\r\n"
            case "TEMP": "ERROR:UNKNOWN_COMMAND\r\n"
            case "STATUS": "STATUS:{State:ON,Speed:70%,Runtime:0m,Remaining:30m}\r\n"
            default: ""
            }
        }
        let ending = try await Pumpctl.run("-p", device.port, "on")
        #expect(ending.errors.contains("no overheat protection"), "\(ending)")
        await device.close()
    }
}
