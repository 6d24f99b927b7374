/// A session with the pump.
public typealias PumpSession = Session<PumpFamily>

extension Session where Family == PumpFamily {
    /// Begins a session over `link`, and listens: ``Session/begin(over:clock:waitsUntilReady:)`` of any family.
    ///
    /// - Throws: `linkLost`, or what ``Session/waitUntilReady(within:)`` throws; the link is closed then.
    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool = true
    ) async throws(SessionError) -> PumpSession {
        try await begun(over: link, clock: clock, waitsUntilReady: waitsUntilReady)
    }

    /// Starts the pump at ``PumpSpeed/initial``, or puts it back to that and restarts its 30 minutes.
    public nonisolated func turnOn(timeout: Duration = defaultTimeout) async throws(SessionError) {
        _ = try await perform(.on, timeout: timeout)
    }

    /// Stops the pump; also leaves the error state.
    ///
    /// `OFF` goes before everything else, also where the task is cancelled, and is repeated until the pump acknowledges it
    /// or its status says that it is off.
    ///
    /// - Throws: Where that did not come about within `timeout`; the pump may be on then.
    public nonisolated func turnOff(timeout: Duration = defaultTimeout) async throws(SessionError) {
        _ = try await perform(.off, timeout: timeout)
    }

    /// Sets the speed of a running pump.
    public nonisolated func setSpeed(_ speed: PumpSpeed, timeout: Duration = defaultTimeout) async throws(SessionError)
    {
        _ = try await perform(.speed(speed), timeout: timeout)
    }

    /// Asks for the status; ``Session/state`` has it too, with what earlier replies add to it.
    public nonisolated func readStatus(timeout: Duration = defaultTimeout) async throws(SessionError) -> PumpStatus {
        guard case .status(let status) = try await perform(.status, timeout: timeout) else { return PumpStatus() }
        return status
    }

    /// Asks for the temperatures.
    public nonisolated func readTemperatures(timeout: Duration = defaultTimeout) async throws(SessionError)
        -> PumpTemperatures
    {
        guard case .temperatures(let temperatures) = try await perform(.temperature, timeout: timeout) else {
            return PumpTemperatures()
        }
        return temperatures
    }
}
