/// A device of no family. It answers lines by a script, or without a script sends each line back.
///
/// ```swift
/// var device = ScriptedFirmware()
/// device.receive(Array("hello\n".utf8), at: .zero)
/// _ = device.advance(to: .seconds(1))  // hello
/// ```
public struct ScriptedFirmware: SimulatedDevice {
    /// The longest accepted line of a host, in bytes. A longer line is dropped.
    public static let lineLimit = 1024

    /// The script of the answers; nil if the device sends each line back.
    public let script: AnswerScript?
    /// The end of each line that the device sends.
    public let lineEnd: [UInt8]
    /// The number of lines received, except empty and too long ones. A byte with a rule of its own is no line.
    public private(set) var lineCount = 0

    private var now = Duration.zero
    private var line: SerialLine
    private var commandLine = CommandLine(capacity: lineLimit)

    /// Creates a device. By default, it sends each line back, at 115200 baud.
    public init(
        script: AnswerScript? = nil, lineEnd: [UInt8] = Array("\r\n".utf8), lineRate: LineRate = .baud(115_200)
    ) {
        self.script = script
        self.lineEnd = lineEnd
        line = SerialLine(rate: lineRate)
    }

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) { line.send(bytes, at: max(instant, now)) }

    /// Greets the host, if the script has a greeting.
    public mutating func hostCame(at instant: Duration) {
        now = max(now, instant)
        say(script?.greeting ?? [])
    }

    public mutating func advance(to instant: Duration) -> [Emission] {
        var emissions: [Emission] = []
        while let next = nextActivity, next <= instant {
            now = max(now, next)
            emissions += line.transmit(until: now)
            for byte in line.receive(by: now) { take(byte) }
        }
        now = max(now, instant)
        return emissions + line.transmit(until: now)
    }

    public var nextActivity: Duration? { [line.nextArrival, line.nextDeparture].compactMap { $0 }.min() }

    public var isQuiescent: Bool { line.isIdle && line.nextArrival == nil }

    /// Resets the device: the beginning of an unfinished line is lost, and the device greets again.
    public mutating func reset(at instant: Duration) {
        now = max(now, instant)
        line.clear()
        commandLine = CommandLine(capacity: Self.lineLimit)
        say(script?.greeting ?? [])
    }

    public static var isStream: Bool { true }

    public static var verbs: [DeviceVerb<ScriptedFirmware>] {
        [
            DeviceVerb(
                "say", [SimulatorOption("message", .text, help: "The line, without its end.")], help: "Send a line."
            ) { device, values, now in
                device.now = max(device.now, now)
                device.say([Array((values.text("message") ?? "").utf8)])
            }
        ]
    }

    public var observations: [String: ObservedValue] { ["lines": .integer(lineCount)] }

    private mutating func take(_ byte: UInt8) {
        if let answer = script?.answer(to: byte) { return say(answer) }
        guard let text = commandLine.append(byte) else { return }
        lineCount += 1
        guard let script else { return say([text]) }
        say(script.answer(to: text) ?? [])
    }

    private mutating func say(_ lines: [[UInt8]]) { for text in lines { line.write(text + lineEnd, at: now) } }
}
