import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Glibc
import SerialPort
import TestSupport
import Testing

@Suite("Unplugged devices", .timeLimit(.minutes(3)))
struct UnpluggingTests {
    /// A pump on a pseudo-terminal, and a symlink to the terminal.
    private struct Rig {
        let folder = TemporaryFolder()
        let link: String
        let host: DeviceHost<FaultyDevice<PumpFirmware>>
        let server: PseudoTerminalServer<FaultyDevice<PumpFirmware>>
        let returns = Watched<[String]>([])
        let failures = Watched<[SerialError]>([])

        init(_ faults: String) async throws {
            let settings = try Simulator.pump.settings(["fault": faults])
            let options = PumpFirmwareOptions(lineRate: .unlimited, heat: .fixed(water: 12, skin: 34.5))
            host = DeviceHost(FaultyDevice(PumpFirmware(options: options), faults: settings.faults()), pace: .onDemand)
            link = folder.path("pump")
            let (returns, failures) = (returns, failures)
            server = try await PseudoTerminalServer.open(
                host, link: link, onReturn: { path in returns.update { $0.append(path) } },
                onFailure: { error in failures.update { $0.append(error) } })
        }

        /// The target of the symlink; nil if there is no symlink.
        var target: String? {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = readlink(link, &buffer, buffer.count)
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }
    }

    private static let status = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"

    /// - Parameter repetition: Unused. If the server does not keep the order, the device may return before its old
    ///   terminal is closed, but not every time.
    @Test("The device returns even if the whole outage was skipped", arguments: ["1ms", "2s"], 0..<10)
    func atOnce(time: String, repetition: Int) async throws {
        let rig = try await Rig("unplug=\(time)@10s")
        let first = rig.target
        let user = try HostClient(terminal: rig.link)
        await settle()
        try user.say("ON\n")
        _ = try await user.hear(until: "PUMP:ON\r\n")
        await rig.host.advance(by: .seconds(20))
        #expect(try await rig.returns.wait(for: "the device") { $0.first } == rig.link)
        #expect(rig.target != nil && rig.target != first)
        let client = try HostClient(terminal: rig.link)
        await settle()
        try client.say("OFF\nSTATUS\n")
        #expect(try await client.hear(until: Self.status).hasSuffix(Self.status))
        #expect(rig.failures.state.isEmpty)
        await rig.server.close()
    }

    @Test("An outage disconnects the client, which gets no later output")
    func client() async throws {
        let rig = try await Rig("unplug=1ms@10s")
        let client = try HostClient(terminal: rig.link)
        await settle()
        try client.say("ON\n")
        _ = try await client.hear(until: "PUMP:ON\r\n")
        await rig.host.advance(by: .seconds(60))
        // The pump reports its status every 5 s: at most twice until the outage at 10 s.
        #expect(try await client.waitForHangUp().filter { $0 == "{" }.count <= 2)
        _ = try await rig.returns.wait(for: "the device") { $0.first }
        await rig.server.close()
    }

    @Test("A device whose symlink path is taken reports it and returns the next time")
    func placeTaken() async throws {
        let rig = try await Rig("unplug=2s@10s,unplug=2s@30s")
        await rig.host.change { pump, now in pump.receive(Array("ON\n".utf8), at: now) }
        await rig.host.advance(by: .seconds(11))
        await settle()
        #expect(mkdir(rig.link, 0o700) == 0)
        await rig.host.advance(by: .seconds(9))
        #expect(try await rig.failures.wait(for: "the failure") { $0.first }.code == .pathTaken)
        #expect(rig.returns.state.isEmpty)
        #expect(rmdir(rig.link) == 0)
        await rig.host.advance(by: .seconds(30))
        #expect(try await rig.returns.wait(for: "the device") { $0.first } == rig.link)
        await rig.server.close()
    }

    /// - Parameter turns: The number of yields before the server is closed, so that the return has got further each
    ///   time.
    @Test("A server closed while the device returns leaves no symlink", arguments: 0..<8)
    func closed(turns: Int) async throws {
        let rig = try await Rig("unplug=1ms@10s")
        await rig.host.change { pump, now in pump.receive(Array("ON\n".utf8), at: now) }
        await rig.host.advance(by: .seconds(20))
        for _ in 0..<turns { await Task.yield() }
        await rig.server.close()
        await settle()
        var entry = stat()
        #expect(lstat(rig.link, &entry) != 0)
    }
}
