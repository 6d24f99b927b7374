/// Calls `body`, and then `cleanup` however `body` ended: for what has to be waited for, which `defer` can't.
///
/// ```swift
/// let answer = try await withCleanup({ await link.close() }) { try await exchange.send(line) }
/// ```
///
/// - Returns: What `body` returns.
/// - Throws: What `body` throws.
@discardableResult
public func withCleanup<Value>(
    _ cleanup: () async -> Void, _ body: () async throws -> Value
) async throws -> Value {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    await cleanup()
    return try result.get()
}
