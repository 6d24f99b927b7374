public import FirmwareSim

/// A simulated scale on a serial line of 9600 baud. A test or a user changes its load.
public struct ScaleFirmware: SimulatedDevice {
    /// The capacity in tenths of a gram.
    public static let limit = 50_000
    /// The time from a command to the start of its reply, unless earlier replies are pending.
    public static let weighingTime = Duration.milliseconds(80)

    /// The load in tenths of a gram.
    public private(set) var load: Int
    /// The load that counts as zero, in tenths of a gram.
    private var tare = 0
    private var line: [UInt8] = []
    private var answers: [Emission] = []

    /// Creates a scale with a load of `load` tenths of a gram.
    public init(load: Int = 0) { self.load = load }

    /// Adds `tenths` of a gram to the load, or removes them if negative.
    public mutating func put(_ tenths: Int, at instant: Duration) {
        let wasOverloaded = load > Self.limit
        load = max(0, load + tenths)
        if load > Self.limit, !wasOverloaded { say("OVERLOAD", at: instant) }
    }

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            obey(String(decoding: line, as: UTF8.self), at: instant)
            line = []
        }
    }

    /// Replies to `command`, which came at `instant`.
    private mutating func obey(_ command: String, at instant: Duration) {
        let ready = max(instant + Self.weighingTime, answers.last?.time ?? .zero)
        switch command {
        case "WEIGH" where load > Self.limit: say("ERROR:OVERLOAD", at: ready)
        case "WEIGH": say("WEIGHT:\(grams)", at: ready)
        case "TARE":
            tare = load
            say("TARED", at: ready)
        default: say("ERROR:UNKNOWN", at: ready)
        }
    }

    private var grams: String {
        let net = load - tare
        return "\(net < 0 ? "-" : "")\(abs(net) / 10).\(abs(net) % 10)"
    }

    /// Sends a line, which begins at `instant` and arrives when its last byte is transmitted.
    private mutating func say(_ text: String, at instant: Duration) {
        let bytes = Array("\(text)\r\n".utf8)
        answers.append(Emission(bytes: bytes, time: instant + LineRate.baud(9600).timePerByte * bytes.count))
    }

    public mutating func advance(to instant: Duration) -> [Emission] {
        let count = answers.prefix { $0.time <= instant }.count
        defer { answers.removeFirst(count) }
        return Array(answers[..<count])
    }

    /// Resets the board: the load stays, the zero point and unsent replies are lost.
    public mutating func reset(at instant: Duration) { self = ScaleFirmware(load: load) }

    public var nextActivity: Duration? { answers.first?.time }
    public var isQuiescent: Bool { answers.isEmpty }
}
