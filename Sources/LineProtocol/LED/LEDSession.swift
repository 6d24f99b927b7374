/// A session with the LED board.
public typealias LEDSession = Session<LEDFamily>

extension Session where Family == LEDFamily {
    /// Begins a session over `link`, and listens: ``Session/begin(over:clock:waitsUntilReady:)`` of any family.
    ///
    /// - Throws: `linkLost`, or what ``Session/waitUntilReady(within:)`` throws; the link is closed then.
    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool = true
    ) async throws(SessionError) -> LEDSession {
        try await begun(over: link, clock: clock, waitsUntilReady: waitsUntilReady)
    }

    /// Asks for a value.
    public nonisolated func read(
        _ endpoint: LEDEndpoint, timeout: Duration = defaultTimeout
    ) async throws(SessionError) -> LEDValue {
        try await perform(.read(endpoint), timeout: timeout)
    }

    /// Sets a value.
    ///
    /// The protocol leaves open whether the board answers. If it does not, it is asked for the value.
    public nonisolated func write(
        _ value: LEDValue, to endpoint: LEDEndpoint, timeout: Duration = defaultTimeout
    ) async throws(SessionError) {
        _ = try await performAndConfirm(.write(endpoint, value), timeout: timeout)
    }

    /// Sets a value to the opposite of what the board says that it is.
    ///
    /// - Returns: What it was set to.
    public nonisolated func toggle(
        _ endpoint: LEDEndpoint, timeout: Duration = defaultTimeout
    ) async throws(SessionError) -> LEDValue {
        let value = try await read(endpoint, timeout: timeout).opposite
        try await write(value, to: endpoint, timeout: timeout)
        return value
    }
}
