import DeviceTestKit
import Glibc
import TestSupport
import Testing

@testable import DescriptorIO

@Suite("Descriptor channels", .timeLimit(.minutes(5)))
struct DescriptorChannelTests {
    @Test func `A released channel closes its descriptor`() async throws {
        let (near, far) = try socketPair()
        defer { close(far) }
        let held = target(of: near)
        do { _ = DescriptorChannel(taking: near, kind: .socket) }
        #expect(target(of: near) != held)
    }

    @Test func `A released channel is removed from its loop`() async throws {
        let thread = try await LoopThread.start()
        let (near, far) = try socketPair()
        defer { close(far) }
        let held = target(of: near)
        do {
            let channel = DescriptorChannel(taking: near, kind: .socket, on: thread.loop)
            #expect(write(far, "!", 1) == 1)
            #expect(try await channel.read() == [UInt8(ascii: "!")])
        }
        await thread.settle()
        #expect(target(of: near) != held)
        // A descriptor that reuses the number is not watched by mistake.
        #expect(try await isIdle(thread))
        thread.loop.stop()
    }

    @Test func `The lost far end is reported only after the write that noticed it has returned`() async throws {
        let loop = EventLoop.shared
        let (near, far) = try socketPair()
        let channel = DescriptorChannel(taking: near, kind: .socket)
        let told = Recorder<[UInt8]>()
        await channel.forward { arrival in if case .success(let bytes?) = arrival { told.append(bytes) } }
        let toldWhileWriting = await Task(executorPreference: loop) {
            #expect(write(far, "last words", 10) == 10)
            // shutdown(2), because a child that is just being forked may hold a copy of the descriptor.
            shutdown(far, CInt(SHUT_RDWR))
            close(far)
            #expect(throws: DescriptorError.self) { try channel.writeAtOnce([1]) }
            return told.values
        }.value
        #expect(toldWhileWriting == [])
        await settle(loop)
        #expect(told.values == [Array("last words".utf8)])
    }

    @Test func `Cancelling a write drops the bytes that the kernel has not taken`() async throws {
        let (near, far) = try DescriptorChannel.pair()
        // More than the kernel takes at once.
        let bytes = [UInt8](repeating: 1, count: 4 << 20)
        #expect(await Task(executorPreference: near.loop) { try? near.writeAtOnce(bytes) }.value == true)
        await Task(executorPreference: near.loop) { near.cancelWriting() }.value
        async let end: Void = near.write([3])
        var count = 0
        var last: UInt8 = 1
        while last != 3, let piece = try await far.read() {
            count += piece.count
            last = piece.last ?? last
        }
        try await end
        #expect(count < bytes.count)
        await near.close()
        await far.close()
    }

    @Test func `A custom close action runs once`() async throws {
        let (near, far) = try socketPair()
        defer { close(far) }
        let closings = Recorder<CInt>()
        do {
            let channel = DescriptorChannel(taking: near, kind: .socket) { descriptor in
                closings.append(descriptor)
                _ = close(descriptor)
            }
            await channel.close()
            await channel.close()
        }
        #expect(closings.values == [near])
    }

    @Test(arguments: [DescriptorChannel.Kind.socket, .stream])
    func `A hung-up descriptor with unread bytes is closed, and its bytes stay readable`(kind: DescriptorChannel.Kind)
        async throws
    {
        let thread = try await LoopThread.start()
        let (near, far) = try socketPair()
        let channel = DescriptorChannel(taking: near, kind: kind, on: thread.loop)
        #expect(write(far, "!", 1) == 1)
        #expect(try await channel.read() == [UInt8(ascii: "!")])
        let held = target(of: near)
        #expect(write(far, "last words", 10) == 10)
        close(far)
        await thread.settle()
        #expect(target(of: near) != held)
        #expect(await !channel.isOpen)
        #expect(try await isIdle(thread))
        #expect(try await channel.read() == Array("last words".utf8))
        thread.loop.stop()
    }

    @Test func `Unread bytes do not make the loop spin`() async throws {
        let thread = try await LoopThread.start()
        let (near, far) = try DescriptorChannel.pair(on: thread.loop)
        try await far.write([1])
        #expect(try await near.read() == [1])
        try await far.write([2])
        await thread.settle()
        #expect(try await isIdle(thread))
        #expect(try await near.read() == [2])
        await near.close()
        await far.close()
        thread.loop.stop()
    }

    @Test func `A receiver that closes the channel on a loss gets no more bytes, not even of a reused number`()
        async throws
    {
        // Runs in its own process, because another descriptor takes over the number.
        await #expect(processExitsWith: .success) {
            let loop = EventLoop.shared
            let (near, far) = try socketPair()
            let (other, otherFar) = try socketPair()
            defer { close(other); close(otherFar) }
            #expect(write(otherFar, "others", 6) == 6)
            let channel = DescriptorChannel(taking: near, kind: .socket, on: loop)
            let words = [UInt8](repeating: 7, count: DescriptorChannel.readLength + 1)
            #expect(write(far, words, words.count) == words.count)
            close(far)
            let parts = Recorder<Int>()
            let ended = AsyncStream<Void>.makeStream()
            let receiver: @Sendable (Result<[UInt8]?, DescriptorError>) -> Void = { arrival in
                switch arrival {
                case .success(let bytes?):
                    parts.append(bytes.count)
                    guard parts.values.count == 1 else { return }
                    channel.assumeIsolated { $0.close() }
                    // Another descriptor takes the number immediately.
                    _ = dup2(other, near)
                case .success(nil), .failure: ended.continuation.yield()
                }
            }
            // The write discovers the loss before the loop has read.
            await Task(executorPreference: loop) {
                await channel.forward(to: receiver)
                await #expect(throws: DescriptorError.self) { try await channel.write([1]) }
            }.value
            for await _ in ended.stream { break }
            #expect(parts.values == [DescriptorChannel.readLength])
            #expect(try await channel.read() == nil)
            var buffer: [UInt8] = [0, 0, 0, 0, 0, 0]
            #expect(read(other, &buffer, 6) == 6)
            close(near)
        }
    }

    @Test func `The end of a pipe ends the reading with disconnected`() async throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let channel = DescriptorChannel(taking: ends[0], kind: .stream)
        #expect(write(ends[1], "OK", 2) == 2)
        close(ends[1])
        #expect(try await channel.read() == Array("OK".utf8))
        let error = await #expect(throws: DescriptorError.self) { try await channel.read() }
        #expect(error?.code == .disconnected)
    }

    @Test func `A descriptor that refuses writes stays open until it is hung up`() async throws {
        let thread = try await LoopThread.start()
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        // Writing to the read end of a pipe fails.
        let channel = DescriptorChannel(taking: ends[0], kind: .stream, on: thread.loop, hangUpPatience: .seconds(3600))
        let held = target(of: ends[0])
        for _ in 0..<2 {
            let error = await #expect(throws: DescriptorError.self) { try await channel.write([1]) }
            #expect(error?.call == "write")
        }
        await thread.settle()
        #expect(target(of: ends[0]) == held)
        #expect(try await isIdle(thread))
        #expect(write(ends[1], "last words", 10) == 10)
        #expect(try await channel.read() == Array("last words".utf8))
        close(ends[1])
        await #expect(throws: DescriptorError.self) { try await channel.read() }
        #expect(target(of: ends[0]) != held)
        thread.loop.stop()
    }

    @Test func `A descriptor that refuses writes is closed after the hang-up timeout`() async throws {
        let thread = try await LoopThread.start()
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[1]) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let channel = DescriptorChannel(taking: ends[0], kind: .stream, on: thread.loop, hangUpPatience: .zero)
        await #expect(throws: DescriptorError.self) { try await channel.write([1]) }
        // This timer fires after the timer of the hang-up, whose deadline is earlier.
        try await EventLoopClock(thread.loop).sleep(for: .milliseconds(1))
        #expect(await !channel.isOpen)
        thread.loop.stop()
    }

    @Test func `The descriptor can be borrowed only while the channel is open`() async throws {
        let (near, far) = try DescriptorChannel.pair()
        #expect(try await near.withDescriptor { $0 } >= 0)
        await far.close()
        var error = await #expect(throws: DescriptorError.self) { try await near.read() }
        error = await #expect(throws: DescriptorError.self) { try await near.withDescriptor { $0 } }
        #expect(error?.code == .disconnected)
        error = await #expect(throws: DescriptorError.self) { try await far.withDescriptor { $0 } }
        #expect(error?.code == .closed)
    }

    /// Whether a loop's thread uses less than 4 ms of processor time while another thread spins for 40 ms. A spinning
    /// loop gets about as much processor time as that thread, however busy the machine is.
    private func isIdle(_ thread: LoopThread) async throws -> Bool {
        let before = thread.processorTime
        try await onThread {
            var time = timespec()
            let limit = 40_000_000
            repeat { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) } while time.tv_sec == 0 && time.tv_nsec < limit
        }
        return thread.processorTime - before < .milliseconds(4)
    }
}
