/// The way in which a program uses a BLE device that it owns.
public struct BLEUse: Sendable {
    /// The kinds of devices that the program knows.
    public var profiles: GATTProfiles
    /// Whether the program uses the device for one command only. Other programs then wait until the device is free (see
    /// ``patience``).
    public var isBrief: Bool
    /// The longest time to wait for another program whose use is brief, or that is just opening or closing the device.
    /// Any other program is not waited for.
    public var patience: Duration
    /// Whether closing a link returns as soon as bluetoothd has the request to disconnect. The disconnection takes
    /// about 2 s; the next program that opens the device waits for its end.
    public var closesAtOnce: Bool

    /// The memory of the device that each name led to; nil to remember nothing.
    public var memory: (any BLENameMemory)?
    /// The time limit for opening, from the connection to bluetoothd to the subscription; nil for the limits of the
    /// steps, such as 10 s for the search and 60 s for connecting.
    public var openingLimit: Duration?
    /// Whether opening a link connects again and again, until ``openingLimit`` or 60 s, if pairing or subscribing fails
    /// for a reason that may pass. Otherwise opening connects once more.
    public var isPersistent: Bool
    /// Called on the loop's thread at the beginning of each step of opening.
    public var onStep: (@Sendable (BLEOpeningStep) -> Void)?

    /// Creates the description of a use.
    ///
    /// By default, the device is used for an unlimited time, and only the serial ports of ``GATTProfiles/carriers`` are
    /// known; closing waits for the disconnection; there is no memory and no time limit, and opening is not persistent.
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
