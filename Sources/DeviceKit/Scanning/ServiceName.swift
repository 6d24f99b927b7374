public import BlueZ

/// Names of GATT services for people.
public enum ServiceName {
    /// Returns the name of a service, or else its UUID; a long UUID is shortened.
    private static func of(_ service: BluetoothUUID) -> String {
        names[service] ?? (service.shortValue == nil ? service.text.prefix(8) + "…" : service.description)
    }

    /// Returns the name of a service; nil if the service has no known name.
    public static func known(_ service: BluetoothUUID) -> String? { names[service] ?? attributes[service] }

    /// Returns the names of a device's services, as in `HM-10 serial, Battery`. Services that every device has are left
    /// out. A service without a name is shown by its UUID, shortened if it is long.
    public static func list(_ services: [BluetoothUUID]) -> String {
        services.filter { attributes[$0] == nil }.map(of).joined(separator: ", ")
    }

    /// The services that every device has.
    private static let attributes: [BluetoothUUID: String] = ["1800": "Generic Access", "1801": "Generic Attribute"]

    /// The services of the families, and common services from the Bluetooth SIG's assigned numbers.
    private static let names: [BluetoothUUID: String] = [
        "FFE0": "HM-10 serial",
        "FFE5": "BT4502W serial",
        "6E400001-B5A3-F393-E0A9-E50E24DCCA9E": "Nordic UART",
        "49535343-FE7D-4AE5-8FA9-9FAFD205E455": "Microchip UART",
        // From a widely copied example, on which the storm sensor's firmware is based too.
        "4FAFC201-1FB5-459E-8FCC-C5C9C331914B": "ESP32 example",
        "937312E0-2354-11EB-9F10-FBC30A62CF38": "LED board",
        "FFF0": "FFF0 serial",
        "1805": "Current Time", "1809": "Thermometer", "180A": "Device Information", "180D": "Heart Rate",
        "180F": "Battery", "1810": "Blood Pressure", "1812": "HID", "1816": "Cycling Speed", "1818": "Cycling Power",
        "181A": "Environment", "181D": "Weight", "1822": "Pulse Oximeter", "1826": "Fitness Machine",
        "183B": "Binary Sensor", "1844": "Volume Control", "184E": "Audio Stream", "FD6F": "Exposure Notification",
        "FE2C": "Fast Pair", "FE59": "Nordic DFU", "FE95": "Xiaomi", "FEAA": "Eddystone", "FEED": "Tile",
        "FCD2": "BTHome",
    ]
}
