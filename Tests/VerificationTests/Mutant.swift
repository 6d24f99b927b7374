import FirmwareSim
import Testing

/// A device that is not as the protocol has it, as data: what it hears, says, or notices otherwise.
struct Mutant: Sendable, CustomTestStringConvertible {
    /// A line that it says otherwise.
    struct Saying: Sendable {
        /// How the line begins.
        var line: String
        /// What comes in its place; `*` stands for the line itself.
        var becomes: [String]
        /// Only behind this write of the host; behind any where it is nil.
        var behind: String?
        /// What ends what comes in its place.
        var end = "\r\n"
        /// How often the line is said as it should be before this.
        var spared = 0
        /// By how much later it comes.
        var late = Duration.zero
        /// By how much later still it comes each time.
        var again = Duration.zero
        /// What is replaced in the line by what, where that is all.
        var replaces: (String, String)?
        /// How often it is said otherwise, before it is as it should be again.
        var times = Int.max
        /// Of which time since the write behind which it is said it comes at multiples; nil where it comes when it comes.
        var beat: Duration?
    }

    /// A write that it hears otherwise.
    struct Hearing: Sendable {
        /// What such a write has in it.
        var contains: String
        /// How long it is at most.
        var longest = Int.max
        /// What is replaced in it.
        var from: String
        var to: String
        /// How often such a write is heard as it is before this.
        var spared = 0
    }

    /// The check that finds it.
    let kills: String
    /// What is wrong with it.
    let flaw: String
    /// Why other checks find it too, so that it is so during this one only; nil where it is so at any time.
    var sharedBecause: String?
    /// What was done to it at the latest when it begins to be so.
    var from: String?
    /// What it hears, by what is written to it.
    var hears: [String: String] = [:]
    var garbles: Hearing?
    var says: [Saying] = []
    /// By how much later it says what it says behind a write.
    var late: [String: Duration] = [:]
    /// What is done to it, by what should be.
    var feels: [String: String] = [:]

    /// What it says unasked, as long as it is seen to be in this state.
    var chatter: (text: String, state: String)?
    var chatterInterval = Duration.seconds(5)

    /// What its motor is driven with while it is in this state, whatever it says.
    var drives: (duty: Int, state: String)?
    /// That only where it should be driven with so much; nil for always.
    var insteadOfDuty: Int?

    var isShared: Bool { sharedBecause != nil }

    var testDescription: String { "\(kills): \(flaw)" }
}

/// A device that deviates by a ``Mutant``'s row.
struct MutantDevice<Device: SimulatedDevice>: SimulatedDevice {
    var device: Device
    var mutant: Mutant?
    /// Whether it deviates now.
    var isMutated = true
    private var written = ""
    private var line: [UInt8] = []
    private var spared = 0
    private var heard = 0
    private var emissions: [Emission] = []
    private var chatterDue: Duration
    private var writtenAt = Duration.zero
    private var hasBegun = false

    init(_ device: Device, _ mutant: Mutant?) {
        (self.device, self.mutant) = (device, mutant)
        chatterDue = mutant?.chatterInterval ?? .seconds(5)
    }

    private var row: Mutant? { isMutated && (hasBegun || mutant?.from == nil) ? mutant : nil }

    /// This was done to it.
    mutating func feel(_ what: String) { if what == mutant?.from { hasBegun = true } }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        (written, writtenAt) = (String(decoding: bytes, as: UTF8.self), instant)
        device.receive((row?.hears[written] ?? garbled(written)).map { Array($0.utf8) } ?? bytes, at: instant)
    }

    private mutating func garbled(_ text: String) -> String? {
        guard let hearing = row?.garbles, text.contains(hearing.contains), text.utf8.count <= hearing.longest else {
            return nil
        }
        heard += 1
        return heard > hearing.spared ? text.replacing(hearing.from, with: hearing.to) : nil
    }

    mutating func hostCame(at instant: Duration) { device.hostCame(at: instant) }

    mutating func advance(to instant: Duration) -> [Emission] {
        for emission in device.advance(to: instant) {
            if mutant.map({ $0.says.isEmpty && $0.late.isEmpty && $0.chatter == nil }) ?? true {
                emissions.append(emission)
            } else {
                for byte in emission.bytes { take(byte, at: emission.time) }
            }
        }
        while chatterDue <= instant {
            if let (text, state) = row?.chatter, device.observations["state"] == .text(state) {
                emissions.append(Emission(bytes: Array("\(text)\r\n".utf8), time: chatterDue))
            }
            chatterDue += mutant?.chatterInterval ?? .seconds(5)
        }
        let count = emissions.prefix { $0.time <= instant }.count
        defer { emissions.removeFirst(count) }
        return Array(emissions[..<count])
    }

    /// What one who stands beside it sees.
    var seen: [String: ObservedValue] {
        var seen = device.observations
        if let row, let (duty, state) = row.drives, seen["state"] == .text(state),
            row.insteadOfDuty.map({ seen["duty"] == .integer($0) }) ?? true
        {
            seen["duty"] = .integer(duty)
        }
        return seen
    }

    private mutating func take(_ byte: UInt8, at time: Duration) {
        line.append(byte)
        // A message of a phone is an object without others in it.
        let isObject = line.first == UInt8(ascii: "{") && byte == UInt8(ascii: "}")
        guard byte == UInt8(ascii: "\n") || isObject else { return }
        defer { line = [] }
        let text = String(decoding: isObject ? line : line.dropLast(2), as: UTF8.self)
        let rows = (row?.says ?? []).filter { text.hasPrefix($0.line) && ($0.behind ?? written) == written }
        var (bytes, late) = (line, row?.late[written] ?? .zero)
        if let saying = rows.first {
            spared += 1
            if spared > saying.spared, spared - saying.spared <= saying.times {
                let lines = saying.becomes.map { ($0 == "*" ? text : $0) + saying.end }
                bytes =
                    saying.replaces.map { Array(text.replacing($0.0, with: $0.1).utf8) + (isObject ? [] : [13, 10]) }
                    ?? Array(lines.joined().utf8)
                late += saying.late + saying.again * (spared - saying.spared - 1)
                if let beat = saying.beat {
                    late += beat * (((time - writtenAt) / beat).rounded(.up)) - (time - writtenAt)
                }
            }
        }
        if !bytes.isEmpty {
            // What is late holds up nothing that is said behind it.
            let index = emissions.firstIndex { $0.time > time + late } ?? emissions.count
            emissions.insert(Emission(bytes: bytes, time: time + late), at: index)
        }
    }

    var nextActivity: Duration? {
        [device.nextActivity, emissions.first?.time, mutant?.chatter.map { _ in chatterDue }].compactMap(\.self).min()
    }

    var isQuiescent: Bool { device.isQuiescent && emissions.isEmpty }

    mutating func reset(at instant: Duration) {
        device.reset(at: instant)
        chatterDue = instant + .seconds(5)
    }
}
