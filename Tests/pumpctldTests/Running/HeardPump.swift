import FirmwareSim
import TestSupport

/// A simulated pump that records its input and counts its resets.
struct HeardPump: SimulatedDevice {
    let received = Watched(ReceivedText())
    /// The number of resets of the board.
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
