import SerialPort

/// The checks of one port; none of them opens it.
struct PortCheckup {
    let port: SerialPortInfo
    /// The baud rate that is wanted; nil if none was named.
    let baudRate: Int?
    /// The programs that run, by their names.
    let programs: Set<String>

    var diagnoses: [Diagnosis] {
        if let error = port.obstacle(), error.code != .notPermitted {
            return [.fail("present", port: port.path, error.reason, remedy: error.hint, exit: .noInput)]
        }
        return [present, permission, holder, serialNumber, latency, modemManager, baud].compactMap { $0 }
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
        let holders = port.holders()
        guard let holder = holders.first else { return .ok("holder", port: port.path, "no other program has it open") }
        let names = holders.map(\.description).joined(separator: ", ")
        let remedy = "kill \(holder.processID)"
        return holder.holdsLock
            ? .fail("holder", port: port.path, "locked by \(names)", remedy: remedy, exit: .unavailable)
            : .warn("holder", port: port.path, "open in \(names), which takes part of the answers", remedy: remedy)
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
