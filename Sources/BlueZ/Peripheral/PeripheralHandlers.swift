/// The handlers of a peripheral for reads, writes, subscriptions and events. All are called on the loop's thread, in
/// the order of the events.
public struct PeripheralHandlers: Sendable {
    /// Returns the whole value of a characteristic for a read. The peripheral sends the part from
    /// ``ATTRequest/offset``.
    ///
    /// Returns nil for the value that was written, notified or set last. Throws to refuse the read.
    public typealias Read = @Sendable (BluetoothUUID, ATTRequest) throws(ATTError) -> [UInt8]?
    /// Handles the bytes that a central writes to a characteristic, beginning at ``ATTRequest/offset``. Throws to
    /// refuse the write. Writes over a socket of ``LocalCharacteristic/Delivery/toEach`` can't be refused.
    public typealias Write = @Sendable ([UInt8], BluetoothUUID, ATTRequest) throws(ATTError) -> Void
    /// Handles the subscription of a central to a characteristic with ``LocalCharacteristic/Delivery/toEach``.
    public typealias Subscribe = @Sendable (BluetoothUUID, ATTRequest) -> Void

    /// Handles writes; nil to accept all.
    public var write: Write?
    /// Handles reads; nil to answer with the value that was written, notified or set last.
    public var read: Read?
    /// Called for each subscription to a characteristic with ``LocalCharacteristic/Delivery/toEach``, unlike
    /// ``PeripheralEvent/subscribed(_:)``, which reports only the first one.
    public var subscribe: Subscribe?
    /// Called for each event.
    public var event: (@Sendable (PeripheralEvent) -> Void)?

    /// Creates handlers.
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

/// An event of a peripheral.
public enum PeripheralEvent: Sendable, Hashable {
    /// Centrals can find the peripheral, for the first time or again.
    case offered(Adapter)
    /// Centrals can't find the peripheral. The peripheral is offered again when the adapter or bluetoothd is back;
    /// after a refusal, the registration is tried again up to four times.
    case interrupted(BLEError)
    /// A device has connected to the adapter, or was connected when the peripheral was offered.
    case connected(BluetoothAddress)
    /// A device has disconnected from the adapter.
    case disconnected(BluetoothAddress)
    /// The first central has subscribed to a characteristic. A central may be subscribed since an earlier
    /// connection, without this event (bluez#1106).
    case subscribed(BluetoothUUID)
    /// The last subscription to a characteristic has ended.
    case unsubscribed(BluetoothUUID)
}
