import Glibc

/// Finds the serial ports of this computer.
public enum SerialPortDiscovery {
    /// Returns the ports that have a device, sorted by name, with numbers in numerical order.
    ///
    /// No port is opened: opening a port can reset the device. Virtual consoles, pseudo-terminals, and the `ttyS` nodes
    /// that the kernel creates for missing UARTs are left out.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/system`` if udev fails.
    public static func ports() throws(SerialError) -> [SerialPortInfo] {
        var ports: [SerialPortInfo] = []
        try Udev().forEachPort { device in
            if let port = device.port { ports.append(port) }
        }
        return ports.sorted { $0.precedes($1) }
    }

    /// Returns the USB devices that should have a serial port, according to the table of boards, but have none here,
    /// for example because the driver is missing, or because another program detached the driver.
    ///
    /// - Throws: ``SerialError``, as ``ports()`` does.
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

    /// Whether udev runs here. Without it, as in most containers, ports have no links, and plugging and unplugging is
    /// not reported.
    public static var isUdevRunning: Bool { access("/run/udev/control", F_OK) == 0 }
}

extension SerialPortInfo {
    /// Whether this port comes before another one in lists: `ttyUSB2` is before `ttyUSB10`.
    func precedes(_ other: SerialPortInfo) -> Bool {
        let (left, right) = (path.numberedName, other.path.numberedName)
        return (left.name, left.number, path) < (right.name, right.number, other.path)
    }
}

extension String {
    /// The text before a number at the end, and that number, or -1 if there is none.
    fileprivate var numberedName: (name: Substring, number: Int) {
        let digits = reversed().prefix { ("0"..."9").contains($0) }.count
        return (dropLast(digits), Int(suffix(digits)) ?? -1)
    }
}
