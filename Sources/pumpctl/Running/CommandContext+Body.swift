import DeviceKit
import LineProtocol
import RecordFormat
import Transports

/// Ways to run the body of a command: in a session, with a retry, for a limited time.
extension CommandContext {
    /// Runs `body` in a session with the device that the options name, and closes the session.
    func withSession<F: FollowedFamily, Value>(
        of family: F.Type, _ body: (Session<F>) async throws -> Value
    ) async throws -> Value {
        let endpoint = try endpoint()
        let link = try await openLink(endpoint, for: .oneCommand, note: output.note)
        return try await withSession(of: family, over: link, endpoint, body)
    }

    /// Runs `body` in a session over `link`, records the device's last known state if recording is on, and closes both.
    ///
    /// - Parameter isStop: Whether `body` makes the device safe. Such a body waits neither for the start of a board
    ///   after a reset nor for the start of recording.
    func withSession<F: FollowedFamily, Value>(
        of _: F.Type, over link: any Link, _ endpoint: Endpoint, isStop: Bool = false,
        _ body: (Session<F>) async throws -> Value
    ) async throws -> Value {
        try await F.withSession(over: link, clock: clock, waitsUntilReady: !isStop) { session in
            var recording = isStop ? nil : try await Recording.begin(self, endpoint, isDefault: false)
            let result: Result<Value, any Error>
            do { result = .success(try await body(session)) } catch { result = .failure(error) }
            if isStop { recording = (try? await Recording.begin(self, endpoint, isDefault: false)) ?? nil }
            // A state in which nothing is known is not recorded.
            let state = await session.state
            if state != F.State() {
                recording?.record(.reading(kind: "state", Reading(F.values(of: state), of: F.row)))
            }
            return try result.get()
        }
    }

    /// Runs `body`, which contains only queries, and repeats it if a BLE device is lost before the end of `body`: up to
    /// four times, which must begin within `--timeout` or 30 s.
    func retryingQuery<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await DeviceKit.retryingQuery(
            of: try? PortChoice.endpoint(options.port), within: options.timeout?.duration ?? .seconds(30), clock: clock
        ) { error in
            (error as? Failure)?.code == LinkError.Code.disconnected.rawValue || isLossOfDevice(error)
        } onRetry: { endpoint in
            output.note("pumpctl: \(endpoint.text.printable()): the device is gone; asking it again")
        } _: {
            try await body()
        }
    }

    /// Runs `body`, for `time` at most.
    ///
    /// - Parameters:
    ///   - time: The time limit; nil for none.
    ///   - whileRead: Whether `body` only shows events, and ends when the reader of standard output has gone.
    /// - Returns: False if the time limit ended `body`, which is no failure.
    /// - Throws: The error of `body`. After the time limit, only a `Failure` or a `RescueStoreError`.
    @discardableResult
    func run(
        for time: Duration?, whileRead: Bool = false, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> Bool {
        if whileRead { output.needsReader(on: loop) }
        let (isTimeUp, result) = await withTimeLimit(time, clock: clock, on: loop, body)
        guard isTimeUp else {
            try result.get()
            return true
        }
        if case .failure(let error) = result, error is Failure || error is RescueStoreError { throw error }
        return false
    }
}
