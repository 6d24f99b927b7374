public import BlueZ
internal import DescriptorIO
internal import Glibc

/// Identifiers of devices, the same for all programs of this computer: a program that looks for a device derives the
/// same identifier as the device's holder. Each identifier can be a file name.
public enum DeviceID {
    /// Returns the identifier of a BLE device, such as `ble-1f3a0c77-00:1A:7D:DA:71:13-00:15:83:00:00:10`.
    ///
    /// - Parameters:
    ///   - device: The address of the device.
    ///   - adapter: The address of the adapter that reaches the device.
    ///   - bus: The GUID of bluetoothd's bus, of which the identifier has the first 8 digits. A device of another
    ///     bluetoothd, such as one in a container or a test, has another identifier.
    public static func ble(_ device: BluetoothAddress, on adapter: BluetoothAddress, bus: String) -> String {
        "ble-\(bus.prefix(8))-\(adapter)-\(device)"
    }

    /// Returns whether an identifier from ``serialPort(at:)`` is the identifier of a USB serial port: Linux reserves
    /// the major numbers 188 and 166 for USB serial ports (Documentation/admin-guide/devices.txt).
    package static func isUSBSerialPort(_ id: String) -> Bool { id.hasPrefix("tty-188-") || id.hasPrefix("tty-166-") }

    /// Returns the identifier of a serial port, such as `tty-188-0`; nil if there is no device at the path.
    ///
    /// - Parameter path: Any path of the port; symbolic links are followed.
    public static func serialPort(at path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_rdev != 0 else { return nil }
        let number = DeviceNumber(UInt64(status.st_rdev))
        return "tty-\(number.major)-\(number.minor)"
    }
}
