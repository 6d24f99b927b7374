internal import LineProtocol
internal import SerialPort

/// The checks of the computer as a whole.
struct SystemCheckup {
    /// The names of the running programs.
    let programs: Set<String>
    let ports: [SerialPortInfo]
    let devicesWithoutPort: [SerialPortInfo.USB]
    let kernel: Kernel
    let libraries: SharedLibraries
    var rules = UdevRules()

    var findings: [Finding] {
        [adapterDrivers, library, udev, usbPorts] + devicesWithoutPort.map(portless) + [brltty].compactMap { $0 }
    }

    private var adapterDrivers: Finding {
        guard let missing = kernel.missingDrivers else { return .unknown(.kernel, "Linux \(kernel.release)") }
        guard !missing.isEmpty else { return .good(.kernel, "Linux \(kernel.release)") }
        return .warning(
            .kernel, "Linux \(kernel.release) lacks drivers for USB adapters: \(missing.joined(separator: ", "))",
            "install a kernel with these drivers, not a cloud kernel; on Debian: sudo apt install linux-image-amd64")
    }

    private var library: Finding {
        .good(.libraries, .text("libudev is \(libraries.path(of: "libudev") ?? "loaded")"))
    }

    private var udev: Finding {
        SerialPortDiscovery.isUdevRunning
            ? .good(.udev, "udev runs")
            : .warning(
                .udev, "udev is not running: ports have no links, and plugging and unplugging are not noticed",
                .leaveContainer(orGiveIt: "/run/udev and the host's network"))
    }

    private var usbPorts: Finding {
        let count = ports.count { $0.usb != nil }
        return count > 0
            ? .good(.usbPorts, count == 1 ? "1 USB serial port" : "\(count) USB serial ports")
            : .warning(.usbPorts, "there is no USB serial port", "plug the device in; some cables only charge")
    }

    private func portless(_ usb: SerialPortInfo.USB) -> Finding {
        let name = Board(usb: usb.identifier)?.name ?? "\(usb.identifier)"
        let isTaken = programs.contains("brltty")
        return .bad(
            .driver, "a \(name) (\(usb.identifier)) is plugged in at \(usb.physicalPath), but has no port",
            isTaken
                ? "stop brltty, which takes adapters: sudo systemctl stop brltty; then plug the device in again"
                : .run(RootCommand("modprobe", Self.driver(of: usb.identifier)), after: "load its driver: "), .notFound)
    }

    private var brltty: Finding? {
        guard programs.contains("brltty") else { return nil }
        if let file = rules.brltty { return .good(.brltty, "brltty runs, and \(file) keeps it away from adapters") }
        let file = rules.brlttyExample ?? "hardware/udev/99-pumpctl-brltty.rules"
        return .warning(
            .brltty, "brltty runs, and mistakes CH340, FTDI and CP210x adapters for braille displays",
            .run(
                RootCommand("systemctl", "disable", "--now", "brltty"),
                // The option replaces a link to /dev/null that disables the rule; else cp would write to /dev/null.
                then: "; or sudo cp --remove-destination \(file) /etc/udev/rules.d/, then plug the device in again"))
    }

    private static func driver(of identifier: USBIdentifier) -> String {
        switch identifier.vendor {
        case 0x1A86, 0x4348: "ch341"
        case 0x0403: "ftdi_sio"
        case 0x10C4: "cp210x"
        case 0x067B: "pl2303"
        default: "cdc_acm"
        }
    }
}
