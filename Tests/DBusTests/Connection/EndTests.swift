import DBus
import DescriptorIO
import DeviceTestKit
import Glibc
import TestSupport
import Testing

@Suite("The end of a D-Bus connection", .timeLimit(.minutes(5)))
struct EndTests {
    @Test func `When the bus stops, all calls, sequences and later requests fail as disconnected`() async throws {
        try await withPeers { peers in
            let gate = Gate()
            let cancelled = Log([])
            try await peers.far.export(
                .test([
                    DBusMethod("Wait") { _ in
                        await withTaskCancellationHandler {
                            await gate.pass()
                        } onCancel: {
                            cancelled.append("method")
                        }
                        return []
                    }
                ]))
            let near = peers.near
            let ends = Log([])
            await near.onEnd { ends.append("\($0?.code == .disconnected)") }
            let signals = try await near.signals(matching: DBusMatchRule(interface: testInterface))
            let call = await toTest(peers.far, "Wait")
            let calls = (0..<10).map { _ in Task { try await near.call(call, timeout: nil) } }
            let iterating = Task { for try await _ in signals {} }
            try await gate.untilWaiting(10)
            peers.bus.kill()
            for calling in calls {
                let error = await #expect(throws: DBusError.self) { try await calling.value }
                #expect(error?.code == .disconnected)
            }
            let error = await #expect(throws: DBusError.self) { try await iterating.value }
            #expect(error?.code == .disconnected)
            #expect(try await ends.first(1) == ["true"])
            #expect(try await cancelled.first(10).count == 10)
            gate.open()
            #expect(await !near.isOpen)
            await near.onEnd { ends.append("again \($0?.code == .disconnected)") }
            #expect(try await ends.first(2).last == "again true")
            for body in [
                { try await near.call(call) }, { _ = try await near.signals(matching: DBusMatchRule()) },
                { try await near.flush() }, { try await near.export(DBusObject("/a")) },
                { try await near.emitSignal("/a", testInterface, "M") },
            ] as [@Sendable () async throws -> Void] {
                let error = await #expect(throws: DBusError.self) { try await body() }
                #expect(error?.code == .disconnected)
            }
        }
    }

    @Test func `Closing fails calls and ends sequences without an error, and may be repeated`() async throws {
        try await withPeers { peers in
            let gate = Gate()
            try await peers.far.export(
                .test([
                    DBusMethod("Wait") { _ in
                        await gate.pass()
                        return []
                    }
                ]))
            let near = peers.near
            let signals = try await near.signals(matching: DBusMatchRule(interface: testInterface))
            let call = await toTest(peers.far, "Wait")
            let calling = Task { try await near.call(call) }
            let iterating = Task { for try await _ in signals {} }
            try await gate.untilWaiting(1)
            await near.close()
            await near.close()
            let error = await #expect(throws: DBusError.self) { try await calling.value }
            #expect(error?.code == .closed)
            try await iterating.value
            let late = await #expect(throws: DBusError.self) { try await near.call(call) }
            #expect(late?.code == .closed)
            gate.open()
        }
    }

    @Test func `A signal handler may close its connection`() async throws {
        try await withPeers { peers in
            let near = peers.near
            let ends = Log([])
            await near.onEnd { _ in ends.append("ended") }
            let subscription = try await near.handleSignals(matching: DBusMatchRule(interface: testInterface)) { _ in
                near.assumeIsolated { $0.close() }
            }
            for _ in 0..<20 { try await peers.far.emitSignal(testPath, testInterface, "Go") }
            #expect(try await ends.first(1) == ["ended"])
            subscription.cancel()
        }
    }

    @Test func `A released connection is closed`() async throws {
        try await withPeers { peers in
            var connection: DBusConnection? = try await DBusConnection.open(.address(peers.bus.address))
            let name = try #require(await connection?.uniqueName)
            let changes = try await peers.near.signals(matching: .nameOwnerChanged(name))
            connection = nil
            var iterator = changes.makeAsyncIterator()
            #expect(try await iterator.next()?.arguments == [.string(name), .string(name), .string("")])
        }
    }

    @Test func `Opening fails differently for a missing bus, a silent bus and a cancelled task`() async throws {
        let error = await #expect(throws: DBusError.self) {
            try await DBusConnection.open(.address("unix:path=/proc/nowhere/bus"))
        }
        #expect(error?.code == .noBus)
        let odd = await #expect(throws: DBusError.self) { try await DBusConnection.open(.address("no address")) }
        #expect(odd?.code == .noBus)
        // A socket at which nobody answers.
        let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        let folder = TemporaryFolder()
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: folder.path("bus").utf8) }
        try withUnsafeBytes(of: &address) { bytes in
            let pointer = try #require(bytes.baseAddress).assumingMemoryBound(to: sockaddr.self)
            #expect(bind(listener, pointer, socklen_t(bytes.count)) == 0)
        }
        #expect(listen(listener, 1) == 0)
        let clock = ManualClock()
        let opening = Task {
            try await DBusConnection.open(
                .address("unix:path=\(folder.path("bus"))"), clock: clock, timeout: .seconds(5))
        }
        await clock.untilSomebodySleeps(until: .seconds(5))
        clock.advance(by: .seconds(5))
        let silent = await #expect(throws: DBusError.self) { try await opening.value }
        #expect(silent?.code == .timedOut)
        let cancelled = Task {
            try await DBusConnection.open(.address("unix:path=\(folder.path("bus"))"), clock: clock)
        }
        cancelled.cancel()
        let stopped = await #expect(throws: DBusError.self) { try await cancelled.value }
        #expect(stopped?.code == .cancelled)
    }

    @Test func `Flushing waits for the bus to take the messages, and can be cancelled`() async throws {
        try await withPeers { peers in
            let near = peers.near
            // More than the socket's buffer holds while the bus is paused.
            try await peers.bus.pause {
                for _ in 0..<64 {
                    try await near.emitSignal(
                        testPath, testInterface, "Much", [.bytes([UInt8](repeating: 7, count: 65536))])
                }
                let flushing = Task(executorPreference: EventLoop.shared) { try await near.flush() }
                await settle()
                // The connection's loop runs the flush before this call, so the flush waits by now.
                #expect(await near.isOpen)
                flushing.cancel()
                let error = await #expect(throws: DBusError.self) { try await flushing.value }
                #expect(error?.code == .cancelled)
            }
            try await near.flush()
        }
    }
}
