import FirmwareSim
import Foundation
import Testing
import TestSupport

@Suite("Pump commands")
struct PumpCommandLineTests {
    @Test("on, speed and off work one after another, and the pump keeps its state in between")
    func twoPrograms() async throws {
        let pump = try await BenchPump()
        let on = try await Pumpctl.run("-p", pump.port, "on")
        #expect(on.status == 0)
        #expect(on.output == "pump on at 70 %\n")
        #expect(on.errors == "")
        #expect(await pump.duty() == 180)
        let speed = try await Pumpctl.run("-p", pump.port, "speed", "200")
        #expect(speed.status == 0)
        #expect(speed.output == "speed 200 (78 %)\n")
        #expect(await pump.duty() == 200)
        let off = try await Pumpctl.run("-p", pump.port, "off")
        #expect(off.output == "pump off\n")
        #expect(await pump.duty() == nil)
        await pump.close()
    }

    @Test("on, speed and off print one JSON object each")
    func changesAsJSON() async throws {
        let pump = try await BenchPump()
        let on = try await Pumpctl.run("-p", pump.port, "--json", "on", "--speed", "50%")
        #expect(try on.object() == ["ok": true, "state": "on", "speed_pwm": 128, "speed_percent": 50])
        #expect(await pump.duty() == 128)
        let speed = try await Pumpctl.run("-p", pump.port, "--json", "speed", "0")
        #expect(try speed.object() == ["ok": true, "state": "on", "speed_pwm": 0, "speed_percent": 0])
        #expect(await pump.duty() == 0)
        let off = try await Pumpctl.run("-p", pump.port, "--json", "off")
        #expect(try off.object() == ["ok": true, "state": "off"])
        #expect(await pump.duty() == nil)
        await pump.close()
    }

    @Test("status prints the values of a pump with two thermistors")
    func status() async throws {
        let pump = try await BenchPump()
        let off = try await Pumpctl.run("-p", pump.port, "status")
        #expect(off.output == "pump   off\nwater  12.0 °C\nskin   34.5 °C\n")
        #expect(
            try await Pumpctl.run("-p", pump.port, "--json", "status").object()
                == ["ok": true, "state": "off", "water_temp_c": 12, "skin_temp_c": 34.5])
        _ = try await Pumpctl.run("-p", pump.port, "on")
        await pump.host.advance(by: .seconds(330))
        let on = try await Pumpctl.run("-p", pump.port, "status")
        #expect(
            on.output == """
                pump       on
                speed      70 %
                runtime    5 min
                remaining  24 min
                water      12.0 °C
                skin       34.5 °C

                """)
        #expect(
            try await Pumpctl.run("-p", pump.port, "--json", "status").object() == [
                "ok": true, "state": "on", "speed_percent": 70, "runtime_min": 5, "remaining_min": 24,
                "water_temp_c": 12, "skin_temp_c": 34.5,
            ])
        await pump.overheat()
        #expect(try await Pumpctl.run("-p", pump.port, "--json", "status").object()["state"] as? String == "error")
        await pump.close()
    }

    @Test("temp prints one or two temperatures, and a sensor fault")
    func temperatures() async throws {
        let two = try await BenchPump()
        #expect(try await Pumpctl.run("-p", two.port, "temp").output == "water  12.0 °C\nskin   34.5 °C\n")
        #expect(
            try await Pumpctl.run("-p", two.port, "--json", "temp").object()
                == ["ok": true, "water_temp_c": 12, "skin_temp_c": 34.5])
        await two.host.change { pump, _ in pump.setWaterThermistor(.open) }
        let broken = try await Pumpctl.run("-p", two.port, "temp")
        #expect(broken.output == "water  sensor fault (reads -273.1 °C)\nskin   34.5 °C\n")
        #expect(
            try await Pumpctl.run("-p", two.port, "--json", "temp").object()
                == ["ok": true, "water_temp_c": NSNull(), "skin_temp_c": 34.5, "sensor_faults": ["water_temp_c"]])
        await two.close()

        let one = try await BenchPump(thermistors: .one)
        #expect(try await Pumpctl.run("-p", one.port, "temp").output == "temp  34.5 °C\n")
        #expect(try await Pumpctl.run("-p", one.port, "--json", "temp").object() == ["ok": true, "temp_c": 34.5])
        await one.close()
    }

    @Test("A pump without temperatures in its status is reported as such")
    func noTemperature() async throws {
        let pump = try await ScriptedDevice { line in
            line == "STATUS" ? "STATUS:{State:ON,Speed:70%,Runtime:0m,Remaining:29m}\r\n" : "ERROR:UNKNOWN_COMMAND\r\n"
        }
        let text = try await Pumpctl.run("-p", pump.port, "status")
        #expect(text.output.hasSuffix("temperature  not reported\n"), "\(text)")
        let on = try await Pumpctl.run("-p", pump.port, "--json", "status")
        #expect(
            try on.object() == [
                "ok": true, "state": "on", "speed_percent": 70, "runtime_min": 0, "remaining_min": 29,
                "temperatures_reported": false, "skin_fault": "missing",
            ])
        #expect(on.errors.contains("warning: the pump reports no skin temperature: it has no overheat protection"))
        let monitor = try await Pumpctl.run("-p", pump.port, "monitor", "--count", "1")
        #expect(monitor.output.contains("ALARM: the pump reports no skin temperature"), "\(monitor)")
        await pump.close()
    }

    @Test("Temperatures of a pump without thermistors are unknown, with the pump's own text")
    func noThermistors() async throws {
        let pump = try await BenchPump(thermistors: .zero)
        let unknown = "water  unknown (the pump says '?C')\nskin   unknown (the pump says '?C')\n"
        #expect(try await Pumpctl.run("-p", pump.port, "status").output == "pump   off\n" + unknown)
        _ = try await Pumpctl.run("-p", pump.port, "on")
        let on = try await Pumpctl.run("-p", pump.port, "--json", "status").object()
        #expect(on["skin_fault"] as? String == "unreadable")
        #expect(on["other"] as? [String: String] == ["WaterTemp": "?C", "SkinTemp": "?C"])

        let temperatures = try await Pumpctl.run("-p", pump.port, "temp")
        #expect(temperatures.status == 0)
        #expect(temperatures.output == unknown)
        #expect(
            temperatures.errors == "pumpctl: warning: no temperature can be read; the pump reports Water:?C, Skin:?C\n")
        #expect(
            try await Pumpctl.run("-p", pump.port, "--json", "temp").object() == [
                "ok": true, "water_temp_c": NSNull(), "skin_temp_c": NSNull(), "temperatures_reported": false,
                "other": ["Water": "?C", "Skin": "?C"],
            ])

        let monitor = try await Pumpctl.run("-p", pump.port, "--json", "monitor", "--count", "1").object()
        #expect(monitor["event"] as? String == "sensor_fault")
        for key in ["water_temp_c", "skin_temp_c", "temp_c"] { #expect(monitor[key] is NSNull) }
        let text = try await Pumpctl.run("-p", pump.port, "monitor", "--count", "1")
        #expect(text.output.contains("ALARM: the skin temperature can't be read: the pump says '?C'"), "\(text)")
        await pump.close()
    }

    @Test("An unreadable temperature is unknown, and unknown fields are shown")
    func unreadableTemperature() async throws {
        let pump = try await ScriptedDevice { line in
            switch line {
            case "TEMP": "TEMP:{Water:12.0C,Skin:?C,Room:20.5C}\r\n"
            case "STATUS": "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:?C}\r\n"
            default: "ERROR:UNKNOWN_COMMAND\r\n"
            }
        }
        let temperatures = try await Pumpctl.run("-p", pump.port, "temp")
        #expect(
            temperatures.output
                == "water  12.0 °C\nskin   unknown (the pump says '?C')\nRoom   20.5C\n")
        #expect(temperatures.errors == "")
        let status = try await Pumpctl.run("-p", pump.port, "status")
        #expect(status.output == "pump   off\nwater  12.0 °C\nskin   unknown (the pump says '?C')\n")
        #expect(
            try await Pumpctl.run("-p", pump.port, "--json", "status").object() == [
                "ok": true, "state": "off", "water_temp_c": 12, "skin_temp_c": NSNull(), "other": ["SkinTemp": "?C"],
            ])
        let monitor = try await Pumpctl.run("-p", pump.port, "monitor", "--count", "1")
        #expect(monitor.output.hasSuffix("  off  skin unknown (the pump says '?C')  water 12.0 °C\n"), "\(monitor)")
        await pump.close()
    }

    @Test("A refusal exits with 1, the pump's error code and a hint")
    func refusals() async throws {
        let pump = try await BenchPump()
        let speed = try await Pumpctl.run("-p", pump.port, "speed", "9")
        expectFailure(speed, 1, saying: "PUMP_NOT_RUNNING", hint: "pumpctl on")
        let asJSON = try await Pumpctl.run("-p", pump.port, "--json", "speed", "9")
        let object = try asJSON.object()
        #expect(asJSON.status == 1)
        #expect(object["ok"] as? Bool == false)
        #expect(object["error"] as? String == "refused")
        #expect(object["device_code"] as? String == "PUMP_NOT_RUNNING")
        #expect(object["exit_code"] as? Int == 1)
        #expect(object["outcome"] as? String == "nothing_changed")
        _ = try await Pumpctl.run("-p", pump.port, "on")
        await pump.overheat()
        expectFailure(try await Pumpctl.run("-p", pump.port, "on"), 1, saying: "PUMP_START_FAILED", hint: "pumpctl off")
        #expect(try await Pumpctl.run("-p", pump.port, "off").status == 0)
        #expect(try await Pumpctl.run("-p", pump.port, "on").status == 0)
        await pump.close()
    }

    @Test("A speed refused after a stop for safety has a hint that works")
    func speedAfterStop() async throws {
        let pump = try await BenchPump()
        _ = try await Pumpctl.run("-p", pump.port, "on")
        await pump.overheat()
        let refused = try await Pumpctl.run("-p", pump.port, "speed", "100")
        expectFailure(
            refused, 1, saying: "PUMP_NOT_RUNNING", "the pump was stopped for safety",
            hint: "leave the error state: pumpctl off; then pumpctl on")
        #expect(!refused.errors.contains("switch the pump on first"))
        // `send` does not know the pump's state: its hint must be true for a pump that is off, and for this one.
        let sent = try await Pumpctl.run("-p", pump.port, "send", "SPEED:100")
        expectFailure(sent, 1, saying: "PUMP_NOT_RUNNING", hint: "after a stop for safety: pumpctl off")
        for words in [["off"], ["on"], ["speed", "100"]] {
            #expect(try await Pumpctl.start(["-p", pump.port] + words).ending().status == 0)
        }
        #expect(await pump.duty() == 100)
        await pump.close()
    }

    @Test("send prints the reply, and exits with 1 after an error")
    func send() async throws {
        let pump = try await BenchPump()
        let on = try await Pumpctl.run("-p", pump.port, "send", "ON")
        #expect(on.status == 0)
        #expect(on.output == "OK\nPUMP:ON\n")
        let speed = try await Pumpctl.run("-p", pump.port, "--json", "send", "speed:12")
        #expect(try speed.objects() == [["line": "OK", "whole": true], ["line": "SPEED:12", "whole": true]])
        let unknown = try await Pumpctl.run("-p", pump.port, "send", "FROB")
        #expect(unknown.output == "ERROR:UNKNOWN_COMMAND\n")
        expectFailure(unknown, 1, saying: "UNKNOWN_COMMAND")
        let dangerous = try await Pumpctl.run("-p", pump.port, "send", "SPEED:abc")
        expectFailure(dangerous, 64, saying: "would set the speed to 0", "--force", hint: "pumpctl send")
        #expect(await pump.duty() == 12)
        let forced = try await Pumpctl.run("-p", pump.port, "send", "--force", "SPEED:abc")
        #expect(forced.output == "OK\nSPEED:0\n")
        #expect(await pump.duty() == 0)
        await pump.close()
    }
}
