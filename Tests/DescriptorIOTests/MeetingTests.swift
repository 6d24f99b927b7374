import Glibc
import Testing

@testable import DescriptorIO

/// The calls come from tasks that do not run on the loop. So each step of a call is a separate job on the loop, and
/// jobs of other calls run in between.
@Suite("Concurrent calls on a channel", .timeLimit(.minutes(5)))
struct MeetingTests {
    private typealias Call = @Sendable () async -> Void

    @Test func `Concurrent writes are not interleaved`() async throws {
        let thread = try await LoopThread.start()
        for _ in 0..<10 {
            let (near, far) = try DescriptorChannel.pair(on: thread.loop)
            // More than a socket accepts in one write.
            let length = 1 << 18
            let writes = (UInt8(0)..<3).map { number -> Call in
                {
                    #expect(
                        await code { () throws(DescriptorError) in
                            try await near.write(Array(repeating: number, count: length))
                        } == nil)
                }
            }
            let writing = await meet(on: thread.loop, writes)
            var received: [UInt8] = []
            while received.count < 3 * length { received += try #require(try await far.read()) }
            for task in writing { await task.value }
            let isWhole = (0..<3).allSatisfy { Set(received[$0 * length..<($0 + 1) * length]).count == 1 }
            #expect(isWhole)
            await near.close()
            await far.close()
        }
        thread.loop.stop()
    }

    @Test func `A read returns when the channel is closed at the same time`() async throws {
        let thread = try await LoopThread.start()
        for _ in 0..<20 {
            let (near, far) = try DescriptorChannel.pair(on: thread.loop)
            let tasks = await meet(
                on: thread.loop,
                [
                    { #expect(await code { () throws(DescriptorError) in try await near.read() } == nil) },
                    { await near.close() },
                ])
            for task in tasks { await task.value }
            await far.close()
        }
        thread.loop.stop()
    }

    @Test func `A read fails when the connection is lost at the same time`() async throws {
        let thread = try await LoopThread.start()
        for _ in 0..<20 {
            let (near, far) = try socketPair()
            let channel = DescriptorChannel(taking: near, kind: .socket, on: thread.loop)
            close(far)
            let tasks = await meet(
                on: thread.loop,
                [
                    { #expect(await code { () throws(DescriptorError) in try await channel.read() } == .disconnected) },
                    {
                        #expect(
                            await code { () throws(DescriptorError) in try await channel.write([1]) } == .disconnected)
                    },
                ])
            for task in tasks { await task.value }
        }
        thread.loop.stop()
    }

    @Test func `A write fails when the channel is closed at the same time`() async throws {
        let thread = try await LoopThread.start()
        for _ in 0..<20 {
            let (near, far) = try DescriptorChannel.pair(on: thread.loop)
            let bytes = [UInt8](repeating: 0, count: 1 << 20)
            let tasks = await meet(
                on: thread.loop,
                [
                    { #expect(await code { () throws(DescriptorError) in try await near.write(bytes) } == .closed) },
                    { await near.close() },
                ])
            for task in tasks { await task.value }
            await far.close()
        }
        thread.loop.stop()
    }

    /// Starts calls while the loop is busy, so that it then finds the first jobs of all calls at once, in this order.
    private func meet(on loop: EventLoop, _ calls: [Call]) async -> [Task<Void, Never>] {
        let begun = Recorder<Void>()
        loop.execute {
            while begun.values.count < calls.count { sched_yield() }
            // A call takes some time from its entry in `begun` until its first job is queued.
            for _ in 0..<100 { sched_yield() }
        }
        var tasks: [Task<Void, Never>] = []
        for call in calls {
            tasks.append(
                Task {
                    begun.append(())
                    await call()
                })
            while begun.values.count < tasks.count { await Task.yield() }
            for _ in 0..<20 { await Task.yield() }
        }
        return tasks
    }
}

/// The code of the error that a call throws; nil if it throws none.
private func code<Value>(of call: () async throws(DescriptorError) -> Value) async -> DescriptorError.Code? {
    do throws(DescriptorError) {
        _ = try await call()
        return nil
    } catch {
        return error.code
    }
}
