internal import BlueZ

/// Serial ports over BLE that devices of any family may have.
extension GATTProfile {
    /// The HM-10 and compatible modules. At 9600 baud, their UART takes 20.8 ms for 20 bytes. They drop bytes that
    /// arrive faster.
    public static let hm10 = GATTProfile(
        "hm10", services: ["FFE0"], write: "FFE1", hear: "FFE1",
        alternative: "another device behind an HM-10", writeType: .command, chunkLength: 20,
        pacing: .milliseconds(21))

    /// The HM-BT4502W module (ble-serial#40). Its packets and their pauses are those of the HM-10.
    public static let bt4502w = GATTProfile(
        "bt4502w", services: ["FFE0", "FFE5"], write: "FFE9", hear: "FFE4",
        alternative: "another device behind an HM-BT4502W", writeType: .command, chunkLength: 20,
        pacing: .milliseconds(21))

    /// Microchip's transparent UART. The notifying characteristic is also writable, but the module ignores writes to
    /// that characteristic. Writes are requests, which the module confirms once its UART has room.
    public static let microchip = GATTProfile(
        "issc", services: ["49535343-FE7D-4AE5-8FA9-9FAFD205E455"], write: "49535343-8841-43F4-A8D4-ECBE34729BB3",
        hear: "49535343-1E4D-4BD9-BA61-23C647249616", alternative: "another device behind a Microchip module",
        writeType: .request, chunkLength: 20)

    /// The Nordic UART Service. Writes are requests, so that a message that is longer than a packet is still one write.
    public static let nordicUART = GATTProfile(
        "nus", services: ["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"], write: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E",
        hear: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E", alternative: "another device with Nordic's UART Service",
        writeType: .request, chunkLength: 510, keepsPacketBounds: true)
}
