import FirmwareSim
import TestSupport

/// A pump that records the lines that it sends.
struct WitnessedPump: SimulatedDevice {
    let said = Watched(ReceivedText())
    private var pump = PumpFirmware(
        // 716 is the knob's position for the speed at which ON starts.
        options: PumpFirmwareOptions(thermistors: .two, heat: .fixed(water: 12, skin: 34), potentiometer: 716))

    /// Whether the pump is running.
    var isOn: Bool { pump.isEnabled }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) { pump.receive(bytes, at: instant) }

    mutating func advance(to instant: Duration) -> [Emission] {
        let emissions = pump.advance(to: instant)
        said.update { for emission in emissions { $0.bytes += emission.bytes } }
        return emissions
    }

    var nextActivity: Duration? { pump.nextActivity }
    var isQuiescent: Bool { pump.isQuiescent }

    mutating func reset(at instant: Duration) { pump.reset(at: instant) }

    /// Presses the button on the lid.
    mutating func pressButton(at instant: Duration) { pump.pressButton(at: instant) }
}
