import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import Glibc
import LineProtocol
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

@Suite("Control interface of pumpctld", .timeLimit(.minutes(5)))
struct SharingServerTests {
    // MARK: Requests

    @Test("The greeting has the version and the device names, and devices lists the details")
    func devices() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.stranger()
            let hello = try await client.message()
            #expect(hello["version"] == 1)
            #expect(hello["program_version"]?.text?.contains(/^\d+\.\d+\.\d+$/) == true)
            #expect(hello["devices"] == .array(["pump"]))
            let device = try #require(try await client.ask("devices")["devices"]?.options.first)
            #expect(
                device
                    == .object([
                        "name": "pump", "family": "pump", "endpoint": "tcp:nowhere:1", "up": true,
                        "device_id": "tty-188-0", "shares": .array(["tcp:localhost:4000"]), "clients": 0,
                        "last_heard": .null, "signal_dbm": .null,
                    ]))
        }
    }

    @Test("The responses to command and send contain the device's reply")
    func commands() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            let on = try await client.ask("command", ["device": "pump", "name": "on"])
            #expect(on["reply"] == .array(["OK", "PUMP:ON"]))
            let speed = try await client.ask(
                "command", ["device": "pump", "name": "speed", "parameters": .object(["speed": 200])])
            #expect(speed["reply"] == .array(["OK", "SPEED:200"]))
            let sent = try await client.ask("send", ["device": "pump", "line": "speed: 7"])
            #expect(sent["reply"] == .array(["OK", "SPEED:7"]))
            let ignored = try await client.ask("send", ["device": "pump", "line": ""])
            #expect(ignored["reply"] == .array([]))
            #expect(rig.sentLines == ["ON", "SPEED:200", "speed: 7", ""])
        }
    }

    @Test("stop sends the family's stop command; a change with the effect 'query' is refused")
    func stopAndEffect() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            let stop = try await client.ask("stop", ["device": "pump"])
            #expect(stop["reply"] == .array(["OK", "PUMP:OFF"]))
            #expect(rig.sentLines == ["OFF"])
            let temp = try await client.ask("command", ["device": "pump", "name": "temp", "effect": "query"])
            #expect(temp["ok"] == true)
            let on = try await client.refusal("command", ["device": "pump", "name": "on", "effect": "query"])
            #expect(on["message"] == "'on' is not a query: it changes the device")
            #expect(on["outcome"] == "not_sent")
            #expect(rig.sentLines == ["OFF", "TEMP"])
        }
    }

    @Test(
        "Parameters that do not fit the command are named and refused before sending",
        arguments: [
            (#"{"speed":256}"#, "parameter 'speed', the motor's speed (255 is full), must be 0 to 255"),
            (#"{"speed":-1}"#, "parameter 'speed', the motor's speed (255 is full), must be 0 to 255"),
            (#"{"speed":"200"}"#, "parameter 'speed', the motor's speed (255 is full), must be 0 to 255"),
            (#"{"speed":200.5}"#, "parameter 'speed', the motor's speed (255 is full), must be 0 to 255"),
            (#"{"speed":true}"#, "parameter 'speed', the motor's speed (255 is full), must be 0 to 255"),
            ("{}", "parameter 'speed', the motor's speed (255 is full), must be 0 to 255"),
            (#"{"speed":1,"duty":1}"#, "'speed' has no parameter 'duty'"),
            ("[]", "'parameters' must be an object"),
        ])
    func parameters(json: String, message: String) async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            let line = #"{"id":"a","do":"command","device":"pump","name":"speed","parameters":\#(json)}"#
            let response = try await client.answer(to: line)
            #expect(response["id"] == "a")
            #expect(response["error"]?["code"] == "usage")
            #expect(response["error"]?["message"] == .text(message))
            #expect(response["error"]?["outcome"] == "not_sent")
            #expect(rig.sentLines == [])
        }
    }

    @Test(
        "An invalid request is refused, and the connection stays usable",
        arguments: [
            ("", "not JSON: expected more input at byte 1"),
            ("[]", "a request must be a JSON object"),
            (#"{"do":"devices"}"#, "'id' must be an integer or a string"),
            (#"{"id":1.5,"do":"devices"}"#, "'id' must be an integer or a string"),
            (#"{"id":1}"#, "'do' must be a string"),
            (#"{"id":1,"do":"explode"}"#, "there is no 'explode'"),
            (#"{"id":1,"do":"devices","device":"pump"}"#, "'devices' takes no 'device'"),
            (#"{"id":1,"do":"state"}"#, "'state' needs 'device'"),
            (#"{"id":1,"do":"command","device":"pump","name":"fly"}"#, "a pump has no command 'fly'"),
            (#"{"id":1,"do":"command","device":"pump","name":"on","effect":"stop"}"#, "'effect' must be \"query\""),
            (#"{"id":1,"do":"stop"}"#, "'stop' needs 'device'"),
            (#"{"id":1,"do":"send","device":"pump","line":"ON\nON"}"#, "'line' must be one line, without its end"),
            (#"{"id":1,"do":"subscribe","events":["noise"]}"#, "unknown event 'noise'"),
            (#"{"id":1,"do":"subscribe","devices":"pump"}"#, "'devices' must be an array of strings, or \"all\""),
            (#"{"id":1,"id":2,"do":"devices"}"#, "a member is there twice at byte 9"),
            (#"{"id":1,"do":"\ud800"}"#, "text that is not Unicode at byte 15"),
        ])
    func noRequest(line: String, message: String) async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            let error = try #require(try await client.answer(to: line)["error"])
            #expect(error["code"] == "usage")
            #expect(error["message"] == .text(message))
            #expect(try await client.ask("devices")["ok"] == true)
            #expect(rig.sentLines == [])
        }
    }

    @Test("A refusal has the device's code, the outcome and a hint")
    func refusal() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            let error = try await client.refusal(
                "command", ["device": "pump", "name": "speed", "parameters": .object(["speed": 7])])
            #expect(error["code"] == "refused")
            #expect(error["device_code"] == "PUMP_NOT_RUNNING")
            #expect(error["outcome"] == "nothing_changed")
            #expect(error["message"] == "pump: the device refused SPEED:7: PUMP_NOT_RUNNING")
            #expect(
                error["hint"]?.string
                    == "switch the pump on first: command 'on'; "
                    + "after a stop for safety: command 'off', then command 'on'")
            #expect(try await client.refusal("state", ["device": "hose"])["code"] == "no_such_device")
        }
    }

    @Test("Requests to an absent device are refused at once, and not sent later")
    func away() async throws {
        let rig = try ControlRig(isPlugged: false)
        try await rig.run {
            let client = try await rig.client()
            for request in [["device": "pump", "name": "on"], ["device": "pump", "name": "off"]] {
                let error = try await client.refusal("command", request.mapValues(JSONValue.text))
                #expect(error["code"] == "device_away")
                #expect(error["outcome"] == "not_sent")
            }
            #expect(try await client.refusal("attach", ["device": "pump"])["code"] == "device_away")
            #expect(try await client.refusal("attach", ["device_id": "tty-188-0"])["code"] == "no_such_device")
            rig.plugIn()
            try await rig.untilUp()
            #expect(try await client.ask("command", ["device": "pump", "name": "status"])["ok"] == true)
            #expect(rig.sentLines == ["STATUS"])
        }
    }

    @Test("The outcome of an unanswered command is unknown")
    func unknownOutcome() async throws {
        let link = ScriptedLink()
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            try await client.send(.object(["id": 1, "do": "command", "device": "pump", "name": "on"]))
            #expect(await link.nextSent() == "\nON\n")
            await settle()
            // The time limit of a command.
            rig.clock.advance(by: .seconds(3))
            let error = try #require(try await client.message()["error"])
            #expect(error["code"] == "no_answer")
            #expect(error["outcome"] == "unknown")
            #expect(error["message"] == "pump: no answer to ON; whether it was carried out is unknown")
            #expect(error["hint"] == "ask for its state: command 'status'")
        }
    }

    @Test("A command behind an unanswered one is not sent if the query before it is not answered, and that is said")
    func notSent() async throws {
        let link = ScriptedLink()
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            for (id, sent) in [(1, ["\nON\n"]), (2, ["TEMP\n", "TEMP\n"])] {
                try await client.send(.object(["id": .integer(id), "do": "command", "device": "pump", "name": "on"]))
                for line in sent {
                    #expect(await link.nextSent() == line)
                    await settle()
                    rig.clock.advance(by: .seconds(3) / sent.count)
                }
                let error = try #require(try await client.message()["error"])
                #expect(error["code"] == "no_answer")
                guard id == 2 else { continue }
                #expect(error["outcome"] == "not_sent")
                #expect(error["message"] == "pump: ON was not sent: the query before it was not answered")
            }
        }
    }

    @Test("A pump that acknowledges OFF and runs on was read just now, and its OFF has an unknown outcome")
    func notInEffect() async throws {
        let link = ScriptedLink { sent in
            switch sent {
            case "\nOFF\n": "OK\r\nPUMP:OFF\r\n"
            case "TEMP\n": "TEMP:34.5\r\n"
            default: "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"
            }
        }
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            // The stop is repeated until its time is over.
            let time = Task {
                while !Task.isCancelled {
                    await settle()
                    rig.clock.advance(by: .milliseconds(250))
                }
            }
            let refusal = try await client.refusal("stop", ["device": "pump"])
            time.cancel()
            await time.value
            #expect(refusal["code"] == "not_in_effect" && refusal["outcome"] == "unknown")
            let state = try await client.ask("state", ["device": "pump"])
            #expect(state["values"]?["state"] == "on", "\(state)")
            // Some of the simulated time passes after the refusal.
            #expect(state["ages_s"]?["state"]?.number != nil, "\(state)")
            #expect(state["last_change"]?["outcome"] == "unknown", "\(state)")
        }
    }

    // MARK: State and events

    @Test("State values have the keys that the family lists, null if unknown, and an age")
    func state() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            let before = try await client.ask("state", ["device": "pump"])
            #expect(before["age_s"] == .null)
            #expect(before["link"] == "up")
            #expect(before["values"]?["state"] == "unknown")
            #expect(before["values"]?["skin_temp_c"] == .null)
            #expect(Set(before["values"]?.dictionary?.keys ?? [:].keys) == Set(Family.pump.state.map(\.key)))

            _ = try await client.ask("command", ["device": "pump", "name": "status"])
            rig.clock.advance(by: .milliseconds(1500))
            let after = try await client.ask("state", ["device": "pump"])
            #expect(after["age_s"]?.number == 1.5)
            #expect(after["values"]?["state"] == "off")
            #expect(after["values"]?["skin_temp_c"]?.number.map { abs($0 - 34) < 1 } == true)
            #expect(after["sensor_faults"] == .array([]))

            await rig.unplug()
            try await rig.untilAway()
            let lost = try await client.ask("state", ["device": "pump"])
            #expect(lost["link"] == "lost")
            #expect(lost["values"]?["state"] == "unknown")
            #expect(lost["values"]?["skin_temp_c"] == .null)
            #expect(lost["age_s"]?.number.map { $0 >= 1.5 } == true)
        }
    }

    @Test("The age counts from the last line with any state")
    func age() async throws {
        let link = ScriptedLink()
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            // The second line has no state, so the age goes on from the first.
            for (line, age) in [("MANUAL:ON", 1.0), ("[BT] connected", 2), ("STATUS:{State:OFF}", 1)] {
                await link.deliver(line + "\r\n")
                rig.clock.advance(by: .seconds(1))
                #expect(try await client.ask("state", ["device": "pump"])["age_s"]?.number == age)
            }
        }
    }

    @Test("An unchanged state is not sent again")
    func unchangedState() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            _ = try await client.ask("subscribe", ["events": .array(["state"])])
            #expect(try await client.message()["values"]?["state"] == "unknown")
            var events: [JSONValue] = []
            for _ in 0..<3 {
                try await client.send(.object(["id": 1, "do": "command", "device": "pump", "name": "status"]))
                await settle()
                try await client.send(.object(["id": 2, "do": "devices"]))
                var message = try await client.message()
                while message["id"] != 2 {
                    if message["event"] != nil { events.append(message) }
                    message = try await client.message()
                }
            }
            #expect(events.map { $0["values"]?["state"] } == ["off"])
        }
    }

    @Test("Subscribers receive device lines, state changes and link changes")
    func events() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            #expect(try await client.ask("subscribe", ["events": .array(["said", "state", "link"])])["ok"] == true)
            let first = try await client.message()
            #expect(first["event"] == "state")
            #expect(first["values"]?["state"] == "unknown")

            await rig.pressButton()
            var said = try await client.message()
            #expect(said["event"] == "said")
            #expect(said["line"] == "MANUAL:ON")
            let on = try await client.message()
            #expect(on["event"] == "state")
            #expect(on["values"]?["state"] == "on")
            #expect(on["age_s"]?.number == 0)

            await rig.unplug()
            let lost = try await client.message()
            #expect(lost["event"] == "link")
            #expect(lost["link"] == "lost")
            let forgotten = try await client.message()
            #expect(forgotten["event"] == "state")
            #expect(forgotten["link"] == "lost")
            #expect(forgotten["values"]?["state"] == "unknown")

            _ = try await client.ask(
                "unsubscribe", ["events": .array(["state", "link"]), "devices": .array(["pump"])])
            rig.plugIn()
            try await rig.untilUp()
            await rig.pressButton()
            said = try await client.message()
            #expect(said["line"] == "MANUAL:OFF")
            // After the button's line, the server queries the state.
            #expect(try await client.message()["line"] == "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}")
            #expect(try await client.ask("unsubscribe")["ok"] == true)
            await rig.pressButton()
            #expect(try await client.ask("devices")["ok"] == true)
        }
    }

    @Test("Subscribers see the name and the sender of another program's command, not its text")
    func privacy() async throws {
        try await ControlRig.run { rig in
            let watcher = try await rig.client()
            _ = try await watcher.ask("subscribe", ["events": .array(["command"])])
            let client = try await rig.client()
            _ = try await client.ask("send", ["device": "pump", "line": "secret \u{1B}[2J"])
            let stray = try await watcher.message()
            #expect(stray["event"] == "command")
            #expect(stray["name"] == .null)
            #expect(stray["by"] == .text("pid \(getpid()) of user \(getuid())"))
            #expect(!stray.json.contains("secret"))
            for name in ["on", "speed", "off"] {
                let parameters: JSONValue = .object(name == "speed" ? ["speed": 7] : [:])
                _ = try await client.ask(
                    "command", ["device": "pump", "name": .text(name), "parameters": parameters])
                #expect(try await watcher.message()["name"] == .text(name))
            }
        }
    }

    @Test("Control characters in a response are escaped")
    func escaping() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            try await client.say(#"{"id":"\u001b[2J\u009b\u202e","do":"\u001b]0;x\u0007"}"# + "\n")
            let line = try #require(try await client.line())
            #expect(line == line.printable())
            #expect(try JSONValue(parsing: line)["id"] == "\u{1B}[2J\u{9B}\u{202E}")
        }
    }

    // MARK: OFF

    @Test("OFF overtakes the command in flight and the program's queued requests")
    func offOvertakes() async throws {
        let link = ScriptedLink { sent in
            switch sent {
            case "\nOFF\n": "OK\r\nPUMP:OFF\r\n"
            // A session sends these queries after OFF, because the acknowledgement may be for another program.
            case "TEMP\n": "TEMP:34.5\r\n"
            case "STATUS\n": "STATUS:{State:OFF}\r\n"
            default: nil
            }
        }
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            let requests = ["on", "speed", "off"].enumerated().map { number, name -> String in
                let parameters: JSONValue = .object(name == "speed" ? ["speed": 7] : [:])
                return JSONValue.object([
                    "id": .integer(number), "do": "command", "device": "pump", "name": .text(name),
                    "parameters": parameters,
                ]).json
            }
            try await client.say(requests.joined(separator: "\n") + "\n")
            #expect(await link.nextSent(2) == ["\nON\n", "\nOFF\n"])
            var outcomes: [JSONValue: JSONValue] = [:]
            while outcomes.count < 3 {
                let response = try await client.message()
                outcomes[try #require(response["id"])] = response["error"]?["outcome"] ?? "done"
            }
            #expect(outcomes == [0: "unknown", 1: "not_sent", 2: "done"])
        }
    }

    @Test("Beyond 16 pending requests a program is refused, but OFF is accepted")
    func requestLimit() async throws {
        let rig = try ControlRig(.whileUsed(idle: .seconds(60)), isPlugged: false)
        try await rig.run {
            let client = try await rig.client()
            for number in 0..<16 {
                try await client.send(
                    .object(["id": .integer(number), "do": "command", "device": "pump", "name": "on"]))
            }
            let refused = try await client.ask("devices")
            #expect(refused["error"]?["code"] == "too_many_requests")
            try await client.send(.object(["id": "off", "do": "command", "device": "pump", "name": "off"]))
            #expect(try await client.ask("devices")["error"]?["code"] == "too_many_requests")
            rig.plugIn()
            try await rig.untilUp()
            for number in 0..<16 {
                let overtaken = try await client.message()
                #expect(overtaken["id"] == .integer(number))
                #expect(overtaken["error"]?["code"] == "overtaken")
                #expect(overtaken["error"]?["outcome"] == "not_sent")
            }
            let off = try await client.message()
            #expect(off["id"] == "off")
            #expect(off["reply"] == .array(["OK", "PUMP:OFF"]))
            #expect(rig.sentLines == ["OFF"])
        }
    }
}
