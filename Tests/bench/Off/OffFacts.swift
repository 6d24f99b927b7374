import FirmwareSim

/// What really happened in a run.
struct OffFacts {
    /// The last instant at which the pump did not run.
    var lastStill = Duration.zero
    /// When bytes were last lost between host and pump, or late.
    var lastLoss: Duration?
    /// When the pump's UART last had no room for a byte.
    var lastOverflow: Duration?
    /// When a line of the pump was last damaged.
    var lastDamage: Duration?
    /// Acknowledgements of OFF that the carrier held back: when they were said, and when they arrived.
    var lateOffs: [(said: Duration, arrived: Duration)] = []
    /// When the button was last pressed.
    var lastPress: Duration?
    /// When somebody else last sent something.
    var lastIntrusion: Duration?
    /// Whether anybody but the host under test may switch the pump on.
    var hasOthers = false

    /// What a host has sent.
    struct Host {
        var firstOn: Duration?
        var firstOff: Duration?
        var lastOff: Duration?
        /// Whether it has begun an OFF behind which it begins nothing.
        var isStopping = false
        /// Whether it has begun an OFF that has not left.
        var awaitsOff = false
    }
    var hosts: [Host] = []

    /// How the motor was driven, and since when.
    struct Drive { var since: Duration, state: PumpState, duty: UInt8 }
    private(set) var drives = [Drive(since: .zero, state: .off, duty: 0)]

    private var handledCount = 0
    private var overflowCount = 0
    /// Which changes the pump has carried out, and when.
    private(set) var carriedOut: [(time: Duration, command: String)] = []

    // MARK: Taking notes

    /// A host's bytes have left for the pump.
    mutating func note(
        _ bytes: [UInt8], from host: Int, at now: Duration, wasTakenBefore: Bool, fail: (String) -> Void
    ) {
        while hosts.count <= host { hosts.append(Host()) }
        let text = String(decoding: bytes, as: UTF8.self)
        if hosts[host].awaitsOff, !wasTakenBefore, !text.hasSuffix("OFF\n") {
            fail("\(text.debugDescription) goes before OFF")
        }
        if text.hasSuffix("OFF\n") {
            if hosts[host].firstOff == nil { hosts[host].firstOff = now }
            hosts[host].lastOff = now
            hosts[host].awaitsOff = false
        } else if text.hasSuffix("ON\n") || text.contains("SPEED:") {
            if text.hasSuffix("ON\n"), hosts[host].firstOn == nil { hosts[host].firstOn = now }
            if hosts[host].isStopping, !wasTakenBefore {
                fail("\(text.debugDescription) is sent behind the beginning of OFF")
            }
        }
    }

    /// The pump has lived on; returns the command that it has handled.
    mutating func note(_ pump: PumpFirmware, wasOn: Bool, at now: Duration) -> [UInt8]? {
        if !wasOn || pump.state != .on { lastStill = now }
        if pump.receiveOverflows != overflowCount { (overflowCount, lastOverflow) = (pump.receiveOverflows, now) }
        let last = drives[drives.count - 1]
        if last.state != pump.state || last.duty != pump.duty {
            drives.append(Drive(since: now, state: pump.state, duty: pump.duty))
        }
        guard pump.commandsHandled != handledCount else { return nil }
        handledCount = pump.commandsHandled
        // It stood still for no time: the button was served between the two lines of the reply. Where the line that says so
        // is lost, nobody can know.
        if String(decoding: pump.lastCommand, as: UTF8.self).uppercased() == "OFF" { lastStill = now }
        if pump.state == .on {
            carriedOut.append((now, String(decoding: pump.lastCommand, as: UTF8.self).uppercased()))
        }
        return pump.lastCommand
    }

    /// A host begins OFF.
    mutating func beginOff(host: Int) {
        while hosts.count <= host { hosts.append(Host()) }
        hosts[host].awaitsOff = true
    }

    // MARK: Asking

    /// When a host last sent OFF.
    func lastOff(of host: Int) -> Duration? { hosts.indices.contains(host) ? hosts[host].lastOff : nil }

    /// Whether the motor was driven so at a moment since then.
    func wasDriven(since start: Duration, _ isSo: (Drive) -> Bool) -> Bool {
        for index in drives.indices.reversed() {
            if isSo(drives[index]) { return true }
            // It was driven so until the next began.
            if drives[index].since < start { return false }
        }
        return false
    }

    /// Whether `command` was carried out since then.
    func isCarriedOut(_ command: String, since start: Duration) -> Bool {
        carriedOut.contains { $0.time >= start && $0.command == command }
    }
}
