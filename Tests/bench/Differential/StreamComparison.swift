@testable import FirmwareSim

/// Runs the simulator alongside a recorded board, and reports the first difference.
///
/// The simulator runs freely from one turn to the next. Each of its turns must come within ``turnTolerance`` of the
/// board's, and is then moved to the board's time, so that small differences do not add up. The output must be
/// identical byte for byte, each within ``byteTolerance``; so must the motor's settings and the number of lost bytes.
///
/// If an event falls too close to the edge of a turn, either outcome is correct: a byte that arrives within
/// ``guardBand``, another input within the converter's conversion time, a button press that may be settling, or a
/// report that is due within a step of the board's clock. The simulator then tries each outcome, and one of them must
/// continue like the board.
struct StreamComparison {
    /// The board's turn takes half a millisecond more for measuring, two more if it prints temperatures, and its clock
    /// counts milliseconds; simavr's UART buffers one byte less than the chip's.
    static let turnTolerance = Duration.microseconds(5500)
    /// A reply begins after measuring and arithmetic.
    static let byteTolerance = Duration.milliseconds(3)
    /// Reading the UART may come up to this long before the visible edge, and an interrupt up to this long after it.
    static let guardBand = Duration.microseconds(500)
    /// The possible error of `millis()`.
    static let clockBand = Duration.microseconds(2500)
    /// The time range after which a press has settled, counted from its beginning. The board does not sample while it
    /// prints.
    static let settling = Duration.microseconds(49_500)...Duration.milliseconds(110)
    /// The middle of the sleep before a turn, at which the simulator sleeps too.
    private static let sleep = Duration.milliseconds(50)
    /// The number of tries after which a stream counts as different.
    private static let mostTries = 20_000

    private let stream: PumpStream
    private let played: PlayedStream
    private let begin: Duration
    private let arrivals: [Duration]
    private let surroundings: [PumpStream.Event]
    private let presses: [Duration]

    /// One possible course of the stream so far.
    fileprivate struct Branch {
        var pump: PumpFirmware
        /// The board's next turn.
        var turn = 0
        /// The number of compared bytes of the board's output.
        var compared = 0
        /// The simulator's output that the board has not sent yet.
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
        // The board was reset without a bootloader.
        pump.reset(at: .zero)
        for event in stream.events {
            if case .send(let bytes) = event.happening { pump.receive(bytes, at: Self.simulated(begin + event.time)) }
        }
        first = Branch(pump: pump)
    }

    private let first: Branch

    private static func simulated(_ time: Duration) -> Duration { time + PumpFirmware.bootloaderTime }

    /// Returns the first difference; nil if there is none.
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

    // MARK: Running turn by turn

    /// Runs up to the sleep before the next turn, and compares everything so far.
    private func approach(_ branch: inout Branch) throws {
        let edge = played.turns[branch.turn]
        guard branch.turn > 0 else {
            // The two are not in step up to here: the board has sent its banner, and the simulator has not.
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
        // The board's motor is sampled only once per millisecond.
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
        // The turn that began last, and the sleep before the next one.
        guard branch.pump.turns <= turns + 1 else { throw Parted(what: "the simulator has a turn more") }
        guard branch.pump.receiveOverflows == played.lost else {
            throw Parted(what: "bytes lost: simulator \(branch.pump.receiveOverflows), firmware \(played.lost)")
        }
    }

    // MARK: Outcomes at a turn's edge

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

    /// The times at which the turn may have read the line and the clock, one for each outcome. Reading takes time, in
    /// which an arriving byte finds room in a ring that was full.
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

    /// The possible numbers of input changes that the board may have measured.
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
    /// Reads the line before the turn.
    fileprivate mutating func read(at instant: Duration) {
        run(to: instant)
        readLine()
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

extension [Duration] {
    /// The first index at which `belongs` is true in a sorted array.
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
