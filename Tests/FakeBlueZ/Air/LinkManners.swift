public import DBus

/// The behaviour of connections with a device: sizes, delays, and faults.
public struct LinkManners: Sendable {
    /// The largest ATT MTU that the device accepts. The default is the HM-10's, which is the minimum of the standard.
    public var mtu = 23
    /// The outdated MTU that bluetoothd shows at first, until shortly after the services are resolved; nil if the right
    /// MTU is shown at once.
    public var staleMTU: UInt16?
    /// The time for which the stale MTU is shown.
    public var mtuDelay = Duration.zero
    /// The errors of the next connection attempts, one each; later attempts succeed.
    public var connectErrors: [DBusError] = []
    /// Whether the reply to `Connect` comes before the signal of the connection, as with btvirt's controllers.
    public var answersBeforeConnected = false
    /// The time that connecting takes.
    public var connectDelay = Duration.zero
    /// The time between the connection and the resolved services.
    public var resolveDelay = Duration.zero
    /// The delay between `ServicesResolved` and the appearance of the services, as can happen after an aborted
    /// connection attempt (bluez#1489).
    public var exportDelay = Duration.zero
    /// The errors of the next calls of `StartNotify` over a link, one each; later calls succeed. A bluetoothd whose
    /// cached table of services is outdated refuses subscriptions in this way.
    public var subscribeErrors: [DBusError] = []
    /// The time that `Disconnect` takes: 2 s with bluetoothd. A client that connects during this time gets the link
    /// that is about to end.
    public var disconnectDelay = Duration.zero
    /// The time for which connecting to an unreachable device is tried, after ``connectDelay``. The default is that of
    /// Linux.
    public var patience = Duration.seconds(20)
    /// The delay of the reply to a subscription. Notifications during this delay are early.
    public var subscribeDelay = Duration.zero
    public var readDelay = Duration.zero
    /// The error on reading a descriptor; nil if reading succeeds.
    public var descriptorError: DBusError?
    /// The delay of the reply to a write with response.
    public var writeDelay = Duration.zero
    /// The number of writes that succeed before the device drops the connection during the next one; nil if it never
    /// does.
    public var writesUntilLoss: Int?
    /// Whether the device advertises while it is connected.
    public var advertisesWhileConnected = false
    /// Whether the device keeps the subscriptions of a central across connections, and restores them without a new
    /// request (bluez#1106).
    public var remembersSubscriptions = false
    /// Whether the first adapter is connected to the device as soon as the device is added to the fake, like a link
    /// that a crashed client has left.
    public var isConnectedAlready = false
    /// Whether reading, writing and subscribing require pairing. A write without response from an unpaired central is
    /// then lost without an error.
    public var needsPairing = false
    /// The error for missing pairing. bluetoothd has names for some ATT errors, and reports the others by number.
    public var pairingError = BlueZError.notPermitted("Not paired")
    /// Whether `StartNotify` works without pairing even if ``needsPairing`` is set.
    public var letsUnpairedSubscribe = false
    public var pairing = PairingMethod.justWorks
    /// The UUIDs of services that one of bluetoothd's plugins has reserved: clients may not write to them.
    public var claimedServices: Set<String> = []

    public init() {}
}
