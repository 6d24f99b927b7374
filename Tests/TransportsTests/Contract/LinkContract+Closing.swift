import LineProtocol
import Testing
import Transports

extension LinkContract {
    @Test("Closing ends a waiting receive with nil", arguments: Carrier.allCases)
    func closeWhileReceiving(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let waiting = link.start { () throws(LinkError) in try await link.receive() }
        await link.settle()
        await link.close()
        #expect(try await waiting.outcome.get() == nil)
        #expect(try await link.receive() == nil)
        far.vanish()
    }

    @Test("Closing ends the sequence of received bytes", arguments: Carrier.allCases)
    func closeWhileIterating(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let iterating = link.start { () throws(LinkError) in
            var received: [UInt8] = []
            for try await bytes in link.received {
                received += bytes
                if received.count == 3 { await link.close() }
            }
            return received
        }
        for byte: UInt8 in [1, 2, 3] { try await far.send([byte]) }
        #expect(try await iterating.outcome.get() == [1, 2, 3])
    }

    @Test("Closing ends waiting sends with closed", arguments: Carrier.allCases)
    func closeWhileSending(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let bytes = payload(1 << 20, seed: 8)
        let first = link.start { () throws(LinkError) in try await link.send(bytes) }
        let second = link.start { () throws(LinkError) in try await link.send("queued") }
        try await far.waitForBytes()
        await link.settle()
        await link.close()
        #expect(await first.outcome.code == .closed)
        #expect(await second.outcome.code == .closed)
    }

    @Test("Closing twice, or from several tasks at once, is harmless", arguments: Carrier.allCases)
    func closeTwice(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { await link.close() } }
        }
        await link.close()
        #expect(try await link.receive() == nil)
        far.vanish()
    }

    @Test("Sending on a closed link fails with closed", arguments: Carrier.allCases)
    func sendAfterClose(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        await link.close()
        for _ in 0..<2 {
            #expect(await code { () throws(LinkError) in try await link.send("ON\n") } == .closed)
        }
        far.vanish()
    }

    @Test("Bytes sent before closing arrive", arguments: Carrier.allCases)
    func closeAfterSend(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        try await link.send("OFF\n")
        await link.close()
        #expect(try await far.receive(4) == Array("OFF\n".utf8))
    }

    @Test("Closing a link closes its descriptor", arguments: Carrier.descriptors)
    func closeReleases(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let descriptor = try await link.descriptor()
        let held = try #require(target(of: descriptor))
        await link.close()
        #expect(target(of: descriptor) != held)
        far.vanish()
    }

    @Test("A released link closes its descriptor", arguments: Carrier.descriptors)
    func forgotten(carrier: Carrier) async throws {
        var (link, far): ((any Link)?, FarEnd) = try await carrier.rig().open()
        try await far.send("!")
        _ = try await link?.receive()
        let descriptor = try #require(try await link?.descriptor())
        let held = try #require(target(of: descriptor))
        let executor = try #require(link).executor
        link = nil
        for _ in 0..<10 { await Task(executorPreference: executor) {}.value }
        #expect(target(of: descriptor) != held)
        far.vanish()
    }
}
