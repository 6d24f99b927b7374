/// How a program uses a BLE device, which it then has for itself.
public struct BLEUse: Sendable {
    /// Whether it has the device for one command only, so that others wait for its end (see ``patience``).
    public var isBrief: Bool
    /// How long to wait for another program whose use is brief. One whose use is not is not waited for.
    public var patience: Duration
    /// Whether closing a link returns as soon as bluetoothd was asked to disconnect, which takes it 2 s. Who opens the
    /// device next waits for the rest of them.
    public var closesAtOnce: Bool

    /// What keeps to which device a name led; nil to keep nothing.
    public var memory: (any BLENameMemory)?

    /// By default lasting, closed only when the device is disconnected, and without a memory.
    public init(
        isBrief: Bool = false, patience: Duration = .seconds(10), closesAtOnce: Bool = false,
        memory: (any BLENameMemory)? = nil
    ) {
        self.isBrief = isBrief
        self.patience = patience
        self.closesAtOnce = closesAtOnce
        self.memory = memory
    }
}
