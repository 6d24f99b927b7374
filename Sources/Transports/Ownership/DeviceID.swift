public import BlueZ
internal import DescriptorIO
internal import Glibc

/// What tells one device from all others for the programs of this computer: the same for who has the device and for who
/// seeks it. It can be the name of a file.
public enum DeviceID {
    /// A BLE device, as an adapter of one bluetoothd reaches it: `ble-1f3a0c77-00:1A:7D:DA:71:13-00:15:83:00:00:10`.
    ///
    /// - Parameter bus: The identity of the bus that bluetoothd is on: what another bluetoothd has, as in a container or in
    ///   a test, is another device.
    public static func ble(_ device: BluetoothAddress, on adapter: BluetoothAddress, bus: String) -> String {
        "ble-\(bus.prefix(8))-\(adapter)-\(device)"
    }

    /// Whether a serial port, by what ``serialPort(at:)`` gives, is one of a USB device: Linux has the major numbers 188 and
    /// 166 for these (Documentation/admin-guide/devices.txt).
    package static func isUSBSerialPort(_ id: String) -> Bool { id.hasPrefix("tty-188-") || id.hasPrefix("tty-166-") }

    /// A serial port, by any of its names: `tty-188-0`; nil where no device is there.
    public static func serialPort(at path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_rdev != 0 else { return nil }
        let number = DeviceNumber(UInt64(status.st_rdev))
        return "tty-\(number.major)-\(number.minor)"
    }
}
