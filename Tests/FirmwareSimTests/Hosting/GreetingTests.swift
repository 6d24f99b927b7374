import DescriptorIO
import FirmwareSim
import Glibc
import SerialPort
import TestSupport
import Testing

@Suite("A device that greets", .timeLimit(.minutes(1)))
struct GreetingTests {
    private static let greeting = "HELLO from QDevice1 @ 1970-01-01T00:00:00Z\r\n"

    private func host() -> DeviceHost<PeerFirmware> {
        let options = PeerFirmwareOptions(carrier: .line(.unlimited), acknowledges: true)
        return DeviceHost(PeerFirmware(options: options), pace: .onDemand, hasFlowControl: true)
    }

    @Test("greets each client of a socket when it connects")
    func socket() async throws {
        let address = SocketAddress.unix(path: temporaryPath("peer.sock"))
        let server = try await SocketServer.open(host(), at: address, broadcasts: true)
        let first = try await HostClient(address)
        #expect(try await first.hear(until: "\n") == Self.greeting)
        let second = try await HostClient(address)
        #expect(try await second.hear(until: "\n") == Self.greeting)
        await server.close()
    }

    @Test("greets who opens its terminal, once, and again who opens it next")
    func terminal() async throws {
        let server = try await PseudoTerminalServer.open(host())
        for _ in 0..<2 {
            let client = try HostClient(terminal: server.path)
            #expect(try await client.hear(until: "\n") == Self.greeting)
            try client.say("Hello\n")
            #expect(try await client.hear(until: "\n") == "Hello ack\r\n")
            client.leave()
            // Until the programs that other tests start are there, they hold it open as well.
            while PortHolder.all(of: server.path).contains(where: { $0.processID != getpid() }) { await Task.yield() }
            await settle()
        }
        await server.close()
    }
}
