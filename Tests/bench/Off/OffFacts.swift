import FirmwareSim

/// The true events of a run.
struct OffFacts {
    /// The last time at which the pump was not running.
    var lastStill = Duration.zero
    /// The last time at which bytes between host and pump were lost or late.
    var lastLoss: Duration?
    /// The last time at which the pump's UART had no room for a byte.
    var lastOverflow: Duration?
    /// The last time at which a line of the pump was damaged.
    var lastDamage: Duration?
    /// Acknowledgements of OFF that the carrier delayed: the times of sending and of arrival.
    var lateOffs: [(said: Duration, arrived: Duration)] = []
    /// The time of the last button press.
    var lastPress: Duration?
    /// The last time at which another program sent something.
    var lastIntrusion: Duration?
    /// Whether anything other than the host under test may switch the pump on.
    var hasOthers = false

    /// The commands sent by a host.
    struct Host {
        var firstOn: Duration?
        var firstOff: Duration?
        var lastOff: Duration?
        /// Whether the host has begun an OFF after which it begins nothing.
        var isStopping = false
        /// Whether the host has begun an OFF that was not sent yet.
        var awaitsOff = false
    }
    var hosts: [Host] = []

    /// A setting of the motor with its start.
    struct Drive { var since: Duration, state: PumpState, duty: UInt8 }
    private(set) var drives = [Drive(since: .zero, state: .off, duty: 0)]

    private var handledCount = 0
    private var overflowCount = 0
    /// The changes that the pump has carried out, with their times.
    private(set) var carriedOut: [(time: Duration, command: String)] = []

    // MARK: Recording facts

    /// Records a host's bytes when they leave for the pump.
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

    /// Records the pump's progress; returns the command that it has handled.
    mutating func note(_ pump: PumpFirmware, wasOn: Bool, at now: Duration) -> [UInt8]? {
        if !wasOn || pump.state != .on { lastStill = now }
        if pump.receiveOverflows != overflowCount { (overflowCount, lastOverflow) = (pump.receiveOverflows, now) }
        let last = drives[drives.count - 1]
        if last.state != pump.state || last.duty != pump.duty {
            drives.append(Drive(since: now, state: pump.state, duty: pump.duty))
        }
        guard pump.commandsHandled != handledCount else { return nil }
        handledCount = pump.commandsHandled
        // The pump was off for no time, because the button was handled between the two lines of the reply. If the
        // button's line is lost, no host can know.
        if String(decoding: pump.lastCommand, as: UTF8.self).uppercased() == "OFF" { lastStill = now }
        if pump.state == .on {
            carriedOut.append((now, String(decoding: pump.lastCommand, as: UTF8.self).uppercased()))
        }
        return pump.lastCommand
    }

    /// Records that a host begins OFF.
    mutating func beginOff(host: Int) {
        while hosts.count <= host { hosts.append(Host()) }
        hosts[host].awaitsOff = true
    }

    // MARK: Queries

    /// The time of a host's last OFF.
    func lastOff(of host: Int) -> Duration? { hosts.indices.contains(host) ? hosts[host].lastOff : nil }

    /// Whether the motor had such a setting at any time since `start`.
    func wasDriven(since start: Duration, _ isSo: (Drive) -> Bool) -> Bool {
        for index in drives.indices.reversed() {
            if isSo(drives[index]) { return true }
            // A setting lasts until the next one begins.
            if drives[index].since < start { return false }
        }
        return false
    }

    /// Whether `command` was carried out since `start`.
    func isCarriedOut(_ command: String, since start: Duration) -> Bool {
        carriedOut.contains { $0.time >= start && $0.command == command }
    }
}
