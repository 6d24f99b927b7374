internal import Glibc

/// Runs a blocking function on its own thread, because the threads of a pool must not block.
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
