@testable import FirmwareSim

/// Follows a board through a stream with the simulator, and says where the two part.
///
/// The simulator runs by itself from one turn to the next. There its own turn has to come when the board's does, within
/// ``turnTolerance``, and is then put to the board's moment, so that what is left of a difference does not add up. What
/// was said has to be the same byte for byte, each within ``byteTolerance``; so has the motor, and the count of bytes that
/// were lost.
///
/// Either outcome is right where something falls too near a turn's edge: a byte's arrival within ``guardBand``, another
/// input within what the converter takes, a press while it may settle, a report that is due within what the board's clock
/// steps by. There the simulator tries one after the other, and one has to go on as the board does.
struct StreamComparison {
    /// The board's turn takes half a millisecond more for its measuring, two more where it prints temperatures, and counts
    /// in milliseconds; simavr's UART holds a byte less than the chip's.
    static let turnTolerance = Duration.microseconds(5500)
    /// A reply begins behind the measuring and the arithmetic.
    static let byteTolerance = Duration.milliseconds(3)
    /// Reading the UART takes so long before the edge that is seen, and an interrupt behind it.
    static let guardBand = Duration.microseconds(500)
    /// By how much `millis()` may be off.
    static let clockBand = Duration.microseconds(2500)
    /// When a press has settled, counted from its beginning. Printing keeps the board from looking.
    static let settling = Duration.microseconds(49_500)...Duration.milliseconds(110)
    /// Middle of the sleep before a turn: the simulator is asleep then, too.
    private static let sleep = Duration.milliseconds(50)
    /// Tries after which a stream is taken to differ.
    private static let mostTries = 20_000

    private let stream: PumpStream
    private let played: PlayedStream
    private let begin: Duration
    private let arrivals: [Duration]
    private let surroundings: [PumpStream.Event]
    private let presses: [Duration]

    /// One way in which the stream may have gone so far.
    fileprivate struct Branch {
        var pump: PumpFirmware
        /// The board's turn that comes next.
        var turn = 0
        /// How much of what the board said has been compared.
        var compared = 0
        /// What the simulator said that the board has not said yet.
        var ahead: [PlayedStream.Byte] = []
        var surroundingsDone = 0
        var pressesDone = 0
    }

    private struct Parted: Error { var what: String }

    init(_ stream: PumpStream, _ played: PlayedStream, begin: Duration, thermistors: Int) {
        self.stream = stream
        self.played = played
        self.begin = begin
        arrivals = stream.arrivals.map { $0 + begin }
        surroundings = stream.events.filter { event in
            switch event.happening {
            case .potentiometer, .skin, .water: true
            case .send, .button: false
            }
        }
        presses = stream.events.compactMap { $0.happening == .button(isDown: true) ? $0.time + begin : nil }
        var pump = PumpFirmware(
            options: PumpFirmwareOptions(
                thermistors: thermistors == 1 ? .one : .two, saturatesNumbers: true,
                heat: .fixed(water: RigKind.water, skin: RigKind.skin), potentiometer: RigKind.potentiometer))
        // The board is reset without a bootloader.
        pump.reset(at: .zero)
        for event in stream.events {
            if case .send(let bytes) = event.happening { pump.receive(bytes, at: Self.simulated(begin + event.time)) }
        }
        first = Branch(pump: pump)
    }

    private let first: Branch

    private static func simulated(_ time: Duration) -> Duration { time + PumpFirmware.bootloaderTime }

    /// Where the two part; nil where they don't.
    func difference() -> String? {
        var branches = [first]
        var furthest = (turn: -1, what: "")
        var tries = 0
        while var branch = branches.popLast() {
            tries += 1
            guard tries <= Self.mostTries else { return "not settled in \(tries) tries; \(furthest.what)" }
            do {
                guard branch.turn < played.turns.count else {
                    try finish(&branch)
                    return nil
                }
                try approach(&branch)
                branches += waysOn(from: branch).reversed()
            } catch let parted as Parted {
                if branch.turn > furthest.turn { furthest = (branch.turn, parted.what) }
            } catch {
                return "\(error)"
            }
        }
        return furthest.what
    }

    // MARK: From turn to turn

    /// Lives up to the sleep before the next turn, and compares what there is to compare.
    private func approach(_ branch: inout Branch) throws {
        let edge = played.turns[branch.turn]
        guard branch.turn > 0 else {
            // Up to here they were not in step: the board has greeted, and the simulator has not.
            _ = branch.pump.advance(to: Self.simulated(begin))
            return
        }
        try listen(&branch, until: edge - Self.sleep)
        let difference = branch.pump.stepDue - Self.simulated(edge)
        guard branch.pump.step == .checkSafety, branch.pump.unprinted.isEmpty,
            difference.magnitude <= Self.turnTolerance
        else { throw Parted(what: "turn \(branch.turn) at \(edge): the simulator's is \(difference) later") }
    }

    private func listen(_ branch: inout Branch, until time: Duration) throws {
        for emission in branch.pump.advance(to: Self.simulated(time)) {
            let count = emission.bytes.count
            for (index, value) in emission.bytes.enumerated() {
                let left = emission.time - PumpStream.byteTime * (count - 1 - index)
                branch.ahead.append(PlayedStream.Byte(time: left - PumpFirmware.bootloaderTime, value: value))
            }
        }
        try compare(&branch, until: time)
        // The board's motor is looked at once in a millisecond.
        if let turn = played.turns[..<branch.turn].last, time - turn < Self.byteTolerance { return }
        let motor = Motor(isEnabled: branch.pump.isEnabled, duty: Int(branch.pump.duty))
        guard motor == played.motor(at: time) else {
            throw Parted(what: "motor at \(time): simulator \(motor), firmware \(played.motor(at: time))")
        }
    }

    private func compare(_ branch: inout Branch, until time: Duration) throws {
        var said = branch.ahead[...]
        while let byte = said.first, branch.compared < played.bytes.count {
            let other = played.bytes[branch.compared]
            guard byte.value == other.value, (byte.time - other.time).magnitude <= Self.byteTolerance else {
                throw Parted(what: "the simulator said \(byte), the firmware \(other), in \(heard(branch.compared))")
            }
            branch.compared += 1
            said.removeFirst()
        }
        branch.ahead = Array(said)
        let settled = time - Self.byteTolerance
        if let byte = said.first, byte.time < settled { throw Parted(what: "only the simulator said \(byte)") }
        if branch.compared < played.bytes.count, played.bytes[branch.compared].time < settled {
            throw Parted(what: "only the firmware said \(heard(branch.compared))")
        }
    }

    private func heard(_ index: Int) -> String {
        let bytes = played.bytes[max(0, index - 10)..<min(played.bytes.count, index + 40)]
        return String(decoding: bytes.map(\.value), as: UTF8.self).debugDescription
    }

    private func finish(_ branch: inout Branch) throws {
        let end = begin + stream.end - Self.turnTolerance
        let turns = branch.pump.turns
        try listen(&branch, until: end)
        // The turn that was begun last, and the sleep of one that is still to come.
        guard branch.pump.turns <= turns + 1 else { throw Parted(what: "the simulator has a turn more") }
        guard branch.pump.receiveOverflows == played.lost else {
            throw Parted(what: "bytes lost: simulator \(branch.pump.receiveOverflows), firmware \(played.lost)")
        }
    }

    // MARK: What may have happened at a turn's edge

    private func waysOn(from branch: Branch) -> [Branch] {
        let edge = played.turns[branch.turn]
        var ways: [Branch] = []
        for (moment, readsLong) in moments(at: edge) {
            for inputs in inputs(of: branch, at: edge) {
                for presses in presses(of: branch, at: edge) {
                    var way = branch
                    way.apply(surroundings[branch.surroundingsDone..<inputs].map(\.happening))
                    way.surroundingsDone = inputs
                    way.pump.stepDue = Self.simulated(moment)
                    if readsLong { way.pump.read(at: Self.simulated(moment - Self.guardBand)) }
                    if presses > branch.pressesDone {
                        way.pump.pressButton(at: Self.simulated(moment - .microseconds(1)))
                    }
                    way.pressesDone = presses
                    way.turn += 1
                    ways.append(way)
                }
            }
        }
        return ways
    }

    /// When the turn may have read the line, and looked at the clock: one moment for each outcome. Reading takes time, and
    /// a byte that arrives meanwhile finds room in a ring that was full.
    private func moments(at edge: Duration) -> [(moment: Duration, readsLong: Bool)] {
        let beat = Duration.milliseconds(PumpController.reportInterval)
        let phase = Duration.microseconds(edge.microseconds % beat.microseconds)
        let isNearBeat = phase <= Self.clockBand || beat - phase <= Self.clockBand
        let shifts: [Duration] =
            [.zero, .zero - Self.guardBand, Self.guardBand]
            + (isNearBeat ? [.zero - Self.clockBand, Self.clockBand] : [])
        var outcomes: Set<[Int64]> = []
        let moments = shifts.map { edge + $0 }.filter { moment in
            outcomes.insert([Int64(arrived(by: moment)), moment.microseconds / beat.microseconds]).inserted
        }
        let long = moments.filter { arrived(by: $0) != arrived(by: $0 - Self.guardBand) }
        return moments.map { ($0, false) } + long.map { ($0, true) }
    }

    private func arrived(by moment: Duration) -> Int { arrivals.partitioningIndex { $0 > moment } }

    /// How many of the changes around the board it may have measured.
    private func inputs(of branch: Branch, at edge: Duration) -> ClosedRange<Int> {
        let surely = surroundings.count { begin + $0.time <= edge - Self.guardBand }
        let perhaps = surroundings.count { begin + $0.time <= edge + Self.guardBand }
        return max(surely, branch.surroundingsDone)...max(perhaps, branch.surroundingsDone)
    }

    private func presses(of branch: Branch, at edge: Duration) -> ClosedRange<Int> {
        let surely = presses.count { $0 + Self.settling.upperBound <= edge }
        let perhaps = presses.count { $0 + Self.settling.lowerBound <= edge }
        return max(surely, branch.pressesDone)...max(perhaps, branch.pressesDone)
    }
}

extension StreamComparison.Branch {
    fileprivate mutating func apply(_ changes: [PumpStream.Happening]) {
        for change in changes {
            switch change {
            case .potentiometer(let reading): pump.setPotentiometer(reading)
            case .skin(let celsius): pump.setSkinTemperature(celsius)
            case .water(let celsius): pump.setWaterTemperature(celsius)
            case .send, .button: break
            }
        }
    }
}

extension PumpFirmware {
    /// Reads the line before its turn.
    fileprivate mutating func read(at instant: Duration) {
        run(to: instant)
        readLine()
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

extension [Duration] {
    /// The first index at which `belongs` is true; the elements are in order.
    fileprivate func partitioningIndex(_ belongs: (Duration) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
