import FirmwareSim

/// A pump with the far end of its line, in simulated time.
///
/// A turn of the pump's loop takes 109 ms, or 159 ms with a command. So a turn ends within any 160 ms, and the next one
/// within 300 ms.
struct PumpBench {
    var pump: PumpFirmware
    private(set) var now: Duration = .zero

    /// Creates a pump on a line without delays, unless the options say otherwise. Its probes read 12.0 and 34.5 °C.
    ///
    /// - Parameter potentiometer: The knob's position. At 716 the knob changes no speed.
    init(_ options: PumpFirmwareOptions = PumpFirmwareOptions(lineRate: .unlimited), potentiometer: Int = 716) {
        var options = options
        options.potentiometer = potentiometer
        pump = PumpFirmware(options: options)
        pump.setWaterThermistor(.reading(12))
        pump.setSkinThermistor(.reading(34.5))
    }

    /// Sends `text`; returns everything that the pump prints until it is idle.
    mutating func exchange(_ text: String) -> String {
        send(text)
        var printed: [UInt8] = []
        while !pump.isQuiescent, let next = pump.nextActivity {
            now = max(now, next)
            printed += pump.advance(to: now).flatMap(\.bytes)
        }
        return String(decoding: printed, as: UTF8.self)
    }

    /// Sends `text` in pieces of at most 60 bytes, each in its own turn of the loop, so that the UART's buffer of 63
    /// bytes does not overflow. Returns everything that the pump prints until it is idle.
    mutating func exchangeInPieces(_ text: String) -> String {
        var rest = Array(text.utf8)[...]
        var printed = ""
        while rest.count > 60 {
            send(String(decoding: rest.prefix(30), as: UTF8.self))
            rest = rest.dropFirst(30)
            printed += run(for: .milliseconds(160))
        }
        return printed + exchange(String(decoding: rest, as: UTF8.self))
    }

    /// Sends `text` without advancing the time.
    mutating func send(_ text: String) {
        pump.receive(Array(text.utf8), at: now)
    }

    /// Advances by `time`; returns everything that the pump prints.
    mutating func run(for time: Duration) -> String {
        let emissions = emissions(for: time)
        return String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
    }

    /// Advances by `time`; returns everything that the pump emits.
    mutating func emissions(for time: Duration) -> [Emission] {
        now += time
        return pump.advance(to: now)
    }

    /// Presses the button now.
    mutating func pressButton() {
        pump.pressButton(at: now)
    }

    /// Resets the board now.
    mutating func reset() {
        pump.reset(at: now)
    }

    /// Brings an unused pump into `state`.
    mutating func bring(to state: PumpState) {
        guard state != .off else { return }
        _ = exchange("ON\n")
        guard state == .error else { return }
        pump.setSkinThermistor(.reading(41))
        _ = run(for: .milliseconds(300))
        pump.setSkinThermistor(.reading(34.5))
    }
}

/// Lines as Arduino's `println` sends them.
func printed(_ lines: String...) -> String {
    lines.map { $0 + "\r\n" }.joined()
}
