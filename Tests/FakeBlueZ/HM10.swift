internal import DescriptorIO
public import FirmwareSim
internal import Glibc

/// An HM-10 with a simulated device on its UART: FFE1 is the serial line in both directions.
///
/// It has no AT commands. `SimulatedModule` of `FirmwareSim` has them, but no radio.
///
/// The module notifies at most 20 bytes at once, cuts lines anywhere, and accepts writes without response. It does not
/// advertise while a central is connected.
@Radio
public final class HM10<Device: SimulatedDevice> {
    /// The time for which the module collects bytes from its UART in real time, unless it gets 20 bytes sooner. A byte
    /// takes 1 ms at 9600 baud. With any other pace it notifies immediately. Chosen, not measured.
    public nonisolated static var gatheringTime: Duration { .milliseconds(15) }

    /// The module's radio.
    public let radio: RadioDevice
    /// Runs the device on the UART.
    public nonisolated let host: DeviceHost<Device>
    private let line: DescriptorChannel
    private let characteristic = RadioCharacteristic(
        "FFE1", [.read, .writeWithoutResponse, .notify],
        // The Characteristic User Description.
        descriptors: [RadioDescriptor("2901", value: Array("DEVICE NAME".utf8))])
    private let timeline: Timeline?
    private var gathered: [UInt8] = []
    private var sending: Task<Void, Never>?

    /// Creates a module that is switched on.
    ///
    /// - Parameter pace: The device's source of time. In real time the caller must run ``DeviceHost/run()``.
    public init(
        _ device: Device, pace: DeviceHost<Device>.Pace, name: String = "HMSoft", address: String = "00:15:83:00:00:10",
        addressType: String = "public"
    ) async throws {
        let pair = try SocketPair(SOCK_STREAM)
        line = DescriptorChannel(taking: pair.ours, kind: .socket, on: Radio.loop)
        host = DeviceHost(device, pace: pace, on: Radio.loop)
        timeline = if case .realTime(let clock) = pace { Timeline(clock) } else { nil }
        radio = RadioDevice(address, Advertisement(name: name, services: ["FFE0"]), addressType: addressType)
        radio.services = [RadioService("FFE0", [characteristic])]
        let id = await host.attach(
            DescriptorChannel(taking: pair.theirs, kind: .socket, on: Radio.loop), isListening: false)
        radio.onLinksChange = { [weak radio, host] in
            // The device's output is lost while no central is connected.
            let isConnected = radio?.links.isEmpty == false
            host.assumeIsolated { $0.setListening(isConnected, id) }
        }
        characteristic.onWrite = { [line] bytes, _ in try await line.write(bytes) }
        radio.companion = self
        Radio.begin { [weak self, line] in
            while let bytes = try? await line.read() { self?.gather(bytes) }
        }
    }

    private func gather(_ bytes: [UInt8]) {
        gathered += bytes
        let isEnough = timeline == nil || gathered.count >= 20
        if isEnough { return send() }
        guard sending == nil else { return }
        sending = timeline?.after(Self.gatheringTime) { [weak self] in self?.send() }
    }

    private func send() {
        sending?.cancel()
        sending = nil
        for start in stride(from: 0, to: gathered.count, by: 20) {
            characteristic.notify(Array(gathered[start..<min(start + 20, gathered.count)]))
        }
        gathered = []
    }
}
