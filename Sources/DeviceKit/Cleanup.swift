/// Calls `body`, then `cleanup`, whether `body` returned or threw. Use this function instead of `defer` if the cleanup
/// must be awaited.
///
/// ```swift
/// let answer = try await withCleanup({ await link.close() }) { try await exchange.send(line) }
/// ```
///
/// - Parameters:
///   - cleanup: Called once, after `body`.
///   - body: The work.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`.
@discardableResult
public func withCleanup<Value>(
    _ cleanup: () async -> Void, _ body: () async throws -> Value
) async throws -> Value {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    await cleanup()
    return try result.get()
}
