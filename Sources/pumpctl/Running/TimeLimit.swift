import DeviceKit
import LineProtocol

extension CommandContext {
    /// Runs `body`, for `time` at most.
    ///
    /// - Returns: Whether it came to its end by itself; that its time was up is no failure.
    @discardableResult
    func run(for time: Duration?, _ body: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        let (isTimeUp, result) = await withTimeLimit(time, clock: clock, on: loop, body)
        guard isTimeUp else {
            try result.get()
            return true
        }
        if case .failure(let error) = result, error is Failure || error is RescueStoreError { throw error }
        return false
    }
}
