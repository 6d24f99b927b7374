import DeviceKit
import LineProtocol
import Transports

extension CommandContext {
    /// Carries out what only asks a device, and again where it is a BLE device that was lost before it had answered.
    func retryingQuery<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await DeviceKit.retryingQuery(
            of: try? Endpoint(NamedPort.choose(options.port)), within: options.timeout?.duration ?? .seconds(30),
            clock: clock
        ) { error in
            (error as? Failure)?.code == LinkError.Code.disconnected.rawValue || isLossOfDevice(error)
        } onRetry: { endpoint in
            output.note("pumpctl: \(endpoint.text.printable()): the device is gone; asking it again")
        } _: {
            try await body()
        }
    }
}
