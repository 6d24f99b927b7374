import SerialPort

/// The checks of the computer as a whole.
struct SystemCheckup {
    /// The programs that run, by their names.
    let programs: Set<String>
    let ports: [SerialPortInfo]
    let devicesWithoutPort: [SerialPortInfo.USB]
    let kernel: Kernel
    let libraries: SharedLibraries

    var diagnoses: [Diagnosis] {
        [adapterDrivers, library, udev, usbPorts] + devicesWithoutPort.map(portless) + [brltty].compactMap { $0 }
    }

    private var adapterDrivers: Diagnosis {
        guard let missing = kernel.missingDrivers, !missing.isEmpty else {
            return .ok("kernel", "Linux \(kernel.release)")
        }
        return .warn(
            "kernel", "Linux \(kernel.release) has no driver \(missing.joined(separator: ", ")) for USB adapters",
            remedy: "install a kernel that has, on Debian: sudo apt install linux-image-amd64, not a cloud kernel")
    }

    private var library: Diagnosis {
        .ok("libraries", libraries.path(of: "libudev").map { "libudev is \($0)" } ?? "libudev is linked in")
    }

    private var udev: Diagnosis {
        SerialPortDiscovery.isUdevRunning
            ? .ok("udev", "udev runs")
            : .warn(
                "udev", "udev does not run here: ports have no links, and those that come and go are not noticed",
                remedy: "run pumpctl on the computer itself, or give the container /run/udev and the host's network")
    }

    private var usbPorts: Diagnosis {
        let count = ports.count { $0.usb != nil }
        return count > 0
            ? .ok("usb_ports", count == 1 ? "1 USB serial port" : "\(count) USB serial ports")
            : .warn("usb_ports", "there is no USB serial port", remedy: "plug the device in; some cables only charge")
    }

    private func portless(_ usb: SerialPortInfo.USB) -> Diagnosis {
        let name = Board(usb: usb.identifier)?.name ?? "\(usb.identifier)"
        let isTaken = programs.contains("brltty")
        return .fail(
            "driver", "a \(name) (\(usb.identifier)) is plugged in at \(usb.physicalPath) and has no port",
            remedy: isTaken
                ? "brltty took it: sudo systemctl stop brltty, then plug it in again"
                : "load its driver: sudo modprobe \(Self.driver(of: usb.identifier))", exit: .noInput)
    }

    private var brltty: Diagnosis? {
        guard programs.contains("brltty") else { return nil }
        return .warn(
            "brltty", "brltty runs, and takes CH340, FTDI and CP210x adapters for braille displays",
            remedy: "sudo systemctl disable --now brltty; or hardware/udev/99-pumpctl-brltty.rules")
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
