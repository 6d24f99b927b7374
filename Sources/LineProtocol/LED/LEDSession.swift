/// A session with the LED board.
public typealias LEDSession = Session<LEDFamily>

extension Session where Family == LEDFamily {
    /// Begins a session over `link`, like `Session.begin(over:clock:waitsUntilReady:observer:)` for any family.
    ///
    /// - Parameters:
    ///   - link: The link, which the session owns from now on.
    ///   - clock: The clock for time-outs.
    ///   - waitsUntilReady: Whether to wait for a board that the opening of the link may have reset.
    /// - Throws: `linkLost`, or an error of ``Session/waitUntilReady(within:)``. The link is then closed.
    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool = true
    ) async throws(SessionError) -> LEDSession {
        try await begun(over: link, clock: clock, waitsUntilReady: waitsUntilReady)
    }

    /// Queries a value.
    ///
    /// - Parameters:
    ///   - endpoint: The value to query.
    ///   - timeout: The time limit for the answer, without the wait for other commands.
    /// - Throws: ``SessionError``.
    public nonisolated func read(
        _ endpoint: LEDEndpoint, timeout: Duration = defaultTimeout
    ) async throws(SessionError) -> LEDValue {
        try await perform(.read(endpoint), timeout: timeout)
    }

    /// Sets a value, and then queries it.
    ///
    /// The protocol leaves open whether the board answers a write, so the write and the query each get half of the
    /// timeout. An answer to the write alone confirms nothing: a serial line that echoes its input would look the same.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - endpoint: The value to set.
    ///   - timeout: The time limit for the write and the query together, without the wait for other commands.
    /// - Throws: ``SessionError``: `unconfirmed` if the board answered the write but not the query; `notInEffect` if it
    ///   answered both, with another value to the query: the write may have been carried out and then undone. With
    ///   either code, the outcome is unknown. If it answered only the query, with another value, the write was not
    ///   carried out: the code is `noAnswer` or `notUnderstood`, and the outcome `nothingChanged`. If it answered
    ///   neither, the code is one of the same two, and the outcome is unknown.
    public nonisolated func write(
        _ value: LEDValue, to endpoint: LEDEndpoint, timeout: Duration = defaultTimeout
    ) async throws(SessionError) {
        let command = LEDCommand.write(endpoint, value)
        var failure = SessionError(.unconfirmed, command: command.text, outcome: .unknown, waited: timeout)
        do throws(SessionError) {
            _ = try await perform(command, timeout: timeout.half)
        } catch {
            guard error.isSilence else { throw error }
            failure = error
        }
        do throws(SessionError) {
            let answer = try await perform(.read(endpoint), timeout: timeout.half)
            if answer == value { return }
            if failure.code == .unconfirmed { failure.code = .notInEffect } else { failure.outcome = .nothingChanged }
            failure.deviceState = LEDCommand.write(endpoint, answer).text
        } catch {
            guard error.isSilence else { throw error.ofUnknownOutcome }
            failure.waited = timeout
            failure.foreignLine = failure.foreignLine ?? error.foreignLine
        }
        throw failure
    }

    /// Queries a value, and sets it to the opposite, like ``write(_:to:timeout:)``.
    ///
    /// - Parameters:
    ///   - endpoint: The value to toggle.
    ///   - timeout: The time limit for the query, and again for ``write(_:to:timeout:)``, without the wait for other
    ///     commands.
    /// - Returns: The new value.
    /// - Throws: ``SessionError``, as ``write(_:to:timeout:)`` does.
    public nonisolated func toggle(
        _ endpoint: LEDEndpoint, timeout: Duration = defaultTimeout
    ) async throws(SessionError) -> LEDValue {
        let value = try await read(endpoint, timeout: timeout).opposite
        try await write(value, to: endpoint, timeout: timeout)
        return value
    }
}
