internal import NIOCore

/// Runs tasks on the thread of an event loop. NIO's own asynchronous functions are isolated to nothing, and would leave
/// the thread at each call.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
