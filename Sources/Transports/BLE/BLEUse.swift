/// How a program uses a BLE device, which it then has for itself.
public struct BLEUse: Sendable {
    /// The kinds of devices that the program knows.
    public var profiles: GATTProfiles
    /// Whether it has the device for one command only, so that others wait for its end (see ``patience``).
    public var isBrief: Bool
    /// How long to wait for another program whose use is brief. One whose use is not is not waited for.
    public var patience: Duration
    /// Whether closing a link returns as soon as bluetoothd was asked to disconnect, which takes it 2 s. Who opens the
    /// device next waits for the rest of them.
    public var closesAtOnce: Bool

    /// What keeps to which device a name led; nil to keep nothing.
    public var memory: (any BLENameMemory)?
    /// The most time that opening may take, from the search to the subscription; nil for as long as each of its steps may
    /// take: 10 s to find the device, 60 s to connect.
    public var openingLimit: Duration?
    /// Whether a fault between the connection and the subscription leads to another connection until the time is over:
    /// ``openingLimit``, or 60 s. Otherwise it leads to one other.
    public var isPersistent: Bool
    /// Told of each step of opening a link as it begins. Called on the loop's thread.
    public var onStep: (@Sendable (BLEOpeningStep) -> Void)?

    /// By default with the carriers alone, lasting, closed only when the device is disconnected, without a memory and
    /// without a limit, and not persistent.
    public init(
        profiles: GATTProfiles = .carriers, isBrief: Bool = false, patience: Duration = .seconds(10),
        closesAtOnce: Bool = false, memory: (any BLENameMemory)? = nil, openingLimit: Duration? = nil,
        isPersistent: Bool = false, onStep: (@Sendable (BLEOpeningStep) -> Void)? = nil
    ) {
        self.profiles = profiles
        self.openingLimit = openingLimit
        self.isPersistent = isPersistent
        self.onStep = onStep
        self.isBrief = isBrief
        self.patience = patience
        self.closesAtOnce = closesAtOnce
        self.memory = memory
    }
}
