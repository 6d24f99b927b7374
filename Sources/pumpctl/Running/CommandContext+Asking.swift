import DescriptorIO
import LineProtocol
import Transports

extension CommandContext {
    /// How often a question is asked at a BLE device whose link was lost each time.
    private static let attempts = 5
    /// How long after the first attempt another one may begin, where `--timeout` says nothing.
    private static let patience = Duration.seconds(30)

    /// Carries out what only asks a device, and again where it is a BLE device that was lost before it had answered.
    ///
    /// What changes something must not be done so: it may have been carried out. A device that was chosen by
    /// `ble:*` may be another the next time, and is not asked again.
    func retryingQuery<Value>(_ body: () async throws -> Value) async throws -> Value {
        let deadline = clock.now.advanced(by: options.timeout?.duration ?? Self.patience)
        var attempt = 1
        while true {
            do { return try await body() } catch {
                guard Self.isLoss(error), attempt < Self.attempts, clock.now < deadline, !Task.isCancelled,
                    let endpoint = try? Endpoint(NamedPort.choose(options.port)), endpoint.scheme == "ble",
                    endpoint.address != "*"
                else { throw error }
                attempt += 1
                output.note("pumpctl: \(endpoint.text.printable()): the device is gone; asking it again")
            }
        }
    }

    private static func isLoss(_ error: any Error) -> Bool {
        switch error {
        case let error as LinkError: error.code == .disconnected
        case let error as SessionError: error.code == .linkLost && error.link?.code ?? .disconnected == .disconnected
        case let failure as Failure: failure.code == LinkError.Code.disconnected.rawValue
        default: false
        }
    }
}
