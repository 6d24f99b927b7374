public import DBus

/// How connections with a device behave: how much fits, how long things take, what goes wrong.
public struct LinkManners: Sendable {
    /// The largest ATT MTU that the device agrees to. The HM-10's is the smallest there is.
    public var mtu = 23
    /// What bluetoothd says the MTU is, until it knows better: soon after the services are resolved. nil where it knows
    /// at once.
    public var staleMTU: UInt16?
    /// How long the stale MTU is shown.
    public var mtuDelay = Duration.zero
    /// How the next attempts to connect fail, one each; then they succeed.
    public var connectErrors: [DBusError] = []
    /// Whether `Connect` is answered before the connection is told of, as btvirt's controllers have it.
    public var answersBeforeConnected = false
    /// How long connecting takes.
    public var connectDelay = Duration.zero
    /// How long the services take to be resolved once the device is connected.
    public var resolveDelay = Duration.zero
    /// How long after it calls the services resolved bluetoothd shows them, as it may do after an attempt to connect that
    /// was aborted (bluez#1489).
    public var exportDelay = Duration.zero
    /// How the next subscriptions are refused, one each; then they are not. A bluetoothd that remembers another table of
    /// services than the device has refuses them so.
    public var subscribeErrors: [DBusError] = []
    /// How long `Disconnect` takes: 2 s with bluetoothd. Whoever connects meanwhile is given the link that is about to go.
    public var disconnectDelay = Duration.zero
    /// How long a device that can't be reached is tried.
    public var patience = Duration.seconds(20)
    /// How long the answer to a subscription takes. What the device says meanwhile is early.
    public var subscribeDelay = Duration.zero
    public var readDelay = Duration.zero
    /// How bluetoothd refuses to read a descriptor; nil where it does not.
    public var descriptorError: DBusError?
    /// How long the answer to a write takes, of the kind that is answered.
    public var writeDelay = Duration.zero
    /// How many writes are carried out before the device goes away in the middle of one; nil for all.
    public var writesUntilLoss: Int?
    /// Whether others find the device while it is connected.
    public var advertisesWhileConnected = false
    /// Whether the device remembers who has subscribed to what, and is told nothing when they come back (bluez#1106).
    public var remembersSubscriptions = false
    /// Whether bluetoothd still believes that the device is connected when it comes to know of it: the link of a client
    /// that crashed.
    public var isConnectedAlready = false
    /// Whether reading, writing and subscribing is for paired devices only.
    public var needsPairing = false
    /// What bluetoothd answers where that is so. It has a name for some of ATT's errors, and gives the number of others.
    public var pairingError = BlueZError.notPermitted("Not paired")
    /// Whether who is not paired may subscribe all the same.
    public var letsUnpairedSubscribe = false
    public var pairing = PairingMethod.justWorks
    /// Services that one of bluetoothd's plugins keeps for itself.
    public var claimedServices: Set<String> = []

    public init() {}
}
