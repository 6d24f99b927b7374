public import FirmwareSim
internal import DescriptorIO
internal import Glibc

/// An HM-10 with a simulated device on its UART: FFE1 is the line, in both directions.
///
/// It says at most 20 bytes at once, cutting lines anywhere, and is written to without an answer. Nobody else finds it
/// while a central is connected.
@Radio
public final class HM10<Device: SimulatedDevice> {
    /// The module on the air.
    public let radio: RadioDevice
    /// The device behind it.
    public nonisolated let host: DeviceHost<Device>
    private let line: DescriptorChannel
    private let characteristic: RadioCharacteristic

    /// A module that is switched on.
    ///
    /// - Parameter pace: How the device's time goes by. In real time somebody has to call ``DeviceHost/run()``.
    public init(
        _ device: Device, pace: DeviceHost<Device>.Pace, name: String = "HMSoft", address: String = "00:15:83:00:00:10"
    ) async throws {
        let pair = try SocketPair(SOCK_STREAM)
        line = DescriptorChannel(taking: pair.ours, kind: .socket, on: Radio.loop)
        let far = DescriptorChannel(taking: pair.theirs, kind: .socket, on: Radio.loop)
        host = DeviceHost(device, pace: pace, on: Radio.loop)
        radio = RadioDevice(address, Advertisement(name: name, services: ["FFE0"]))
        characteristic = RadioCharacteristic(
            "FFE1", [.read, .writeWithoutResponse, .notify],
            descriptors: [RadioDescriptor("2901", value: Array("DEVICE NAME".utf8))])
        radio.services = [RadioService("FFE0", [characteristic])]
        let id = await host.attach(far, isListening: false)
        radio.onLinksChange = { [radio, host] in
            let isConnected = !radio.links.isEmpty
            // What the device says to nobody is lost.
            host.assumeIsolated { $0.setListening(isConnected, id) }
        }
        characteristic.onWrite = { [line] bytes, _ in try await line.write(bytes) }
        await line.forward { [characteristic] arrival in
            guard case .bytes(let bytes) = arrival else { return }
            Task { @Radio in Self.say(bytes, on: characteristic) }
        }
    }

    private static func say(_ bytes: [UInt8], on characteristic: RadioCharacteristic) {
        for start in stride(from: 0, to: bytes.count, by: 20) {
            characteristic.notify(Array(bytes[start..<min(start + 20, bytes.count)]))
        }
    }
}
