/// The LED board: an ESP32 with one boolean, set by `LED:1` and `LED:0` and queried by `LED`.
public struct LEDFirmware: SimulatedDevice {
    /// Whether the LED is lit.
    public private(set) var isLit: Bool
    /// Whether the board answers commands that set the LED, as it answers queries.
    public private(set) var answersSets: Bool

    /// Whether the LED can't change.
    private var isStuck = false
    private var now = Duration.zero
    private var line: SerialLine
    private var commandLine = CommandLine()

    /// Creates a board. By default, its line has 115200 baud, its LED is dark, and it answers commands that set the
    /// LED.
    public init(lineRate: LineRate = .baud(115_200), isLit: Bool = false, answersSets: Bool = true) {
        self.isLit = isLit
        self.answersSets = answersSets
        line = SerialLine(rate: lineRate)
    }

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        line.send(bytes, at: max(instant, now))
    }

    public mutating func advance(to instant: Duration) -> [Emission] {
        var emissions: [Emission] = []
        while let next = nextActivity, next <= instant {
            now = max(now, next)
            emissions += line.transmit(until: now)
            for byte in line.receive(by: now) {
                guard let command = commandLine.append(byte) else { continue }
                obey(command)
            }
        }
        now = max(now, instant)
        return emissions + line.transmit(until: now)
    }

    public var nextActivity: Duration? { [line.nextArrival, line.nextDeparture].compactMap { $0 }.min() }

    public var isQuiescent: Bool { line.isIdle && line.nextArrival == nil }

    /// Resets the board: the LED goes dark unless it is stuck.
    public mutating func reset(at instant: Duration) {
        now = max(now, instant)
        line.clear()
        commandLine = CommandLine()
        light(false)
    }

    /// Sets whether the LED keeps its state, despite commands, resets and the verb `light`. A command that sets a stuck
    /// LED is answered with the LED's real state.
    public mutating func setStuck(_ isStuck: Bool, at instant: Duration) { self.isStuck = isStuck }

    /// The verb that switches the LED at the board. The board does not report this change on its line.
    public static var verbs: [DeviceVerb<LEDFirmware>] {
        [lightVerb { board, isLit, _ in board.light(isLit) }]
    }

    public static var settings: [DeviceSetting<LEDFirmware>] {
        [DeviceSetting(muteOption) { board, values, _ in board.answersSets = !values.flag("mute") }]
    }

    public var observations: [String: ObservedValue] { ["lit": .boolean(isLit)] }

    private mutating func obey(_ command: [UInt8]) {
        switch String(decoding: command, as: UTF8.self) {
        case "LED": tell()
        case "LED:1": set(true)
        case "LED:0": set(false)
        default: break
        }
    }

    private mutating func set(_ isLit: Bool) {
        light(isLit)
        if answersSets { tell() }
    }

    private mutating func light(_ isLit: Bool) { if !isStuck { self.isLit = isLit } }

    private mutating func tell() { line.write(Array("LED:\(isLit ? 1 : 0)\r\n".utf8), at: now) }
}
