import Glibc
import TestSupport
import Testing

@testable import DescriptorIO

@Suite("Event loops", .timeLimit(.minutes(5)))
struct EventLoopTests {
    @Test func `run borrows the calling thread and returns its body's value`() async throws {
        let isSame = try await onThread {
            let caller = currentThread()
            let (value, runner, isCurrent) = EventLoop.run { loop in
                await Task.yield()
                return (42, currentThread(), loop.isCurrent)
            }
            return value == 42 && runner == caller && isCurrent
        }
        #expect(isSame)
    }

    @Test func `Work from the loop's own thread does not wake it`() async throws {
        let events = try await onThread {
            EventLoop.run { loop in
                var wakeUp = pollfd(fd: loop.wakeDescriptor, events: CShort(POLLIN), revents: 0)
                return poll(&wakeUp, 1, 0)
            }
        }
        #expect(events == 0)
    }

    @Test func `A loop's own thread blocks all ending signals, but not SIGPIPE and SIGTTOU`() async {
        let loop = EventLoop()
        loop.start()
        let signals = SignalSource.endingSignals + [SIGPIPE, SIGTTOU]
        let taken = await withCheckedContinuation { (continuation: CheckedContinuation<[CInt], Never>) in
            loop.execute {
                var blocked = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &blocked)
                continuation.resume(returning: signals.filter { sigismember(&blocked, $0) != 1 })
            }
        }
        loop.stop()
        #expect(taken == [SIGPIPE, SIGTTOU])
    }

    @Test func `A loop without descriptors of its own still notices calls and bytes`() async throws {
        let loop = EventLoop(usesDescriptors: false)
        loop.start()
        let (near, far) = try DescriptorChannel.pair(on: loop)
        async let heard = near.read()
        // This thread can't wake the loop, which must notice the queued write by itself.
        try await far.write(Array("OK".utf8))
        #expect(try await heard == Array("OK".utf8))
        await far.close()
        await #expect(throws: DescriptorError.self) { _ = try await near.read() }
        await near.close()
        loop.stop()
    }

    @Test func `Timers that are always due do not starve descriptors`() async throws {
        let isHeard = try await onThread {
            EventLoop.run { loop in
                guard let (near, far) = try? DescriptorChannel.pair(on: loop) else { return false }
                let heard = Watched(false)
                await near.forward { _ in heard.update { $0 = true } }
                try? await far.write([1])
                // Each timer is due as soon as the previous one has fired.
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    @Sendable func again(_ count: Int) {
                        if count == 0 || heard.state { return continuation.resume() }
                        _ = loop.schedule(at: .now) { again(count - 1) }
                    }
                    again(10_000)
                }
                // Closing reports the end of input, so read the flag first.
                let isHeard = heard.state
                await near.close()
                await far.close()
                return isHeard
            }
        }
        #expect(isHeard)
    }

    @Test func `A loop on a borrowed thread serves descriptors and timers`() async throws {
        let words = try await onThread {
            EventLoop.run { loop in
                do {
                    let (near, far) = try DescriptorChannel.pair(on: loop)
                    async let heard = near.read()
                    try await EventLoopClock(loop).sleep(for: .milliseconds(1))
                    try await far.write(Array("OK".utf8))
                    let words = try await heard
                    await near.close()
                    await far.close()
                    return words
                } catch {
                    return nil
                }
            }
        }
        #expect(words == Array("OK".utf8))
    }

    @Test func `An endless chain of jobs starves neither descriptors nor timers`() async throws {
        let thread = try await LoopThread.start()
        let (near, far) = try DescriptorChannel.pair(on: thread.loop)
        let busy = Task(executorPreference: thread.loop) {
            while !Task.isCancelled { await Task.yield() }
        }
        let heard = Task(executorPreference: thread.loop) { try await near.read() }
        try await far.write(Array("OK".utf8))
        #expect(try await heard.value == Array("OK".utf8))
        try await EventLoopClock(thread.loop).sleep(for: .milliseconds(1))
        busy.cancel()
        await busy.value
        thread.loop.stop()
    }

    @Test func `A loop has a thread from start to stop`() async throws {
        let thread = try await LoopThread.start()
        #expect(thread.exists)
        #expect(thread.threadID != currentThread())
        thread.loop.stop()
        #expect(await eventually { !thread.exists })
        #expect(!thread.loop.isCurrent)
    }

    @Test func `A loop runs all queued work before it stops`() async throws {
        let thread = try await LoopThread.start()
        let ran = Recorder<Int>()
        await Task(executorPreference: thread.loop) {
            for _ in 0..<100 { thread.loop.execute { ran.append(1) } }
            thread.loop.stop()
        }.value
        #expect(await eventually { !thread.exists })
        #expect(ran.values.count == 100)
    }

    @Test func `A stopped loop is freed`() async throws {
        weak var forgotten: EventLoop?
        do {
            let thread = try await LoopThread.start()
            forgotten = thread.loop
            thread.loop.stop()
        }
        #expect(await eventually { forgotten == nil })
    }

    @Test func `Work from other threads runs on the loop's thread`() async throws {
        let thread = try await LoopThread.start()
        let loop = thread.loop
        let places = Recorder<pid_t>()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<200 {
                        await Task(executorPreference: loop) {
                            places.append(loop.isCurrent ? currentThread() : 0)
                        }.value
                        await withCheckedContinuation { continuation in
                            loop.execute {
                                places.append(loop.isCurrent ? currentThread() : 0)
                                continuation.resume()
                            }
                        }
                    }
                }
            }
        }
        #expect(places.values.count == 3200)
        #expect(Set(places.values) == [thread.threadID])
        #expect(!loop.isCurrent)
        loop.stop()
    }

    @Test func `Timers fire in the order of their deadlines, equal ones in the order of their creation`() async throws {
        let thread = try await LoopThread.start()
        let fired = Recorder<Int>()
        await withCheckedContinuation { continuation in
            thread.loop.execute {
                let start = ContinuousClock.now
                for delay in [3, 1, 2, 0, 2, 1] {
                    _ = thread.loop.schedule(at: start + .milliseconds(delay)) { fired.append(delay) }
                }
                let removed = thread.loop.schedule(at: start) { fired.append(-1) }
                thread.loop.cancel(removed)
                _ = thread.loop.schedule(at: start + .milliseconds(4)) { continuation.resume() }
            }
        }
        #expect(fired.values == [0, 1, 1, 2, 2, 3])
        thread.loop.stop()
    }

    @Test func `No timer fires early`() async throws {
        let clock = EventLoopClock(.shared)
        for microseconds in [0, 1, 50, 400, 1500] {
            let deadline = clock.now + .microseconds(microseconds)
            try await clock.sleep(until: deadline)
            #expect(clock.now >= deadline)
        }
    }

    @Test func `Cancelling wakes a sleeper, from any thread`() async throws {
        let thread = try await LoopThread.start()
        let clock = EventLoopClock(thread.loop)
        for number in 0..<100 {
            let sleeping = Task { try await clock.sleep(for: .seconds(3600)) }
            if number % 2 == 0 { await thread.settle() }
            sleeping.cancel()
            await #expect(throws: CancellationError.self) { try await sleeping.value }
        }
        thread.loop.stop()
    }
}

@Suite("Waiting for descriptor readiness", .timeLimit(.minutes(5)))
struct ReadinessTests {
    @Test func `A wait returns the events that poll reports`() async throws {
        let (near, far) = try socketPair()
        defer { close(near); close(far) }
        let loop = EventLoop.shared
        #expect(try await loop.waitUntilReady(near, events: CShort(POLLOUT)) == CShort(POLLOUT))
        async let ready = loop.waitUntilReady(near, events: CShort(POLLIN))
        #expect(write(far, "!", 1) == 1)
        #expect(try await ready == CShort(POLLIN))
    }

    @Test func `A wait returns no events at its deadline`() async throws {
        let (near, far) = try socketPair()
        defer { close(near); close(far) }
        let deadline = ContinuousClock.now + .milliseconds(2)
        #expect(try await EventLoop.shared.waitUntilReady(near, events: CShort(POLLIN), deadline: deadline) == 0)
        #expect(ContinuousClock.now >= deadline)
    }

    @Test func `A cancelled wait throws`() async throws {
        let (near, far) = try socketPair()
        defer { close(near); close(far) }
        for number in 0..<50 {
            let waiting = Task { try await EventLoop.shared.waitUntilReady(near, events: CShort(POLLIN)) }
            if number % 2 == 0 { await Task(executorPreference: EventLoop.shared) {}.value }
            waiting.cancel()
            let error = await #expect(throws: DescriptorError.self) { try await waiting.value }
            #expect(error?.code == .cancelled)
        }
    }
}
