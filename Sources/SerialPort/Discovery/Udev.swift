import CUdev
import Glibc

/// A connection to udev's database. The connection and its devices belong to one thread at a time.
final class Udev {
    let context: OpaquePointer

    /// Connects. Throws `system`; if libudev is not installed, with ELIBACC and a hint.
    init() throws(SerialError) {
        guard let context = udev_new() else {
            var error = SerialError(discovering: errno, activity: "listing")
            if error.errno == ELIBACC { error.hint = "install libudev1: apt install libudev1" }
            throw error
        }
        self.context = context
    }

    deinit { udev_unref(context) }

    /// Calls `body` with each device of the `tty` subsystem that has hardware.
    func forEachPort(_ body: (borrowing UdevDevice) -> Void) throws(SerialError) {
        try forEachDevice(of: "tty") { device in
            if device.hasHardware { body(device) }
        }
    }

    /// Calls `body` with each device of a subsystem.
    func forEachDevice(
        of subsystem: String, _ body: (borrowing UdevDevice) -> Void
    ) throws(SerialError) {
        guard let enumeration = udev_enumerate_new(context) else {
            throw SerialError(discovering: errno, activity: "listing")
        }
        defer { udev_enumerate_unref(enumeration) }
        udev_enumerate_add_match_subsystem(enumeration, subsystem)
        let result = udev_enumerate_scan_devices(enumeration)
        guard result >= 0 else { throw SerialError(discovering: -result, activity: "listing") }
        var entry = udev_enumerate_get_list_entry(enumeration)
        while let current = entry {
            // Skip a device that was unplugged in the meantime.
            if let pointer = udev_device_new_from_syspath(context, udev_list_entry_get_name(current)) {
                body(UdevDevice(pointer))
            }
            entry = udev_list_entry_get_next(current)
        }
    }
}

/// The udev events of the `tty` subsystem since this object was created.
final class UdevEvents {
    private let udev: Udev
    private let monitor: OpaquePointer

    /// The result of one attempt to receive an event.
    enum Received: ~Copyable {
        case device(UdevDevice)
        case nothing
        /// The socket's buffer overflowed, and events were lost.
        case overrun
    }

    init(_ udev: Udev) throws(SerialError) {
        self.udev = udev
        // "udev" events, unlike "kernel" events, come after the links and permissions were set.
        guard let monitor = udev_monitor_new_from_netlink(udev.context, "udev") else {
            throw SerialError(discovering: errno, activity: "watching")
        }
        self.monitor = monitor
        var result = udev_monitor_filter_add_match_subsystem_devtype(monitor, "tty", nil)
        if result >= 0 { result = udev_monitor_enable_receiving(monitor) }
        // All properties are set here, so that the deinitializer runs and releases the monitor even after an error.
        guard result >= 0 else { throw SerialError(discovering: -result, activity: "watching") }
    }

    deinit { udev_monitor_unref(monitor) }

    /// The descriptor, which is readable when an event is available.
    var descriptor: CInt { udev_monitor_get_fd(monitor) }

    /// Discards the queued events.
    func discardAll() {
        while true {
            if case .nothing = receive() { return }
        }
    }

    /// Receives the next event, without waiting. An error other than an overflow counts as `nothing`.
    func receive() -> Received {
        errno = 0
        while true {
            if let device = udev_monitor_receive_device(monitor) { return .device(UdevDevice(device)) }
            switch errno {
            case EINTR: errno = 0
            case ENOBUFS: return .overrun
            default: return .nothing
            }
        }
    }
}

/// A device as described by udev's database or by an event.
struct UdevDevice: ~Copyable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { udev_device_unref(pointer) }

    /// The device's path in sysfs, which identifies the device while it is present.
    var systemPath: String { String(cString: udev_device_get_syspath(pointer)) }

    /// The action of an event, such as `add` or `remove`; nil if the device does not come from an event.
    var action: String? { string(udev_device_get_action(pointer)) }

    /// Whether udev's rules for the device have run.
    var isInitialized: Bool { property("USEC_INITIALIZED") != nil }

    /// The description of the port; nil if the device has no node.
    var port: SerialPortInfo? {
        guard let path = string(udev_device_get_devnode(pointer)) else { return nil }
        var port = SerialPortInfo(path: path)
        port.links = (property("DEVLINKS") ?? "").split(separator: " ").map(String.init).sorted()
        port.pathTag = property("ID_PATH")
        port.usb = usb
        port.latencyTimer = udev_device_get_parent(pointer).flatMap { attribute("latency_timer", of: $0) }
            .flatMap { Int($0) }
        port.isKeptFromModemManager = isKeptFromModemManager
        // A USB port has a further driver on the bus usb-serial, often of another name: `ch341-uart` for `ch341`.
        port.driver = port.usb == nil ? driverOfParents : property(of: interface, udev_device_get_driver)
        return port
    }

    private var isKeptFromModemManager: Bool {
        let device = udev_device_get_parent_with_subsystem_devtype(pointer, "usb", "usb_device")
        return property("ID_MM_PORT_IGNORE") == "1"
            || device.flatMap { string(udev_device_get_property_value($0, "ID_MM_DEVICE_IGNORE")) } == "1"
    }

    /// Whether there is hardware behind the node, by the rule of pyserial's `list_ports`.
    ///
    /// Virtual consoles and pseudo-terminals have no parent. A `ttyS` node that the kernel created without finding a
    /// UART has type 0, or, if the type is unknown, a platform device as its parent.
    var hasHardware: Bool {
        guard let parent = hardwareParent else { return false }
        if let type = attribute("type", of: pointer) { return type != "0" }
        return string(udev_device_get_subsystem(parent)) != "platform"
    }

    /// The nearest parent that is hardware. Since Linux 6.5, the port and controller objects of a UART are in between.
    private var hardwareParent: OpaquePointer? {
        var parent = udev_device_get_parent(pointer)
        while let current = parent, string(udev_device_get_subsystem(current)) == "serial-base" {
            parent = udev_device_get_parent(current)
        }
        return parent
    }

    private var driverOfParents: String? {
        var parent = hardwareParent
        while let current = parent {
            if let driver = string(udev_device_get_driver(current)) { return driver }
            parent = udev_device_get_parent(current)
        }
        return nil
    }

    // MARK: USB

    private var interface: OpaquePointer? {
        udev_device_get_parent_with_subsystem_devtype(pointer, "usb", "usb_interface")
    }

    private var usb: SerialPortInfo.USB? {
        guard let device = udev_device_get_parent_with_subsystem_devtype(pointer, "usb", "usb_device"),
            var usb = usbDevice(device)
        else { return nil }
        // bInterfaceNumber is hexadecimal, port_number decimal.
        usb.interfaceNumber = interface.flatMap { attribute("bInterfaceNumber", of: $0) }.flatMap { Int($0, radix: 16) }
        let number = udev_device_get_parent(pointer).flatMap { attribute("port_number", of: $0) }
        usb.portNumber = number.flatMap { Int($0) }
        return usb
    }

    /// The description of this device as a USB device; nil if it is none.
    var asUSBDevice: SerialPortInfo.USB? { usbDevice(pointer) }

    private func usbDevice(_ device: OpaquePointer) -> SerialPortInfo.USB? {
        guard
            let identifier = USBIdentifier(
                vendor: attribute("idVendor", of: device), product: attribute("idProduct", of: device)),
            let name = string(udev_device_get_sysname(device))
        else { return nil }
        var usb = SerialPortInfo.USB(identifier, physicalPath: name)
        usb.manufacturer = attribute("manufacturer", of: device)
        usb.product = attribute("product", of: device)
        usb.serialNumber = attribute("serial", of: device)
        return usb
    }

    // MARK: Strings

    private func property(_ name: String) -> String? { string(udev_device_get_property_value(pointer, name)) }

    private func property(
        of device: OpaquePointer?, _ function: (OpaquePointer?) -> UnsafePointer<CChar>?
    ) -> String? {
        device.flatMap { string(function($0)) }
    }

    /// Returns a sysfs attribute without surrounding white space; nil if absent or empty.
    private func attribute(_ name: String, of device: OpaquePointer) -> String? {
        guard let value = string(udev_device_get_sysattr_value(device, name)) else { return nil }
        let trimmed = value.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        return trimmed.isEmpty ? nil : String(trimmed)
    }

    private func string(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
}

extension SerialError {
    /// Creates the error for a failed call to udev.
    init(discovering errno: Int32, activity: String) {
        self.init(.system, errno: errno, activity: activity, path: "serial ports")
    }
}
