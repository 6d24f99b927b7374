import FirmwareSim
import TestSupport

/// The faults of one run, generated from its seed. Most runs lack most kinds, so that each kind also occurs alone.
///
/// Times count from ``OffWorld/beginFaults()``.
struct OffFaults: Sendable {
    /// The numbers of the pump's lines in 1,000 that are lost, doubled, late, and lack a byte.
    var lostLines = 0
    var doubledLines = 0
    var lateLines = 0
    var cutLines = 0
    /// The number of a host's writes in 1,000 that lose a byte on the way to the pump.
    var cutWrites = 0
    /// The periods in which the carrier accepts nothing.
    var stalls: [(start: Duration, end: Duration)] = []
    /// The times at which the link is lost.
    var cuts: [Duration] = []
    /// The time from a loss of the link until the device can be opened again; nil for never.
    var absence: Duration? = .zero
    /// Whether opening the link resets the board.
    var resets = false
    /// The bytes that other programs send to the pump.
    var intrusions: [(time: Duration, bytes: [UInt8])] = []
    var presses: [Duration] = []
    /// The time at which the skin becomes too warm.
    var overheating: Duration?
    /// The failure of the skin's probe.
    var brokenProbe: (time: Duration, condition: ThermistorCondition)?
    var options = PumpFirmwareOptions()
    var potentiometer = 716

    /// Texts that other programs send: ten parts of lines, two texts that nearly fill the pump's buffer of 63 bytes,
    /// and whole lines. The first twelve contain no whole command: `OffRun` sends only these before a lone OFF.
    static let halfLines = [
        "STA", "SPEED:2", "ON", "O", "OF", "SPEED:", "TEM", "9", "S", "\0", String(repeating: "X", count: 60),
        String(repeating: "X", count: 60) + "\n", "FOO\n", "STATUS\n", "TEMP\n", "SPEED:20\n", "SPEED:999\n", "ON\n",
        "OFF\n", "\n",
    ]

    init(_ random: inout SplitMix64, isShared: Bool) {
        func number(_ bound: Int) -> Int { random.number(below: bound) }
        func isDrawn(_ oneIn: Int) -> Bool { random.number(below: oneIn) == 0 }
        func time(_ from: Int, _ to: Int) -> Duration { .milliseconds(from + random.number(below: to - from)) }

        if isDrawn(4) { lostLines = [50, 200, 500, 1000][number(4)] }
        if isDrawn(5) { doubledLines = [50, 300][number(2)] }
        if isDrawn(4), !isShared { lateLines = [50, 300, 1000][number(3)] }
        if isDrawn(8) { cutLines = [30, 100][number(2)] }
        if isDrawn(8) { cutWrites = [30, 200][number(2)] }
        if isDrawn(5) {
            for _ in 0...number(2) {
                let start = time(0, 4000)
                stalls.append((start, start + time(50, 2500)))
            }
        }
        if isDrawn(4), !isShared {
            for _ in 0...number(2) { cuts.append(time(0, 6000)) }
            absence = isDrawn(60) ? nil : time(0, 6000)
            resets = isDrawn(2)
        }
        if isDrawn(3) {
            for _ in 0...number(3) {
                intrusions.append((time(0, 5000), Array(Self.halfLines[number(Self.halfLines.count)].utf8)))
            }
        }
        if isDrawn(6) { presses = (0...number(2)).map { _ in time(0, 5000) } }
        if isDrawn(8) { overheating = time(0, 5000) }
        if isDrawn(10) {
            brokenProbe = (time(0, 5000), [.open, .shorted, .reading(.nan), .reading(3)][number(4)])
        }
        options = PumpFirmwareOptions(
            thermistors: isDrawn(2) ? .one : .two, bootBanner: [.off, .hello, .banner][number(3)],
            lineEnding: isDrawn(4) ? .lineFeed : .carriageReturnLineFeed, printsFloats: isDrawn(2),
            reportsTimesWhenStopped: isDrawn(3), printsDebugLines: isDrawn(4), interruptsReplies: isDrawn(3),
            heat: .fixed(water: 12, skin: 34))
        if isDrawn(3) { potentiometer = number(1024) }
    }

    /// Whether nothing is lost or late between host and pump, and no other program sends anything.
    var isLineSound: Bool {
        lostLines + lateLines + cutLines + cutWrites == 0 && stalls.isEmpty && cuts.isEmpty && intrusions.isEmpty
    }
}
