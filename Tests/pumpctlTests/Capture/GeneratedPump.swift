import DeviceKit
import LineProtocol
import TestSupport

@testable import pumpctl

/// A pump generated from a seed. It replies to commands, in pieces, with other lines in between.
struct GeneratedPump {
    /// Some bytes of a reply, and the delay before them.
    struct Piece {
        var delay: Duration
        var bytes: [UInt8]
    }

    private var random: SplitMix64
    private let isDifficult: Bool
    private var isOn = false

    /// - Parameter isDifficult: Whether the pump is also late or silent, and sends lines that contradict its replies,
    ///   or that the protocol does not define and a host may take for damaged replies.
    init(seed: UInt64, isDifficult: Bool) {
        random = SplitMix64(seed: seed)
        self.isDifficult = isDifficult
    }

    /// Returns the reply to a write, cut into pieces at random places. A difficult pump may omit all of it, its end, or
    /// one byte.
    mutating func answer(to sent: String) -> [Piece] {
        var lines: [[UInt8]] = []
        for command in sent.split(separator: "\n") { lines += answer(to: command) }
        let end = random.number(below: 4) == 0 ? "\n" : "\r\n"
        var bytes = lines.flatMap { $0 + Array(end.utf8) }
        if isDifficult {
            switch random.number(below: 12) {
            case 0: bytes = []
            case 1: bytes.removeSubrange(random.number(below: bytes.count)...)
            case 2: bytes.remove(at: random.number(below: bytes.count))
            default: break
            }
        }
        return cut(bytes).map { Piece(delay: delay, bytes: $0) }
    }

    /// A random delay; always zero unless the pump is difficult.
    private var delay: Duration {
        mutating get {
            guard isDifficult, random.number(below: 3) == 0 else { return .zero }
            return .milliseconds(1 << random.number(below: 12))
        }
    }

    private mutating func answer(to command: Substring) -> [[UInt8]] {
        var lines: [String]
        switch command {
        case "ON": (isOn, lines) = (true, ["OK", "PUMP:ON"])
        case "OFF": (isOn, lines) = (false, ["OK", "PUMP:OFF"])
        case "STATUS": lines = [status]
        case "TEMP": lines = ["TEMP:{Water:\(celsius)C,Skin:\(celsius)C}"]
        case _ where command.hasPrefix("SPEED:"):
            lines = isOn ? ["OK", String(command)] : ["ERROR:PUMP_NOT_RUNNING"]
        default: lines = ["ERROR:UNKNOWN_COMMAND"]
        }
        var bytes = lines.map { Array($0.utf8) }
        while random.number(below: 3) == 0 { bytes.insert(remark, at: random.number(below: bytes.count + 1)) }
        return bytes
    }

    private var celsius: String {
        mutating get { "\(10 + random.number(below: 25)).\(random.number(below: 10))" }
    }

    private var status: String {
        mutating get {
            let times = isOn ? ",Speed:70%,Runtime:\(random.number(below: 30))m,Remaining:9m" : ""
            return "STATUS:{State:\(isOn ? "ON" : "OFF")\(times),WaterTemp:\(celsius)C,SkinTemp:\(celsius)C}"
        }
    }

    /// A random line that is no reply to a command. Only a difficult pump sends the cases from 4 on.
    private var remark: [UInt8] {
        mutating get {
            switch random.number(below: isDifficult ? 8 : 4) {
            case 0: Array("[BUTTON] pressed".utf8)
            case 1: Array("[BT] \u{1B}[2J ä \"quoted\" \\".utf8)
            case 2: Array("[POT] ".utf8) + [0xFF, 0x80]
            case 4: Array("MANUAL:ON".utf8)
            case 7: Array("MANUAL:OFF".utf8)
            case 5: Array("ERROR:OVERHEAT\r\nSkin temperature too high: 40.1".utf8)
            case 6: Array("ready \(random.number(below: 9))".utf8)
            default: []
            }
        }
    }

    /// Cuts bytes into pieces of 1 to 24 bytes.
    private mutating func cut(_ bytes: [UInt8]) -> [[UInt8]] {
        var (pieces, rest) = ([[UInt8]](), bytes[...])
        while !rest.isEmpty {
            let length = 1 + random.number(below: 24)
            pieces.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return pieces
    }
}

/// A host that sends one to six commands, generated from a seed, to a pump.
struct GeneratedHost {
    private var random: SplitMix64

    // The inverted seed makes the host's random numbers differ from those of the pump with the same seed.
    init(seed: UInt64) { random = SplitMix64(seed: ~seed) }

    /// - Returns: The output and the error messages of the commands.
    mutating func run(over link: any Link, clock: any Clock<Duration>) async throws -> String {
        let pump = try await PumpSession.begin(over: link, clock: clock)
        var text = ""
        for _ in 0...random.number(below: 6) {
            do { text += try await step(pump) + "\n" } catch { text += "\(Failure(of: error, .pump))\n" }
        }
        await pump.close()
        return text
    }

    private mutating func step(_ pump: PumpSession) async throws(SessionError) -> String {
        switch random.number(below: 5) {
        case 0:
            try await pump.turnOn()
            return "pump on"
        case 1:
            try await pump.turnOff()
            return "pump off"
        case 2:
            let speed = PumpSpeed(pwm: random.number(below: 256)) ?? .initial
            try await pump.setSpeed(speed)
            return "speed \(speed.pwm) (\(speed.percent) %)"
        case 3: return PumpText.table(PumpText.rows(try await pump.readStatus()))
        default: return PumpText.table(PumpText.rows(try await pump.readTemperatures(), []))
        }
    }
}
