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

    /// Sets a value, and asks the board for it behind that.
    ///
    /// The protocol leaves open whether the board answers a write, so each of both gets half of the time. An answer alone
    /// confirms nothing: a line that echoes what is sent gives the same.
    ///
    /// - Throws: ``SessionError``; `unconfirmed` if the board answered the write and not the question, `notInEffect` if it
    ///   then names another value. If it did not answer the write and names another value, the outcome is `nothingChanged`.
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
