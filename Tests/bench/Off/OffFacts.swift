import FirmwareSim

/// The facts of a run, as observed at the pump and on the carrier and not reported by a host. Times are nil if there
/// was no such event.
struct OffFacts {
    /// The last time at which the pump was not on.
    var lastStill = Duration.zero
    /// The last time at which bytes between a host and the pump were lost or late, in either direction.
    var lastLoss: Duration?
    /// The last time at which the pump's UART had no room for a byte.
    var lastOverflow: Duration?
    /// The last time at which a line of the pump lost a byte.
    var lastDamage: Duration?
    /// The lines `PUMP:OFF` that the carrier delayed: the times at which the pump sent them and they arrived.
    var lateOffs: [(said: Duration, arrived: Duration)] = []
    /// The time of the last button press.
    var lastPress: Duration?
    /// The last time at which a program other than the hosts sent something.
    var lastIntrusion: Duration?
    /// Whether anything other than the host under test may switch the pump on.
    var hasOthers = false

    /// The commands sent by a host.
    struct Host {
        var firstOn: Duration?
        var firstOff: Duration?
        var lastOff: Duration?
        /// Whether the host has begun an OFF after which it begins no other command.
        var isStopping = false
        /// Whether the host has begun an OFF whose line has not left for the pump yet.
        var awaitsOff = false
    }
    var hosts: [Host] = []

    /// The pump's state and duty, and the time since which it has had them.
    struct Drive { var since: Duration, state: PumpState, duty: UInt8 }
    private(set) var drives = [Drive(since: .zero, state: .off, duty: 0)]

    private var handledCount = 0
    private var overflowCount = 0
    /// The commands after which the pump was on, with the times at which it handled them.
    private(set) var carriedOut: [(time: Duration, command: String)] = []

    // MARK: Recording facts

    /// Records a host's bytes when they leave for the pump, and calls `fail` if they must not be sent: anything else
    /// while OFF is due, or a change after the host has begun its last OFF.
    ///
    /// - Parameter wasTakenBefore: Whether the carrier had the bytes in its buffer, so that the host could not withdraw
    ///   them.
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

    /// Records the pump's progress.
    ///
    /// - Parameter wasOn: Whether the pump was on before this step.
    /// - Returns: The command that the pump has handled in this step; nil if none.
    mutating func note(_ pump: PumpFirmware, wasOn: Bool, at now: Duration) -> [UInt8]? {
        if !wasOn || pump.state != .on { lastStill = now }
        if pump.receiveOverflows != overflowCount { (overflowCount, lastOverflow) = (pump.receiveOverflows, now) }
        let last = drives[drives.count - 1]
        if last.state != pump.state || last.duty != pump.duty {
            drives.append(Drive(since: now, state: pump.state, duty: pump.duty))
        }
        guard pump.commandsHandled != handledCount else { return nil }
        handledCount = pump.commandsHandled
        // If the pump handles the button between the two lines of its reply to OFF, it is on again without any step in
        // which it was off. It did carry out OFF: if the button's line is lost, no host can know more.
        if String(decoding: pump.lastCommand, as: UTF8.self).uppercased() == "OFF" { lastStill = now }
        if pump.state == .on {
            carriedOut.append((now, String(decoding: pump.lastCommand, as: UTF8.self).uppercased()))
        }
        return pump.lastCommand
    }

    /// Records that a host begins OFF, so that its next line must be OFF.
    mutating func beginOff(host: Int) {
        while hosts.count <= host { hosts.append(Host()) }
        hosts[host].awaitsOff = true
    }

    // MARK: Queries

    /// The time at which a host's last OFF left for the pump; nil if none has.
    func lastOff(of host: Int) -> Duration? { hosts.indices.contains(host) ? hosts[host].lastOff : nil }

    /// Whether `isSo` was true of the pump's state and duty at any time since `start`.
    func wasDriven(since start: Duration, _ isSo: (Drive) -> Bool) -> Bool {
        for index in drives.indices.reversed() {
            if isSo(drives[index]) { return true }
            // A setting lasts until the next one begins.
            if drives[index].since < start { return false }
        }
        return false
    }

    /// Whether the pump has handled `command` since `start`, and was on after it.
    func isCarriedOut(_ command: String, since start: Duration) -> Bool {
        carriedOut.contains { $0.time >= start && $0.command == command }
    }
}
