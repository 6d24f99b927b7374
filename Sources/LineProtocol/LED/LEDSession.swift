/// A session with the LED board.
public typealias LEDSession = Session<LEDFamily>

extension Session where Family == LEDFamily {
    /// Begins a session over `link`, and listens.
    ///
    /// Where opening the link may have reset the board, this waits until it answers.
    ///
    /// - Parameter clock: What time-outs are measured by.
    /// - Throws: `linkLost`, or what ``Session/waitUntilReady(within:)`` throws; the link is closed then.
    public static func begin(over link: any Link, clock: any Clock<Duration>) async throws(SessionError) -> LEDSession {
        let session = LEDSession(link: link, clock: clock)
        do throws(SessionError) {
            try await session.start()
            if link.mayHaveReset { try await session.waitUntilReady() }
        } catch {
            await session.close()
            throw error
        }
        return session
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
        do throws(SessionError) {
            _ = try await perform(.write(endpoint, value), timeout: timeout.half)
        } catch {
            guard error.code == .noAnswer || error.code == .notUnderstood else { throw error }
            let present: LEDValue
            do throws(SessionError) {
                present = try await read(endpoint, timeout: timeout.half)
            } catch let second {
                // What became of the value is unknown, not of the question.
                var failure = error
                failure.waited = timeout
                failure.foreignLine = failure.foreignLine ?? second.foreignLine
                throw failure
            }
            guard present == value else {
                var failure = error
                failure.outcome = .nothingChanged
                throw failure
            }
        }
    }
}
