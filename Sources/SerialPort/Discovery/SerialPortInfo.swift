internal import DescriptorIO
import Glibc

/// A serial port as the system describes it, without opening the port.
///
/// ```swift
/// for port in try SerialPortDiscovery.ports() {
///     print(port.path, port.usb?.serialNumber ?? "", port.board?.name ?? "")
/// }
/// ```
///
/// - ``identity`` finds the same device again under another name.
/// - ``board`` is the probable kind of the device.
/// - ``holders()`` returns the programs that have the port open.
public struct SerialPortInfo: Sendable, Hashable {
    /// The USB device behind a port.
    public struct USB: Sendable, Hashable {
        /// The vendor and product.
        public var identifier: USBIdentifier
        /// The manufacturer, as the device reports it; nil if the device reports none.
        public var manufacturer: String?
        /// The product name, as the device reports it; nil if the device reports none.
        public var product: String?
        /// The serial number, as the device reports it; nil if it has none, like most CH340 and PL2303 adapters
        /// (node-serialport#329).
        public var serialNumber: String?
        /// The USB port that the device is plugged into, as the kernel numbers bus and hub ports: `1-2.3` is port 3 of
        /// the hub in port 2 of bus 1.
        public var physicalPath: String
        /// The number of the device's interface that the port belongs to (`bInterfaceNumber`); nil if unknown.
        public var interfaceNumber: Int?
        /// The number of the port within the interface, from 0; nil if the driver does not number its ports.
        public var portNumber: Int?

        /// Creates a description of a device with its mandatory parts.
        ///
        /// - Parameters:
        ///   - identifier: The vendor and product.
        ///   - physicalPath: The USB port that the device is plugged into, such as `1-2.3`.
        public init(_ identifier: USBIdentifier, physicalPath: String) {
            self.identifier = identifier
            self.physicalPath = physicalPath
        }
    }

    /// The device node, such as `/dev/ttyUSB0`.
    public var path: String
    /// The symbolic links that udev created for the node, sorted.
    public var links: [String] = []
    /// The driver of the port, such as `ch341`, `ftdi_sio`, `cdc_acm`; nil if unknown.
    public var driver: String?
    /// The place where the port is connected, as udev's `ID_PATH` (not `ID_PATH_TAG`); nil if unknown. Unlike
    /// ``USB/physicalPath``, it stays the same if the buses are renumbered.
    public var pathTag: String?
    /// The USB device; nil for other kinds of ports.
    public var usb: USB?
    /// The time in milliseconds for which the adapter holds back a lone byte; nil if the driver has no such timer (all
    /// but FTDI's).
    public var latencyTimer: Int?
    /// Whether a udev rule tells ModemManager to leave the port alone (`ID_MM_DEVICE_IGNORE`, `ID_MM_PORT_IGNORE`).
    public var isKeptFromModemManager = false

    /// Creates a description of a port of which only the node is known.
    public init(path: String) {
        self.path = path
    }

    /// The links named after the device. If the device has a serial number, the links are the same whichever USB port
    /// the device is plugged into.
    public var byIDLinks: [String] { links.filter { $0.hasPrefix("/dev/serial/by-id/") } }

    /// The links named after the place where the port is connected.
    public var byPathLinks: [String] { links.filter { $0.hasPrefix("/dev/serial/by-path/") } }

    /// The probable kind of the device, by VID:PID; nil if unknown.
    public var board: Board? { usb.flatMap { Board(usb: $0.identifier) } }

    /// The identity of this device, valid while the computer runs: after a restart, the USB buses may have other
    /// numbers.
    public var identity: PortIdentity { PortIdentity(of: self) }

    /// Returns the error that opening the port would give, without opening the port: missing permission, a missing
    /// node, or a node that is no terminal; nil without such an obstacle. A busy port is not detected.
    public func obstacle() -> SerialError? {
        guard faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 else {
            return SerialError(opening: path, errno: errno)
        }
        return isNoTerminal ? SerialError(.notATerminal, errno: ENOTTY, activity: "opening", path: path) : nil
    }

    /// Whether the node is certainly no terminal. sysfs does not list pseudo-terminals.
    private var isNoTerminal: Bool {
        var node = stat()
        guard stat(path, &node) == 0 else { return false }
        guard node.st_mode & S_IFMT == S_IFCHR else { return true }
        let number = DeviceNumber(UInt64(node.st_rdev))
        let folder = "/sys/dev/char/\(number.major):\(number.minor)"
        guard let subsystem = realpath("\(folder)/subsystem", nil) else { return false }
        defer { free(subsystem) }
        return !String(cString: subsystem).hasSuffix("/tty")
    }

    /// Returns the processes that have the port open now; see ``PortHolder/all(of:)``.
    public func holders() -> [PortHolder] { PortHolder.all(of: path) }
}
