/// An open two-way stream of bytes, or of packets, to one device, whatever carries it.
///
/// A link knows nothing of what the bytes mean. Any number of tasks may send, and what each sends stays together. One
/// may receive, by asking (``receive()``, ``received``), or by being told (``forward(to:)``).
public protocol Link: AnyObject, Sendable {
    /// What carries the bytes, for people: `/dev/ttyUSB0`, `tcp:bench:4000`.
    var name: String { get }

    /// Whether what is received comes in the pieces in which it was sent. False for a serial port, where a line may
    /// arrive cut anywhere.
    var keepsPacketBounds: Bool { get }

    /// The most bytes that one write of the carrier holds; nil where there is no bound. `send` cuts what is longer.
    var maximumWriteLength: Int? { get }

    /// The most bytes that one packet brings, as far as this can be known now; nil where there are no packets. A device
    /// that sends more at once loses the rest.
    func packetCapacity() async -> Int?

    /// The address of this very device, where the endpoint that the link was opened from may lead to another.
    var deviceAddress: String? { get }

    /// Whether the device keeps ``deviceAddress``, so that it can be found by it again. A BLE device with a private address
    /// gives itself another every few minutes.
    var isDeviceAddressStable: Bool { get }

    /// The device that the link has for itself, by a name that is the same for all programs on this machine:
    /// `tty-188-0`, `ble-…`; nil where others may open it as well.
    var deviceID: String? { get }

    /// Where a daemon passes on what is sent, which has the device for itself; nil where none lies in between.
    var sharedAddress: SharedDeviceAddress? { get }

    /// What a person should know of how the link came about; nil where there is nothing.
    var openingNote: String? { get }

    /// What a person should know of the link that came to light after it was opened; nil where there is nothing.
    var remark: String? { get }

    /// What may be in the way where the device does not answer, for people; nil where nothing is known.
    var silenceHint: String? { get }

    /// Whether opening the link may have reset the device, as the DTR of a serial port does to an Arduino. The device
    /// then hears nothing for some seconds, and has forgotten its state.
    var mayHaveReset: Bool { get }

    /// Whether the device may already have been sent the beginning of a line, which nobody ended: a terminal sends back
    /// what comes in until it is made raw.
    var mayBeMidLine: Bool { get }

    /// The executor that the link's work runs on. A session runs on it too, so that nothing changes threads in between.
    var executor: any SerialExecutor & TaskExecutor { get }

    /// Sends all of `bytes` and returns once the carrier has taken them, which says nothing of their arrival.
    ///
    /// - Throws: `disconnected` or `closed`; part of the bytes may have gone out. `cancelled` when the task is.
    func send(_ bytes: [UInt8]) async throws(LinkError)

    /// Sends `bytes` without waiting, unless others wait to send. What the carrier does not take at once follows as soon
    /// as it does.
    ///
    /// Called on ``executor`` only. A link that always has to wait leaves this out.
    ///
    /// - Returns: Whether it did: ``send(_:)`` waits for its turn.
    /// - Throws: `disconnected` or `closed`.
    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool

    /// Holds the line in the break condition for `duration`, as a serial port can.
    ///
    /// - Throws: `unsupported` where the carrier has no such thing; otherwise as ``send(_:)``.
    func sendBreak(for duration: Duration) async throws(LinkError)

    /// Waits for the next bytes; nil once the link was closed at this end.
    ///
    /// - Throws: `disconnected` when the far end is gone and all that it had sent was received.
    func receive() async throws(LinkError) -> [UInt8]?

    /// What has arrived by now, without waiting; empty if nothing has.
    func receiveAvailable() async throws(LinkError) -> [UInt8]

    /// From now on hands what arrives to `receiver`, instead of keeping it for ``receive()``.
    ///
    /// A session listens so: nothing waits in between, and nothing has to be woken. The receiver is called on
    /// ``executor``, must not block, and gets ``LinkArrival/ended(_:)`` once and last.
    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async

    /// Waits for an answer of the far end's carrier. All that it sent before has arrived then.
    ///
    /// It tells silence from a far end that is out of reach, of which some carriers know only after a while. Where the
    /// carrier has no such question it returns at once.
    ///
    /// - Throws: `disconnected` or `closed`; `cancelled` when the task is.
    func confirmConnection() async throws(LinkError)

    /// Takes note that an answer did not come or was odd: another program that uses the carrier too may have had it.
    func noteDoubt()

    /// Closes the link; a waiting `receive` ends with nil. Closing twice is allowed.
    func close() async
}

extension Link {
    /// False: ``send(_:)`` is to do it.
    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { false }

    /// None: most carriers have no packets.
    public func packetCapacity() async -> Int? { nil }

    /// None: most endpoints lead to one device.
    public var deviceAddress: String? { nil }

    /// None: most carriers have room for others.
    public var deviceID: String? { nil }

    /// None: most links lead to the device itself.
    public var sharedAddress: SharedDeviceAddress? { nil }

    /// True: most addresses are for good.
    public var isDeviceAddressStable: Bool { true }

    /// None: most carriers deliver what they take, or say that they can't.
    public var silenceHint: String? { nil }

    /// None: most links come about as they were asked for.
    public var openingNote: String? { nil }

    /// None: most links turn out to be what they were opened as.
    public var remark: String? { nil }

    /// False: most carriers can't.
    public var mayHaveReset: Bool { false }

    /// False: most carriers send what they are given.
    public var mayBeMidLine: Bool { false }

    /// Nothing: most carriers have nothing to ask.
    public func confirmConnection() async throws(LinkError) {}

    /// Nothing: most carriers are for one program.
    public func noteDoubt() {}

    /// Most carriers have no break.
    public func sendBreak(for duration: Duration) async throws(LinkError) {
        throw LinkError(.unsupported, name: name, activity: "send a break", remedy: .sendNoBreak)
    }

    /// What arrives, until the link is closed. It throws once, when the far end is gone.
    public var received: ReceivedBytes { ReceivedBytes(link: self) }
}

/// The bytes that arrive on a link, for one consumer.
public struct ReceivedBytes: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = LinkError

    let link: any Link

    public func makeAsyncIterator() -> Iterator { Iterator(link: link) }

    /// Asks the link for its next bytes.
    public struct Iterator: AsyncIteratorProtocol {
        let link: any Link

        public mutating func next() async throws(LinkError) -> [UInt8]? { try await link.receive() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LinkError) -> [UInt8]? {
            try await link.receive()
        }
    }
}

/// What a link hands to its receiver.
public enum LinkArrival: Sendable {
    /// Bytes, or one packet where the link keeps packet bounds.
    case bytes([UInt8])
    /// Nothing more will come: the far end is gone, or, without an error, the link was closed at this end.
    case ended(LinkError?)
}
