/// A session with the pump.
public typealias PumpSession = Session<PumpFamily>

extension Session where Family == PumpFamily {
    /// Begins a session over `link`, like `Session.begin(over:clock:waitsUntilReady:observer:)` for any family.
    ///
    /// - Parameters:
    ///   - link: The link, which the session owns from now on.
    ///   - clock: The clock for time-outs.
    ///   - waitsUntilReady: Whether to wait for a board that the opening of the link may have reset.
    /// - Throws: `linkLost`, or an error of ``Session/waitUntilReady(within:)``. The link is then closed.
    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool = true
    ) async throws(SessionError) -> PumpSession {
        try await begun(over: link, clock: clock, waitsUntilReady: waitsUntilReady)
    }

    /// Starts the pump at ``PumpSpeed/initial``. A running pump returns to ``PumpSpeed/initial``, and the 30 minutes
    /// after which the firmware stops it begin again.
    ///
    /// - Parameter timeout: The time limit for the reply, without the wait for other commands.
    /// - Throws: ``SessionError``, with `refused` if the pump is in its error state, which ``turnOff(timeout:)`` ends.
    ///   ``SessionError/outcome`` tells whether the pump may have been started.
    public nonisolated func turnOn(timeout: Duration = defaultTimeout) async throws(SessionError) {
        _ = try await perform(.on, timeout: timeout)
    }

    /// Stops the pump, and ends its error state.
    ///
    /// `OFF` precedes all other commands, is sent even if the task is cancelled, and is repeated until the pump's
    /// status says that the pump is off.
    ///
    /// - Parameter timeout: The time for which OFF is repeated. As long as lines come from the pump but its status
    ///   can't be read, the time is extended, by ``Session/stopExtension`` at most.
    /// - Throws: ``SessionError`` if no status said in time that the pump is off. The pump may then be on.
    public nonisolated func turnOff(timeout: Duration = defaultTimeout) async throws(SessionError) {
        _ = try await perform(.off, timeout: timeout)
    }

    /// Sets the speed of a running pump.
    ///
    /// - Parameters:
    ///   - speed: The new speed.
    ///   - timeout: The time limit for the reply, without the wait for other commands.
    /// - Throws: ``SessionError``, with `refused` if the pump is off or in its error state.
    public nonisolated func setSpeed(_ speed: PumpSpeed, timeout: Duration = defaultTimeout) async throws(SessionError)
    {
        _ = try await perform(.speed(speed), timeout: timeout)
    }

    /// Queries the status. ``Session/state`` is updated with the answer, and also has facts from earlier lines.
    ///
    /// - Parameter timeout: The time limit for the reply, without the wait for other commands.
    /// - Throws: ``SessionError``.
    public func readStatus(timeout: Duration = defaultTimeout) async throws(SessionError) -> PumpStatus {
        // Inlined: this is by far the most frequent command.
        guard case .status(let status) = try await perform(.status, timeout: timeout, isProbe: false) else {
            return PumpStatus()
        }
        return status
    }

    /// Queries the temperatures.
    ///
    /// - Parameter timeout: The time limit for the reply, without the wait for other commands.
    /// - Throws: ``SessionError``.
    public nonisolated func readTemperatures(timeout: Duration = defaultTimeout) async throws(SessionError)
        -> PumpTemperatures
    {
        guard case .temperatures(let temperatures) = try await perform(.temperature, timeout: timeout) else {
            return PumpTemperatures()
        }
        return temperatures
    }
}
