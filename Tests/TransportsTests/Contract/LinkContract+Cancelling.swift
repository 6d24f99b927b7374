import LineProtocol
import Testing
import Transports

extension LinkContract {
    @Test("A cancelled receive leaves the link working", arguments: Carrier.allCases)
    func cancelReceive(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let waiting = link.start { () throws(LinkError) in try await link.receive() }
        await link.settle()
        waiting.cancel()
        #expect(await waiting.outcome.code == .cancelled)

        try await far.send("OK\r\n")
        #expect(try await link.receive(4) == Array("OK\r\n".utf8))
        try await link.send("OFF\n")
        #expect(try await far.receive(4) == Array("OFF\n".utf8))
        await link.close()
    }

    @Test("A cancelled task does not start to receive", arguments: Carrier.allCases)
    func receiveWhenCancelled(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let task = link.start { () throws(LinkError) in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await link.receive()
        }
        #expect(await task.outcome.code == .cancelled)
        try await far.send("OK")
        #expect(try await link.receive(2) == Array("OK".utf8))
        await link.close()
    }

    @Test("Cancelling a receive at any moment loses no byte", arguments: Carrier.allCases)
    func cancelRaces(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        var received: [UInt8] = []
        for number in 0..<60 {
            let waiting = link.start { () throws(LinkError) in try await link.receive() }
            if number % 2 == 0 { await link.settle() }
            async let sending: Void = far.send([UInt8(number)])
            waiting.cancel()
            switch await waiting.value {
            case .success(let bytes): received += try #require(bytes)
            case .failure(let error): #expect(error.code == .cancelled)
            }
            try await sending
        }
        received += try await link.receive(60 - received.count)
        #expect(received == (0..<60).map { UInt8($0) })
        await link.close()
    }

    @Test("A cancelled send ends, and the far end gets a prefix of it", arguments: Carrier.allCases)
    func cancelSend(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let bytes = payload(1 << 20, seed: 6)
        let sending = link.start { () throws(LinkError) in try await link.send(bytes) }
        try await far.waitForBytes()
        await link.settle()
        sending.cancel()
        #expect(await sending.outcome.code == .cancelled)
        // A waiting sender that is cancelled leaves no trace; the next text follows the bytes already sent.
        let next = link.start { () throws(LinkError) in try await link.send("\n\n\n\nOFF\n") }
        let heard = try await far.receive(until: Array("\n\n\n\nOFF\n".utf8))
        #expect(await next.outcome.code == nil)
        let isPrefix = bytes.starts(with: heard.dropLast(8))
        #expect(isPrefix)
        await link.close()
    }

    @Test("A queued send that is cancelled sends nothing", arguments: Carrier.allCases)
    func cancelQueuedSend(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let bytes = payload(1 << 20, seed: 7)
        let first = link.start { () throws(LinkError) in try await link.send(bytes) }
        try await far.waitForBytes()
        let second = link.start { () throws(LinkError) in try await link.send("never") }
        let third = link.start { () throws(LinkError) in try await link.send("third") }
        await link.settle()
        second.cancel()
        #expect(await second.outcome.code == .cancelled)
        let heard = try await far.receive(bytes.count + 5)
        let isSame = heard == bytes + Array("third".utf8)
        #expect(isSame)
        #expect(await first.outcome.code == nil)
        #expect(await third.outcome.code == nil)
        await link.close()
    }
}
