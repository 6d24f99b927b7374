internal import NIOCore

/// Runs tasks on the thread of an event loop. Without this executor, NIO's own asynchronous functions, which are
/// isolated to no actor, would leave the thread at each call.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
