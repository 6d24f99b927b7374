import Foundation
import TestSupport
import Testing

@testable import pumpctl

/// A scripted device plays a device that a server such as pumpctld shares. The server itself answers a command if the
/// device is away, or if another program's OFF has overtaken the command.
@Suite("Notices of a sharing server", .timeLimit(.minutes(5)))
struct ShareNoticeTests {
    /// Runs a command with --json on a device that replies by `answer`; also returns the command's JSON object.
    private static func run(
        _ words: [String], _ answer: @escaping @Sendable (String) -> String?
    ) async throws -> (ending: ChildProcess.Ending, json: [String: Any]) {
        let device = try await ScriptedDevice(answer)
        // A short time-out, because `off` repeats OFF until then.
        let ending = try await Pumpctl.start(["--timeout", "2", "--json", "-p", device.port] + words).ending()
        await device.close()
        let json = try JSONSerialization.jsonObject(with: Data(ending.output.utf8)) as? [String: Any]
        return (ending, json ?? [:])
    }

    @Test("A command to an absent device is reported as not sent", arguments: ["status", "on", "off"])
    func away(command: String) async throws {
        // No reply to an empty line: it comes from the line end that pumpctl sends before OFF.
        let (ending, json) = try await Self.run([command]) { $0.isEmpty ? "" : "ERROR:DEVICE_AWAY\r\n" }
        #expect(ending.status == 66, "\(ending)")
        #expect(json["error"] as? String == "device_away")
        // The time-out may come before the reply to the last OFF.
        let isLate = command == "off" && json["outcome"] as? String == "unknown"
        #expect(isLate || json["outcome"] as? String == "not_sent")
        let sentence =
            switch command {
            case _ where isLate: "the pump may be on\n"
            case "off": "OFF was not sent: the pump may be on\n"
            default: "\(command.uppercased()) was not sent\n"
            }
        #expect(ending.errors.contains("the server that shares the device can't reach it; " + sentence), "\(ending)")
    }

    @Test("A change overtaken by another program's OFF is reported as not sent")
    func overtaken() async throws {
        let (ending, json) = try await Self.run(["on"]) { line in
            switch line {
            case "TEMP": "TEMP:34.5\r\n"
            case "ON": "ERROR:OVERTAKEN\r\n"
            case "": ""
            default: "ERROR:UNKNOWN_COMMAND\r\n"
            }
        }
        #expect(ending.status == 1, "\(ending)")
        #expect(json["error"] as? String == "overtaken")
        #expect(json["outcome"] as? String == "not_sent")
        #expect(ending.errors.contains("ON was not sent: OFF took precedence"), "\(ending)")
    }

    @Test("A pump that is absent after its ON is reported as acknowledged, not as on")
    func awayBehindOn() async throws {
        let isOn = Watched(false)
        let (ending, json) = try await Self.run(["on"]) { line in
            switch line {
            case _ where isOn.state: return "ERROR:DEVICE_AWAY\r\n"
            case "TEMP": return "TEMP:34.5\r\n"
            case "ON":
                isOn.update { $0 = true }
                return "OK\r\nPUMP:ON\r\n"
            default: return "ERROR:UNKNOWN_COMMAND\r\n"
            }
        }
        #expect(ending.status == 66, "\(ending)")
        #expect(json["outcome"] as? String == "acknowledged")
        #expect(ending.errors.contains("the pump acknowledged ON, and its state is now unknown"), "\(ending)")
    }

    @Test("monitor reports an absent device, and not its former state")
    func monitor() async throws {
        let isAway = Watched(false)
        let device = try await ScriptedDevice { line in
            switch line {
            case "": ""
            case _ where isAway.state: "ERROR:DEVICE_AWAY\r\n"
            case "TEMP": "TEMP:34.5\r\n"
            default: "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"
            }
        }
        let program = try await Pumpctl.start(["--json", "-p", device.port, "monitor", "--interval", "0.5"])
        try await program.output.text(upTo: "\"state\":\"on\"")
        // The notice comes before the device is away, so that monitor does not learn of it from its next query first.
        try await device.say("[WARNING] the device is away\r\n")
        isAway.update { $0 = true }
        for word in ["the device is away", "device_away"] {
            var line = ""
            while !line.contains(word) { line = try await program.output.line() }
            #expect(!line.contains("\"state\":\"on\""), "\(line)")
        }
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        await device.close()
    }
}
