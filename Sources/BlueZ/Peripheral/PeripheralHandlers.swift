/// What a device does about what centrals do. All of it is called on the loop's thread, in the order of what happened.
public struct PeripheralHandlers: Sendable {
    /// Gives the whole value of a characteristic, from which as much is sent as was asked for; nil for the value that was
    /// written or notified last.
    public typealias Read = @Sendable (BluetoothUUID, ATTRequest) throws(ATTError) -> [UInt8]?
    /// Takes what was written to a characteristic, from ``ATTRequest/offset`` on.
    public typealias Write = @Sendable ([UInt8], BluetoothUUID, ATTRequest) throws(ATTError) -> Void
    /// Told of each central that wants to be told of a characteristic of ``LocalCharacteristic/Delivery/toEach``.
    public typealias Subscribe = @Sendable (BluetoothUUID, ATTRequest) -> Void

    public var write: Write?
    public var read: Read?
    public var subscribe: Subscribe?
    public var event: (@Sendable (PeripheralEvent) -> Void)?

    public init(
        write: Write? = nil, read: Read? = nil, subscribe: Subscribe? = nil,
        event: (@Sendable (PeripheralEvent) -> Void)? = nil
    ) {
        self.write = write
        self.read = read
        self.subscribe = subscribe
        self.event = event
    }
}

/// What has become of an offered device.
public enum PeripheralEvent: Sendable, Hashable {
    /// Centrals can find it, for the first time or again.
    case offered(Adapter)
    /// Centrals can't find it until the adapter or bluetoothd is back; it is then offered again.
    case interrupted(BLEError)
    /// A device has connected to the adapter.
    case connected(BluetoothAddress)
    case disconnected(BluetoothAddress)
    /// The first central wants to be told of a characteristic. A central that was there before may be told without this
    /// (bluez#1106).
    case subscribed(BluetoothUUID)
    /// No central does any more.
    case unsubscribed(BluetoothUUID)
}
