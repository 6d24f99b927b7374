internal import LineProtocol
public import Transports

/// Runs a query, and repeats it if a BLE device is lost before it has answered: a radio link may break at any time.
///
/// Don't use this function for a command that changes something, because the device may have carried it out before the
/// loss. A query of the endpoint `ble:*` is not repeated, because the next device may be another one.
///
/// ```swift
/// let status = try await retryingQuery(of: endpoint, clock: ContinuousClock()) { try await readStatus(at: endpoint) }
/// ```
///
/// - Parameters:
///   - endpoint: The endpoint of the device; nil to not repeat the query. Evaluated only after a loss.
///   - attempts: The largest number of attempts.
///   - patience: The time from the beginning of the first attempt in which further attempts may begin.
///   - clock: The clock that measures `patience`.
///   - isLoss: Whether an error means that the device was lost; by default ``isLossOfDevice(_:)``.
///   - onRetry: Called before each further attempt.
///   - body: Queries the device over a link of its own.
/// - Returns: The result of `body`.
/// - Throws: The error of the last attempt.
public func retryingQuery<Value, C: Clock<Duration>>(
    of endpoint: @autoclosure () -> Endpoint?, attempts: Int = 5, within patience: Duration = .seconds(30), clock: C,
    isLoss: (any Error) -> Bool = isLossOfDevice, onRetry: (Endpoint) -> Void = { _ in },
    _ body: () async throws -> Value
) async throws -> Value {
    let deadline = clock.now.advanced(by: patience)
    var attempt = 1
    while true {
        do { return try await body() } catch {
            guard isLoss(error), attempt < attempts, clock.now < deadline, !Task.isCancelled,
                let endpoint = endpoint(), endpoint.scheme == "ble", endpoint.address != "*"
            else { throw error }
            attempt += 1
            onRetry(endpoint)
        }
    }
}

/// Whether an error of a link or a session means that the device was lost.
public func isLossOfDevice(_ error: any Error) -> Bool {
    switch error {
    case let error as LinkError: error.code == .disconnected
    case let error as SessionError: error.code == .linkLost && error.link?.code ?? .disconnected == .disconnected
    default: false
    }
}
