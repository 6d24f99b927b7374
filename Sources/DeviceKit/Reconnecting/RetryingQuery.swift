internal import LineProtocol
public import Transports

/// Carries out what only asks a device, and again where it is a BLE device that was lost before it had answered: a radio link
/// may break at any time.
///
/// What changes something must not be done so: it may have been carried out. A device that was chosen by `ble:*` may be
/// another the next time, and is not asked again.
///
/// ```swift
/// let status = try await retryingQuery(of: endpoint, clock: ContinuousClock()) { try await readStatus(at: endpoint) }
/// ```
///
/// - Parameters:
///   - endpoint: Where the device is; looked at only where the device was lost.
///   - attempts: How often the device is asked at most.
///   - patience: How long after the first attempt another may begin.
///   - clock: Measures that.
///   - isLoss: Whether an error says that the device was lost; by default, what ``LineProtocol/LinkError`` and
///     ``LineProtocol/SessionError`` say.
///   - onRetry: Called before the device is asked again.
///   - body: Asks the device, over a link of its own.
/// - Throws: What the last attempt throws.
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

/// Whether an error of a link or a session says that the device was lost.
public func isLossOfDevice(_ error: any Error) -> Bool {
    switch error {
    case let error as LinkError: error.code == .disconnected
    case let error as SessionError: error.code == .linkLost && error.link?.code ?? .disconnected == .disconnected
    default: false
    }
}
