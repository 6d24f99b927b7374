import DescriptorIO
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@testable import Transports

@Suite("Sockets of Telnet servers", .timeLimit(.minutes(5)))
struct TelnetLinkTests {
    /// IAC WILL SUPPRESS-GO-AHEAD, IAC DO ECHO (RFC 854): two negotiations of three bytes each.
    private static let greeting: [UInt8] = [0xFF, 0xFB, 0x03, 0xFF, 0xFD, 0x01]
    private static let ok = Array("OK\r\n".utf8)

    static let carriers: [Carrier] = [.tcpIPv4, .unixSocket]

    @Test("Receiving yields only data, and a remark mentions Telnet", arguments: carriers)
    func receive(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        #expect(link.remark == nil)
        try await far.send(Self.greeting)
        try await far.send(Self.ok)
        #expect(try await link.receive(Self.ok.count) == Self.ok)
        #expect(link.remark?.contains("Telnet") == true)
        try await link.send("OFF\n")
        #expect(try await far.receive(4) == Array("OFF\n".utf8))
        await link.close()
        #expect(link.remark != nil)
    }

    @Test("Forwarding delivers only data, and no empty pieces", arguments: carriers)
    func forward(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let received = Watched(ReceivedText())
        await link.forward { arrival in
            switch arrival {
            case .bytes(let bytes): received.update { $0.bytes += bytes + Array("|".utf8) }
            case .ended: received.update { $0.hasEnded = true }
            }
        }
        try await far.send(Self.greeting)
        try await far.send(Self.ok)
        try await far.send([0xFF, 0xFD])
        try await far.send([0x01])
        far.vanish()
        let text = try await received.all("the stream")
        #expect(text.replacing("|", with: "") == "OK\r\n")
        #expect(!text.contains("||"), "a piece without data")
    }

    @Test("Available bytes are received without negotiation and without waiting", arguments: carriers)
    func receiveAvailable(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        try await far.send(Self.greeting + Self.ok)
        var received = try #require(try await link.receive())
        while received.count < Self.ok.count { received += try await link.receiveAvailable() }
        #expect(received == Self.ok)
        #expect(try await link.receiveAvailable() == [])
        await link.close()
    }

    @Test("Available bytes are received even if negotiation fills the first read")
    func receiveAvailableBehindMuch() async throws {
        let (link, far) = try await Carrier.unixSocket.rig().open()
        let negotiation = [[UInt8]](repeating: Self.greeting, count: DescriptorChannel.readLength / 6 + 1).joined()
        try await far.send(negotiation + Self.ok)
        #expect(try await link.receiveAvailable() == Self.ok)
        await link.close()
    }

    @Test("A raw server's bytes are kept, even a single 0xFF before it hangs up", arguments: carriers, [true, false])
    func heldBack(carrier: Carrier, isTold: Bool) async throws {
        let (link, far) = try await carrier.rig().open()
        try await far.send([0xFF])
        far.vanish()
        if isTold {
            let received = Watched(ReceivedText())
            await link.forward { arrival in
                switch arrival {
                case .bytes(let bytes): received.update { $0.bytes += bytes }
                case .ended: received.update { $0.hasEnded = true }
                }
            }
            _ = try await received.all("the stream")
            #expect(received.state.bytes == [0xFF])
        } else {
            #expect(try await link.receive() == [0xFF])
            await #expect(throws: LinkError.self) { _ = try await link.receive() }
        }
        #expect(link.remark == nil)
        await link.close()
    }

    @Test("A serial port's bytes pass without Telnet filtering")
    func serialPort() async throws {
        let (link, far) = try await Carrier.pseudoTerminal.rig().open()
        try await far.send(Self.greeting)
        #expect(try await link.receive(Self.greeting.count) == Self.greeting)
        #expect(link.remark == nil)
        await link.close()
    }
}
