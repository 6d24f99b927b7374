import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import Glibc
import LineProtocol
import TestSupport
import Testing

@testable import Transports

/// A BLE device of an unknown kind for each link, on a fake bluetoothd. Bytes written to the device come out of a
/// socket, and bytes put into the socket are notified.
final class BLERig: LinkRig {
    private let bus: PrivateBus
    private let fake: FakeBlueZ
    private let folder = TemporaryFolder()

    init() async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address)
        await fake.addAdapter()
    }

    func end() { bus.kill() }

    func open() async throws -> (link: any Link, far: DescriptorFarEnd) {
        var pair: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &pair) == 0)
        for descriptor in pair { limitBuffers(descriptor) }
        let module = await SocketModule(DescriptorChannel(taking: pair[0], kind: .socket, on: Radio.loop))
        await module.join(fake)
        let link = try await BLEEndpoint.open(
            Endpoint("ble:\(await module.radio.address)"), on: .shared, bus: .address(bus.address),
            as: BLEUse(profiles: .devices), locks: DeviceLocks(folders: [folder.path]))
        let descriptor = pair[1]
        // The far end keeps the bus alive.
        return (
            link,
            DescriptorFarEnd(taking: descriptor) { [self] in withExtendedLifetime(self) { _ = close(descriptor) } }
        )
    }
}

/// A module whose UART is a socket.
@Radio
private final class SocketModule {
    private static var count = 0
    /// The MTU that most BLE 5 devices agree on.
    static let mtu = 517

    let radio: RadioDevice
    private let line: DescriptorChannel

    init(_ line: DescriptorChannel) {
        self.line = line
        Self.count += 1
        let digits = String(0x10000 + Self.count, radix: 16).suffix(4).uppercased()
        radio = RadioDevice(
            "C0:FF:EE:00:\(digits.prefix(2)):\(digits.suffix(2))", Advertisement(name: "Module", services: ["FFC0"]))
        radio.manners.mtu = Self.mtu
        let characteristic = RadioCharacteristic("FFC1", [.writeWithoutResponse, .notify])
        radio.services = [RadioService("FFC0", [characteristic])]
        characteristic.onWrite = { [line] bytes, _ in try await line.write(bytes) }
        characteristic.onSubscription = { [weak self] _, isSubscribed in
            if isSubscribed { self?.listen() }
        }
    }

    func join(_ fake: FakeBlueZ) { fake.add(radio) }

    /// Notifies the socket's input, and switches the module off at its end.
    private func listen() {
        Task { [line, radio] in
            do {
                while let bytes = try await line.read() {
                    guard let characteristic = radio.characteristic("FFC1") else { return }
                    for start in stride(from: 0, to: bytes.count, by: Self.mtu - 3) {
                        characteristic.notify(Array(bytes[start..<min(start + Self.mtu - 3, bytes.count)]))
                    }
                }
            } catch {}  // the far end has closed
            radio.dropLinks()
            radio.isAdvertising = false
        }
    }
}
