import FirmwareSim
import Testing

/// The flaw of a simulated device that deviates from the protocol, described by changes of its input, its output, and
/// its reactions to actions.
///
/// An action is written like a command of `sim ctl`, such as `temperature skin 41.5`. An empty action does nothing, and
/// an empty input is none.
///
/// A mutant shows that a check can fail. Mutants of the firmware's source code are in Tests/bench/mutants.
struct Mutant: Sendable, CustomTestStringConvertible {
    /// A changed line of the device.
    struct Saying: Sendable {
        /// The beginning of the line.
        var line: String
        /// The lines sent in its place, none to drop it; `*` stands for the original line.
        var becomes: [String]
        /// The change applies only while this is the last write of the host; nil for any.
        var behind: String?
        /// The line end of the replacement.
        var end = "\r\n"
        /// The number of times that the line is sent correctly first. The device counts all lines that fit any entry of
        /// ``Mutant/says`` together, so a mutant that uses ``spared``, ``again`` or ``times`` has only one entry.
        var spared = 0
        /// The delay of the line.
        var late = Duration.zero
        /// The additional delay of each further occurrence.
        var again = Duration.zero
        /// A text and its replacement within the line, if that is the only change.
        var replaces: (String, String)?
        /// The number of changed occurrences; later ones are correct again.
        var times = Int.max
        /// Delays the line to the next multiple of this period since the write; nil for no such delay.
        var beat: Duration?
    }

    /// A changed write to the device.
    struct Hearing: Sendable {
        /// Text that the write contains.
        var contains: String
        /// The length in bytes above which a write is received unchanged.
        var longest = Int.max
        /// The text to replace.
        var from: String
        /// The replacement of ``from``.
        var to: String
        /// The number of times that such a write is received unchanged first.
        var spared = 0
    }

    /// The check that finds the flaw.
    let kills: String
    /// A description of the flaw.
    let flaw: String
    /// The reason why other checks would find the flaw too. Such a flaw is active only during the check ``kills``. Nil
    /// if the flaw is always active.
    var sharedBecause: String?
    /// The action on the device that activates the flaw; nil if it is active from the start.
    var from: String?
    /// The input that the device receives in place of a write, by write.
    var hears: [String: String] = [:]
    /// A change of writes that contain a text; nil for none.
    var garbles: Hearing?
    /// The changed lines. The first entry that fits a line applies.
    var says: [Saying] = []
    /// The delay of the output after a write, by write.
    var late: [String: Duration] = [:]
    /// The action performed on the device in place of another, by the requested action.
    var feels: [String: String] = [:]

    /// An unsolicited line that is sent while the observed state is `state`.
    var chatter: (text: String, state: String)?
    /// The time between two lines of ``chatter``.
    var chatterInterval = Duration.seconds(5)

    /// The motor's duty while the observed state is `state`, whatever the device reports.
    var drives: (duty: Int, state: String)?
    /// The correct duty that `drives` replaces; nil for any.
    var insteadOfDuty: Int?

    /// Whether the flaw is active only during the check ``kills``.
    var isShared: Bool { sharedBecause != nil }

    var testDescription: String { "\(kills): \(flaw)" }
}

/// A device with the flaw of a ``Mutant``, or without a flaw.
struct MutantDevice<Device: SimulatedDevice>: SimulatedDevice {
    var device: Device
    var mutant: Mutant?
    /// Whether the flaw is enabled.
    var isMutated = true
    /// The last write of the host.
    private var written = ""
    private var line: [UInt8] = []
    /// The number of lines so far that fit an entry of ``Mutant/says``.
    private var spared = 0
    /// The number of writes so far that fit ``Mutant/garbles``.
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

    /// Notes an action on the device, which may activate the flaw.
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

    /// The state as seen by an observer next to the device.
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
        // A phone's message is an object without nested objects.
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
            // A delayed line does not delay the lines after it.
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
        chatterDue = instant + (mutant?.chatterInterval ?? .seconds(5))
    }
}
