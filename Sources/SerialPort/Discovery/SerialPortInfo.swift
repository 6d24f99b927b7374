import Glibc

/// What the system knows of a serial port, without opening it.
///
/// ```swift
/// for port in try SerialPortDiscovery.ports() {
///     print(port.path, port.usb?.serialNumber ?? "", port.board?.name ?? "")
/// }
/// ```
///
/// ## Topics
/// - ``identity`` to find the same device again under whatever name it has then
/// - ``board`` for what it probably is
/// - ``holders()`` for who uses it now
public struct SerialPortInfo: Sendable, Hashable {
    /// The USB device behind a port.
    public struct USB: Sendable, Hashable {
        /// Vendor and product.
        public var identifier: USBIdentifier
        /// The manufacturer, as the device says it.
        public var manufacturer: String?
        /// The product, as the device says it.
        public var product: String?
        /// The serial number, as the device says it. Most CH340 and PL2303 adapters have none (node-serialport#329).
        public var serialNumber: String?
        /// Where it is plugged in, as the kernel numbers bus and hub ports: `1-2.3` is port 3 of the hub in port 2 of bus 1.
        public var physicalPath: String
        /// Which of the device's interfaces the port belongs to, where several can be: `bInterfaceNumber`.
        public var interfaceNumber: Int?
        /// Which of the interface's ports it is, from 0; nil where the driver does not count them.
        public var portNumber: Int?

        /// A device with the parts that every device has.
        public init(_ identifier: USBIdentifier, physicalPath: String) {
            self.identifier = identifier
            self.physicalPath = physicalPath
        }
    }

    /// The device node, as in `/dev/ttyUSB0`.
    public var path: String
    /// The symbolic links to the node that udev made, sorted.
    public var links: [String] = []
    /// The driver that serves it, as in `ch341`, `ftdi_sio`, `cdc_acm`.
    public var driver: String?
    /// Where it is connected, as udev's `ID_PATH` has it; unlike ``USB/physicalPath`` it outlives a renumbering of the buses.
    public var pathTag: String?
    /// The USB device; nil for a port of another kind.
    public var usb: USB?
    /// How long the adapter keeps a lone byte back, in milliseconds; nil where the driver has no such timer (all but FTDI's).
    public var latencyTimer: Int?
    /// Whether a rule of udev tells ModemManager to leave the port alone (`ID_MM_DEVICE_IGNORE`, `ID_MM_PORT_IGNORE`).
    public var isKeptFromModemManager = false

    /// A port of which only the node is known.
    public init(path: String) {
        self.path = path
    }

    /// The links that name the device: they follow it from socket to socket where it has a serial number.
    public var byIDLinks: [String] { links.filter { $0.hasPrefix("/dev/serial/by-id/") } }

    /// The links that name the socket.
    public var byPathLinks: [String] { links.filter { $0.hasPrefix("/dev/serial/by-path/") } }

    /// What it probably is, by its VID:PID; nil where that says nothing.
    public var board: Board? { usb.flatMap { Board(usb: $0.identifier) } }

    /// What tells this device from others for as long as the computer runs.
    public var identity: PortIdentity { PortIdentity(of: self) }

    /// Why this user may not open the port, or that it is gone; nil where nothing is in the way. It is not opened.
    public func obstacle() -> SerialError? {
        guard faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 else {
            return SerialError(opening: path, errno: errno)
        }
        return isNoTerminal ? SerialError(.notATerminal, errno: ENOTTY, activity: "opening", path: path) : nil
    }

    /// Whether the node is known to be no terminal. Of a pseudo-terminal, sysfs knows nothing.
    private var isNoTerminal: Bool {
        var node = stat()
        guard stat(path, &node) == 0 else { return false }
        guard node.st_mode & S_IFMT == S_IFCHR else { return true }
        // As glibc's gnu_dev_major and gnu_dev_minor, which are macros.
        let device = node.st_rdev
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let number = "\(major):\(device & 0xFF | device >> 12 & ~0xFF)"
        guard let subsystem = realpath("/sys/dev/char/\(number)/subsystem", nil) else { return false }
        defer { free(subsystem) }
        return !String(cString: subsystem).hasSuffix("/tty")
    }

    /// The processes that have the port open now; see ``PortHolder/all(of:)``.
    public func holders() -> [PortHolder] { PortHolder.all(of: path) }
}
