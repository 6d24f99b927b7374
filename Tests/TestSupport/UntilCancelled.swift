/// Returns never, and throws once the task is cancelled: what waits for an answer that does not come.
///
/// - Throws: `CancellationError`.
public func untilCancelled() async throws -> Never {
    let (nothing, source) = AsyncStream.makeStream(of: Never.self)
    for await _ in nothing {}
    withExtendedLifetime(source) {}
    throw CancellationError()
}
