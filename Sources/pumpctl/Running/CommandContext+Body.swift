import DeviceKit
import LineProtocol
import RecordFormat
import Transports

/// How the body of a command is run: in a session, once more, for a time.
extension CommandContext {
    /// Runs `body` in a session with the device that the options name, and closes it.
    func withSession<F: FollowedFamily, Value>(
        of family: F.Type, _ body: (Session<F>) async throws -> Value
    ) async throws -> Value {
        let endpoint = try endpoint()
        let link = try await openLink(endpoint, for: .oneCommand, note: output.note)
        return try await withSession(of: family, over: link, endpoint, body)
    }

    /// Runs `body` in a session over `link`, records what is known of the device behind it where that is asked for, and
    /// closes both.
    ///
    /// - Parameter isStop: Whether `body` makes the device safe. Nothing goes before that, neither waiting for a board that
    ///   was reset nor starting to record.
    func withSession<F: FollowedFamily, Value>(
        of _: F.Type, over link: any Link, _ endpoint: Endpoint, isStop: Bool = false,
        _ body: (Session<F>) async throws -> Value
    ) async throws -> Value {
        try await F.withSession(over: link, clock: clock, waitsUntilReady: !isStop) { session in
            var recording = isStop ? nil : try await Recording.begin(self, endpoint, isDefault: false)
            let result: Result<Value, any Error>
            do { result = .success(try await body(session)) } catch { result = .failure(error) }
            if isStop { recording = (try? await Recording.begin(self, endpoint, isDefault: false)) ?? nil }
            let state = await session.state
            if state != F.State() {
                recording?.record(.reading(kind: "state", Reading(F.values(of: state), of: F.row)))
            }
            return try result.get()
        }
    }

    /// Carries out what only asks a device, and again where it is a BLE device that was lost before it had answered.
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
    /// - Parameter whileRead: Whether `body` only shows events, and ends once the reader of standard output has gone.
    /// - Returns: Whether it came to its end by itself; that its time was up is no failure.
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
