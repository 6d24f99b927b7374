import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct RescueFramerTests {
    private static let good = Array(RescueMessageTests.example.utf8)

    private func codes(_ arrivals: [RescueArrival]) -> [String] {
        arrivals.map {
            switch $0 {
            case .message: "message"
            case .malformed(let error): error.code.rawValue
            }
        }
    }

    private func frame(_ bytes: [UInt8]) -> [RescueArrival] { RescueFramer.frame([bytes]).arrivals }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `Any split of a stream gives the same messages`(seed: UInt64) {
        var traffic = RescueTraffic(seed: seed)
        var stream: [UInt8] = []
        var messages: [RescueArrival] = []
        for _ in 0..<30 {
            let message = traffic.message()
            messages.append(.message(message))
            stream += message.json + ["", "\n", "\r\n", " \t"][traffic.random.number(below: 4)].utf8
        }
        #expect(frame(stream) == messages)
        for most in [1, 3, 20, 512, 5000] {
            #expect(RescueFramer.frame(traffic.split(stream, most: most)).arrivals == messages)
        }
    }

    @Test func `NULs between messages are not noise`() {
        #expect(codes(frame(Self.good + [0] + Self.good + [0x0D, 0x0A, 0, 0])) == ["message", "message"])
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `Any split of a damaged stream gives the same result in bounded memory`(seed: UInt64) {
        var traffic = RescueTraffic(seed: seed)
        var stream: [UInt8] = []
        for _ in 0..<25 {
            let json = traffic.message().json
            stream += traffic.random.number(below: 2) == 0 ? json : traffic.damage(json)
        }
        let whole = frame(stream)
        for most in [1, 20, 5000] {
            let (arrivals, mostPending) = RescueFramer.frame(traffic.split(stream, most: most))
            #expect(arrivals == whole)
            #expect(mostPending < RescueFramer.lengthLimit + most)
        }
    }

    @Test func `A message after a truncated one is found`() {
        for count in 1..<Self.good.count {
            let arrivals = frame(Array(Self.good[..<count]) + Self.good)
            #expect(arrivals.last == frame(Self.good).last, "cut off after \(count)")
            #expect(arrivals.count == 2, "cut off after \(count): \(codes(arrivals))")
        }
    }

    @Test(arguments: [
        ("garbage", ["noise", "message"]), ("\u{FEFF}", ["noise", "message"]), ("]}\",", ["noise", "message"]),
        ("{", ["not_json", "message"]), ("{\"a\":NaN}", ["not_json", "message"]),
        ("{\"a\":NaN} and more", ["not_json", "message"]), ("{\"a\":{\"b\":{\"c\":x}}}", ["not_json", "message"]),
        ("{\"a\":NaN}{\"b\":tru}", ["not_json", "not_json", "message"]), ("{}", ["missing_field", "message"]),
        ("{\"content\":", ["not_json", "message"]), ("\r\n\r\n", ["message"]),
    ])
    func `The message after malformed parts is found, with one error per part`(text: String, expected: [String]) {
        #expect(codes(frame(Array(text.utf8) + Self.good + Array("{".utf8))).prefix(expected.count) == expected[...])
    }

    @Test func `A message cut off by the end is an error, and a message within it is found`() {
        #expect(codes(frame(Array(Self.good.dropLast()))) == ["truncated"])
        #expect(codes(frame(Array("{\"content\":".utf8) + Self.good)) == ["truncated", "message"])
        #expect(codes(frame(Self.good + Array(" x".utf8))) == ["message", "noise"])
        #expect(frame([]).isEmpty)
    }

    @Test func `An error has the offset and the first bytes`() throws {
        let arrival = frame(Array("{\"latitude\":NaN}".utf8)).first
        guard case .malformed(let error) = arrival else {
            Issue.record("\(String(describing: arrival))")
            return
        }
        #expect(error.offset == 12)
        #expect(error.description == "not JSON at byte 12: expected a value")
        #expect(String(decoding: error.excerpt, as: UTF8.self) == "{\"latitude\":N")
    }

    @Test func `An endless object is given up in bounded memory`() {
        let endless = Array("{\"content\":\"".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)
        var traffic = RescueTraffic(seed: 1)
        let (arrivals, mostPending) = RescueFramer.frame(traffic.split(endless, most: 4096) + [Self.good])
        #expect(codes(arrivals) == ["too_long", "message"])
        #expect(mostPending < RescueFramer.lengthLimit + 4096)
    }

    @Test(arguments: RescueTraffic.nasty.indices)
    func `Hostile input does not hide the last message`(index: Int) {
        let nasty = RescueTraffic.nasty[index]
        let stream = Array(repeatElement(nasty, count: 10).joined()) + Array("\" \n".utf8) + Self.good + Self.good
        #expect(codes(frame(stream)).suffix(1) == ["message"])
    }

    @Test func `100,000 split messages leave no pending bytes`() {
        var traffic = RescueTraffic(seed: 3)
        let messages = (0..<100).map { _ in traffic.message() }
        // 244 bytes are the payload of a notification if the MTU is 247.
        let pieces = traffic.split(Array(messages.map(\.json).joined()), most: 244)
        var framer = RescueFramer()
        var count = 0
        for _ in 0..<1000 {
            for piece in pieces { count += framer.append(piece).count }
            #expect(framer.pendingByteCount == 0)
        }
        #expect(count == 100_000)
    }
}

@Suite(.timeLimit(.minutes(5))) struct RescueArrivalsTests {
    @Test(arguments: [true, false])
    func `Messages arrive whole, however the link splits or joins them`(keepsPacketBounds: Bool) async throws {
        var traffic = RescueTraffic(seed: 9)
        let messages = (0..<20).map { _ in traffic.message() }
        let link = ScriptedLink(keepsPacketBounds: keepsPacketBounds)
        await link.deliver(traffic.split(Array(messages.map(\.json).joined()), most: 400))
        await link.deliver("{\"id\":")
        await link.close()
        var arrived: [RescueArrival] = []
        for try await arrivals in RescueArrivals(over: link) { arrived += arrivals }
        #expect(arrived.dropLast() == messages.map { .message($0) }[...])
        guard case .malformed(let error) = arrived.last else {
            Issue.record("\(String(describing: arrived.last))")
            return
        }
        #expect(error.code == .truncated)
    }

    @Test func `The loss of the link is thrown after the earlier messages`() async throws {
        let link = ScriptedLink(backlog: [RescueMessageTests.example])
        await link.end(with: LinkError(.disconnected, name: link.name, activity: "receive"))
        var arrivals = RescueArrivals(over: link).makeAsyncIterator()
        #expect(try await arrivals.next()?.count == 1)
        let error = await #expect(throws: LinkError.self) { try await arrivals.next() }
        #expect(error?.code == .disconnected)
    }
}

@Suite struct RescueStoreTests {
    @Test func `A message is stored once per ID, and can be marked as synced`() async {
        var traffic = RescueTraffic(seed: 2)
        let (one, other) = (traffic.message(), traffic.message())
        var again = one
        again.content = "something else"
        let store = RescueMemoryStore()
        #expect(await store.insertNew([one, again, other]) == [one, other])
        #expect(await store.insertNew([again]) == [])
        await store.markSynced([one.id, .random()])
        #expect(await store.messages(.pendingSync) == [other])
        #expect(await store.messages(.synced).map(\.id) == [one.id])
        #expect(await store.messages(nil).map(\.content) == [one.content, other.content])
    }
}
