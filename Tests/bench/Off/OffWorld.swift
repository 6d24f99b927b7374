import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport

/// A pump, its hosts and their carriers in simulated time, all from one seed.
///
/// The world records the facts at the pump and on the carriers, and so can judge a host's reports.
final class OffWorld: @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    /// The shortest time between two steps of the pump, each of which is observed.
    private static let grain = Duration.milliseconds(8)

    let loop = SimulatedLoop()
    var clock: SimulatedClock { SimulatedClock(loop: loop) }
    let faults: OffFaults
    var random: SplitMix64
    private(set) var pump: PumpFirmware
    private(set) var facts = OffFacts()
    private(set) var failures: [String] = []
    var transcript = OffTranscript()
    /// The bytes that have left for the pump, with their times.
    private(set) var writes: [(time: Duration, bytes: [UInt8])] = []

    private var links: [FaultyLink] = []
    /// The time up to which the pump has run.
    private var lived = Duration.zero
    /// The pump's output since its last line end.
    private var said: [UInt8] = []
    /// The arrival time of the pump's latest line. Later lines do not overtake it.
    private var lastArrival = Duration.zero
    /// Whether lines and writes are lost, doubled, delayed or damaged. Stalls, cuts and other events have their own
    /// times.
    private var areFaultsOn = false

    /// - Parameters:
    ///   - isShared: Whether the program has two hosts: then lines are not late, and the link is not lost.
    ///   - change: Changes the faults that the seed has given.
    init(seed: UInt64, isShared: Bool, change: (inout OffFaults) -> Void = { _ in }) {
        random = SplitMix64(seed: seed)
        var faults = OffFaults(&random, isShared: isShared)
        change(&faults)
        self.faults = faults
        pump = PumpFirmware(options: faults.options)
        pump.setPotentiometer(faults.potentiometer)
        loop.device = SimulatedLoop.Device(
            next: { [unowned self] in max(pump.nextActivity ?? lived, lived + Self.grain) },
            step: { [unowned self] in live(until: $0) })
    }

    /// Plays the events before the run. The pump's last lines may still be in flight when the run begins.
    ///
    /// - Parameter isLineFaulty: Whether the faults of lines already occur.
    func prepare(_ past: [Past], isLineFaulty: Bool) {
        areFaultsOn = isLineFaulty
        for event in past {
            log(.note("before the run: \(event)"))
            switch event {
            case .on: pump.receive(Array("ON\n".utf8), at: loop.now)
            case .off: pump.receive(Array("OFF\n".utf8), at: loop.now)
            case .overheating: pump.setSkinTemperature(42)
            }
            loop.run(for: time(250, 500))
            if event == .overheating { pump.setSkinTemperature(34) }
        }
        facts.lastLoss = nil
        facts.lastDamage = nil
    }

    /// An event before the run: a command, or a skin that is too warm for a while.
    enum Past { case on, off, overheating }

    /// Activates the faults of lines and writes, and schedules all other faults from now on.
    func beginFaults() {
        areFaultsOn = true
        let start = loop.now
        for stall in faults.stalls {
            let buffersFirst = isDrawn(2)
            loop.at(start + stall.start) { [self] in
                log(.note("the carrier stalls"))
                for link in links { link.stall(buffersFirst: buffersFirst) }
            }
            loop.at(start + stall.end) { [self] in
                log(.note("the carrier takes again"))
                for link in links { link.unstall() }
            }
        }
        for time in faults.cuts { loop.at(start + time) { [self] in cutLinks() } }
        for intrusion in faults.intrusions { loop.at(start + intrusion.time) { [self] in intrude(intrusion.bytes) } }
        for time in faults.presses { loop.at(start + time) { [self] in press() } }
        if let time = faults.overheating {
            loop.at(start + time) { [self] in
                log(.note("the skin gets too warm"))
                pump.setSkinTemperature(42)
            }
        }
        if let probe = faults.brokenProbe {
            loop.at(start + probe.time) { [self] in
                log(.note("the skin's probe fails: \(probe.condition)"))
                pump.setSkinThermistor(probe.condition)
            }
        }
    }

    /// Sends bytes of a program other than the hosts to the pump.
    func intrude(_ bytes: [UInt8]) {
        log(.intrudes(bytes))
        // Any later bytes may make an ON of the O.
        if bytes.contains(UInt8(ascii: "O")) { facts.hasOthers = true }
        facts.lastIntrusion = loop.now
        pump.receive(bytes, at: loop.now)
    }

    private func press() {
        log(.note("the button is pressed"))
        facts.hasOthers = true
        facts.lastPress = loop.now
        pump.pressButton(at: loop.now)
    }

    private func cutLinks() {
        log(.note("the link is lost"))
        facts.lastLoss = loop.now
        for link in links { link.cut() }
    }

    // MARK: Links

    /// Opens a host's link to the pump.
    func open(host: Int) -> FaultyLink {
        let link = FaultyLink(self, host: host, mayHaveReset: faults.resets)
        if faults.resets {
            log(.note("opening the link resets the board"))
            pump.reset(at: loop.now)
            facts.lastStill = loop.now
        }
        links.removeAll { !$0.isOpen }
        links.append(link)
        log(.note("link \(host) is open"))
        return link
    }

    /// Handles bytes that leave for the pump.
    ///
    /// - Parameter wasTakenBefore: Whether the carrier held the bytes in its own buffer, from which no host can
    ///   withdraw them.
    func take(_ bytes: [UInt8], from link: FaultyLink, wasTakenBefore: Bool) {
        log(.sends(link.host, bytes))
        facts.note(bytes, from: link.host, at: loop.now, wasTakenBefore: wasTakenBefore) { fail($0) }
        var bytes = bytes
        if areFaultsOn, !bytes.isEmpty, number(below: 1000) < faults.cutWrites {
            let lost = bytes.remove(at: number(below: bytes.count))
            log(.note("byte \(lost) of it is lost"))
            facts.lastLoss = loop.now
        }
        writes.append((loop.now, bytes))
        pump.receive(bytes, at: loop.now)
    }

    /// Draws whether a part of a withdrawn write is sent.
    func isPartSent() -> Bool { isDrawn(2) }

    // MARK: The pump

    /// Runs the pump until this time, and passes its complete lines on.
    private func live(until time: Duration) {
        let wasOn = pump.state == .on
        lived = time
        for emission in pump.advance(to: time) { said += emission.bytes }
        if let command = facts.note(pump, wasOn: wasOn, at: time) { log(.handles(command)) }
        while let end = said.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(said[...end])
            said.removeSubrange(...end)
            say(line)
        }
        if wasOn != (pump.state == .on) { log(.note("the pump is \(pump.state.rawValue)")) }
    }

    /// Passes a line of the pump to all links, with the faults of the run.
    private func say(_ line: [UInt8]) {
        guard areFaultsOn else { return arrive(line) }
        var (line, fate) = (line, "")
        if number(below: 1000) < faults.lostLines {
            facts.lastLoss = loop.now
            return log(.says(line, "lost"))
        }
        if number(below: 1000) < faults.cutLines {
            line.remove(at: number(below: line.count))
            facts.lastLoss = loop.now
            facts.lastDamage = loop.now
            fate = "a byte lost"
        }
        let isDoubled = number(below: 1000) < faults.doubledLines
        let delay = number(below: 1000) < faults.lateLines ? number(below: 2000) : 0
        if delay > 0 { facts.lastLoss = loop.now }
        lastArrival = max(lastArrival, loop.now + .milliseconds(Int64(delay)))
        if isDoubled { fate += " twice" }
        if lastArrival > loop.now { fate += " late" }
        log(.says(line, fate))
        for _ in 0...(isDoubled ? 1 : 0) {
            if lastArrival > loop.now {
                let saidAt = loop.now
                loop.at(lastArrival) { [self] in
                    if line.starts(with: Array("PUMP:OFF".utf8)) { facts.lateOffs.append((saidAt, loop.now)) }
                    log(.note("late: \(String(decoding: line, as: UTF8.self).debugDescription) arrives"))
                    arrive(line)
                }
            } else {
                arrive(line)
            }
        }
    }

    private func arrive(_ line: [UInt8]) { for link in links { link.arrive(line) } }

    // MARK: Random values

    func number(below bound: Int) -> Int { random.number(below: bound) }
    /// Draws true with a chance of one in `oneIn`.
    func isDrawn(_ oneIn: Int) -> Bool { random.number(below: oneIn) == 0 }
    /// Draws a time from `from` up to `to`, exclusively, in milliseconds.
    func time(_ from: Int, _ to: Int) -> Duration { .milliseconds(Int64(from + random.number(below: to - from))) }

    // MARK: Judging

    func log(_ event: OffTranscript.Event) { transcript.add(event, at: loop.now) }

    /// Records a failure of the run.
    func fail(_ text: String) {
        log(.note("FAILED: \(text)"))
        failures.append(text)
    }

    /// Whether nothing was lost or late so far, and in this run neither a stall nor a reset by opening occurs.
    var isLossless: Bool { facts.lastLoss == nil && faults.stalls.isEmpty && !faults.resets }

    func edit(_ change: (inout OffFacts) -> Void) { change(&facts) }

    /// Judges a report of "off" for an OFF that was begun at `start`; nil if none was.
    ///
    /// When the report comes, the pump may rightly be on again because of the button or another host.
    func judgeOff(since start: Duration?) {
        guard let start else { return fail("\"off\" is said, and no OFF was sent") }
        guard pump.state == .on else { return }
        // If a carrier delays lines, an acknowledgement of an older OFF may arrive; by the protocol it looks the same.
        if facts.lateOffs.contains(where: { $0.said < start && $0.arrived >= start }) { return }
        // If the button's own line is lost, nothing shows that OFF was undone within its reply.
        let lossSince = facts.lastLoss.map { $0 >= start } ?? false
        // A press that comes shortly before OFF may be handled after OFF.
        let pressSince = facts.lastPress.map { $0 + .seconds(1) >= start } ?? false
        if lossSince, pressSince { return }
        if facts.lastStill < start { return fail("\"off\" is said while the pump is on") }
        if !facts.hasOthers { fail("\"off\" is said, and the pump is on again by no other's doing") }
    }

    /// Judges whether a host may leave the pump in its present state.
    ///
    /// - Parameters:
    ///   - start: The beginning of the host's OFF; nil if it has sent none.
    ///   - saying: The host's last report.
    func judgeLeftOff(since start: Duration?, _ saying: String) {
        guard pump.state == .on else { return }
        if let start, facts.lateOffs.contains(where: { $0.said < start && $0.arrived >= start }) { return }
        guard facts.hasOthers, let start, facts.lastStill >= start else {
            return fail("the pump is left on, and what is said is: \(saying)")
        }
    }
}
