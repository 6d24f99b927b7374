import TestSupport

/// Bytes for a pump, and changes of its inputs, with their times. The same seed gives the same stream on every machine.
/// Times count from the beginning of the stream.
struct PumpStream: Sendable {
    enum Happening: Sendable, Hashable {
        /// Bytes at the line rate. They begin when the previous ones have left, if that is later than the event's time.
        case send([UInt8])
        case button(isDown: Bool)
        case potentiometer(Int)
        case skin(Double)
        case water(Double)
    }

    struct Event: Sendable {
        var time: Duration
        var happening: Happening
    }

    /// The transmission time of a byte: 8N1 at 9600 baud.
    static let byteTime = Duration.seconds(10) / 9600
    /// The time for which the button is held down: longer than it bounces, and than any turn takes.
    private static let press = Duration.milliseconds(300)
    /// The time for which the pump is watched after the last byte: longer than a turn and a reply take.
    private static let rest = Duration.milliseconds(350)

    private(set) var events: [Event] = []
    /// The time at which the last bit of each byte ends.
    private(set) var arrivals: [Duration] = []
    /// The time up to which the pump is watched.
    private(set) var end = Duration.zero

    /// The end of the last byte so far.
    private var lineFreeAt = Duration.zero
    /// The time from which the button may be pressed again.
    private var buttonFreeAt = Duration.zero
    private var random: SplitMix64

    /// Generates a stream with one to seven writes, presses and changes.
    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        // Up to 120 ms, so that the first event comes at any moment of a turn of the main loop.
        var time = Duration.microseconds(number(120_000))
        for _ in 0..<(1 + number(7)) {
            happen(at: time)
            // Some events follow the previous one closely or overlap it, the others come up to four turns later.
            time = max(time, lineFreeAt - .milliseconds(number(10))) + .microseconds([0, 3000, 250_000][number(3)])
            time += .microseconds(number(2) == 0 ? number(2000) : number(150_000))
        }
        // One stream in sixteen switches the pump on, and lasts until the first unsolicited report, which is due 5 s
        // after the board's reset, and so 3.5 s after the beginning of the stream.
        if number(16) == 0 {
            send(Array("ON\n".utf8), at: time)
            lineFreeAt = max(lineFreeAt, .milliseconds(3300 + number(500)))
        }
        end = max(time, lineFreeAt, buttonFreeAt) + Self.rest
    }

    /// Creates a stream of these writes.
    init(writes: [(time: Duration, bytes: [UInt8])]) {
        random = SplitMix64(seed: 0)
        for write in writes { send(write.bytes, at: write.time) }
        end = lineFreeAt + Self.rest
    }

    private mutating func number(_ bound: Int) -> Int { random.number(below: bound) }

    // MARK: Events

    /// Adds a random event: in 16 of 20 cases bytes.
    private mutating func happen(at time: Duration) {
        switch number(20) {
        case 0: events.append(Event(time: time, happening: .potentiometer(number(1024))))
        case 1: events.append(Event(time: time, happening: .skin([36, 39.9, 40.4, 45, 9.5, -20][number(6)])))
        case 2: events.append(Event(time: time, happening: .water(Double(number(400)) / 10)))
        case 3: pressButton(at: time)
        default: send(bytes(), at: time)
        }
        events.sort { $0.time < $1.time }
    }

    private mutating func pressButton(at time: Duration) {
        let down = max(time, buttonFreeAt)
        events.append(Event(time: down, happening: .button(isDown: true)))
        events.append(Event(time: down + Self.press, happening: .button(isDown: false)))
        buttonFreeAt = down + Self.press * 2
    }

    private mutating func send(_ bytes: [UInt8], at time: Duration) {
        events.append(Event(time: time, happening: .send(bytes)))
        lineFreeAt = max(lineFreeAt, time)
        for _ in bytes {
            lineFreeAt += Self.byteTime
            arrivals.append(lineFreeAt)
        }
    }

    // MARK: Bytes

    /// Returns the bytes of a random write. A line of more than 63 bytes is too long for the pump.
    private mutating func bytes() -> [UInt8] {
        switch number(16) {
        case 0...5: return command() + lineEnd()
        // A part of a line, which the next bytes complete or spoil.
        case 6: return Array(command().prefix(1 + number(5)))
        case 7: return lineEnd()
        // Often more than the UART can buffer while the firmware sleeps.
        case 8: return repeated(command() + lineEnd(), 2 + number(24))
        case 9: return (0..<(2 + number(12))).flatMap { _ in command() + lineEnd() }
        case 10, 11: return repeated([UInt8(ascii: "X")], 55 + number(90)) + lineEnd()
        case 12: return command() + [0] + Array("junk".utf8.prefix(number(5))) + lineEnd()
        case 13: return (0..<(1 + number(30))).map { _ in UInt8(number(256)) }
        case 14: return Array("SPEED:".utf8) + Array(repeating: UInt8(ascii: "0"), count: 45 + number(20)) + [0x37, 10]
        default: return damaged(command()) + lineEnd()
        }
    }

    private func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        Array(repeatElement(bytes, count: count).joined())
    }

    private mutating func lineEnd() -> [UInt8] {
        Array(["\n", "\n", "\n", "\r", "\r\n", "\n\n", "\r\r\n", "\n\r"][number(8)].utf8)
    }

    private mutating func command() -> [UInt8] {
        let text = ["ON", "ON", "OFF", "STATUS", "TEMP", "FOO", "SPEED:" + speed(), "SPEED:" + speed()][number(8)]
        guard number(4) == 0 else { return Array(text.utf8) }
        return text.utf8.map { $0 >= 0x41 && $0 <= 0x5A && number(2) == 0 ? $0 + 32 : $0 }
    }

    private mutating func speed() -> String {
        switch number(8) {
        // Out of range, not a number, and too long for 16 bits.
        case 0: ["256", "300", "-1", "1000", "32767", "-32768"][number(6)]
        case 1: ["abc", "", "12x", " 7", "+9", "1.9", "0x20", "--3", "1e2", "\t5", "- 5", "+-5"][number(12)]
        case 2: ["32768", "65535", "65536", "65736", "-65336", "4294967296", "99999999999", "-99999999999"][number(8)]
        default: String(number(256))
        }
    }

    /// Returns a command with one byte changed, removed or inserted.
    private mutating func damaged(_ command: [UInt8]) -> [UInt8] {
        var bytes = command
        let index = number(bytes.count)
        switch number(3) {
        case 0: bytes[index] = UInt8(number(256))
        case 1: bytes.insert(UInt8(number(256)), at: index)
        default: bytes.remove(at: index)
        }
        return bytes
    }
}

extension PumpStream {
    /// The stream in the format of `nano-sim --play`; see play.h.
    var script: String {
        let lines = events.map { event in "\(event.time.microseconds) \(event.happening.script)\n" }
        return lines.joined() + "\(end.microseconds) end\n"
    }
}

extension PumpStream.Happening {
    fileprivate var script: String {
        switch self {
        case .send(let bytes):
            "send "
                + bytes.map { byte in
                    let digits = String(byte, radix: 16)
                    return byte < 16 ? "0" + digits : digits
                }.joined()
        case .button(let isDown): "button \(isDown ? 1 : 0)"
        case .potentiometer(let reading): "turn \(Double(reading) / 1023)"
        case .skin(let celsius): "temperature skin \(celsius)"
        case .water(let celsius): "temperature water \(celsius)"
        }
    }
}

extension Duration {
    /// Whole microseconds.
    var microseconds: Int64 { Int64(self / .microseconds(1)) }
}
