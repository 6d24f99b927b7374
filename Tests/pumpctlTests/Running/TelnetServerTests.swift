import DescriptorIO
import FirmwareSim
import Testing
import TestSupport

@Suite("Pumps behind a Telnet server", .timeLimit(.minutes(5)))
struct TelnetServerTests {
    @Test("Pump commands work, and warn once that a Telnet server is in between")
    func commands() async throws {
        let server = try await TelnetServer()
        for (words, output) in [
            (["on"], "pump on at 70 %\n"), (["speed", "200"], "speed 200 (78 %)\n"), (["off"], "pump off\n"),
        ] {
            let ending = try await Pumpctl.start(["-p", server.endpoint] + words).ending()
            #expect(ending.status == 0, "\(ending)")
            #expect(ending.output == output)
            let notes = ending.errors.split(separator: "\n").filter { $0.contains("Telnet") }
            #expect(notes.count == 1, "\(ending.errors)")
            #expect(notes.first?.hasPrefix("pumpctl: warning: \(server.endpoint): ") == true)
            #expect(notes.first?.contains("raw port") == true)
        }
        await server.close()
    }

    @Test(
        "send and console work, and warn that a Telnet server is in between",
        arguments: [["send", "STATUS"], ["console", "--quiet", "1"]])
    func lines(words: [String]) async throws {
        let server = try await TelnetServer()
        let program = try await Pumpctl.start(["-p", server.endpoint] + words)
        if words[0] == "console" { try await program.write("STATUS\n") }
        await program.closeInput()
        let ending = try await program.ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.hasPrefix("STATUS:{State:OFF"))
        #expect(ending.errors.contains("Telnet server"))
        await server.close()
    }
}

/// A simulated pump behind a server that begins each connection like a Telnet server, and passes bytes unchanged.
private struct TelnetServer {
    /// WILL SUPPRESS-GO-AHEAD, DO ECHO.
    private static let greeting: [UInt8] = [0xFF, 0xFB, 0x03, 0xFF, 0xFD, 0x01]

    let endpoint: String
    private let listener: SocketListener
    private let accepting: Task<Void, Never>

    init() async throws {
        let listener = try await SocketListener.listen(at: .tcp(host: "127.0.0.1", port: 0))
        // At 716, the knob stands for the speed at which ON starts, 70 %.
        let pump = PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34.5), potentiometer: 716))
        let host = DeviceHost(pump, pace: .onDemand)
        self.listener = listener
        endpoint = "tcp:127.0.0.1:\(listener.port ?? 0)"
        accepting = Task {
            while let client = try? await listener.accept() {
                try? await client.write(Self.greeting)
                await host.attach(client)
            }
        }
    }

    func close() async {
        accepting.cancel()
        await listener.close()
    }
}
