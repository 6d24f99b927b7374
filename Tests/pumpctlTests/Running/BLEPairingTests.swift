import DBus
import FakeBlueZ
import TestSupport
import Testing

@Suite("Pairing on the command line", .timeLimit(.minutes(5)))
struct BLEPairingTests {
    /// bluetoothd's errors for a missing pairing.
    static let refusals = [
        BlueZError.notPermitted("Not paired"), BlueZError.attribute(0x05), BlueZError.attribute(0x0E),
        BlueZError.attribute(0x0F),
    ]

    /// An LED board that refuses every access with this error until it is paired.
    @Radio private static func board(_ refusal: DBusError, _ flags: [RadioCharacteristic.Flag]) -> RadioDevice {
        let service = "937312E0-2354-11EB-9F10-FBC30A62CF38"
        let board = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "ece196", services: [service]))
        board.services = [
            RadioService(service, [RadioCharacteristic("957312E0-2354-11EB-9F10-FBC30A62CF38", flags, value: [0])])
        ]
        board.manners.needsPairing = true
        board.manners.pairingError = refusal
        return board
    }

    @Test("A board that requires pairing exits with 77 and suggests ?pair", arguments: refusals)
    func refused(refusal: DBusError) async throws {
        for flags in [[.read, .write], [.read, .write, .notify]] as [[RadioCharacteristic.Flag]] {
            try await withBLEBench { bench in
                await bench.fake.add(Self.board(refusal, flags))
                for command in ["get", "on"] {
                    expectFailure(
                        try await bench.run("-p", "ble:ece196", "led", command), 77,
                        saying: "ble:ece196", "the device is not paired", hint: "?pair")
                }
                let paired = try await bench.run("-p", "ble:ece196?pair", "led", "on")
                #expect(paired.status == 0, "\(paired)")
            }
        }
    }

    @Test("A sensor that refuses a write without pairing exits with 77", arguments: refusals)
    func sensor(refusal: DBusError) async throws {
        try await withBLEBench { bench in
            let sensor = await Radio.run {
                let service = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B"
                let sensor = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "storm", services: [service]))
                sensor.services = [
                    RadioService(
                        service,
                        [
                            RadioCharacteristic("1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E", [.notify]),
                            RadioCharacteristic("BEB5483E-36E1-4688-B7F5-EA07361B26A8", [.write, .notify]),
                        ])
                ]
                sensor.manners.needsPairing = true
                sensor.manners.letsUnpairedSubscribe = true
                sensor.manners.pairingError = refusal
                return sensor
            }
            await bench.fake.add(sensor)
            expectFailure(
                try await bench.run("-p", "ble:storm", "storm", "log", "get"), 77, saying: "the device is not paired",
                hint: "?pair")
        }
    }
}
