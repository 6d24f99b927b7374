import DescriptorIO
import FirmwareSim
import Glibc
import SerialPort
import SimControl
import StrictJSON
import Testing
import TestSupport

@Suite("Control sockets of simulators", .timeLimit(.minutes(5)))
struct SimulationServerTests {
    /// Pumps with one control socket, and a program at this socket. The pumps' time advances on demand only.
    private final class Rig: Sendable {
        let folder = TemporaryFolder()
        let server: SimulationServer
        let hosts: [DeviceHost<PumpFirmware>]
        private let client: SimulationClient

        init(devices: Int = 1, expecting expectations: String? = nil) async throws {
            // 716 is the knob's position for the speed at which ON starts.
            let options = PumpFirmwareOptions(
                lineRate: .unlimited, heat: .fixed(water: 12, skin: 34), potentiometer: 716)
            let judge = try expectations.map {
                HostJudge(try Simulator.pump.settings(["expect": $0]).expectations(), urgent: ["OFF"])
            }
            hosts = (0..<devices).map { _ in DeviceHost(PumpFirmware(options: options), pace: .onDemand, judge: judge) }
            server = try await SimulationServer.open(for: "pump", at: folder.path("control"))
            for (index, host) in hosts.enumerated() { await server.add(host.handle, number: index + 1) }
            client = try await SimulationClient(folder.path("control"))
            #expect(client.hello["event"] == "hello")
        }

        /// Sends a line and returns the reply. The schema must accept the line if and only if `isRequest`.
        func ask(_ line: String, isRequest: Bool = true) async throws -> JSONValue {
            try await client.ask(line, isRequest: isRequest)
        }

        func end() async {
            await client.close()
            await server.close()
        }
    }

    @Test("Each response contains the visible state")
    func states() async throws {
        let rig = try await Rig()
        let state = try await rig.ask(#"{"id":1,"do":"state"}"#)
        #expect(state["id"] == 1)
        #expect(state["state"]?["state"] == "off")
        #expect(state["state"]?["skin_temp_c"] == .number(34))
        #expect(try await rig.ask(#"{"id":"a","do":"press"}"#)["ok"] == true)
        let on = try await rig.ask(#"{"id":2,"do":"advance","arguments":["1s"]}"#)
        #expect(on["state"]?["state"] == "on")
        #expect(on["state"]?["duty"] == 180)
        let turned = try await rig.ask(#"{"id":3,"do":"turn","arguments":["1"]}"#)
        #expect(turned["state"]?["knob"] == .number(1))
        #expect(try await rig.ask(#"{"id":4,"do":"advance","arguments":["1s"]}"#)["state"]?["duty"] == 255)
        _ = try await rig.ask(#"{"id":5,"do":"temperature","arguments":["skin","41"]}"#)
        #expect(try await rig.ask(#"{"id":6,"do":"advance","arguments":["1s"]}"#)["state"]?["state"] == "error")
        #expect(try await rig.ask(#"{"id":7,"do":"reset"}"#)["state"]?["booting"] == true)
        await rig.end()
    }

    @Test("advance lets a running pump reach the end of its longest run, after 30 minutes")
    func advance() async throws {
        let rig = try await Rig()
        _ = try await rig.ask(#"{"id":1,"do":"press"}"#)
        #expect(try await rig.ask(#"{"id":2,"do":"advance","arguments":["29m"]}"#)["state"]?["state"] == "on")
        #expect(try await rig.ask(#"{"id":3,"do":"advance","arguments":["2m"]}"#)["state"]?["state"] == "error")
        await rig.end()
    }

    @Test("A request acts only on the device with its number")
    func several() async throws {
        let rig = try await Rig(devices: 3)
        #expect(try await rig.ask(#"{"id":1,"do":"press"}"#)["error"]?["code"] == "usage")
        #expect(try await rig.ask(#"{"id":1,"do":"press","device":4}"#)["error"]?["code"] == "no_such_device")
        _ = try await rig.ask(#"{"id":1,"do":"press","device":2}"#)
        for number in 1...3 {
            let state = try await rig.ask(#"{"id":2,"do":"advance","arguments":["1s"],"device":\#(number)}"#)
            #expect(state["state"]?["state"] == (number == 2 ? "on" : "off"))
        }
        await rig.end()
    }

    @Test(
        "An invalid request is refused and changes nothing",
        arguments: [
            (#"{"id":1,"do":"dance"}"#, true), (#"{"id":1,"do":"press","arguments":["hard"]}"#, true),
            (#"{"id":1,"do":"turn"}"#, true), (#"{"id":1,"do":"turn","arguments":["1.1"]}"#, true),
            (#"{"id":1,"do":"turn","arguments":["nan"]}"#, true), (#"{"id":1,"do":"turn","arguments":[0.5]}"#, false),
            (#"{"id":1,"do":"press","arguments":"all"}"#, false), (#"{"id":1,"do":"press","hard":true}"#, false),
            (#"{"id":1,"do":"advance","arguments":["-1s"]}"#, true), (#"{"do":"press"}"#, false), ("press", false),
            (#"{"id":1,"do":"temperature","arguments":["air","20"]}"#, true),
            (#"{"id":1,"do":"stop","device":1}"#, true), (#"{"id":1,"do":"state","arguments":["all"]}"#, true),
            (#"{"id":1,"do":"verbs","arguments":["all"]}"#, true),
            (#"{"id":1,"do":"press","terminal":"26:3"}"#, true),
        ])
    func refusals(line: String, isRequest: Bool) async throws {
        let rig = try await Rig()
        let before = try await rig.ask(#"{"id":0,"do":"state"}"#)
        let answer = try await rig.ask(line, isRequest: isRequest)
        #expect(answer["ok"] == false)
        #expect(answer["error"]?["code"] == "usage")
        #expect(try await rig.ask(#"{"id":0,"do":"state"}"#) == before)
        await rig.end()
    }

    @Test("stop reports the verdict on the hosts of all devices")
    func verdict() async throws {
        let rig = try await Rig(devices: 2, expecting: "pacing=1s")
        let (near, far) = try DescriptorChannel.pair(on: .shared)
        await rig.hosts[0].attach(far)
        try await near.write(Array("TEMP\nTEMP\n".utf8))
        _ = try await near.read()
        let verdict = try await rig.ask(#"{"id":1,"do":"stop"}"#)["verdict"]
        #expect(verdict?["passed"] == false && verdict?["count"] == 1)
        let findings = try #require(verdict?["findings"]?.elements)
        let untested = verdict?["untested"]?.elements
        #expect(findings[0]["device"] == 1 && findings[0]["expectation"] == "pacing=1s")
        #expect(untested == [.object(["device": 2, "expectation": "pacing=1s"])])
        await near.close()
        await rig.end()
        let unjudged = try await Rig()
        #expect(try await unjudged.ask(#"{"id":1,"do":"stop"}"#)["verdict"] == nil)
        await unjudged.end()
    }

    @Test("The greeting lists the family of each device")
    func families() async throws {
        let rig = try await Rig()
        let board = DeviceHost(LEDFirmware(lineRate: .unlimited), pace: .onDemand)
        await rig.server.add(board.handle, number: 2, family: "led")
        let client = try await SimulationClient(rig.folder.path("control"))
        #expect(client.hello["families"] == .array(["pump", "led"]))
        #expect(client.hello["family"] == "pump")
        await client.close()

        let lit = try await rig.ask(#"{"id":1,"do":"light","arguments":["on"],"device":2}"#)
        #expect(lit["state"] == .object(["lit": true]))
        #expect(try await rig.ask(#"{"id":2,"do":"light","arguments":["on"],"device":1}"#)["ok"] == false)
        await rig.end()
    }

    @Test("set changes an option, and an unknown option is refused with the available ones")
    func settings() async throws {
        let rig = try await Rig()
        let set = try await rig.ask(#"{"id":1,"do":"set","arguments":["knob","1023"]}"#)
        #expect(set["state"]?["knob"] == .number(1))
        let refused = try await rig.ask(#"{"id":2,"do":"set","arguments":["banner","hello"]}"#)
        #expect(refused["error"]?["hint"] == "use one of: knob")
        await rig.end()
    }

    @Test("verbs describes each verb with the types and limits of its arguments")
    func verbs() async throws {
        let rig = try await Rig()
        let answer = try await rig.ask(#"{"id":1,"do":"verbs"}"#)
        #expect(answer["device"] == 1)
        let verbs = try #require(answer["verbs"]?.elements)
        #expect(
            verbs.map { $0["name"]?.text } == ["press", "turn", "temperature", "probe", "advance", "reset", "set"])
        let temperature = verbs[2]
        #expect(temperature["summary"] == "Set a probe to a temperature, from which it drifts on.")
        let arguments = try #require(temperature["arguments"]?.elements)
        #expect(arguments[0]["choices"] == .array(["water", "skin"]))
        #expect(arguments[1]["type"] == "number")
        #expect(arguments[1]["minimum"] == .number(-55) && arguments[1]["maximum"] == .number(150))
        #expect(verbs[4]["arguments"]?.elements?.first?["type"] == "time")
        #expect(verbs[6]["option"] == "knob")
        #expect(verbs[6]["arguments"]?.elements?.first?["maximum"] == .integer(1023))
        await rig.end()
    }

    @Test("The verb for faults suggests those that the device can have")
    func faults() async throws {
        let rig = try await Rig()
        let peer = DeviceHost(
            try FaultyDevice(PeerFirmware(), try Simulator.peer.settings(), isOnTerminal: false), pace: .onDemand)
        await rig.server.add(peer.handle, number: 2, family: "peer")
        let answer = try await rig.ask(#"{"id":1,"do":"verbs","device":2}"#)
        let fault = try #require(answer["verbs"]?.elements?.first { $0["name"] == "fault" })
        let suggestions = fault["arguments"]?.elements?.first?["suggestions"]?.elements?.compactMap(\.text) ?? []
        #expect(suggestions.first == "none")
        #expect(suggestions.contains("size_mismatch") && suggestions.contains("drop"))
        // A fault of BLE, and one that needs a pseudo-terminal.
        #expect(!suggestions.contains("lost") && !suggestions.contains("baud"))
        for name in suggestions {
            let set = try await rig.ask(#"{"id":2,"do":"fault","arguments":["\#(name)"],"device":2}"#)
            #expect(set["ok"] == true, "\(name)")
        }
        await rig.end()
    }

    @Test("A verb that reads a file is not described")
    func files() async throws {
        let rig = try await Rig()
        await rig.server.add(DeviceHost(PeerFirmware(), pace: .onDemand).handle, number: 2, family: "peer")
        let verbs = try await rig.ask(#"{"id":1,"do":"verbs","device":2}"#)["verbs"]?.elements ?? []
        let options = verbs.compactMap { $0["option"]?.text }
        #expect(options == ["chunk", "interval", "acks"])
        await rig.end()
    }

    @Test("A device is found by the pseudo-terminal that a program has open")
    func terminals() async throws {
        let rig = try await Rig(devices: 2)
        let server = try await PseudoTerminalServer.open(rig.hosts[1])
        let id = try #require(PseudoTerminalID(at: server.path))
        let request = #"{"id":1,"do":"verbs","terminal":"\#(id)"}"#
        #expect(try await rig.ask(request)["error"]?["code"] == "no_such_device")
        let number = open(server.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        try #require(number >= 0)
        let port = DescriptorChannel(taking: number, kind: .stream)
        try await port.write(Array("STATUS\n".utf8))
        // The reply shows that the simulator has noticed the program.
        _ = try await port.read()
        #expect(try await rig.ask(request)["device"] == 2)
        await port.close()
        await server.close()
        #expect(try await rig.ask(request)["error"]?["code"] == "no_such_device")
        await rig.end()
    }

    @Test("Too long a request is refused before the connection closes", arguments: [16_385, 20_000, 100_000])
    func tooLong(length: Int) async throws {
        let rig = try await Rig()
        let answer = try await rig.ask(String(repeating: "x", count: length), isRequest: false)
        #expect(answer["id"] == .null)
        #expect(answer["error"]?["message"] == "a request has at most 16384 bytes")
        // The server has hung up.
        await #expect(throws: (any Error).self) { try await rig.ask(#"{"id":1,"do":"state"}"#) }
        await rig.end()
    }

    @Test("The control socket has mode 0600 and is removed at the end")
    func life() async throws {
        let rig = try await Rig()
        var status = stat()
        #expect(stat(rig.folder.path("control"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        await #expect(throws: DescriptorError.self) {
            try await SimulationServer.open(for: "pump", at: rig.folder.path("control"))
        }
        let stopped = Task { await rig.server.untilStopped() }
        #expect(try await rig.ask(#"{"id":1,"do":"stop"}"#)["ok"] == true)
        await stopped.value
        await rig.end()
        #expect(access(rig.folder.path("control"), F_OK) != 0)
    }
}
