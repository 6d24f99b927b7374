internal import DescriptorIO
internal import DeviceKit
internal import Glibc
internal import LineProtocol
internal import SerialPort
internal import Transports

/// The checks of a port. None of them opens the port.
struct PortCheckup {
    let port: SerialPortInfo
    /// The other users of the port.
    let use: PortUse
    /// The number of processes whose open files were visible, and of processes whose open files were not.
    let processes: (seen: Int, unseen: Int)
    /// The requested baud rate; nil if none was named.
    let baudRate: Int?
    /// The names of the running programs.
    let programs: Set<String>
    /// The daemons that may have the port open.
    var daemons = Daemons()
    var rules = UdevRules()
    /// Returns an instruction to end processes that have the port open.
    var endingHint = { (processes: [Int32]) in HoldingProcess.endingHint(processes) }

    var findings: [Finding] {
        if let error = port.obstacle(), error.code != .notPermitted {
            return [.bad(.present, of: port.path, .text(error.reason), error.hint.map { .advice($0) }, .notFound)]
        }
        return [present, permission, holder].compactMap { $0 } + lockFiles
            + [serialNumber, latency, modemManager, baud].compactMap { $0 }
    }

    private var present: Finding {
        let facts = [port.board?.description, port.usb?.identifier.description, port.driver.map { "driver \($0)" }]
        let text = facts.compactMap { $0 }.joined(separator: ", ")
        return .good(.present, of: port.path, text.isEmpty ? "found" : "found: \(text)")
    }

    private var permission: Finding {
        guard let error = port.obstacle() else { return .good(.permission, of: port.path, "you may open the port") }
        let group = NodePermissions(path: port.path)?.joinableGroup(after: error.errno ?? EACCES)
        return .bad(
            .permission, of: port.path, "permission denied", error.hint.map { .joining(group, $0) }, .notPermitted)
    }

    private var holder: Finding {
        if let device = daemons.device(of: DeviceID.serialPort(at: port.path)) {
            return .good(
                .holder, of: port.path, "open in pumpctld, which shares it as \(device.name)",
                .nameShared(endpoint: device.sharedEndpoint))
        }
        guard let first = use.holders.first else { return noHolder }
        let names = use.holders.map(\.description).joined(separator: ", ")
        if first.command == "pumpctld", let hint = daemons.permissionHint {
            return .bad(
                .holder, of: port.path, "open in \(names), which you may not use",
                .joining(daemons.joinableGroup, hint), .busy)
        }
        if first.command == "pumpctld" {
            return .bad(
                .holder, of: port.path, "open in \(names)",
                .advice(Daemons.hint(onUnknownSocketOf: HoldingProcess(first.processID))), .busy)
        }
        let remedy = Remedy.advice(endingHint(use.holders.map(\.processID)))
        return first.holdsLock
            ? .bad(.holder, of: port.path, "locked by \(names)", remedy, .busy)
            : .warning(.holder, of: port.path, "open in \(names): some replies may go there", remedy)
    }

    /// The finding that no holder was found, with the number of examined processes: only root sees the open files of
    /// other users' processes.
    private var noHolder: Finding {
        let seen = "none of the \(processes.seen) visible processes has the port open"
        guard processes.unseen > 0 else { return .good(.holder, of: port.path, .text(seen)) }
        return .unknown(
            .holder, of: port.path,
            "\(seen); \(processes.unseen) of other users are not visible: use 'sudo fuser -v \(port.path)'")
    }

    /// The findings for lock files in /run/lock, by programs such as minicom and picocom.
    private var lockFiles: [Finding] {
        use.lockFiles.map { file in
            guard let processID = file.processID else {
                return .warning(
                    .lockFile, of: port.path, "\(file.path) contains no process ID", "rm \(file.path)")
            }
            guard let holder = file.holder else {
                return .good(
                    .lockFile, of: port.path,
                    "\(file.path) is stale: its process \(processID) no longer runs")
            }
            return .warning(
                .lockFile, of: port.path, "\(holder) has a lock file for the port: \(file.path)",
                .advice(endingHint([processID])))
        }
    }

    private var serialNumber: Finding? {
        guard let usb = port.usb else { return nil }
        if case .serialNumber(let number) = port.identity.distinction {
            return .good(.serialNumber, of: port.path, "serial number \(number)")
        }
        return .warning(
            .serialNumber, of: port.path, "no unique serial number: the device is identified by its USB socket",
            .nameBySocket(endpoint: "usb:\(usb.identifier)@\(usb.physicalPath)"))
    }

    private var latency: Finding? {
        guard let timer = port.latencyTimer else { return nil }
        guard timer > 1 else { return .good(.latency, of: port.path, "the adapter forwards a lone byte after 1 ms") }
        let name = port.path.split(separator: "/").last ?? ""
        let lasting =
            rules.ports.map { "with \($0) installed, plugging it in again does this" }
            ?? rules.portsMask.map { "permanently: sudo rm \($0), which disables the rule for it" }
            ?? "permanently: hardware/udev/70-pumpctl-ports.rules"
        return .warning(
            .latency, of: port.path, "the adapter delays a lone byte by \(timer) ms",
            .advice("echo 1 | sudo tee /sys/bus/usb-serial/devices/\(name)/latency_timer; \(lasting)"))
    }

    private var modemManager: Finding? {
        guard let usb = port.usb, programs.contains("ModemManager") else { return nil }
        guard !port.isKeptFromModemManager else {
            return .good(.modemManager, of: port.path, "a udev rule keeps ModemManager off")
        }
        return .warning(
            .modemManager, of: port.path, "ModemManager sends AT commands to the device when it is plugged in",
            .advice(rule(for: usb.identifier)))
    }

    /// Returns an instruction that makes a udev rule keep ModemManager off a device.
    private func rule(for device: USBIdentifier) -> String {
        let reload = " && sudo udevadm control --reload, then plug it in again"
        guard UdevRules.vendors.contains(device.vendor) else {
            let vendor = USBIdentifier.digits(device.vendor)
            let rule = #"SUBSYSTEM=="usb", ATTR{idVendor}=="\#(vendor)", ENV{ID_MM_DEVICE_IGNORE}="1""#
            return "echo '\(rule)' | sudo tee /etc/udev/rules.d/70-modemmanager-\(vendor).rules" + reload
        }
        if let file = rules.ports { return "plug it in again, so that \(file) takes effect" }
        if let mask = rules.portsMask { return "remove the link that disables the rule: sudo rm \(mask)" + reload }
        return "sudo cp hardware/udev/70-pumpctl-ports.rules /etc/udev/rules.d/" + reload
    }

    private var baud: Finding? {
        guard let baudRate, let driver = port.driver, let rates = AdapterRates.of(driver: driver) else { return nil }
        guard !rates.contains(baudRate) else {
            return .good(.baudRate, of: port.path, "\(driver) supports \(baudRate) baud")
        }
        return .bad(
            .baudRate, of: port.path, "\(driver) does not support \(baudRate) baud",
            "choose a rate from \(rates.lowerBound) to \(rates.upperBound)", .unsupported)
    }
}

/// The baud rates that adapters support, by driver: from the drivers' sources and the chips' data sheets, for the
/// fastest chip of each family. Only opening the port shows the actual rate for an unusual value within the range.
enum AdapterRates {
    private static let byDriver: [String: ClosedRange<Int>] = [
        "ch341": 46...2_000_000,
        "ftdi_sio": 183...12_000_000,
        "cp210x": 300...3_000_000,
        "pl2303": 75...12_000_000,
    ]

    static func of(driver: String) -> ClosedRange<Int>? { byDriver[driver] }
}
