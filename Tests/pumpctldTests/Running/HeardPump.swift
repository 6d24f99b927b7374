import FirmwareSim
import TestSupport

/// A pump that records its input.
struct HeardPump: SimulatedDevice {
    let received = Watched(ReceivedText())
    let resets = Watched(0)
    private var pump: PumpFirmware

    init(_ pump: PumpFirmware = PumpFirmware()) { self.pump = pump }

    /// Whether the pump is running.
    var isOn: Bool { pump.isEnabled }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        received.update { $0.bytes += bytes }
        pump.receive(bytes, at: instant)
    }

    mutating func advance(to instant: Duration) -> [Emission] { pump.advance(to: instant) }

    var nextActivity: Duration? { pump.nextActivity }
    var isQuiescent: Bool { pump.isQuiescent }

    mutating func reset(at instant: Duration) {
        resets.update { $0 += 1 }
        pump.reset(at: instant)
    }

    /// Presses the button on the lid.
    mutating func pressButton(at instant: Duration) { pump.pressButton(at: instant) }
}
