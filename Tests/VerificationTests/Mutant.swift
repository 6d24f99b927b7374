import FirmwareSim
import Testing

/// A pump that is not as the protocol has it, as data: what it hears, says, or notices otherwise.
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
    }

    /// The check that finds it.
    let kills: String
    /// What is wrong with it.
    let flaw: String
    /// Whether other checks would find it too, so that it is so during this one only.
    var isShared = false
    /// What it hears, by what is written to it.
    var hears: [String: String] = [:]
    var says: [Saying] = []
    /// By how much later it says what it says behind a write.
    var late: [String: Duration] = [:]
    /// What is done to it, by what should be.
    var feels: [String: String] = [:]

    /// What it says unasked, each 5 s.
    var chatter: String?
    var chatterInterval = Duration.seconds(5)

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
    private var emissions: [Emission] = []
    private var chatterDue: Duration

    init(_ device: Device, _ mutant: Mutant?) {
        (self.device, self.mutant) = (device, mutant)
        chatterDue = mutant?.chatterInterval ?? .seconds(5)
    }

    private var row: Mutant? { isMutated ? mutant : nil }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        written = String(decoding: bytes, as: UTF8.self)
        device.receive(row?.hears[written].map { Array($0.utf8) } ?? bytes, at: instant)
    }

    mutating func advance(to instant: Duration) -> [Emission] {
        for emission in device.advance(to: instant) {
            if mutant.map({ $0.says.isEmpty && $0.late.isEmpty }) ?? true {
                emissions.append(emission)
            } else {
                for byte in emission.bytes { take(byte, at: emission.time) }
            }
        }
        while chatterDue <= instant {
            if let text = row?.chatter {
                emissions.append(Emission(bytes: Array("\(text)\r\n".utf8), time: chatterDue))
            }
            chatterDue += mutant?.chatterInterval ?? .seconds(5)
        }
        let count = emissions.prefix { $0.time <= instant }.count
        defer { emissions.removeFirst(count) }
        return Array(emissions[..<count])
    }

    private mutating func take(_ byte: UInt8, at time: Duration) {
        line.append(byte)
        guard byte == UInt8(ascii: "\n") else { return }
        defer { line = [] }
        let text = String(decoding: line.dropLast(2), as: UTF8.self)
        let rows = (row?.says ?? []).filter { text.hasPrefix($0.line) && ($0.behind ?? written) == written }
        var (bytes, late) = (line, row?.late[written] ?? .zero)
        if let saying = rows.first {
            spared += 1
            if spared > saying.spared {
                let lines = saying.becomes.map { ($0 == "*" ? text : $0) + saying.end }
                bytes = Array(lines.joined().utf8)
                late += saying.late + saying.again * (spared - saying.spared - 1)
            }
        }
        if !bytes.isEmpty {
            emissions.append(Emission(bytes: bytes, time: time + late))
        }
    }

    var nextActivity: Duration? {
        [device.nextActivity, emissions.first?.time, mutant?.chatter.map { _ in chatterDue }].compactMap(\.self).min()
    }

    var isQuiescent: Bool { device.isQuiescent && emissions.isEmpty }

    mutating func reset(at instant: Duration) { device.reset(at: instant) }
}
