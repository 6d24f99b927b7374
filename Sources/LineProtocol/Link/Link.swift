/// An open two-way stream of bytes or packets to one device, over any carrier.
///
/// A link does not interpret the bytes. Any number of tasks may send, and the bytes of one call stay together. Only one
/// task may receive: it either reads (``receive()``, ``received``) or registers a receiver (``forward(to:)``).
public protocol Link: AnyObject, Sendable {
    /// The name of the link for people, such as `/dev/ttyUSB0` or `tcp:bench:4000`.
    var name: String { get }

    /// Whether data arrives in the packets in which it was sent. False for a serial port, where a line may arrive cut
    /// anywhere.
    var keepsPacketBounds: Bool { get }

    /// The largest number of bytes in one write of the carrier; nil if there is no limit, or it is unknown.
    /// ``send(_:)`` splits longer data, unless the link keeps packet bounds.
    var maximumWriteLength: Int? { get }

    /// Returns the largest number of bytes in one received packet, as far as it is known now; nil if it is
    /// unknown, or there are no packets. If a device sends longer packets, their ends are lost.
    func packetCapacity() async -> Int?

    /// The Bluetooth address of the device; nil for other carriers, and if the address is unknown. The endpoint from
    /// which the link was opened may lead to another device next time.
    var deviceAddress: String? { get }

    /// Whether the device keeps ``deviceAddress``, so that the address leads to it again. A BLE device with a private
    /// address changes the address every few minutes.
    var isDeviceAddressStable: Bool { get }

    /// An identifier of the device, the same for all programs on this machine: `tty-188-0`, `ble-…`. nil if the link
    /// does not claim the device for this program alone, or the device has no identifier.
    var deviceID: String? { get }

    /// The address of the device at the daemon through which this link reaches the device; nil if there is no daemon in
    /// between.
    var sharedAddress: SharedDeviceAddress? { get }

    /// Returns the strength of the device's signal in dBm; nil for carriers without a radio, and if the strength is
    /// unknown now.
    func signalStrength() async -> Int?

    /// A note for people about the opening of the link, such as that another program also listens to the device; nil if
    /// there is none.
    var openingNote: String? { get }

    /// A note for people about a fact that was discovered after the link was opened, such as a server that speaks
    /// Telnet; nil if there is none. Programs read it when they close the link.
    var remark: String? { get }

    /// A hint for people: a likely cause if the device does not answer; nil if none is known.
    var silenceHint: String? { get }

    /// Whether opening the link may have reset the device, as the DTR signal of a serial port resets an Arduino. A
    /// device that was reset reads nothing for some seconds, and has lost its state.
    var mayHaveReset: Bool { get }

    /// Whether the device may have received the beginning of a line that nobody has ended. For example, a serial port
    /// echoes the device's output back to the device until the port is set to raw mode.
    var mayBeMidLine: Bool { get }

    /// The executor on which the link works. A session runs on the same executor, so that data needs no change of
    /// threads.
    var executor: any SerialExecutor & TaskExecutor { get }

    /// Sends all of `bytes`, and returns when the carrier has accepted them, which does not mean that the device has
    /// received them.
    ///
    /// - Throws: `disconnected` or `closed`; `cancelled` if the task is cancelled; `unsupported` if the link keeps
    ///   packet bounds and `bytes` is too long for one packet; or another error of the carrier. A part of the
    ///   bytes may have been sent.
    func send(_ bytes: [UInt8]) async throws(LinkError)

    /// Sends `bytes` without waiting, unless other tasks wait to send. Bytes that the carrier does not accept at once
    /// are queued, and sent as soon as it accepts them.
    ///
    /// Call this function on ``executor`` only. A link that always has to wait need not implement it.
    ///
    /// - Returns: Whether the link has taken all bytes. If false, it has taken none: use ``send(_:)``, which waits.
    /// - Throws: The errors of ``send(_:)``, except `cancelled`.
    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool

    /// Holds the line in the break condition for `duration`, as a serial port can.
    ///
    /// - Throws: `unsupported` if the carrier has no break condition; otherwise the errors of ``send(_:)``.
    func sendBreak(for duration: Duration) async throws(LinkError)

    /// Waits for the next bytes; nil after the link was closed at this end.
    ///
    /// - Throws: `disconnected` if the far end is gone and all of its data was received; `cancelled` if the task is
    ///   cancelled; or another error of the carrier.
    func receive() async throws(LinkError) -> [UInt8]?

    /// Returns bytes that have already arrived, without waiting; empty if there are none, or the link was closed at
    /// this end.
    ///
    /// - Throws: The errors of ``receive()``, except `cancelled`.
    func receiveAvailable() async throws(LinkError) -> [UInt8]

    /// Delivers all further arrivals to `receiver` instead of keeping them for ``receive()``.
    ///
    /// A session listens in this way, because then no data is buffered and no task has to be woken. Bytes that have
    /// already arrived are delivered first. The receiver is called on ``executor`` and must not block.
    /// ``LinkArrival/ended(_:)`` comes last.
    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async

    /// Sends a query of the carrier, not of the device's own protocol, and waits for the reply. When the reply has
    /// come, all data that the far end sent before it has arrived.
    ///
    /// The reply shows that a silent device is still in reach. Without such a query, some carriers notice a loss only
    /// after a while. If the carrier offers no query, the function returns at once.
    ///
    /// - Throws: The errors of ``send(_:)``, such as `disconnected` if no reply comes in time.
    func confirmConnection() async throws(LinkError)

    /// Notes that an answer was missing, or that an error or undefined line came: another program may use the device
    /// too, and take some of its lines. A session calls this function before it closes the link.
    func noteDoubt()

    /// Closes the link, and ends a waiting ``receive()`` with nil. Closing twice is allowed.
    func close() async
}

extension Link {
    /// The default is false: the caller uses ``send(_:)``.
    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { false }

    /// The default is nil: most carriers have no packets.
    public func packetCapacity() async -> Int? { nil }

    /// The default is nil: most carriers have no radio.
    public func signalStrength() async -> Int? { nil }

    /// The default is nil: only Bluetooth devices have such an address.
    public var deviceAddress: String? { nil }

    /// The default is nil: most links do not claim the device.
    public var deviceID: String? { nil }

    /// The default is nil: most links lead to the device directly.
    public var sharedAddress: SharedDeviceAddress? { nil }

    /// The default is true: most devices keep their addresses.
    public var isDeviceAddressStable: Bool { true }

    /// The default is nil: most carriers deliver the bytes that they accept, or report an error.
    public var silenceHint: String? { nil }

    /// The default is nil: most links open as requested.
    public var openingNote: String? { nil }

    /// The default is nil: most links need no remark.
    public var remark: String? { nil }

    /// The default is false: most carriers can't reset the device.
    public var mayHaveReset: Bool { false }

    /// The default is false: most carriers send only the bytes that they are given.
    public var mayBeMidLine: Bool { false }

    /// The default does nothing: most carriers offer no such query.
    public func confirmConnection() async throws(LinkError) {}

    /// The default does nothing: most carriers serve one program.
    public func noteDoubt() {}

    /// The default throws `unsupported`: only serial ports have a break condition.
    public func sendBreak(for duration: Duration) async throws(LinkError) {
        throw LinkError(.unsupported, name: name, activity: "send a break", remedy: .sendNoBreak)
    }

    /// The bytes that arrive until the link is closed. The sequence throws if the far end is gone or the task is
    /// cancelled.
    public var received: ReceivedBytes { ReceivedBytes(link: self) }
}

/// The bytes that arrive on a link, for one consumer.
public struct ReceivedBytes: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = LinkError

    let link: any Link

    public func makeAsyncIterator() -> Iterator { Iterator(link: link) }

    /// Reads from the link on demand.
    public struct Iterator: AsyncIteratorProtocol {
        let link: any Link

        public mutating func next() async throws(LinkError) -> [UInt8]? { try await link.receive() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LinkError) -> [UInt8]? {
            try await link.receive()
        }
    }
}

/// An event that a link delivers to its receiver.
public enum LinkArrival: Sendable {
    /// Bytes, which are exactly one packet if the link keeps packet bounds.
    case bytes([UInt8])
    /// The end of the link: the far end is gone or, if the error is nil, the link was closed at this end. This is the
    /// last event.
    case ended(LinkError?)
}
