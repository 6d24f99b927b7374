public import LineProtocol

extension FollowedFamily {
    /// Runs `body` in a session with a device, and closes the session and its link, however `body` ends.
    ///
    /// ```swift
    /// let temperatures = try await PumpFamily.withSession(over: link) { try await $0.readTemperatures() }
    /// ```
    ///
    /// - Parameters:
    ///   - clock: What time-outs are measured by.
    ///   - waitsUntilReady: Whether to wait for a board that was reset: see
    ///     ``LineProtocol/Session/begin(over:clock:waitsUntilReady:)``.
    /// - Throws: `SessionError` where the session can't begin; what `body` throws.
    public static func withSession<Value>(
        over link: any Link, clock: any Clock<Duration> = ContinuousClock(), waitsUntilReady: Bool = true,
        _ body: (Session<Self>) async throws -> Value
    ) async throws -> Value {
        let session = try await begin(over: link, clock: clock, waitsUntilReady: waitsUntilReady)
        let result: Result<Value, any Error>
        do { result = .success(try await body(session)) } catch { result = .failure(error) }
        await session.close()
        return try result.get()
    }
}
