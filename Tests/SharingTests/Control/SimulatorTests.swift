import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import SerialPort
import SimControl
import StrictJSON
import TestSupport
import Testing
import Transports

@testable import Sharing

@Suite("Simulated devices for programs", .timeLimit(.minutes(5)))
struct SimulatorTests {
    /// A device at a serial path, and a daemon's socket. The clock of the daemon advances only in tests.
    private struct Rig {
        let folder = TemporaryFolder()
        let clock = ManualClock()
        let device: SharedDevice
        let server: SharingServer
        let client: ControlClient
        let reports = Watched<[SharingReport.Event]>([])

        /// Calls `body` once the link to the device at `port` is open.
        static func run(at port: String, _ body: (Rig) async throws -> Void) async throws {
            let rig = try await Rig(port)
            let running = Task(executorPreference: rig.device.loop) { [device = rig.device] in await device.run() }
            let result: Result<Void, any Error>
            do {
                _ = try await rig.reports.wait(for: "an open link") { events in
                    events.contains { if case .up = $0 { true } else { false } } ? true : nil
                }
                result = .success(try await body(rig))
            } catch {
                result = .failure(error)
            }
            running.cancel()
            await running.value
            await rig.client.channel.close()
            await rig.server.close()
            try result.get()
        }

        private init(_ port: String) async throws {
            let settings = SharedDeviceSettings(name: "pump", endpoint: try Endpoint(port), family: .pump)
            device = SharedDevice(settings, try #require(SharedFamily.row(of: .pump)), clock: clock) { endpoint in
                try await LinkSchemes.families.open(endpoint)
            } tell: { [reports] report in
                reports.update { $0.append(report.event) }
            }
            server = SharingServer([device], at: folder.path("socket"), clock: clock)
            try await server.open()
            client = ControlClient(
                try await DescriptorChannel.connect(to: .unix(path: server.path), deadline: .now + patience))
            #expect(try await client.message()["event"] == "hello")
        }

        func simulate(_ verb: String, _ arguments: String...) async throws -> JSONValue {
            try await client.ask(
                "simulate",
                ["device": "pump", "verb": .text(verb), "arguments": .array(arguments.map(JSONValue.text))])
        }

        func error() async throws -> JSONValue? {
            try await client.ask("simulator", ["device": "pump"])["error"]
        }
    }

    /// Calls `body` while a simulated pump with a control socket is at a path, and while a daemon has it open.
    private static func run(_ body: (Rig, DeviceHost<FaultyDevice<PumpFirmware>>) async throws -> Void) async throws {
        // 716 is the knob's position for the speed at which ON starts.
        let options = PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34), potentiometer: 716)
        let host = DeviceHost(FaultyDevice(PumpFirmware(options: options)), pace: .onDemand)
        let folder = TemporaryFolder()
        let port = try await PseudoTerminalServer.open(host, link: folder.path("port"))
        let simulator = try await SimulationServer.open(for: "pump", at: folder.path("pump.control"))
        await simulator.add(host.handle, number: 1)
        try await Rig.run(at: folder.path("port")) { rig in
            // The reply shows that the simulator has noticed the daemon.
            let reply = try await rig.client.ask("command", ["device": "pump", "name": "status"])
            #expect(reply["ok"] == true)
            try await body(rig, host)
        }
        await simulator.close()
        await port.close()
    }

    @Test("The verbs of the simulator are described, with the state that can be seen at the device")
    func description() async throws {
        try await Self.run { rig, _ in
            let answer = try await rig.client.ask("simulator", ["device": "pump"])
            let names = answer["verbs"]?.elements?.compactMap { $0["name"]?.text }
            #expect(names == ["press", "turn", "temperature", "probe", "fault", "advance", "reset", "set"])
            #expect(answer["state"]?["state"] == "off")
            #expect(answer["state"]?["skin_temp_c"] == .number(34))
        }
    }

    @Test("An action is performed, answered with the new state, and reported with the name of its sender")
    func actions() async throws {
        try await Self.run { rig, _ in
            #expect(try await rig.simulate("press")["ok"] == true)
            #expect(try await rig.simulate("advance", "25m")["state"]?["state"] == "on")
            #expect(try await rig.simulate("set", "knob", "1023")["state"]?["knob"] == .number(1))
            #expect(try await rig.simulate("fault", "twice@always")["state"]?["faults"] == "twice@always")
            #expect(try await rig.simulate("fault", "none")["state"]?["faults"] == nil)
            _ = try await rig.simulate("temperature", "skin", "41")
            #expect(try await rig.simulate("advance", "1s")["state"]?["state"] == "error")
            let words = rig.reports.state.compactMap { event in
                if case .simulates(let words, let name) = event { "\(words) by \(name)" } else { nil }
            }
            #expect(words.count == 7)
            #expect(words[1].hasPrefix("advance 25m by pid "))
        }
    }

    @Test(
        "Verbs that are not described, and wrong arguments, are refused and not passed on",
        arguments: [
            (#"{"id":1,"do":"simulate","device":"pump","verb":"stop"}"#, "offers"),
            (#"{"id":1,"do":"simulate","device":"pump","verb":"state"}"#, "offers"),
            (#"{"id":1,"do":"simulate","device":"pump","verb":"set","arguments":["image","/etc/passwd"]}"#, "offers"),
            (#"{"id":1,"do":"simulate","device":"pump","verb":"set"}"#, "offers"),
            (#"{"id":1,"do":"simulate","device":"pump","verb":"turn","arguments":["2"]}"#, "position"),
            (#"{"id":1,"do":"simulate","device":"pump","verb":"press","arguments":"hard"}"#, "arguments"),
            (#"{"id":1,"do":"simulate","device":"pump"}"#, "verb"),
            (#"{"id":1,"do":"simulator"}"#, "device"),
        ])
    func refusals(line: String, word: String) async throws {
        try await Self.run { rig, _ in
            let error = try await rig.client.answer(to: line)["error"]
            #expect(error?["code"] == "usage" && error?["outcome"] == "not_sent")
            let isNotOffered = error?["message"]?.text?.contains("does not offer") == true
            #expect(word == "offers" ? isNotOffered : error?["message"]?.text?.contains(word) == true)
        }
    }

    @Test("A device whose simulator has ended is not simulated any more")
    func ended() async throws {
        let host = DeviceHost(PumpFirmware(), pace: .onDemand)
        let folder = TemporaryFolder()
        let port = try await PseudoTerminalServer.open(host, link: folder.path("port"))
        let simulator = try await SimulationServer.open(for: "pump", at: folder.path("pump.control"))
        await simulator.add(host.handle, number: 1)
        try await Rig.run(at: folder.path("port")) { rig in
            _ = try await rig.client.ask("command", ["device": "pump", "name": "status"])
            #expect(try await rig.error() == nil)
            await simulator.close()
            #expect(try await rig.error()?["code"] == "no_simulator")
            await port.close()
            #expect(try await rig.error()?["code"] == "no_simulator")
        }
    }

    @Test("A pseudo-terminal whose program simulates a device only at another one does not count as simulated")
    func otherTerminal() async throws {
        try await Self.run { simulated, _ in
            // As the terminal of an emulator, or of socat in front of a real port: nobody answers for it.
            let terminal = try PseudoTerminal()
            try await Rig.run(at: terminal.path) { rig in
                #expect(try await rig.error()?["code"] == "no_simulator")
                let refused = try await rig.simulate("press")["error"]
                #expect(refused?["code"] == "no_simulator" && refused?["outcome"] == "not_sent")
            }
            #expect(try await simulated.error() == nil)
            terminal.close()
        }
    }

    @Test("A device that is not at a serial port is not simulated")
    func network() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            #expect(try await client.refusal("simulator", ["device": "pump"])["code"] == "no_simulator")
            #expect(try await client.refusal("simulator", ["device": "hose"])["code"] == "no_such_device")
        }
    }

    /// Greets a program, answers its request for the verbs with one verb, and answers nothing else. Hangs up on a
    /// request for another terminal than `terminal`.
    private static func answer(
        on channel: DescriptorChannel, _ hello: String, for terminal: String, _ tell: (String) -> Void
    ) async throws {
        try await channel.write(Array("\(hello)\n".utf8))
        var requests = JSONLines()
        while let bytes = try? await channel.read() {
            requests.append(bytes)
            while let bytes = requests.next() {
                let request = try JSONValue(bytes, size: .max)
                // Tests of the same process ask for other terminals.
                guard request["terminal"] == nil || request["terminal"]?.text == terminal else {
                    return await channel.close()
                }
                tell(request.json)
                guard request["do"] == "verbs" else { continue }
                let verb = #"{"arguments":[],"name":"press","summary":"Press."}"#
                try await channel.write(Array("{\"id\":1,\"ok\":true,\"device\":1,\"verbs\":[\(verb)]}\n".utf8))
            }
        }
    }

    @Test(
        "A program behind a terminal is asked only if it greets as a simulator; its silence is an unknown outcome")
    func silence() async throws {
        let folder = TemporaryFolder()
        let terminal = try PseudoTerminal()
        let program = try await SocketListener.listen(at: .unix(path: folder.path("pump.control")))
        let lines = Watched<[String]>([])
        let hello = Watched(#"{"event":"hello","devices":["pump"],"version":1}"#)
        let own = try #require(terminal.id).description
        let answering = Task {
            while let channel = try await program.accept() {
                Task {
                    try await Self.answer(on: channel, hello.state, for: own) { line in
                        lines.update { $0.append(line) }
                    }
                }
            }
        }
        try await Rig.run(at: terminal.path) { rig in
            // Another daemon's socket, whose greeting has no family.
            #expect(try await rig.error()?["code"] == "no_simulator")
            #expect(lines.state.isEmpty)

            hello.update { $0 = #"{"event":"hello","family":"pump","devices":1,"version":1}"# }
            try await rig.client.send(.object(["id": 1, "do": "simulate", "device": "pump", "verb": "press"]))
            _ = try await lines.wait(for: "the verb") { $0.contains { $0.contains("press") } ? true : nil }
            // The time limit of a simulator's answer.
            await rig.clock.untilSomebodySleeps(until: .seconds(15))
            rig.clock.advance(by: .seconds(15))
            let error = try await rig.client.message()["error"]
            #expect(error?["code"] == "no_answer" && error?["outcome"] == "unknown")
        }
        answering.cancel()
        await program.close()
        terminal.close()
    }
}
