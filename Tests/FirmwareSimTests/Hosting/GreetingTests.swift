import DescriptorIO
import FirmwareSim
import TestSupport
import Testing

@Suite("Greetings", .timeLimit(.minutes(5)))
struct GreetingTests {
    private static let greeting = "HELLO from QDevice1 @ 1970-01-01T00:00:00Z\r\n"

    private let folder = TemporaryFolder()
    private let options = PeerFirmwareOptions(carrier: .line(.unlimited), acknowledges: true)

    private func host() -> DeviceHost<PeerFirmware> {
        DeviceHost(PeerFirmware(options: options), pace: .onDemand, hasFlowControl: true)
    }

    @Test("Each client of a socket is greeted when it connects")
    func socket() async throws {
        let address = SocketAddress.unix(path: folder.path("peer.sock"))
        let server = try await SocketServer.open(host(), at: address, broadcasts: true)
        let first = try await HostClient(address)
        #expect(try await first.hear(until: "\n") == Self.greeting)
        let second = try await HostClient(address)
        #expect(try await second.hear(until: "\n") == Self.greeting)
        await server.close()
    }

    @Test("Each client of a terminal is greeted once")
    func terminal() async throws {
        let leaves = Watched(0)
        let peer = LeavingNoted(PeerFirmware(options: options), leaves)
        let server = try await PseudoTerminalServer.open(
            DeviceHost(peer, pace: .onDemand, hasFlowControl: true))
        for round in 1...2 {
            let client = try HostClient(terminal: server.path)
            #expect(try await client.hear(until: "\n") == Self.greeting)
            try client.say("Hello\n")
            #expect(try await client.hear(until: "\n") == "Hello ack\r\n")
            client.leave()
            // Programs that other tests are starting hold the terminal open until their exec(2). A client that comes
            // before the device has noticed the departure of the last one gets no greeting.
            _ = try await leaves.wait(for: "the device to be left") { $0 == round ? true : nil }
        }
        await server.close()
    }
}

/// A peer that counts how often its last client has left.
private struct LeavingNoted: SimulatedDevice {
    private var peer: PeerFirmware
    private let leaves: Watched<Int>

    init(_ peer: PeerFirmware, _ leaves: Watched<Int>) {
        self.peer = peer
        self.leaves = leaves
    }

    var nextActivity: Duration? { peer.nextActivity }
    var isQuiescent: Bool { peer.isQuiescent }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) { peer.receive(bytes, at: instant) }
    mutating func hostCame(at instant: Duration) { peer.hostCame(at: instant) }
    mutating func advance(to instant: Duration) -> [Emission] { peer.advance(to: instant) }
    mutating func reset(at instant: Duration) { peer.reset(at: instant) }

    mutating func lineLeft(at instant: Duration) {
        peer.lineLeft(at: instant)
        leaves.update { $0 += 1 }
    }
}
