import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Glibc
import SerialPort
import TestSupport
import Testing

@Suite("Faults of the carrier", .timeLimit(.minutes(3)))
struct CarrierFaultTests {
    private static let status = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"

    private static func pump(_ faults: String, rate: LineRate = .unlimited) throws -> FaultyDevice<PumpFirmware> {
        let settings = try Simulator.pump.settings(["fault": faults])
        let options = PumpFirmwareOptions(lineRate: rate, heat: .fixed(water: 12, skin: 34.5))
        return FaultyDevice(PumpFirmware(options: options), faults: settings.faults(), lineRate: rate)
    }

    private static func text(_ emissions: [Emission]) -> String {
        String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
    }

    // MARK: In simulated time

    @Test("The fault twice repeats a whole reply, at its occasion only")
    func twice() throws {
        var pump = try Self.pump("twice@command:2")
        pump.receive(Array("OFF\n".utf8), at: .zero)
        #expect(Self.text(pump.advance(to: .seconds(1))) == "OK\r\nPUMP:OFF\r\n")
        pump.receive(Array("OFF\n".utf8), at: .seconds(1))
        #expect(Self.text(pump.advance(to: .seconds(2))) == "OK\r\nPUMP:OFF\r\nOK\r\nPUMP:OFF\r\n")
        pump.receive(Array("STATUS\n".utf8), at: .seconds(2))
        #expect(Self.text(pump.advance(to: .seconds(3))) == Self.status)
    }

    @Test("A stuck pump stands still and reports ERROR until the fault is removed")
    func stuckPump() throws {
        var pump = try Self.pump("stuck@command:2")
        pump.receive(Array("ON\n".utf8), at: .zero)
        #expect(Self.text(pump.advance(to: .seconds(1))) == "OK\r\nPUMP:ON\r\n")
        pump.receive(Array("TEMP\n".utf8), at: .seconds(1))
        _ = pump.advance(to: .seconds(2))
        #expect(pump.device.state == .error && pump.device.duty == 0)
        pump.receive(Array("OFF\n".utf8), at: .seconds(2))
        #expect(Self.text(pump.advance(to: .seconds(3))) == "OK\r\nPUMP:OFF\r\n")
        pump.receive(Array("ON\n".utf8), at: .seconds(3))
        #expect(Self.text(pump.advance(to: .seconds(4))) == "ERROR:PUMP_START_FAILED\r\n")
        pump.reset(at: .seconds(4))
        #expect(pump.device.state == .error)
        pump.clearFaults()
        pump.receive(Array("OFF\n".utf8), at: .seconds(10))
        _ = pump.advance(to: .seconds(11))
        #expect(pump.device.state == .off)
    }

    @Test("A stuck LED ignores a write and reports its old value")
    func stuckLED() throws {
        let settings = try Simulator.led.settings(["fault": "stuck@command:1"])
        var board = FaultyDevice(LEDFirmware(lineRate: .unlimited), faults: settings.faults())
        board.receive(Array("LED\n".utf8), at: .zero)
        _ = board.advance(to: .seconds(1))
        board.receive(Array("LED:1\n".utf8), at: .seconds(1))
        #expect(Self.text(board.advance(to: .seconds(2))) == "LED:0\r\n")
    }

    @Test("An unplugged cable cuts off the reply and blocks input until it is back")
    func unplug() throws {
        var pump = try Self.pump("unplug=2s@command:1")
        pump.receive(Array("STATUS\n".utf8), at: .zero)
        let said = Self.text(pump.advance(to: .seconds(1)))
        #expect(said != Self.status && Self.status.hasPrefix(said))
        let events = pump.takeCarrierEvents()
        #expect(events.map(\.action) == [.unplug])
        pump.receive(Array("ON\n".utf8), at: .seconds(1))
        _ = pump.advance(to: .seconds(3))
        #expect(pump.device.state == .off)
        let back = pump.takeCarrierEvents()
        #expect(back.map(\.action) == [.plugIn] && back[0].time == events[0].time + .seconds(2))
        pump.receive(Array("STATUS\n".utf8), at: .seconds(4))
        #expect(Self.text(pump.advance(to: .seconds(5))) == Self.status)
    }

    @Test("A host at another baud rate sends and receives garbage")
    func baudRate() throws {
        var pump = try Self.pump("baud", rate: .baud(9600))
        #expect(pump.heedsHostBaudRate)
        pump.setHostBaudRate(115_200)
        pump.receive(Array("ON\n".utf8), at: .zero)
        let garbage = pump.advance(to: .seconds(1))
        #expect(pump.device.state == .off && !Self.text(garbage).contains("PUMP"))
        pump.setHostBaudRate(9600)
        // The pump has read the garbage as the beginning of a line. A line end completes it, and it gets a reply.
        pump.receive(Array("\n".utf8), at: .seconds(1))
        _ = pump.advance(to: .seconds(2))
        pump.receive(Array("OFF\n".utf8), at: .seconds(2))
        #expect(Self.text(pump.advance(to: .seconds(3))) == "OK\r\nPUMP:OFF\r\n")
        pump.receive(Array("STATUS\n".utf8), at: .seconds(3))
        pump.setHostBaudRate(19200)
        let status = pump.advance(to: .seconds(4)).flatMap(\.bytes)
        #expect(!status.isEmpty && status != Array(Self.status.utf8))
        #expect(try !Self.pump("none").heedsHostBaudRate)
    }

    @Test(
        "A fault that does not apply to a device is refused with the reason",
        arguments: [("led", "drift"), ("storm", "stuck"), ("peer", "stuck"), ("rescue", "twice")])
    func senseless(family: String, fault: String) throws {
        let simulator = try #require([Simulator.led, .storm, .peer, .rescue].first { $0.name == family })
        let error = #expect(throws: SimulatorOptionError.self) { try simulator.settings(["fault": "\(fault)"]) }
        guard case .senseless(let row) = error?.problem else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(row.name == fault && !row.reason.isEmpty && error.map { "\($0)".contains(row.reason) } == true)
    }

    // MARK: On pseudo-terminals and sockets

    @Test("An unplugged device ends its terminal and returns on a new one behind the same symlink")
    func unpluggedTerminal() async throws {
        let folder = TemporaryFolder()
        let link = folder.path("pump")
        let host = DeviceHost(try Self.pump("unplug=2s@command:1"), pace: .onDemand)
        let returns = Watched<[String]>([])
        let server = try await PseudoTerminalServer.open(host, link: link) { path in returns.update { $0.append(path) }
        }
        let first = Self.target(of: link)
        let client = try HostClient(terminal: link)
        await settle()
        try client.say("STATUS\n")
        // The client keeps the old terminal open, like real programs.
        try await client.waitForHangUp()
        await host.advance(by: .seconds(2))
        #expect(try await returns.wait(for: "the device") { $0.first } == link)
        #expect(Self.target(of: link) != first)
        let next = try HostClient(terminal: link)
        await settle()
        try next.say("STATUS\n")
        #expect(try await next.hear(until: "\r\n") == Self.status)
        await server.close()
        #expect(throws: (any Error).self) { try HostClient(terminal: link) }
    }

    @Test("An unplugged device hangs up on socket clients until it is back")
    func unpluggedSocket() async throws {
        let host = DeviceHost(try Self.pump("unplug=2s@command:1"), pace: .onDemand)
        let server = try await SocketServer.open(host, at: .tcp(host: "127.0.0.1", port: 0))
        let address = SocketAddress.tcp(host: "127.0.0.1", port: server.port ?? 0)
        let client = try await HostClient(address)
        await settle()
        try client.say("STATUS\n")
        try await client.waitForHangUp()
        let early = try await HostClient(address)
        try await early.waitForHangUp()
        await host.advance(by: .seconds(2))
        let next = try await HostClient(address)
        await settle()
        try next.say("STATUS\n")
        #expect(try await next.hear(until: "\r\n") == Self.status)
        await server.close()
    }

    @Test("A terminal at another baud rate is not understood until its rate is right")
    func baudRateOfTerminal() async throws {
        let host = DeviceHost(try Self.pump("baud", rate: .baud(9600)), pace: .onDemand)
        let server = try await PseudoTerminalServer.open(host)
        let wrong = try SerialPort(path: server.path, options: SerialOptions(baudRate: 4800)).channel()
        await settle()
        try await wrong.write(Array("ON\n".utf8))
        await settle()
        #expect(await host.change { pump, _ in pump.device.state } == .off)
        await wrong.close()
        await settle()
        let right = try SerialPort(path: server.path, options: SerialOptions(baudRate: 9600)).channel()
        await settle()
        try await right.write(Array("\nON\n".utf8))
        var heard = ""
        while !heard.hasSuffix("PUMP:ON\r\n"), let bytes = try await right.read() {
            heard += String(decoding: bytes, as: UTF8.self)
        }
        #expect(await host.change { pump, _ in pump.device.state } == .on)
        await right.close()
        await server.close()
    }

    private static func target(of link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(link, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
