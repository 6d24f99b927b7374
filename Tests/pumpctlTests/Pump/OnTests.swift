import FirmwareSim
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("What on says was read")
struct OnTests {
    @Test("The knob sets the speed that is told", arguments: [(0, 0), (300, 30), (1023, 100)])
    func knob(reading: Int, percent: Int) async throws {
        let pump = try await BenchPump()
        await pump.host.change { pump, _ in pump.setPotentiometer(reading) }
        let ending = try await Pumpctl.run("-p", pump.port, "on")
        #expect(ending.output == "pump on at \(percent) %\n", "\(ending)")
        _ = try await Pumpctl.run("-p", pump.port, "off")
        let json = try await Pumpctl.run("-p", pump.port, "--json", "on")
        // The knob has not moved since then, so ON's own speed stays.
        #expect(try json.object() == ["ok": true, "state": "on", "speed_percent": 70])
        await pump.close()
    }

    @Test("The status that counts is that of a later turn of the firmware, behind the answer to TEMP")
    func laterTurn() async throws {
        // The knob sets the speed in the turn after the one that starts the pump.
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

    @Test("Interrupted before the answer it says that the outcome is unknown")
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

    @Test("Without a status it is not reported to be on", arguments: [[], ["--json"]])
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
            ending, 1, saying: "the device refused STATUS", "the pump acknowledged ON; its state now is not known",
            hint: "pumpctl status")
        if options.isEmpty {
            #expect(ending.output == "")
        } else {
            #expect(try ending.object()["outcome"] as? String == "acknowledged")
        }
        await device.close()
    }

    @Test("A board that is reset behind its acknowledgement is not reported to be on, and what it says then is told")
    func resetBehindOn() async throws {
        let ending = try await Pumpctl.run("-p", "sim:pump?fault=reset@command:2", "--timeout", "3", "--json", "on")
        expectFailure(ending, 75, saying: "the pump acknowledged ON", "the device now says: pump off")
        #expect(try ending.object()["ok"] as? Bool == false)
    }

    @Test("A status that names no state is no proof that it runs")
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
        "Where the link breaks behind the acknowledgement, it says that the pump was switched on",
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
            ending, 74, saying: "the link broke at STATUS", "the pump acknowledged ON; its state now is not known",
            hint: "pumpctl status")
        if isJSON { #expect(try ending.object()["outcome"] as? String == "acknowledged") }
    }

    @Test(
        "Interrupted behind the acknowledgement, it says that the pump was switched on",
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

    @Test("Interrupted at SPEED, it says that the pump was switched on, and that its speed is unknown")
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

    @Test("A pump that has stopped itself right away is not said to be on")
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

    @Test("A late error of the program before does not refuse it")
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

    @Test("A skin sensor that can't be relied on is told of by on, status and monitor", arguments: ["on", "status"])
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

    @Test("A pump without a skin sensor has no overheat protection")
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
