import BlueZ
import FirmwareSim
import PeripheralSim
import Testing

@Suite("Effects of accepted faults")
struct AcceptedFaultTests {
    /// A device of one family, and the commands that a host sends to it over a line or over BLE.
    struct Family: Sendable, CustomTestStringConvertible {
        let simulator: PeripheralSimulator
        var options: [String: String] = [:]
        let commands: [String]
        /// The characteristic that the host subscribes to, and the one that it writes to.
        var notified: BluetoothUUID = "FFE1"
        var written: BluetoothUUID = "FFE1"

        var testDescription: String { simulator.line.name }
    }

    private static let message =
        #"{"id":"6A0F7D8E-0D4A-4C38-9D3C-2F1F6A3D5B11","content":"help","latitude":1.5,"longitude":2.5,"#
        + #""timestamp":760000000,"status":"pending_sync","category":"SOS"}"#

    static let families: [Family] = [
        Family(simulator: .pump, commands: ["ON\n", "STATUS\n", "TEMP\n"]),
        Family(
            simulator: .storm, options: ["rows": "3"], commands: ["GET_LOG\n", "GET_LOG\n"],
            notified: StormPeripheral.live, written: StormPeripheral.backup),
        Family(
            simulator: .led, commands: ["LED:1\n", "LED:0\n", "LED\n"], notified: LEDPeripheral.led,
            written: LEDPeripheral.led),
        Family(
            simulator: .peer, options: ["interval": "1s", "size": "600"], commands: ["Hello\n", "GET\n", "Lunch\n"],
            notified: PeerPeripheral.transmit, written: PeerPeripheral.receive),
        Family(
            simulator: .rescue, commands: [message], notified: RescuePeripheral.messages,
            written: RescuePeripheral.messages),
        // A CC41-A's replies have a line end. An HM-10's have none, so a fault would find no complete reply.
        Family(simulator: .module, options: ["dialect": "cc41-a"], commands: ["AT\r\n", "AT+NAME\r\n"]),
    ]

    /// The observable behaviour of a device.
    private struct Trace: Equatable {
        var emissions: [Emission] = []
        var events: [CarrierEvent] = []
        var observations: [[String: ObservedValue]] = []

        /// Adds the behaviour until `end`, without the observation `faults`, which names the fault itself.
        mutating func add(_ device: inout FaultyDevice<some SimulatedDevice>, until end: Duration) {
            emissions += device.advance(to: end)
            events += device.takeCarrierEvents()
            observations.append(device.observations.filter { $0.key != "faults" })
        }
    }

    /// Sends the family's commands to a device on a line, one per second; returns its behaviour in 40 s.
    private static func onLine(
        _ device: some SimulatedDevice, _ settings: SimulatorSettings, _ family: Family
    ) throws -> Trace {
        var trace = Trace()
        var device = try FaultyDevice(device, settings)
        // Only the fault `baud` makes this wrong rate matter.
        device.setHostBaudRate(4800)
        device.hostCame(at: .zero)
        for (second, command) in family.commands.enumerated() {
            device.receive(Array(command.utf8), at: .seconds(second))
            trace.add(&device, until: .seconds(second + 1))
        }
        trace.add(&device, until: .seconds(40))
        return trace
    }

    /// Writes the family's commands to a device over BLE, one per second; returns its behaviour in 40 s.
    private static func overRadio(
        _ device: some SimulatedPeripheral, _ settings: SimulatorSettings, _ family: Family
    ) throws -> Trace {
        var trace = Trace()
        var device = try FaultyDevice(device, settings)
        // The MTU of 103 minus 3 bytes.
        device.setNotificationLength(100)
        device.take(.connected, at: .zero)
        device.take(.subscribed(family.notified), at: .zero)
        for (second, command) in family.commands.enumerated() {
            // An LED board's writes are single bytes. A pump's commands keep their LF, a module's their CR LF, which is
            // one character and not "\n". The other devices' commands have no line end over BLE.
            let isLED = family.simulator.line.name == "led"
            let text = family.simulator.line.name == "pump" ? command : command.filter { $0 != "\n" }
            let bytes = isLED ? [UInt8(second % 2 == 0 ? 1 : 0)] : Array(text.utf8)
            device.take(.wrote(bytes, to: family.written, mtu: 103), at: .seconds(second))
            // A module notifies only the bytes that it receives on its serial line.
            if family.simulator.line.name == "module" { device.receive(bytes, at: .seconds(second)) }
            trace.add(&device, until: .seconds(second + 1))
        }
        // The fault `early` repeats a notification for a later subscription only.
        device.take(.subscribed(family.notified), at: .seconds(10))
        trace.add(&device, until: .seconds(40))
        return trace
    }

    @Test("Each accepted fault changes a device's behaviour, on a line and over BLE", arguments: families)
    func each(family: Family) throws {
        let simulator = family.simulator
        for carrier in [SimulatorOption.Carrier.line, .radio] {
            func trace(_ fault: String, _ seed: Int) throws -> Trace {
                var options = family.options
                options["fault"] = fault
                options["seed"] = "\(seed)"
                let settings = try simulator.line.settings(options, over: carrier)
                guard carrier == .radio else {
                    return try Self.onLine(simulator.line.device(settings), settings, family)
                }
                return try Self.overRadio(simulator.peripheral(settings), settings, family)
            }
            for fault in Fault.all {
                /// Whether the simulator accepts this argument of `--fault`.
                func takes(_ text: String) -> Bool {
                    (try? simulator.line.settings(["fault": text], over: carrier)) != nil
                }
                guard takes(fault.name) else { continue }
                let order = takes("\(fault.name)@always") ? "\(fault.name)@always" : fault.name
                // With a single seed, a fault may happen to change nothing.
                let isSeen = try (1...3).contains { try trace(order, $0) != trace("none", $0) }
                #expect(isSeen, "\(order) \(carrier)")
            }
        }
    }
}
