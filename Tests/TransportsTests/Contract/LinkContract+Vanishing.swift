import Glibc
import LineProtocol
import TestSupport
import Testing
import Transports

extension LinkContract {
    @Test("The last bytes of a vanished far end are received before the disconnection", arguments: Carrier.allCases)
    func lastWords(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let words = payload(9000, seed: 9)
        try await far.send(words)
        var received: [UInt8] = []
        if !carrier.keepsLastWords { received += try await link.receive(words.count) }
        far.vanish()
        received += try await link.receive(words.count - received.count)
        #expect(received == words)
        for _ in 0..<3 {
            #expect(await code { () throws(LinkError) in try await link.receive() } == .disconnected)
            #expect(await code { () throws(LinkError) in try await link.receiveAvailable() } == .disconnected)
        }
        #expect(await code { () throws(LinkError) in try await link.send("ON\n") } == .disconnected)
        await link.close()
    }

    @Test(
        "A vanished far end wakes a waiting receive, and the descriptor is closed",
        arguments: Carrier.descriptors)
    func vanishWhileReceiving(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let descriptor = try await link.descriptor()
        let held = try #require(target(of: descriptor))
        let waiting = link.start { () throws(LinkError) in try await link.receive() }
        await link.settle()
        #expect(target(of: descriptor) == held)
        far.vanish()
        #expect(await waiting.outcome.code == .disconnected)
        #expect(target(of: descriptor) != held)
        #expect(await code { () throws(LinkError) in try await link.receive() } == .disconnected)
        await link.close()
        #expect(try await link.receive() == nil)
    }

    @Test("A hangup closes the descriptor, even if nobody reads", arguments: Carrier.tellingOfHangUp)
    func vanishUnread(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        // The first read makes the loop watch the link: from now on it notices a hang-up.
        try await far.send("!")
        _ = try await link.receive()
        let descriptor = try await link.descriptor()
        let held = try #require(target(of: descriptor))
        far.vanish()
        // A program that is just being started may hold the far end open for a moment.
        let deadline = ContinuousClock.now + patience
        while target(of: descriptor) == held, ContinuousClock.now < deadline { await link.settle() }
        #expect(target(of: descriptor) != held)
        #expect(await code { () throws(LinkError) in try await link.receive() } == .disconnected)
        await link.close()
    }

    @Test("A vanished far end ends waiting sends", arguments: Carrier.allCases)
    func vanishWhileSending(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let bytes = payload(1 << 20, seed: 10)
        let first = link.start { () throws(LinkError) in try await link.send(bytes) }
        let second = link.start { () throws(LinkError) in try await link.send("queued") }
        try await far.waitForBytes()
        await link.settle()
        far.vanish()
        #expect(await first.outcome.code == .disconnected)
        #expect(await second.outcome.code == .disconnected)
        #expect(await code { () throws(LinkError) in try await link.receive() } == .disconnected)
        await link.close()
    }

    @Test("The sequence of received bytes throws once when the far end vanishes", arguments: Carrier.allCases)
    func vanishWhileIterating(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let iterating = link.start { () throws(LinkError) -> Int in
            var count = 0
            do throws(LinkError) {
                for try await bytes in link.received {
                    count += bytes.count
                    if count == 5 { far.vanish() }
                }
                return -1
            } catch {
                return error.code == .disconnected ? count : -2
            }
        }
        try await far.send("HELLO")
        #expect(try await iterating.outcome.get() == 5)
        await link.close()
    }

    @Test("Sending to a vanished far end fails without SIGPIPE", arguments: Carrier.allCases)
    func sendToVanished(carrier: Carrier) async throws {
        await #expect(processExitsWith: .success) { [carrier] in
            signal(SIGPIPE, SIG_DFL)
            let rig = try await carrier.rig()
            defer { rig.end() }
            let (link, far) = try await rig.open()
            far.vanish()
            // TCP accepts the first bytes, and learns of the loss only from the response to them.
            var found: LinkError.Code?
            for _ in 0..<1000 where found == nil {
                found = await code { () throws(LinkError) in try await link.send("ON\n") }
            }
            #expect(found == .disconnected)
            #expect(await code { () throws(LinkError) in try await link.send("ON\n") } == .disconnected)
            await link.close()
        }
    }
}
