import DBus
import DescriptorIO
import DeviceTestKit
import Glibc
import TestSupport
import Testing

/// Each test runs in its own process, in which nothing else opens descriptors or starts threads.
@Suite("Resources of D-Bus connections", .serialized, .timeLimit(.minutes(5)))
struct ResourceTests {
    @Test func `1,000 connections leak no descriptor or thread`() async throws {
        await #expect(processExitsWith: .success) {
            let bus = try await PrivateBus()
            func open(_ times: Int) async throws {
                for number in 0..<times {
                    let connection = try await DBusConnection.open(.address(bus.address))
                    if number % 3 == 0 {
                        let signals = try await connection.signals(matching: DBusMatchRule(sender: "org.example.A"))
                        signals.cancel()
                    }
                    if number % 2 == 0 { await connection.close() }
                }
            }
            try await open(50)
            let descriptors = entries(of: "/proc/self/fd")
            let threads = entries(of: "/proc/self/task")
            try await open(1000)
            // A dropped connection is closed on the loop.
            await settle()
            // The runtime opens a few descriptors on first use, and starts up to one thread for each processor.
            #expect(entries(of: "/proc/self/fd") <= descriptors + 6)
            #expect(entries(of: "/proc/self/task") <= threads + CInt(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
        }
    }

    @Test func `Passed descriptors are closed, whether or not they are read`() async throws {
        await #expect(processExitsWith: .success) {
            try await withPeers { peers in
                try await peers.far.export(
                    .test([
                        DBusMethod("Echo", inputs: [DBusArgument("in", "h")], outputs: [DBusArgument("out", "h")]) {
                            $0.arguments
                        }
                    ]))
                let counter = try await peers.near.handleSignals(matching: DBusMatchRule(interface: testInterface)) {
                    _ in
                }
                let call = await toTest(peers.far, "Echo", [.unixFD(OwnedDescriptor(taking: dup(0)))])
                func pass(_ times: Int) async throws {
                    for number in 0..<times {
                        let calling = Task { try await peers.near.call(call) }
                        // Some replies arrive for a cancelled call.
                        if number % 3 == 0 { calling.cancel() }
                        _ = await calling.result
                        try await peers.far.emitSignal(testPath, testInterface, "Take", call.arguments)
                    }
                    try await peers.settle()
                    try await peers.settle()
                }
                try await pass(20)
                let before = entries(of: "/proc/self/fd")
                try await pass(500)
                // The runtime may have opened a few descriptors of its own.
                #expect(entries(of: "/proc/self/fd") <= before + 4)
                counter.cancel()
            }
        }
    }

    @Test func `A connection does not change the handling of SIGPIPE`() async throws {
        await #expect(processExitsWith: .success) {
            let bus = try await PrivateBus()
            signal(SIGPIPE, SIG_DFL)
            let connection = try await DBusConnection.open(.address(bus.address))
            var after = sigaction()
            sigaction(SIGPIPE, nil, &after)
            #expect(after.__sigaction_handler.sa_handler == nil)
            await connection.close()
        }
    }

    @Test func `An idle connection is not woken by the traffic of others`() async throws {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop()
            loop.start()
            try await withPeers { peers in
                let idle = try await DBusConnection.open(.address(peers.bus.address), on: loop)
                let signals = try await idle.signals(matching: DBusMatchRule(sender: "org.example.A"))
                let (threadID, clock) = await Task(executorPreference: loop) {
                    var clock = clockid_t()
                    pthread_getcpuclockid(pthread_self(), &clock)
                    return (currentThread(), clock)
                }.value
                try await peers.far.export(.test([DBusMethod("Echo") { _ in [] }]))
                let call = await toTest(peers.far, "Echo")
                try await peers.near.call(call)
                let (before, usedBefore) = (try switches(of: threadID), nanoseconds(of: clock))
                for _ in 0..<2000 {
                    try await peers.near.call(call)
                    try await peers.far.emitSignal(testPath, testInterface, "Tick")
                }
                #expect(try switches(of: threadID) <= before + 1)
                // A spinning thread is not woken either, so its CPU time is checked too: at most 10 ms, of which a
                // spinning thread uses many times more during so many calls.
                #expect(nanoseconds(of: clock) - usedBefore < 10_000_000)
                signals.cancel()
                await idle.close()
            }
        }
    }
}

/// The calling thread's number in /proc.
private func currentThread() -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let start = buffer.baseAddress else { return "" }
        start[max(readlink("/proc/thread-self", start, 255), 0)] = 0
        return String(cString: start).split(separator: "/").last.map(String.init) ?? ""
    }
}

/// The reading of a clock in nanoseconds.
private func nanoseconds(of clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The number of times that a thread has given up the processor in order to wait.
private func switches(of thread: String) throws -> Int {
    let file = try #require(fopen("/proc/self/task/\(thread)/status", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split { $0.isWhitespace }
        if words.first == "voluntary_ctxt_switches:", let count = Int(words.last ?? "") { return count }
    }
    throw EndOfFile()
}

private struct EndOfFile: Error {}

/// The number of entries in a folder, including `.` and `..`; -1 if the folder can't be read.
private func entries(of folder: String) -> CInt {
    guard let stream = opendir(folder) else { return -1 }
    defer { closedir(stream) }
    var count: CInt = 0
    while readdir(stream) != nil { count += 1 }
    return count
}
