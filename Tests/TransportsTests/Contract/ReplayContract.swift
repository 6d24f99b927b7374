import CaptureFormat
import DeviceTestKit
import Glibc
import LineProtocol
import Synchronization
import TestSupport
import Testing
import Transports

/// The requirements of `LinkContract` for a link whose far end is a capture. A capture is written before the link
/// opens, and can't be controlled. It exerts no back-pressure, always has room, and fixes the order of the sent text.
/// So no send ever waits, and the requirements on waiting sends, and on sends queued after them, do not apply.
///
/// `Link.remark` names the first event of the capture that the host left out. Nil after the closing shows that all sent
/// bytes were compared with the capture.
@Suite("Contract of replayed links", .timeLimit(.minutes(5)))
struct ReplayContract {
    private let folder = TemporaryFolder()

    private func open(_ events: CaptureEvent.Content...) async throws -> any Link {
        try await ReplayOpener().open(Endpoint("replay:\(tape(events))?pace=none"))
    }

    /// Writes a capture of `links` links, each with the same events, and returns its path.
    private func tape(_ events: [CaptureEvent.Content], links: Int = 1) throws -> String {
        let file = try CaptureFile(at: folder.path("tape"), CaptureHeader(program: "test", family: "pump"))
        for number in 1...links {
            let facts = CarrierFacts(endpoint: "/dev/ttyUSB0", name: "/dev/ttyUSB0")
            try file.append(CaptureEvent(at: .zero, link: number, .opened(facts)))
            for content in events { try file.append(CaptureEvent(at: .zero, link: number, content)) }
        }
        return file.path
    }

    private static func sent(_ bytes: [UInt8]) -> CaptureEvent.Content { .sent(.init(bytes)) }
    private static func received(_ bytes: [UInt8]) -> CaptureEvent.Content { .received(.init(bytes)) }
    private static func sent(_ text: String) -> CaptureEvent.Content { sent(Array(text.utf8)) }
    private static func received(_ text: String) -> CaptureEvent.Content { received(Array(text.utf8)) }
    private static let lost = CaptureEvent.Content.ended(code: "disconnected", detail: nil)

    // MARK: Both ways

    @Test func `A replayed link has a name, keeps no packet bounds and has nothing to read`() async throws {
        let link = try await open(Self.sent("ON\n"))
        #expect(!link.name.isEmpty && !link.keepsPacketBounds)
        #expect(link.maximumWriteLength.map { $0 > 0 } ?? true)
        #expect(try await link.receiveAvailable() == [])
        await link.close()
    }

    @Test func `Lines pass in both directions`() async throws {
        let words = (0..<20).map { "STATUS \($0)\n" }
        let path = try tape(words.flatMap { [Self.sent($0), Self.received($0)] })
        let link = try await ReplayOpener().open(Endpoint("replay:\(path)?pace=none"))
        for words in words {
            try await link.send(words)
            #expect(try await link.receive(words.utf8.count) == Array(words.utf8))
        }
        await link.close()
        #expect(link.remark == nil)
    }

    @Test func `Every byte value passes unchanged`() async throws {
        let bytes = (0...255).map { UInt8($0) } + (0...255).reversed().map { UInt8($0) }
        let link = try await open(Self.sent(bytes), Self.received(bytes))
        try await link.send(bytes)
        #expect(try await link.receive(bytes.count) == bytes)
        await link.close()
    }

    @Test func `An empty send sends nothing`() async throws {
        let link = try await open(Self.sent("OFF\n"), Self.received("!"))
        try await link.send([])
        try await link.send("OFF\n")
        #expect(try await link.receive(1) == Array("!".utf8))
        await link.close()
    }

    @Test func `Lines in pieces match the capture in both directions`() async throws {
        let words = Array("SPEED:180\r\n".utf8)
        let path = try tape([Self.sent(words)] + words.map { Self.received([$0]) })
        let link = try await ReplayOpener().open(Endpoint("replay:\(path)?pace=none"))
        for byte in words { try await link.send([byte]) }
        #expect(try await link.receive(words.count) == words)
        await link.close()
    }

    @Test func `Available bytes are received without waiting`() async throws {
        let link = try await open(Self.sent("?"), Self.received("MANUAL:ON\r\n"))
        #expect(try await link.receiveAvailable() == [])
        try await link.send("?")
        var received = try #require(try await link.receive())
        while received.count < 11 { received += try await link.receiveAvailable() }
        #expect(received == Array("MANUAL:ON\r\n".utf8))
        #expect(try await link.receiveAvailable() == [])
        await link.close()
        #expect(try await link.receiveAvailable() == [])
    }

    @Test func `Large sends in the order of the calls pass at the same time as received bytes`() async throws {
        let parts = [payload(1 << 18, seed: 2), Array("second".utf8), Array("third".utf8)]
        let back = payload(1 << 18, seed: 3)
        let link = try await open(Self.received(back), Self.sent(Array(parts.joined())), Self.received("!"))
        let sending = parts.map { part in link.start { () throws(LinkError) in try await link.send(part) } }
        let received = try await link.receive(back.count + 1)
        let isSame = received == back + Array("!".utf8)
        #expect(isSame)
        for task in sending { #expect(await task.outcome.code == nil) }
        await link.close()
    }

    // MARK: Cancelling

    @Test func `A cancelled receive leaves the link working`() async throws {
        let link = try await open(Self.sent("?"), Self.received("OK\r\n"), Self.sent("OFF\n"), Self.received("!"))
        let waiting = link.start { () throws(LinkError) in try await link.receive() }
        await link.settle()
        waiting.cancel()
        #expect(await waiting.outcome.code == .cancelled)
        try await link.send("?")
        #expect(try await link.receive(4) == Array("OK\r\n".utf8))
        try await link.send("OFF\n")
        #expect(try await link.receive(1) == Array("!".utf8))
        await link.close()
    }

    @Test func `A cancelled task neither receives nor sends`() async throws {
        let link = try await open(Self.received("OK"), Self.sent("?"), Self.received("!"))
        let receiving = link.start { () throws(LinkError) in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await link.receive()
        }
        #expect(await receiving.outcome.code == .cancelled)
        let sending = link.start { () throws(LinkError) in
            withUnsafeCurrentTask { $0?.cancel() }
            try await link.send("ON\n")
        }
        #expect(await sending.outcome.code == .cancelled)
        #expect(try await link.receive(2) == Array("OK".utf8))
        try await link.send("?")
        #expect(try await link.receive(1) == Array("!".utf8))
        await link.close()
    }

    @Test func `Cancelling a receive at any moment loses no byte`() async throws {
        let numbers = (0..<60).map { UInt8($0) }
        let path = try tape(numbers.flatMap { [Self.sent("?"), Self.received([$0])] })
        let link = try await ReplayOpener().open(Endpoint("replay:\(path)?pace=none"))
        var received: [UInt8] = []
        for number in numbers {
            let waiting = link.start { () throws(LinkError) in try await link.receive() }
            if number % 2 == 0 { await link.settle() }
            async let sending: Void = link.send("?")
            waiting.cancel()
            switch await waiting.value {
            case .success(let bytes): received += try #require(bytes)
            case .failure(let error): #expect(error.code == .cancelled)
            }
            try await sending
        }
        received += try await link.receive(60 - received.count)
        #expect(received == numbers)
        await link.close()
    }

    // MARK: Closing

    @Test func `Closing ends a waiting receive with nil`() async throws {
        let link = try await open(Self.sent("?"))
        let waiting = link.start { () throws(LinkError) in try await link.receive() }
        await link.settle()
        await link.close()
        #expect(try await waiting.outcome.get() == nil)
        #expect(try await link.receive() == nil)
    }

    @Test func `Closing ends the sequence of received bytes`() async throws {
        let link = try await open(Self.received([1]), Self.received([2]), Self.received([3]), Self.sent("?"))
        let iterating = link.start { () throws(LinkError) in
            var received: [UInt8] = []
            for try await bytes in link.received {
                received += bytes
                if received.count == 3 { await link.close() }
            }
            return received
        }
        #expect(try await iterating.outcome.get() == [1, 2, 3])
    }

    @Test func `Closing repeatedly is harmless, and sending fails after it`() async throws {
        let link = try await open(Self.sent("?"))
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { await link.close() } }
        }
        await link.close()
        #expect(try await link.receive() == nil)
        for _ in 0..<2 { #expect(await code { () throws(LinkError) in try await link.send("ON\n") } == .closed) }
    }

    @Test func `Bytes sent before closing are compared with the capture`() async throws {
        let link = try await open(Self.sent("OFF\n"))
        try await link.send("OFF\n")
        await link.close()
        #expect(link.remark == nil)
    }

    // MARK: The far end vanishes

    @Test func `The last bytes of a vanished far end are received before the disconnection`() async throws {
        let words = payload(9000, seed: 9)
        let link = try await open(Self.received(words), Self.lost)
        #expect(try await link.receive(words.count) == words)
        for _ in 0..<3 {
            #expect(await code { () throws(LinkError) in try await link.receive() } == .disconnected)
            #expect(await code { () throws(LinkError) in try await link.receiveAvailable() } == .disconnected)
        }
        #expect(await code { () throws(LinkError) in try await link.send("ON\n") } == .disconnected)
        await link.close()
    }

    @Test func `A vanished far end wakes a waiting receive`() async throws {
        let link = try await open(Self.sent("?"), Self.lost)
        let waiting = link.start { () throws(LinkError) in try await link.receive() }
        await link.settle()
        try await link.send("?")
        #expect(await waiting.outcome.code == .disconnected)
        await link.close()
        #expect(try await link.receive() == nil)
    }

    @Test func `The sequence of received bytes throws once when the far end vanishes`() async throws {
        let link = try await open(Self.received("HELLO"), Self.lost)
        var (count, failures) = (0, 0)
        do { for try await bytes in link.received { count += bytes.count } } catch { failures += 1 }
        #expect((count, failures) == (5, 1))
        await link.close()
    }

    // MARK: A receiver

    /// The bytes and the ends that a receiver has got. `isLate` is whether bytes came after an end.
    private final class Arrivals: Sendable {
        private let state = Mutex<(bytes: [UInt8], ends: [LinkError.Code?], isLate: Bool)>(([], [], false))
        private let changes = AsyncStream<Void>.makeStream()

        func take(_ arrival: LinkArrival) {
            state.withLock { state in
                switch arrival {
                case .bytes(let bytes):
                    state.bytes += bytes
                    state.isLate = state.isLate || !state.ends.isEmpty
                case .ended(let error): state.ends.append(error?.code)
                }
            }
            changes.continuation.yield()
        }

        var bytes: [UInt8] { state.withLock { $0.bytes } }
        var ends: [LinkError.Code?] { state.withLock { $0.ends } }
        var isLate: Bool { state.withLock { $0.isLate } }

        func wait(until isThere: (Arrivals) -> Bool) async {
            if isThere(self) { return }
            for await _ in changes.stream where isThere(self) { return }
        }
    }

    @Test func `A receiver gets all bytes in order, and one end at closing`() async throws {
        let bytes = payload(300_000, seed: 11)
        let link = try await open(Self.received(bytes), Self.sent("?"))
        let arrivals = Arrivals()
        await link.forward { arrivals.take($0) }
        await arrivals.wait { $0.bytes.count >= bytes.count }
        let isSame = arrivals.bytes == bytes
        #expect(isSame)
        await link.close()
        await arrivals.wait { !$0.ends.isEmpty }
        await link.close()
        await link.settle()
        #expect(arrivals.ends == [nil] && !arrivals.isLate)
    }

    @Test func `An early and a late receiver get the loss of the far end once, after all bytes`() async throws {
        for isLate in [false, true] {
            let path = try tape([Self.received("ERROR:OVERHEAT\r\n"), Self.lost])
            let link = try await ReplayOpener().open(Endpoint("replay:\(path)?pace=none"))
            if isLate { await link.settle() }
            let arrivals = Arrivals()
            await link.forward { arrivals.take($0) }
            await arrivals.wait { !$0.ends.isEmpty }
            await link.close()
            await link.settle()
            #expect(arrivals.bytes == Array("ERROR:OVERHEAT\r\n".utf8))
            #expect(arrivals.ends == [.disconnected] && !arrivals.isLate)
            // The next capture gets the same path.
            unlink(path)
        }
    }

    @Test func `A receiver added after closing gets the end alone`() async throws {
        let link = try await open(Self.sent("?"))
        await link.close()
        let arrivals = Arrivals()
        await link.forward { arrivals.take($0) }
        await arrivals.wait { !$0.ends.isEmpty }
        #expect(arrivals.ends == [nil])
    }

    @Test func `A receiver is called on the link's executor`() async throws {
        let link = try await open(Self.sent("?"), Self.received("!"))
        let executor = link.executor
        let isThere = AsyncStream<Bool?>.makeStream()
        await link.forward { _ in isThere.continuation.yield(executor.isIsolatingCurrentContext()) }
        try await link.send("?")
        for await there in isThere.stream {
            #expect(there == true)
            break
        }
        await link.close()
    }

    // MARK: Again and again

    @Test func `Opening and closing replayed links leaks no descriptor`() async throws {
        await #expect(processExitsWith: .success) {
            let contract = ReplayContract()
            let path = try contract.tape([Self.sent("?"), Self.received("!")])
            func open(_ times: Int) async throws {
                for number in 0..<times {
                    let link = try await ReplayOpener().open(Endpoint("replay:\(path)?pace=none"))
                    if number % 2 == 0 { try await link.send("?") }
                    if number % 4 == 0 { #expect(try await link.receive(1) == Array("!".utf8)) }
                    await link.close()
                }
            }
            func descriptors() -> Int {
                (0..<1024).count { fcntl(CInt($0), F_GETFD) >= 0 }
            }
            try await open(100)
            let before = descriptors()
            try await open(2000)
            // A leak would be hundreds of descriptors. The 4 allow for others that the process may open by now.
            #expect(descriptors() <= before + 4)
        }
    }
}
