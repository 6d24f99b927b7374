/// Suspends until the task is cancelled, then throws. Stands in for a reply that never comes.
///
/// - Throws: `CancellationError`.
public func untilCancelled() async throws -> Never {
    let (nothing, source) = AsyncStream.makeStream(of: Never.self)
    for await _ in nothing {}
    withExtendedLifetime(source) {}
    throw CancellationError()
}
