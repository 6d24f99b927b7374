import DescriptorIO
import DeviceTestKit
import LineProtocol
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

@Suite("Programs attached to a device", .timeLimit(.minutes(5)))
struct AttachingTests {
    @Test(
        "An attached program exchanges device lines, also those sent along with its request",
        arguments: [#""device":"pump""#, #""device_id":"tty-188-0""#])
    func attaches(argument: String) async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            _ = try await client.ask("subscribe")
            _ = try await client.message()
            try await client.say(#"{"id":1,"do":"attach",\#(argument)}"# + "\nSTATUS\nspeed: 7\n")
            let response = try await client.message()
            #expect(
                response
                    == .object([
                        "id": 1, "ok": true, "device": "pump", "family": "pump", "endpoint": "tcp:nowhere:1",
                    ]))
            #expect(try await client.line()?.hasPrefix("STATUS:{State:OFF") == true)
            #expect(try await client.line() == "ERROR:PUMP_NOT_RUNNING")
            // From now on a request is a line like any other.
            try await client.say(#"{"id":2,"do":"devices"}"# + "\n")
            #expect(try await client.line() == "ERROR:UNKNOWN_COMMAND")
            await rig.pressButton()
            #expect(try await client.line() == "MANUAL:ON")
            let clients = try await rig.client().ask("devices")["devices"]?.options.first?["clients"]
            #expect(clients == 1)
        }
    }

    @Test("A lost link ends an attachment")
    func linkLost() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            _ = try await client.ask("attach", ["device": "pump"])
            await rig.unplug()
            #expect(try await client.line() == "[WARNING] the device is away")
            #expect(try await client.line() == nil)
        }
    }

    @Test("A program that hangs up is no longer a client of the device")
    func leaves() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            _ = try await client.ask("attach", ["device": "pump"])
            await client.channel.close()
            await settle()
            let clients = try await rig.client().ask("devices")["devices"]?.options.first?["clients"]
            #expect(clients == 0)
        }
    }

    @Test("Attaching, and lines sent with the request, wait for an on-demand link")
    func opens() async throws {
        let rig = try ControlRig(.whileUsed(idle: .seconds(60)), isPlugged: false)
        try await rig.run {
            let client = try await rig.client()
            try await client.say(#"{"id":1,"do":"attach","device":"pump"}"# + "\nSTATUS\n")
            await settle()
            rig.plugIn()
            try await rig.untilUp()
            #expect(try await client.message()["ok"] == true)
            #expect(try await client.line()?.hasPrefix("STATUS:{") == true)
        }
    }

    @Test("An attach request to a device that cannot be opened fails in the end, and later ones are answered")
    func gives() async throws {
        let rig = try ControlRig(.whileUsed(idle: .seconds(60)), isPlugged: false)
        try await rig.run {
            let client = try await rig.client()
            try await client.say(#"{"id":1,"do":"attach","device":"pump"}"# + "\n" + #"{"id":2,"do":"devices"}"# + "\n")
            await settle()
            rig.clock.advance(by: DeviceWatch.openingPatience)
            let error = try #require(try await client.message()["error"])
            #expect(error["code"] == "device_away")
            let devices = try await client.message()
            #expect(devices["id"] == 2)
            #expect(devices["ok"] == true)
        }
    }

    @Test("Attaching is refused while another request is pending")
    func underWay() async throws {
        let rig = try ControlRig(link: ScriptedLink())
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            try await client.send(.object(["id": 1, "do": "command", "device": "pump", "name": "status"]))
            #expect(try await client.refusal("attach", ["device": "pump"])["code"] == "usage")
        }
    }

    @Test("A subscription keeps an on-demand link open until it ends")
    func needs() async throws {
        let rig = try ControlRig(.whileUsed(idle: .seconds(60)))
        try await rig.run {
            let client = try await rig.client()
            await settle()
            #expect(await rig.device.isUp == false)
            _ = try await client.ask("subscribe", ["events": .array(["link"])])
            #expect(try await client.message()["link"] == "up")
            await settle()
            rig.clock.advance(by: .seconds(120))
            await settle()
            #expect(await rig.device.isUp)
            _ = try await client.ask("unsubscribe")
            await settle()
            rig.clock.advance(by: .seconds(61))
            await settle()
            #expect(await rig.device.isUp == false)
        }
    }
}
