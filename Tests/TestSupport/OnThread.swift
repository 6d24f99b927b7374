internal import Glibc

/// Runs what blocks on a thread of its own, which none of a pool's may.
public func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let work = Work { continuation.resume(with: Result(catching: body)) }
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(work).toOpaque())
        precondition(error == 0, "no thread left")
        pthread_detach(thread)
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
