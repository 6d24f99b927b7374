import DBus
import DescriptorIO
import DeviceTestKit
import TestSupport
import Testing

@Suite("D-Bus signals", .timeLimit(.minutes(5)))
struct SignalTests {
    @Test func `Signals arrive in the order in which they were sent`() async throws {
        try await withPeers { peers in
            let signals = try await peers.near.signals(matching: DBusMatchRule(interface: testInterface))
            for number in 0..<2000 as Range<UInt32> {
                try await peers.far.emitSignal(testPath, testInterface, "Tick", [.uint32(number)])
            }
            var iterator = signals.makeAsyncIterator()
            for number in 0..<2000 as Range<UInt32> {
                let signal = try await iterator.next()
                guard signal?.arguments == [.uint32(number)] else {
                    Issue.record("\(number) was \(String(describing: signal))")
                    return
                }
            }
        }
    }

    @Test func `Signals and replies reach their handlers in the order of the bus`() async throws {
        try await withPeers { peers in
            let log = Log([])
            let name = "org.example.Pump"
            let subscription = try await peers.near.handleSignals(matching: .nameOwnerChanged(name)) { message in
                log.append(message.arguments.last?.string == "" ? "free" : "taken")
            }
            // The bus sends the signal before the reply. All calls are in flight at once.
            for _ in 0..<250 {
                try await peers.near.call(toBus("RequestName", [.string(name), .uint32(0)])) { _ in
                    log.append("requested")
                }
                try await peers.near.call(toBus("ReleaseName", [.string(name)])) { _ in log.append("released") }
            }
            let words = try await log.first(1000)
            #expect(words == (0..<250).flatMap { _ in ["taken", "requested", "free", "released"] })
            subscription.cancel()
        }
    }

    static let rules: [(DBusMatchRule, [String])] = [
        (DBusMatchRule(), ["one", "two", "three"]),
        (DBusMatchRule(path: "/a"), ["one"]),
        (DBusMatchRule(pathNamespace: "/a"), ["one", "two"]),
        (DBusMatchRule(pathNamespace: "/"), ["one", "two", "three"]),
        (DBusMatchRule(interface: "org.example.B"), ["two"]),
        (DBusMatchRule(member: "N"), ["three"]),
        (DBusMatchRule(firstArgument: "two"), ["two"]),
        (DBusMatchRule(firstArgument: "it's"), []),
        (DBusMatchRule(sender: "org.example.Nobody"), []),
    ]

    @Test(arguments: rules)
    func `A sequence yields only the signals that match its rule`(rule: DBusMatchRule, expected: [String]) async throws
    {
        try await withPeers { peers in
            // A rule that matches everything makes the bus send all signals, so that the sequence must filter.
            let everything = try await peers.near.signals(matching: DBusMatchRule())
            var rule = rule
            if rule.sender == nil { rule.sender = await peers.far.uniqueName }
            let signals = try await peers.near.signals(matching: rule)
            try await peers.far.emitSignal("/a", "org.example.A", "M", [.string("one")])
            try await peers.far.emitSignal("/a/b", "org.example.B", "M", [.string("two")])
            try await peers.far.emitSignal("/ab", "org.example.A", "N", [.string("three")])
            try await peers.settle()
            signals.cancel()
            #expect(try await words(of: signals) == expected)
            everything.cancel()
        }
    }

    @Test func `Signals of a well-known name follow its owner`() async throws {
        try await withPeers { peers in
            let name = "org.example.Pump"
            let third = try await DBusConnection.open(.address(peers.bus.address))
            let everything = try await peers.near.signals(matching: DBusMatchRule())
            let signals = try await peers.near.signals(
                matching: DBusMatchRule(sender: name, interface: testInterface))
            func emit(_ word: String, _ sender: DBusConnection) async throws {
                try await sender.emitSignal(testPath, testInterface, "Said", [.string(word)])
                try await sender.call(toBus("GetId"))
            }
            try await emit("nobody has it", peers.far)
            #expect(try await peers.far.requestName(name, allowsReplacement: true) == .owner)
            try await emit("the first owner", peers.far)
            try await emit("not an owner", third)
            #expect(try await third.requestName(name) == .taken)
            #expect(try await third.requestName(name, replaces: true) == .owner)
            try await emit("the owner before", peers.far)
            try await emit("the second owner", third)
            try await third.releaseName(name)
            try await emit("nobody has it again", third)
            // A sequence that starts now sees no change of the owner, and must ask for the owner.
            _ = try await peers.far.requestName(name)
            let later = try await peers.near.signals(matching: DBusMatchRule(sender: name, member: "Said"))
            try await emit("the third owner", peers.far)
            try await peers.settle()
            signals.cancel()
            later.cancel()
            #expect(try await words(of: signals) == ["the first owner", "the second owner", "the third owner"])
            #expect(try await words(of: later) == ["the third owner"])
            everything.cancel()
            await third.close()
        }
    }

    @Test func `NameOwnerChanged signals and owner queries follow a name`() async throws {
        try await withPeers { peers in
            let name = "org.example.Pump"
            let signals = try await peers.near.signals(matching: .nameOwnerChanged(name))
            #expect(try await peers.near.owner(of: name) == nil)
            #expect(try await peers.far.requestName(name) == .owner)
            #expect(try await peers.near.owner(of: name) == peers.far.uniqueName)
            let far = await peers.far.uniqueName
            await peers.far.close()
            var iterator = signals.makeAsyncIterator()
            let changes = [try await iterator.next(), try await iterator.next()].map {
                $0?.arguments.compactMap(\.string)
            }
            #expect(changes == [[name, "", far], [name, far, ""]])
            #expect(try await peers.near.owner(of: name) == nil)
        }
    }

    @Test func `Equal match rules are added to the bus once and removed with the last sequence`() async throws {
        try await withPeers { peers in
            let rule = DBusMatchRule(interface: testInterface)
            let before = try await ruleCount(peers)
            var first: DBusSignals? = try await peers.near.signals(matching: rule)
            async let second = peers.near.signals(matching: rule)
            async let third = peers.near.signals(matching: rule)
            let others = [try await second, try await third]
            #expect(try await ruleCount(peers) == before + 1)
            try await peers.far.emitSignal(testPath, testInterface, "Said", [.string("to all")])
            try await peers.settle()
            #expect(first != nil)
            first = nil
            #expect(try await ruleCount(peers) == before + 1)
            for signals in others {
                signals.cancel()
                #expect(try await words(of: signals) == ["to all"])
            }
            #expect(try await ruleCount(peers) == before)
        }
    }

    @Test func `Cancelling the iterating task ends the sequence`() async throws {
        try await withPeers { peers in
            let signals = try await peers.near.signals(matching: DBusMatchRule(interface: testInterface))
            let iterating = Task(executorPreference: EventLoop.shared) {
                var count = 0
                for try await _ in signals { count += 1 }
                return count
            }
            await settle()
            iterating.cancel()
            #expect(try await iterating.value == 0)
        }
    }

    @Test func `A signal handler can read single properties of a message`() async throws {
        try await withPeers { peers in
            let log = Log([])
            let subscription = try await peers.near.handleSignals(matching: .propertiesChanged(of: testInterface)) {
                message in
                guard var place = message.cursor, place.isString(testInterface), place.next() else { return }
                place.forEachProperty { name, value in
                    value.withBytes { log.append("\(name) \(Array($0))") }
                }
            }
            try await peers.far.emitPropertiesChanged(
                testPath, testInterface, ["Value": .bytes([1, 2, 3]), "Name": .string("none"), "Other": .bytes([])])
            #expect(try await log.first(2) == ["Other []", "Value [1, 2, 3]"])
            subscription.cancel()
        }
    }

    /// The first arguments of the signals left in a cancelled sequence, without the signals of the bus itself.
    private func words(of signals: DBusSignals) async throws -> [String] {
        var words: [String] = []
        for try await signal in signals where signal.sender != "org.freedesktop.DBus" {
            words.append(signal.arguments.first?.string ?? "")
        }
        return words
    }

    /// The number of match rules that the near peer has on the bus.
    private func ruleCount(_ peers: Peers) async throws -> Int {
        let call = DBusCall(
            to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
            "GetConnectionStats", [.string(await peers.near.uniqueName)])
        let statistics = try await peers.near.call(call).first?.properties
        return try #require(statistics?["MatchRules"]?.integer)
    }
}
