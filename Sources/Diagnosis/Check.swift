/// What a check looks at; its raw value is a stable word for programs.
public enum Check: String, Sendable, Hashable, CaseIterable {
    // MARK: The computer

    /// The kernel, and its drivers for USB-serial adapters.
    case kernel
    /// The libraries that finding ports needs.
    case libraries
    /// Whether udev tells of ports that come and go.
    case udev
    /// Whether there is a port of a USB device.
    case usbPorts = "usb_ports"
    /// A USB device that has a port on other computers, and none here.
    case driver
    /// The program for braille displays that takes adapters.
    case brltty

    // MARK: A port

    /// Whether it is there, and what it is.
    case present
    /// Whether this user may open it.
    case permission
    /// Who has it open.
    case holder
    /// Whether a daemon, pumpctld, shares it.
    case daemon
    /// A file by which a program claims it.
    case lockFile = "lock_file"
    /// Whether its device can be told from others of its kind.
    case serialNumber = "serial_number"
    /// How long the adapter keeps a lone byte back.
    case latency
    /// Whether ModemManager sends something to it.
    case modemManager = "modem_manager"
    /// Whether the adapter can do the rate.
    case baudRate = "baud_rate"

    // MARK: Bluetooth

    /// Whether there is Bluetooth at all, where none is needed.
    case bluetooth
    /// The library that talks to the bus.
    case libdbus
    /// Whether bluetoothd runs and answers.
    case bluetoothd
    /// What the version of BlueZ can do.
    case bluezVersion = "bluez_version"
    /// The switches that keep the radio off.
    case rfkill
    /// The Bluetooth adapters.
    case adapter
    /// What bluetoothd does to phones that connect.
    case phones
    /// Whether notifications can overtake one another.
    case channels

    // MARK: A BLE device

    /// Whether it is in sight.
    case inSight = "in_sight"
    /// Whether its name means it alone.
    case name
    /// Whether a program is connected to it.
    case connection
    /// What services it offers.
    case services
    /// Of what family it is.
    case profile
}
