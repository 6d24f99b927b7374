import SerialPort

/// The checks of one port; none of them opens it.
struct PortCheckup {
    let port: SerialPortInfo
    /// Who else uses it.
    let use: PortUse
    /// How many processes could be looked at for that, and how many could not.
    let processes: (seen: Int, unseen: Int)
    /// The baud rate that is wanted; nil if none was named.
    let baudRate: Int?
    /// The programs that run, by their names.
    let programs: Set<String>

    var diagnoses: [Diagnosis] {
        if let error = port.obstacle(), error.code != .notPermitted {
            return [.fail("present", port: port.path, error.reason, remedy: error.hint, exit: .noInput)]
        }
        return [present, permission, holder].compactMap { $0 } + lockFiles
            + [serialNumber, latency, modemManager, baud].compactMap { $0 }
    }

    private var present: Diagnosis {
        let facts = [port.board?.description, port.usb?.identifier.description, port.driver.map { "driver \($0)" }]
        let text = facts.compactMap { $0 }.joined(separator: ", ")
        return .ok("present", port: port.path, text.isEmpty ? "there" : "there: \(text)")
    }

    private var permission: Diagnosis {
        guard let error = port.obstacle() else { return .ok("permission", port: port.path, "you may open it") }
        return .fail(
            "permission", port: port.path, "you may not open it", remedy: error.hint, exit: .noPermission)
    }

    private var holder: Diagnosis {
        guard let first = use.holders.first else { return noHolder }
        let names = use.holders.map(\.description).joined(separator: ", ")
        let remedy = "end it: kill \(use.holders.map { "\($0.processID)" }.joined(separator: " "))"
        return first.holdsLock
            ? .fail("holder", port: port.path, "locked by \(names)", remedy: remedy, exit: .unavailable)
            : .warn("holder", port: port.path, "open in \(names), which takes part of the answers", remedy: remedy)
    }

    /// That none was found, and among which: of other users' processes only root sees the open files.
    private var noHolder: Diagnosis {
        var finding = "none of the \(processes.seen) processes that could be looked at has it open"
        if processes.unseen > 0 {
            finding += "; \(processes.unseen) of other users could not: 'sudo fuser -v \(port.path)' sees them"
        }
        return .ok("holder", port: port.path, finding)
    }

    /// What minicom, picocom and the like have left in /run/lock.
    private var lockFiles: [Diagnosis] {
        use.lockFiles.map { file in
            guard let processID = file.processID else {
                return .warn(
                    "lock_file", port: port.path, "\(file.path) names no process", remedy: "rm \(file.path)")
            }
            guard let holder = file.holder else {
                return .ok(
                    "lock_file", port: port.path,
                    "\(file.path) is stale: its process \(processID) no longer runs")
            }
            return .warn(
                "lock_file", port: port.path, "\(holder) has a lock file for it: \(file.path)",
                remedy: "end it: kill \(processID)")
        }
    }

    private var serialNumber: Diagnosis? {
        guard let usb = port.usb else { return nil }
        if case .serialNumber(let number) = port.identity.distinction {
            return .ok("serial_number", port: port.path, "serial number \(number)")
        }
        return .warn(
            "serial_number", port: port.path, "no serial number of its own: it is known by the socket it is in",
            remedy: "leave it there, and name it --port usb:\(usb.identifier)@\(usb.physicalPath)")
    }

    private var latency: Diagnosis? {
        guard let timer = port.latencyTimer else { return nil }
        guard timer > 1 else { return .ok("latency", port: port.path, "the adapter passes a lone byte on after 1 ms") }
        let name = port.path.split(separator: "/").last ?? ""
        return .warn(
            "latency", port: port.path, "the adapter keeps a lone byte for \(timer) ms",
            remedy: "echo 1 | sudo tee /sys/bus/usb-serial/devices/\(name)/latency_timer; "
                + "for good: hardware/udev/70-pumpctl-ports.rules")
    }

    private var modemManager: Diagnosis? {
        guard port.usb != nil, programs.contains("ModemManager") else { return nil }
        guard !port.isKeptFromModemManager else {
            return .ok("modem_manager", port: port.path, "a rule keeps ModemManager off")
        }
        return .warn(
            "modem_manager", port: port.path, "ModemManager sends AT commands to it when it is plugged in",
            remedy: "sudo cp hardware/udev/70-pumpctl-ports.rules /etc/udev/rules.d/ && sudo udevadm control --reload, "
                + "then plug it in again")
    }

    private var baud: Diagnosis? {
        guard let baudRate, let driver = port.driver, let rates = AdapterRates.of(driver: driver) else { return nil }
        guard !rates.contains(baudRate) else {
            return .ok("baud_rate", port: port.path, "\(driver) can do \(baudRate) baud")
        }
        return .fail(
            "baud_rate", port: port.path, "\(driver) cannot do \(baudRate) baud",
            remedy: "choose a rate from \(rates.lowerBound) to \(rates.upperBound)", exit: .usage)
    }
}

/// The baud rates that adapters reach, by their drivers: from the drivers' sources and the chips' data sheets, of a family
/// the fastest. What a chip makes of an odd rate in between only opening it tells.
enum AdapterRates {
    private static let byDriver: [String: ClosedRange<Int>] = [
        "ch341": 46...2_000_000,
        "ftdi_sio": 183...12_000_000,
        "cp210x": 300...3_000_000,
        "pl2303": 75...12_000_000,
    ]

    static func of(driver: String) -> ClosedRange<Int>? { byDriver[driver] }
}
