import DBus
import FakeBlueZ
import TestSupport
import Testing

@Suite("Commands for a BLE device of another family", .timeLimit(.minutes(5)))
struct WrongFamilyTests {
    /// A device with the service of an LED board or of a storm sensor, and with another service that looks like a
    /// serial port.
    @Radio private static func device(_ kind: String) -> RadioDevice {
        let guess = RadioService(
            "FFC0", [RadioCharacteristic("FFC1", [.read, .write, .writeWithoutResponse, .notify])])
        let device: RadioDevice
        switch kind {
        case "led":
            let service = "937312E0-2354-11EB-9F10-FBC30A62CF38"
            let led = RadioCharacteristic("957312E0-2354-11EB-9F10-FBC30A62CF38", [.read, .write, .notify])
            device = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "Odd", services: [service, "FFE0"]))
            device.services = [RadioService(service, [led]), guess]
        default:
            let service = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B"
            device = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "Odd", services: [service, "FFE0"]))
            device.services = [
                RadioService(
                    service,
                    [
                        RadioCharacteristic("1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E", [.notify]),
                        RadioCharacteristic("BEB5483E-36E1-4688-B7F5-EA07361B26A8", [.write, .notify]),
                    ]), guess,
            ]
        }
        return device
    }

    @Test(
        "A command of another family is refused before any read, write or subscription",
        arguments: [
            ("led", ["off"]), ("led", ["on"]), ("led", ["status"]), ("led", ["monitor"]), ("led", ["send", "OFF"]),
            ("led", ["console"]), ("led", ["storm", "log", "live"]), ("led", ["peer", "say", "x"]),
            ("led", ["rescue", "listen"]),
            ("storm", ["off"]), ("storm", ["led", "on"]), ("storm", ["peer", "toggle", "on"]),
        ])
    func refused(kind: String, command: [String]) async throws {
        // The folder for messages that `rescue listen` would store.
        let home = TemporaryFolder()
        try await withBLEBench { bench in
            await bench.fake.add(Self.device(kind))
            for address in ["Odd", "C0:FF:EE:00:00:01", "Odd?profile=hm10"] {
                let ending = try await Pumpctl.start(
                    ["-p", "ble:\(address)"] + command,
                    environment: bench.environment.merging(["XDG_DATA_HOME": home.path]) { $1 }
                ).ending()
                let noun = kind == "led" ? "an LED board" : "a storm sensor"
                expectFailure(
                    ending, 64, saying: "\(noun) (family \(kind))", hint: "--family \(kind)")
            }
            let touching: Set = ["ReadValue", "WriteValue", "StartNotify", "AcquireWrite", "AcquireNotify", "Pair"]
            #expect(await bench.fake.calls.state.filter { touching.contains($0.member) } == [])
        }
    }

    @Test("send reaches another device with the sensor's service, by a characteristic that it guesses")
    func stockExample() async throws {
        try await withBLEBench { bench in
            let clock = await Radio.run {
                let service = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B"
                let clock = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "Clock", services: [service]))
                let line = RadioCharacteristic("BEB5483E-36E1-4688-B7F5-EA07361B26A8", [.write, .notify])
                line.onWrite = { [unowned line] _, _ in line.notify(Array("PONG\n".utf8)) }
                clock.services = [RadioService(service, [line])]
                return clock
            }
            await bench.fake.add(clock)
            let ending = try await bench.run("-p", "ble:Clock", "send", "PING")
            #expect(ending.output == "PONG\n", "\(ending)")
        }
    }
}
