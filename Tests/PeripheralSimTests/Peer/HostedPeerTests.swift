import DescriptorIO
import FirmwareSim
import PeripheralSim
import TestSupport
import Testing

@Suite("Hosted peers", .timeLimit(.minutes(5)))
struct HostedPeerTests {
    private let told = Watched<[[String: String]]>([])
    private let address = Watched<SocketAddress?>(nil)

    private func peer(at place: ServingPlace) -> HostedPeer {
        let options = PeerFirmwareOptions(carrier: .line(.unlimited), name: "bench")
        return HostedPeer(options, at: .line(place)) { [told, address] event in
            if case .line(.onSocket(let taken)) = event { address.update { $0 = taken } }
            if !event.values.isEmpty { told.update { $0.append(event.values) } }
        }
    }

    @Test func `A hosted peer sends its user's messages and reports events`() async throws {
        let peer = peer(at: .socket(.tcp(host: "127.0.0.1", port: 0)))
        try await peer.serve { [told, address] in
            await peer.say(Array("good morning".utf8))
            let place = try await address.wait(for: "the address") { $0 }
            let channel = try await DescriptorChannel.connect(to: place, deadline: .now + .seconds(60))
            try await channel.write(Array("Hello\n".utf8))
            var heard = ""
            while !heard.contains("good morning\r\n") {
                heard += String(decoding: try #require(try await channel.read()), as: UTF8.self)
            }
            #expect(heard.hasPrefix("HELLO from bench @ "))
            let words = try await told.wait(for: "the greeting") { $0.count == 3 ? $0.map { $0["event"] } : nil }
            #expect(words == ["waiting", "subscribed", "hello"])
            await channel.close()
        }
    }

    @Test func `A hosted peer that cannot be offered throws at once`() async throws {
        let folder = TemporaryFolder()
        let peer = peer(at: .terminal(link: folder.write("taken", to: "port")))
        await #expect(throws: (any Error).self) {
            try await peer.serve { try await untilCancelled() }
        }
    }
}
