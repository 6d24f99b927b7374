public import LineProtocol

extension FollowedFamily {
    /// Runs `body` in a session with a device, then closes the session and its link, also if `body` throws.
    ///
    /// ```swift
    /// let temperatures = try await PumpFamily.withSession(over: link) { try await $0.readTemperatures() }
    /// ```
    ///
    /// - Parameters:
    ///   - link: The link to the device.
    ///   - clock: The clock for time-outs.
    ///   - waitsUntilReady: Whether to wait for a board that was reset: see
    ///     `Session.begin(over:clock:waitsUntilReady:observer:)`.
    ///   - body: The work in the session.
    /// - Returns: The result of `body`.
    /// - Throws: `SessionError` if the session can't begin; the error of `body`.
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
