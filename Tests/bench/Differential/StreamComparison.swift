@testable import FirmwareSim

/// Runs the simulator with a stream that was played to our firmware, and reports the first difference.
///
/// In this file "board" means the firmware on the emulated chip. A turn is one pass of the pump's main loop, and the
/// edge of a turn is the moment at which it begins to measure, just after reading the line.
///
/// The simulator runs freely from one turn to the next. Each of its turns must come within ``turnTolerance`` of the
/// board's, and is then moved to the board's time, so that small differences do not add up. The output must be
/// identical, each byte within ``byteTolerance``. The motor's settings and the number of lost bytes must be equal.
///
/// If something happens too close to the edge of a turn, either outcome is correct: a byte arrives, or a thermistor or
/// the potentiometer changes, within ``guardBand``; a button press may have settled or not (``settling``); or a report
/// is due within ``clockBand``. The comparison then tries each outcome, and one of them must continue like the board.
struct StreamComparison {
    /// The largest accepted difference between the times of a turn. The board's turn takes half a millisecond more for
    /// measuring, and 2 ms more if it prints temperatures; its clock counts whole milliseconds; and simavr's UART
    /// buffers one byte less than the chip's.
    static let turnTolerance = Duration.microseconds(5500)
    /// The largest accepted difference between the times of a byte. The board's reply begins later, after measuring and
    /// arithmetic.
    static let byteTolerance = Duration.milliseconds(3)
    /// The board may have read the UART up to this long before the edge of its turn, and an interrupt may come up to
    /// this long after the edge.
    static let guardBand = Duration.microseconds(500)
    /// The possible error of `millis()`.
    static let clockBand = Duration.microseconds(2500)
    /// The time from the beginning of a press until the board counts it: at least the lower bound, at most the upper
    /// one, because the board does not sample the button while it prints.
    static let settling = Duration.microseconds(49_500)...Duration.milliseconds(110)
    /// The time before a turn's edge up to which outputs are compared: half of the sleep that precedes each turn. Then
    /// both the board and the simulator sleep, so their outputs are complete.
    private static let sleep = Duration.milliseconds(50)
    /// The number of tries after which a stream counts as different.
    private static let mostTries = 20_000

    private let stream: PumpStream
    private let played: PlayedStream
    /// The time from the board's reset to the beginning of the stream.
    private let begin: Duration
    /// The end of each byte for the pump. Like all times of a branch, it counts from the board's reset.
    private let arrivals: [Duration]
    /// The changes of thermistors and potentiometer.
    private let surroundings: [PumpStream.Event]
    /// The beginnings of the button presses.
    private let presses: [Duration]

    /// One possible course of the stream so far.
    fileprivate struct Branch {
        var pump: PumpFirmware
        /// The index of the board's next turn.
        var turn = 0
        /// The number of compared bytes of the board's output.
        var compared = 0
        /// The simulator's output that the board has not sent yet.
        var ahead: [PlayedStream.Byte] = []
        /// The number of changes in `surroundings` that the simulator has had.
        var surroundingsDone = 0
        /// The number of presses that the simulator has had.
        var pressesDone = 0
    }

    /// The simulator of a branch differs from the board.
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

    /// Converts a time since the board's reset to the simulator's time, which includes a bootloader.
    private static func simulated(_ time: Duration) -> Duration { time + PumpFirmware.bootloaderTime }

    /// Returns the difference at which the longest branch ends; nil if a branch is like the board to its end.
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

    /// Runs the simulator up to the sleep before the board's next turn, and compares everything so far.
    private func approach(_ branch: inout Branch) throws {
        let edge = played.turns[branch.turn]
        guard branch.turn > 0 else {
            // Nothing is compared before the first turn: the board has sent its banner, and the simulator sends none.
            _ = branch.pump.advance(to: Self.simulated(begin))
            return
        }
        try listen(&branch, until: edge - Self.sleep)
        let difference = branch.pump.stepDue - Self.simulated(edge)
        guard branch.pump.step == .checkSafety, branch.pump.unprinted.isEmpty,
            difference.magnitude <= Self.turnTolerance
        else { throw Parted(what: "turn \(branch.turn) at \(edge): the simulator's is \(difference) later") }
    }

    /// Runs the simulator until a time, and compares its output and its motor with the board's.
    private func listen(_ branch: inout Branch, until time: Duration) throws {
        for emission in branch.pump.advance(to: Self.simulated(time)) {
            let count = emission.bytes.count
            for (index, value) in emission.bytes.enumerated() {
                let left = emission.time - PumpStream.byteTime * (count - 1 - index)
                branch.ahead.append(PlayedStream.Byte(time: left - PumpFirmware.bootloaderTime, value: value))
            }
        }
        try compare(&branch, until: time)
        // nano-sim samples the board's motor only once per millisecond, so soon after a turn both may differ.
        if let turn = played.turns[..<branch.turn].last, time - turn < Self.byteTolerance { return }
        let motor = Motor(isEnabled: branch.pump.isEnabled, duty: Int(branch.pump.duty))
        guard motor == played.motor(at: time) else {
            throw Parted(what: "motor at \(time): simulator \(motor), firmware \(played.motor(at: time))")
        }
    }

    /// Compares the simulator's bytes with the board's. A byte may be missing if it is due within ``byteTolerance``
    /// before `time`.
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

    /// The board's output around a byte, for a message.
    private func heard(_ index: Int) -> String {
        let bytes = played.bytes[max(0, index - 10)..<min(played.bytes.count, index + 40)]
        return String(decoding: bytes.map(\.value), as: UTF8.self).debugDescription
    }

    /// Runs the simulator from the board's last turn to the end of the stream, and compares the rest.
    private func finish(_ branch: inout Branch) throws {
        let end = begin + stream.end - Self.turnTolerance
        let turns = branch.pump.turns
        try listen(&branch, until: end)
        // The simulator may count one more turn here: the board's last one.
        guard branch.pump.turns <= turns + 1 else { throw Parted(what: "the simulator has a turn more") }
        guard branch.pump.receiveOverflows == played.lost else {
            throw Parted(what: "bytes lost: simulator \(branch.pump.receiveOverflows), firmware \(played.lost)")
        }
    }

    // MARK: Outcomes at a turn's edge

    /// Returns a branch for each possible outcome of the board's next turn.
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

    /// The times at which the turn may have read the line and the clock, one for each outcome.
    ///
    /// `readsLong` marks an outcome in which the turn began to read the line earlier: while it reads, an arriving byte
    /// finds room in a buffer that was full.
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

    /// The number of bytes that have arrived by a time.
    private func arrived(by moment: Duration) -> Int { arrivals.partitioningIndex { $0 > moment } }

    /// The possible numbers of changes in `surroundings` that the board has measured by the edge of a turn.
    private func inputs(of branch: Branch, at edge: Duration) -> ClosedRange<Int> {
        let surely = surroundings.count { begin + $0.time <= edge - Self.guardBand }
        let perhaps = surroundings.count { begin + $0.time <= edge + Self.guardBand }
        return max(surely, branch.surroundingsDone)...max(perhaps, branch.surroundingsDone)
    }

    /// The possible numbers of presses that the board has counted by the edge of a turn.
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
    /// Runs the firmware up to this time, and reads the line, which the turn will read again.
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
