/// The subject of a check. The raw value is a stable identifier for programs.
public enum Check: String, Sendable, Hashable, CaseIterable {
    // MARK: The computer

    /// The kernel and its drivers for USB-serial adapters.
    case kernel
    /// The libraries for finding ports.
    case libraries
    /// Whether udev runs, and so reports plugging and unplugging.
    case udev
    /// Whether there is a USB serial port.
    case usbPorts = "usb_ports"
    /// A USB device that should have a serial port, but has none here.
    case driver
    /// The program for braille displays, which claims adapters.
    case brltty

    // MARK: A port

    /// The presence and kind of the port.
    case present
    /// Whether this user may open the port.
    case permission
    /// The programs that have the port open.
    case holder
    /// The state of a device that pumpctld shares, or a pumpctld of another version.
    case daemon
    /// A lock file by which a program claims the port.
    case lockFile = "lock_file"
    /// Whether the device has a serial number that distinguishes it from others of its kind.
    case serialNumber = "serial_number"
    /// The time for which the adapter holds back a lone byte.
    case latency
    /// Whether ModemManager sends commands to the port.
    case modemManager = "modem_manager"
    /// Whether the adapter supports the baud rate.
    case baudRate = "baud_rate"

    // MARK: Bluetooth

    /// The absence of a Bluetooth adapter, if none is needed.
    case bluetooth
    /// The D-Bus library.
    case libdbus
    /// Whether bluetoothd runs and answers.
    case bluetoothd
    /// The version of BlueZ and its missing features.
    case bluezVersion = "bluez_version"
    /// The rfkill switches of the radio.
    case rfkill
    /// The Bluetooth adapters.
    case adapter
    /// Whether bluetoothd reads the battery of phones that connect.
    case phones
    /// Whether notifications can arrive out of order.
    case channels

    // MARK: A BLE device

    /// Whether the device is in range.
    case inSight = "in_sight"
    /// Whether the name leads to one device, and to the same as before.
    case name
    /// Whether a program is connected to the device.
    case connection
    /// The advertised services.
    case services
    /// The profile and family of the device.
    case profile
}
