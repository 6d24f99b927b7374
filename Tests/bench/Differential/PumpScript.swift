import TestSupport

/// What is done to a pump, step by step: the same for the same seed on every machine.
///
/// A pump's two makes are never in the same phase of their main loop, and so the script keeps away from what depends
/// on it. Steps come every four seconds. What may switch the pump is done at their beginning; its status is asked for two
/// seconds later, so that a whole minute of running is never reached at the moment of asking.
struct PumpScript: Sendable {
    /// How far one step is from the next.
    static let stepTime = Duration.seconds(4)
    /// When in a step the status is asked for.
    static let askingTime = Duration.seconds(2)

    struct Step: Sendable, CustomStringConvertible {
        enum Input: Sendable, Hashable {
            case nothing, button, reset
            case skin(Double), water(Double)
            case potentiometer(Int)
            case later(Duration)
        }

        var input: Input
        /// Sent at the beginning.
        var acts: Command
        /// Sent at the asking time.
        var asks: Command

        var description: String { "\(input), \(acts.text), \(asks.text)" }
    }

    /// Bytes for the line, all of them lines that have ended.
    struct Command: Sendable {
        var bytes: [UInt8]
        /// How many of its lines are STATUS.
        var statuses = 0
        /// How many of its lines are TEMP.
        var temperatures = 0

        var text: String { String(decoding: bytes, as: UTF8.self).debugDescription }
    }

    let steps: [Step]

    init(seed: UInt64, count: Int) {
        var random = SplitMix64(seed: seed)
        steps = (0..<count).map { _ in Self.step(&random) }
    }

    private static func step(_ random: inout SplitMix64) -> Step {
        Step(input: input(&random), acts: acts(&random), asks: asks(&random))
    }

    private static func input(_ random: inout SplitMix64) -> Step.Input {
        switch random.number(below: 16) {
        case 0, 1: .button
        // One in tenths, and one of what is printed in other ways.
        case 2: .skin(Double(300 + random.number(below: 99)) / 10)
        case 3: .skin([41, 45.5, 9.5, -10, 30][random.number(below: 5)])
        case 4, 5: .water(Double(random.number(below: 400)) / 10)
        case 6: .water([-40, -5.3, 99.9, 120][random.number(below: 4)])
        case 7, 8, 9: .potentiometer(random.number(below: 1024))
        case 10: .potentiometer([0, 19, 20, 21, 1023][random.number(below: 5)])
        // Five minutes' multiples: thirty minutes are never over at the beginning of a step.
        case 11, 12: .later(.seconds(300 * (1 + random.number(below: 5))))
        case 13 where random.number(below: 3) == 0: .reset
        default: .nothing
        }
    }

    // MARK: Bytes

    private static let ends = ["\n", "\n", "\r", "\r\n", "\n\n", "\r\r\n"]

    /// Up to three lines that change something, or are refused.
    private static func acts(_ random: inout SplitMix64) -> Command {
        var command = Command(bytes: [])
        for _ in 0..<random.number(below: 4) {
            let line = line(&random)
            // What the receive buffer holds while a turn goes by, less the TEMP that ends the exchange.
            guard command.bytes.count + line.bytes.count <= 50 || command.bytes.isEmpty else { break }
            command.bytes += line.bytes
            command.temperatures += line.temperatures
        }
        return command
    }

    /// One line that may be anything but a request for the status.
    private static func line(_ random: inout SplitMix64) -> Command {
        let end = ends[random.number(below: ends.count)]
        switch random.number(below: 20) {
        case 0...5: return Command(bytes: Array((anyCase("ON", &random) + end).utf8))
        case 6: return Command(bytes: Array((anyCase("OFF", &random) + end).utf8))
        case 7...10: return Command(bytes: Array((anyCase("SPEED:", &random) + speed(&random) + end).utf8))
        case 11: return Command(bytes: Array((anyCase("TEMP", &random) + end).utf8), temperatures: 1)
        case 12, 13: return Command(bytes: damaged(&random) + Array(end.utf8))
        case 14, 15: return Command(bytes: noise(&random) + Array(end.utf8))
        // No more than the UART keeps while the firmware sleeps, with the TEMP that ends the exchange.
        case 16: return Command(bytes: Array((String(repeating: "X", count: 40 + random.number(below: 12)) + end).utf8))
        default: return Command(bytes: Array(end.utf8))
        }
    }

    /// Lines that only ask.
    private static func asks(_ random: inout SplitMix64) -> Command {
        let end = ends[random.number(below: ends.count)]
        return random.number(below: 3) == 0
            ? Command(bytes: Array((anyCase("TEMP", &random) + end).utf8), temperatures: 1)
            : Command(bytes: Array((anyCase("STATUS", &random) + end).utf8), statuses: 1)
    }

    private static func speed(_ random: inout SplitMix64) -> String {
        switch random.number(below: 12) {
        case 0: "256"
        case 1: "-1"
        case 2: ["abc", "", "12x", " 7", "+9", "1.9", "0x20", "--3"][random.number(below: 8)]
        case 3: ["65536", "65736", "32768", "-65336", "4294967296", "99999999999"][random.number(below: 6)]
        default: String(random.number(below: 256))
        }
    }

    private static func anyCase(_ text: String, _ random: inout SplitMix64) -> String {
        guard random.number(below: 4) == 0 else { return text }
        return String(text.map { random.number(below: 2) == 0 ? Character($0.lowercased()) : $0 })
    }

    /// A command with one byte changed, left out or put in.
    private static func damaged(_ random: inout SplitMix64) -> [UInt8] {
        var bytes = Array(["ON", "OFF", "SPEED:100", "STATUS", "TEMP"][random.number(below: 5)].utf8)
        let index = random.number(below: bytes.count)
        switch random.number(below: 3) {
        case 0: bytes[index] = unlikely(&random)
        case 1: bytes.insert(unlikely(&random), at: index)
        default: bytes.append(unlikely(&random))
        }
        return bytes
    }

    private static func noise(_ random: inout SplitMix64) -> [UInt8] {
        (0..<(1 + random.number(below: 20))).map { _ in unlikely(&random) }
    }

    /// Any byte but a line end, a letter or a digit: it makes no command of what was none.
    private static func unlikely(_ random: inout SplitMix64) -> UInt8 {
        while true {
            let byte = UInt8(truncatingIfNeeded: random.next() >> 24)
            let ranges = [UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39]
            if byte != 10, byte != 13, !ranges.contains(where: { $0.contains(byte) }) { return byte }
        }
    }
}
