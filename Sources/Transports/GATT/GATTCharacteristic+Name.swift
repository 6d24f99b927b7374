public import BlueZ

extension GATTCharacteristic {
    /// The common name, from the assigned numbers of the Bluetooth SIG or from a known BLE serial port; nil if there is
    /// none.
    public var knownName: String? { Self.names[uuid] }

    /// Common assigned numbers, and the characteristics of BLE serial ports with their directions.
    private static let names: [BluetoothUUID: String] = [
        "2A00": "Device Name", "2A01": "Appearance", "2A04": "Preferred Connection Parameters",
        "2A05": "Service Changed", "2A08": "Date Time", "2A0F": "Local Time Information", "2A19": "Battery Level",
        "2A1C": "Temperature Measurement", "2A1D": "Temperature Type", "2A1E": "Intermediate Temperature",
        "2A23": "System ID", "2A24": "Model Number", "2A25": "Serial Number", "2A26": "Firmware Revision",
        "2A27": "Hardware Revision", "2A28": "Software Revision", "2A29": "Manufacturer Name",
        "2A2A": "Regulatory Certification", "2A2B": "Current Time", "2A35": "Blood Pressure Measurement",
        "2A37": "Heart Rate Measurement", "2A38": "Body Sensor Location", "2A39": "Heart Rate Control Point",
        "2A4D": "Report", "2A50": "PnP ID", "2A5B": "Speed and Cadence Measurement",
        "2A5F": "Pulse Oximeter Measurement",
        "2A63": "Cycling Power Measurement", "2A6D": "Pressure", "2A6E": "Temperature", "2A6F": "Humidity",
        "2A77": "Irradiance", "2A9D": "Weight Measurement", "2AA6": "Central Address Resolution",
        "2B29": "Client Supported Features", "2B2A": "Database Hash", "2B3A": "Server Supported Features",
        "FFE1": "HM-10 serial", "FFE4": "BT4502W, notifies", "FFE9": "BT4502W, is written",
        "6E400002-B5A3-F393-E0A9-E50E24DCCA9E": "Nordic UART, is written",
        "6E400003-B5A3-F393-E0A9-E50E24DCCA9E": "Nordic UART, notifies",
        "49535343-8841-43F4-A8D4-ECBE34729BB3": "Microchip UART, is written",
        "49535343-1E4D-4BD9-BA61-23C647249616": "Microchip UART, notifies",
    ]
}
