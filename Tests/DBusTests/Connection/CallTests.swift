import DBus
import DescriptorIO
import DeviceTestKit
import TestSupport
import Testing

@Suite("D-Bus calls", .timeLimit(.minutes(5)))
struct CallTests {
    @Test func `A call is answered, in both directions`() async throws {
        try await withPeers { peers in
            for (caller, callee) in [(peers.near, peers.far), (peers.far, peers.near)] {
                try await callee.export(
                    .test([
                        DBusMethod(
                            "Add", inputs: [DBusArgument("a", "i"), DBusArgument("b", "i")],
                            outputs: [DBusArgument("sum", "i")]
                        ) { call in
                            [.int32((call.arguments[0].int32 ?? 0) + (call.arguments[1].int32 ?? 0))]
                        }
                    ]))
                let reply = try await caller.call(await toTest(callee, "Add", [.int32(40), .int32(2)]))
                #expect(reply == [.int32(42)])
            }
        }
    }

    @Test func `A method sees the caller's unique name`() async throws {
        try await withPeers { peers in
            try await peers.far.export(
                .test([DBusMethod("Who", outputs: [DBusArgument("caller", "s")]) { [.string($0.sender)] }]))
            let reply = try await peers.near.call(await toTest(peers.far, "Who"))
            #expect(reply == [.string(await peers.near.uniqueName)])
        }
    }

    @Test func `Each of 1,000 concurrent calls gets its own reply`() async throws {
        try await withPeers { peers in
            try await peers.far.export(
                .test([
                    DBusMethod("Echo", inputs: [DBusArgument("n", "u")], outputs: [DBusArgument("n", "u")]) { call in
                        if (call.arguments[0].uint32 ?? 0) % 3 == 0 { await Task.yield() }
                        return call.arguments
                    }
                ]))
            let call = await toTest(peers.far, "Echo")
            try await withThrowingTaskGroup { group in
                for number in 0..<1000 as Range<UInt32> {
                    group.addTask {
                        var call = call
                        call.arguments = [.uint32(number)]
                        return try await peers.near.call(call) == [.uint32(number)]
                    }
                }
                var right = 0
                for try await isRight in group where isRight { right += 1 }
                #expect(right == 1000)
            }
        }
    }

    @Test func `A call throws the error that the method answers, with its name`() async throws {
        try await withPeers { peers in
            try await peers.far.export(
                .test([
                    DBusMethod("Refuse") { _ in throw DBusError(answering: "org.example.Error.Empty", "no water") },
                    DBusMethod("Break") { _ in throw CancellationError() },
                    DBusMethod("Lie", outputs: [DBusArgument("n", "u")]) { _ in [.string("one")] },
                ]))
            var error = await refusal(peers, "Refuse")
            #expect(error?.code == .refused)
            #expect(error?.name == "org.example.Error.Empty")
            #expect(error?.message == "no water")
            error = await refusal(peers, "Break")
            #expect(error?.name == .failed)
            error = await refusal(peers, "Lie")
            #expect(error?.name == .failed)
        }
    }

    @Test func `A call to an unknown method, interface, object or service throws the matching error`() async throws {
        try await withPeers { peers in
            try await peers.far.export(.test([DBusMethod("One", inputs: [DBusArgument("n", "u")]) { _ in [] }]))
            #expect(await refusal(peers, "Two")?.name == .unknownMethod)
            #expect(await refusal(peers, "One")?.name == .invalidArgs)
            var call = await toTest(peers.far, "One", [.uint32(1)])
            call.interface = "org.example.Other"
            #expect(await refusal(peers.near, call)?.name == .unknownInterface)
            call = await toTest(peers.far, "One", [.uint32(1)])
            call.path = "/org/example/other"
            #expect(await refusal(peers.near, call)?.name == .unknownObject)
            call = await toTest(peers.far, "One", [.uint32(1)])
            call.destination = "org.example.Nobody"
            let error = await refusal(peers.near, call)
            #expect(error?.name == .serviceUnknown)
            #expect(error?.hint != nil)
        }
    }

    @Test(arguments: [
        DBusCall(to: "not a name", "/", "org.example.A", "B"), DBusCall(to: "org.example.A", "/", "plain", "B"),
        DBusCall(to: "org.example.A", "/", "org.example.A", "B.C"),
        DBusCall(to: "org.example.A", "/", "org.example.A", "B", [.string("a\0b")]),
        DBusCall(to: "org.example.A", "/", "org.example.A", "B", [.structure([])]),
        DBusCall(to: "org.example.A", "/", "org.example.A", "B", [.array(of: "s", [.byte(1)])]),
        DBusCall(to: "org.example.A", "/", "org.example.A", "B", [.array(of: "ss", [])]),
        DBusCall(
            to: "org.example.A", "/", "org.example.A", "B",
            [.dictionary(DBusDictionary(keys: "v", values: "s", []))]),
        DBusCall(
            to: "org.example.A", "/", "org.example.A", "B",
            [.dictionary(DBusDictionary(keys: "s", values: "s", [.init(.string("a"), .byte(1))]))]),
        DBusCall(
            to: "org.example.A", "/", "org.example.A", "B",
            [(0..<40).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }]),
    ])
    func `A call that D-Bus cannot carry is refused, and the connection stays usable`(call: DBusCall) async throws {
        try await withPeers { peers in
            #expect(await refusal(peers.near, call)?.code == .invalidArgument)
            let owner = try await peers.near.owner(of: "org.freedesktop.DBus")
            #expect(owner == "org.freedesktop.DBus")
        }
    }

    @Test func `A call above the bus's size limit is refused`() async throws {
        try await withPeers { peers in
            let bytes = DBusValue.bytes([UInt8](repeating: 0, count: (32 << 20) + 1))
            let call = DBusCall(to: "org.example.A", "/", "org.example.A", "B", [bytes])
            let error = await refusal(peers.near, call)
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test func `A call times out at its deadline, and its late reply is dropped`() async throws {
        let clock = ManualClock()
        try await withPeers(clock: clock) { peers in
            let gate = Gate()
            try await peers.far.export(
                .test([
                    DBusMethod("Wait") { _ in
                        await gate.pass()
                        return []
                    }
                ]))
            let call = await toTest(peers.far, "Wait")
            async let late = peers.near.call(call, timeout: .seconds(3))
            async let patient = peers.near.call(call, timeout: .seconds(5))
            try await gate.untilWaiting(2)
            await clock.untilSomebodySleeps(until: .seconds(3))
            clock.advance(by: .seconds(3))
            do {
                _ = try await late
                Issue.record("it was not to be answered")
            } catch {
                #expect((error as? DBusError)?.code == .timedOut)
            }
            gate.open()
            #expect(try await patient == [])
            #expect(try await peers.near.call(call, timeout: nil) == [])
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Each call times out at its own deadline`() async throws {
        let clock = ManualClock()
        try await withPeers(clock: clock) { peers in
            let gate = Gate()
            try await peers.far.export(
                .test([
                    DBusMethod("Wait") { _ in
                        await gate.pass()
                        return []
                    }
                ]))
            let call = await toTest(peers.far, "Wait")
            let calls = [3, 5].map { seconds in
                Task { try await peers.near.call(call, timeout: .seconds(seconds)) }
            }
            try await gate.untilWaiting(2)
            for (call, deadline) in zip(calls, [3, 5]) {
                await clock.untilSomebodySleeps(until: .seconds(deadline))
                clock.advance(by: .seconds(deadline) - clock.now.offset)
                let error = await #expect(throws: DBusError.self) { _ = try await call.value }
                #expect(error?.code == .timedOut)
            }
            gate.open()
        }
    }

    @Test func `Cancelling the task ends its call`() async throws {
        try await withPeers { peers in
            let gate = Gate()
            try await peers.far.export(
                .test([
                    DBusMethod("Wait") { _ in
                        await gate.pass()
                        return []
                    }
                ]))
            let call = await toTest(peers.far, "Wait")
            // Before every second cancellation a call has reached the method, so that calls are cancelled early and
            // late.
            for number in 0..<50 {
                let calling = Task { try await peers.near.call(call) }
                if number % 2 == 0 { try await gate.untilWaiting(number / 2 + 1) }
                calling.cancel()
                let error = await #expect(throws: DBusError.self) { try await calling.value }
                #expect(error?.code == .cancelled)
            }
            gate.open()
            #expect(try await peers.near.call(call) == [])
        }
    }

    @Test func `A call carries 1 MiB in each direction`() async throws {
        try await withPeers { peers in
            try await peers.far.export(
                .test([
                    DBusMethod("Echo", inputs: [DBusArgument("b", "ay")], outputs: [DBusArgument("b", "ay")]) {
                        $0.arguments
                    }
                ]))
            let bytes = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
            let reply = try await peers.near.call(await toTest(peers.far, "Echo", [.bytes(bytes)]))
            #expect(reply.first?.bytes == bytes)
        }
    }

    @Test func `A call without reply is carried out`() async throws {
        try await withPeers { peers in
            let log = Log([])
            try await peers.far.export(
                .test([
                    DBusMethod("Note") { _ in
                        log.append("noted")
                        return []
                    }
                ]))
            try await peers.near.callWithoutReply(await toTest(peers.far, "Note"))
            #expect(try await log.first(1) == ["noted"])
        }
    }

    /// Returns the error of the near peer's call to the far peer's test object; nil, with a failure, if there is none.
    private func refusal(_ peers: Peers, _ member: String) async -> DBusError? {
        await refusal(peers.near, await toTest(peers.far, member))
    }

    private func refusal(_ caller: DBusConnection, _ call: DBusCall) async -> DBusError? {
        await #expect(throws: DBusError.self) { try await caller.call(call) }
    }
}

/// Holds the callers of ``pass()`` until it is opened.
struct Gate: Sendable {
    private struct State {
        var isOpen = false
        var count = 0
    }

    private let state = Watched(State())

    func open() { state.update { $0.isOpen = true } }

    func pass() async {
        state.update { $0.count += 1 }
        try? await state.wait(for: "the gate") { $0.isOpen ? () : nil }
    }

    /// Waits until at least `count` callers have arrived since the start.
    func untilWaiting(_ count: Int) async throws {
        try await state.wait(for: "\(count) at the gate") { $0.count >= count ? () : nil }
    }
}
