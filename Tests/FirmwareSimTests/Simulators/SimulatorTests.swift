import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Foundation
import TestSupport
import Testing

@Suite("The table of simulators")
struct SimulatorTests {
    private static let all: [Simulator] = [.pump, .storm, .led, .peer, .rescue, .raw, .module]

    @Test("A simulator's options are unique, with valid defaults and exclusions", arguments: all)
    func consistent(simulator: Simulator) {
        let names = simulator.options.map(\.name)
        #expect(Set(names).count == names.count)
        for option in simulator.options {
            #expect(option.defaultValue.map(option.takes) ?? true, "\(option.name)")
            #expect(option.excluded.allSatisfy(names.contains), "\(option.name)")
            #expect(option.help.hasSuffix("."), "\(option.name)")
        }
    }

    @Test("A simulator creates its device from the given options and the defaults")
    func devices() throws {
        let pump = try #require(try Simulator.pump.device(.init(of: .pump, ["knob": "716"])) as? PumpFirmware)
        #expect(pump.options.potentiometer == 716 && pump.options.thermistors == .two)
        #expect(pump.options.lineRate == .baud(9600) && pump.options.bootBanner == .off)

        let storm = try #require(
            try Simulator.storm.device(.init(of: .storm, ["unpaced": "on", "interval": "2m"])) as? StormFirmware)
        #expect(
            storm.options
                == StormFirmwareOptions(lineRate: .unlimited, seed: 1, rows: 100, interval: .seconds(120)))

        let still = try #require(try Simulator.storm.device(.init(of: .storm, ["interval": "off"])) as? StormFirmware)
        #expect(still.options.interval == nil)

        let led = try #require(
            try Simulator.led.device(.init(of: .led, ["lit": "on", "mute": "true"])) as? LEDFirmware)
        #expect(led.isLit && !led.answersSets)

        let peer = try #require(
            try Simulator.peer.device(.init(of: .peer, ["fault": "stalls", "seed": "\(UInt64.max)"])) as? PeerFirmware)
        #expect(peer.options.imageFault == .stalls && peer.options.seed == .max && peer.options.interval == nil)
        #expect(peer.options.imageByteCount == 20_000 && peer.options.chunkLength == 180)

        let phone = try #require(
            try Simulator.rescue.device(.init(of: .rescue, ["interval": "0", "baud": "300"])) as? RescueFirmware)
        #expect(
            phone.options == RescueFirmwareOptions(carrier: .line(.baud(300)), messages: 5, interval: .zero))
    }

    @Test(
        "A phone forwards received messages unless it hoards",
        arguments: [
            ([:], true), (["forwards": "on"], true), (["forwards": "off"], false), (["hoard": "on"], false),
            (["hoard": "off"], true),
        ])
    func forwards(given: [String: String], expected: Bool) throws {
        let phone = try #require(try Simulator.rescue.device(.init(of: .rescue, given)) as? RescueFirmware)
        #expect(phone.options.forwards == expected)
    }

    @Test(
        "An invalid option is refused with a typed error",
        arguments: [
            (Simulator.pump, ["knob": "1024"], SimulatorOptionError("knob", .invalid(takes: .number(0...1023)))),
            (.pump, ["knob": "half"], SimulatorOptionError("knob", .invalid(takes: .number(0...1023)))),
            (
                .pump, ["banner": "loud"],
                SimulatorOptionError("banner", .invalid(takes: .choice(["off", "hello", "banner"])))
            ),
            (.pump, ["baud": "0"], SimulatorOptionError("baud", .invalid(takes: .number(1...Int.max)))),
            (.pump, ["name": "x"], SimulatorOptionError("name", .only(.radio))),
            (.storm, ["interval": "0"], SimulatorOptionError("interval", .invalid(takes: .time(or: "off")))),
            (.storm, ["seed": "-1"], SimulatorOptionError("seed", .invalid(takes: .seed))),
            (.storm, ["echo": "maybe"], SimulatorOptionError("echo", .invalid(takes: .flag))),
            (.peer, ["image": "x", "seed": "1"], SimulatorOptionError("image", .excludes(["seed", "size"]))),
            (.rescue, ["hoard": "on", "forwards": "on"], SimulatorOptionError("forwards", .excludes(["hoard"]))),
            (
                .led, ["nosuch": "1"],
                SimulatorOptionError(
                    "nosuch",
                    .unknown(known: ["baud", "unpaced", "name", "lit", "fault", "mute", "seed", "step", "expect"]))
            ),
        ])
    func refusals(simulator: Simulator, given: [String: String], error: SimulatorOptionError) {
        #expect(throws: error) { try simulator.settings(given) }
    }

    @Test("Line options are refused over a radio, unless the device also has a line")
    func carriers() throws {
        #expect(throws: SimulatorOptionError("baud", .only(.line))) {
            try Simulator.storm.settings(["baud": "9600"], over: .radio)
        }
        // A pump has a serial line behind its radio, and a peer uses its name in the greeting over a cable too.
        #expect(try Simulator.pump.settings(["baud": "300"], over: .radio).lineRate == .baud(300))
        #expect(try Simulator.pump.settings(over: .radio).text("name") == "HMSoft")
        #expect(try Simulator.peer.settings(["name": "Bench"]).text("name") == "Bench")
    }

    @Test("The image file is read when the peer is made")
    func image() throws {
        let folder = TemporaryFolder()
        let picture = PeerPicture(seed: 1, byteCount: 200).bytes
        let path = folder.path("a\nb.png")
        try Data(picture).write(to: URL(filePath: path))
        let peer = try #require(try Simulator.peer.device(.init(of: .peer, ["image": path])) as? PeerFirmware)
        #expect(peer.options.image == picture && peer.options.imageName == "a_b.png")
        let text = folder.write("text", to: "text")
        #expect(throws: DeviceFileError(.notPNG, path: text)) {
            try Simulator.peer.device(.init(of: .peer, ["image": text]))
        }
        let nothing = folder.path("nothing")
        #expect(throws: DeviceFileError(.unreadable(errno: 2), path: nothing)) {
            try Simulator.peer.device(.init(of: .peer, ["image": nothing]))
        }
    }
}

// MARK: - A third-party device

@Suite("Custom simulators", .timeLimit(.minutes(5)))
struct OwnSimulatorTests {
    /// A device that replies to each byte with its greeting.
    private struct Parrot: SimulatedDevice {
        let greeting: String
        var emissions: [Emission] = []

        mutating func receive(_ bytes: [UInt8], at instant: Duration) {
            emissions += bytes.map { _ in Emission(bytes: Array(greeting.utf8), time: instant) }
        }
        mutating func advance(to instant: Duration) -> [Emission] {
            defer { emissions = [] }
            return emissions
        }
        mutating func reset(at instant: Duration) {}
        var nextActivity: Duration? { emissions.first?.time }
        var isQuiescent: Bool { emissions.isEmpty }
    }

    private let parrot = Simulator(
        "parrot", options: [SimulatorOption("word", .text, default: "hello", help: "What it says.")]
    ) { Parrot(greeting: $0.text("word") ?? "") }

    @Test("A custom simulator is served on a terminal, TCP or a path until its task is cancelled")
    func served() async throws {
        let folder = TemporaryFolder()
        let places: [ServingPlace] = [
            .terminal(), .terminal(link: folder.path("parrot")), .socket(.tcp(host: "127.0.0.1", port: 0)),
            .socket(.unix(path: folder.path("socket"))),
        ]
        for place in places {
            let events = Watched<[ServingEvent]>([])
            let settings = try parrot.settings(["word": "hi"])
            let serving = Task { [parrot] in
                try await parrot.serve(settings, at: place) { event in events.update { $0.append(event) } }
            }
            let client: HostClient
            switch try await events.wait(for: "the parrot", { $0.first }) {
            case .onTerminal(let path):
                client = try HostClient(terminal: path)
                await settle()
            case .onSocket(let address): client = try await HostClient(address)
            case .refusedClient, .isBack, .staysAway:
                Issue.record("nobody else was there")
                return
            }
            try client.say(".")
            #expect(try await client.hear(until: "hi") == "hi", "\(place)")
            client.leave()
            serving.cancel()
            try await serving.value
        }
    }

    @Test("A device that cannot be served reports the reason")
    func notServed() async throws {
        let settings = try parrot.settings()
        await #expect(throws: (any Error).self) {
            try await parrot.serve(settings, at: .terminal(link: "/nonexistent/parrot")) { _ in }
        }
        await #expect(throws: DescriptorError.self) {
            try await parrot.serve(settings, at: .socket(.unix(path: "/nonexistent/parrot"))) { _ in }
        }
    }

    @Test("A custom simulator can be connected inside the program")
    func connected() async throws {
        let line = try await parrot.connect(parrot.settings())
        try await line.write(Array("..".utf8))
        var heard: [UInt8] = []
        while heard.count < 10, let bytes = try await line.read() { heard += bytes }
        #expect(String(decoding: heard, as: UTF8.self) == "hellohello")
        await line.close()
    }
}

extension SimulatorSettings {
    fileprivate init(of simulator: Simulator, _ given: [String: String]) throws {
        self = try simulator.settings(given)
    }
}
