import DescriptorIO
import LineProtocol
import Synchronization
import Testing
import Transports

/// The behaviour required of every link, with any carrier. A new carrier joins by a case of ``Carrier`` and its rig.
@Suite("Link contract", .timeLimit(.minutes(5)))
struct LinkContract {}

extension LinkContract {
    @Test("A new link has a name, keeps no packet bounds and has nothing to read", arguments: Carrier.allCases)
    func opens(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        #expect(!link.name.isEmpty)
        #expect(!link.keepsPacketBounds)
        #expect(link.maximumWriteLength.map { $0 > 0 } ?? true)
        #expect(try await link.receiveAvailable() == [])
        await link.close()
        far.vanish()
    }

    @Test("Lines pass in both directions", arguments: Carrier.allCases)
    func echo(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        for number in 0..<20 {
            let words = "STATUS \(number)\n"
            try await link.send(words)
            let heard = try await far.receive(words.utf8.count)
            #expect(heard == Array(words.utf8))
            try await far.send(heard)
            #expect(try await link.receive(heard.count) == heard)
        }
        await link.close()
    }

    @Test("Every byte value passes unchanged", arguments: Carrier.allCases)
    func everyByte(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let bytes = (0...255).map { UInt8($0) } + (0...255).reversed().map { UInt8($0) }
        try await link.send(bytes)
        #expect(try await far.receive(bytes.count) == bytes)
        try await far.send(bytes)
        #expect(try await link.receive(bytes.count) == bytes)
        await link.close()
    }

    @Test("An empty send sends nothing", arguments: Carrier.allCases)
    func emptySend(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        try await link.send([])
        try await link.send("OFF\n")
        #expect(try await far.receive(4) == Array("OFF\n".utf8))
        await link.close()
    }

    @Test("Lines sent in pieces arrive whole in both directions", arguments: Carrier.allCases)
    func splitWrites(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let words = Array("SPEED:180\r\n".utf8)
        for byte in words { try await link.send([byte]) }
        #expect(try await far.receive(words.count) == words)
        // The next piece is sent only after the previous one has arrived, so that the link receives each separately.
        var received: [UInt8] = []
        for byte in words {
            try await far.send([byte])
            received += try await link.receive(1)
        }
        #expect(received == words)
        await link.close()
    }

    @Test("Available bytes are received without waiting", arguments: Carrier.allCases)
    func receiveAvailable(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        #expect(try await link.receiveAvailable() == [])
        try await far.send("MANUAL:ON\r\n")
        // The first byte has arrived when `receive` returns; the kernel may deliver the rest later.
        var received = try #require(try await link.receive())
        while received.count < 11 { received += try await link.receiveAvailable() }
        #expect(received == Array("MANUAL:ON\r\n".utf8))
        #expect(try await link.receiveAvailable() == [])
        await link.close()
        #expect(try await link.receiveAvailable() == [])
    }

    @Test("Concurrent sends are not interleaved", arguments: Carrier.allCases)
    func concurrentSenders(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let length = 30_000  // more than a terminal buffers: each sender must wait
        let sent = (0..<8).map { sender in [UInt8](repeating: UInt8(sender), count: length) }
        let senders = sent.map { bytes in
            Task { try await link.send(bytes) }
        }
        let received = try await far.receive(8 * length)
        for sender in senders { try await sender.value }
        let messages = (0..<8).map { Array(received[$0 * length..<($0 + 1) * length]) }
        #expect(messages.sorted { $0[0] < $1[0] } == sent)
        await link.close()
    }

    @Test("Bytes are sent in the order of the calls", arguments: Carrier.allCases)
    func order(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let first = payload(1 << 18, seed: 2)
        // All three are in flight at once, in this order, on the link's executor.
        let parts = [first, Array("second".utf8), Array("third".utf8)]
        let sending = parts.map { part in link.start { () throws(LinkError) in try await link.send(part) } }
        let received = try await far.receive(parts.joined().count)
        #expect(received == Array(parts.joined()))
        for task in sending { #expect(await task.outcome.code == nil) }
        await link.close()
    }
}
