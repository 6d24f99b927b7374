import Glibc

/// Finds the serial ports of this computer.
public enum SerialPortDiscovery {
    /// The ports that have a device behind them, sorted by name, with numbers as numbers. None of them is opened: opening a
    /// port can reset what is connected to it.
    ///
    /// Left out are virtual consoles, pseudo-terminals, and the `ttyS` that the kernel sets up for UARTs that are not there.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/system``, where the system cannot be asked.
    public static func ports() throws(SerialError) -> [SerialPortInfo] {
        var ports: [SerialPortInfo] = []
        try Udev().forEachPort { device in
            if let port = device.port { ports.append(port) }
        }
        return ports.sorted { $0.precedes($1) }
    }

    /// The USB devices that have a serial port on other computers, by the table of boards, and none here: the driver is
    /// missing, or another program took the device from it.
    ///
    /// - Throws: As ``ports()``.
    public static func devicesWithoutPort() throws(SerialError) -> [SerialPortInfo.USB] {
        let places = Set(try ports().compactMap { $0.usb?.physicalPath })
        var devices: [SerialPortInfo.USB] = []
        try Udev().forEachDevice(of: "usb") { device in
            guard let usb = device.asUSBDevice, !places.contains(usb.physicalPath),
                BoardTable.products.contains(where: { ($0.0, $0.1) == (usb.identifier.vendor, usb.identifier.product) })
            else { return }
            devices.append(usb)
        }
        return devices.sorted { $0.physicalPath < $1.physicalPath }
    }

    /// Whether udev runs here. Where it does not, as in most containers, ports have no links, and nothing is told of those
    /// that come and go.
    public static var isUdevRunning: Bool { access("/run/udev/control", F_OK) == 0 }
}

extension SerialPortInfo {
    /// The order of lists: `ttyUSB2` before `ttyUSB10`.
    func precedes(_ other: SerialPortInfo) -> Bool {
        let (left, right) = (path.numberedName, other.path.numberedName)
        return (left.name, left.number, path) < (right.name, right.number, other.path)
    }
}

extension String {
    /// The text up to a number at the end, and that number.
    fileprivate var numberedName: (name: Substring, number: Int) {
        let digits = reversed().prefix { ("0"..."9").contains($0) }.count
        return (dropLast(digits), Int(suffix(digits)) ?? -1)
    }
}
