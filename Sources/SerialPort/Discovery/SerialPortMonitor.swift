public import DescriptorIO
import Glibc
import Synchronization

/// A change of the serial ports that are there.
public enum SerialPortEvent: Sendable, Hashable {
    /// A port came, and can be opened: its links are made and its permissions set.
    case attached(SerialPortInfo)
    /// A port is gone; it is told as it was last seen.
    case detached(SerialPortInfo)
}

/// Serial ports as they are plugged in and unplugged.
///
/// ```swift
/// let monitor = try SerialPortMonitor()
/// for try await event in monitor {
///     switch event {
///     case .attached(let port): print("+", port.path)
///     case .detached(let port): print("-", port.path)
///     }
/// }
/// ```
///
/// The sequence begins with the ports that are there, unless ``presentPorts()`` was asked for them before. udev's events
/// are kept from when the monitor is made, before the first look at what is there, so that nothing falls in between; a port
/// that is in both is reported once. While nothing happens nothing runs.
///
/// One task may iterate. The sequence ends when that task is cancelled, or by ``close()``; a monitor that is let go
/// closes itself.
public final class SerialPortMonitor: AsyncSequence, Sendable {
    public typealias Element = SerialPortEvent
    public typealias Failure = SerialError

    private let loop: EventLoop
    private let state: Mutex<PortWatch>

    /// Begins to keep udev's events.
    ///
    /// - Parameter loop: Where ``Iterator/next()`` waits.
    /// - Throws: ``SerialError`` with ``SerialError/Code/system``.
    public init(on loop: EventLoop = .shared) throws(SerialError) {
        self.loop = loop
        state = try Mutex(PortWatch())
    }

    /// The ports that are there now. The sequence then goes on with the changes since.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/closed`` or ``SerialError/Code/system``.
    public func presentPorts() throws(SerialError) -> [SerialPortInfo] {
        try state.withLock { watch throws(SerialError) in try watch.takePresent() }
    }

    /// Ends the sequence and gives back what it holds. Closing twice is allowed.
    public func close() {
        state.withLock { $0.close() }
    }

    fileprivate func next() async throws(SerialError) -> SerialPortEvent? {
        while !Task.isCancelled {
            let step = try state.withLock { watch throws(SerialError) in
                try watch.step { descriptor in
                    Task(executorPreference: loop) { [loop] in
                        _ = try? await loop.waitUntilReady(descriptor, events: CShort(POLLIN))
                    }
                }
            }
            switch step {
            case .event(let event): return event
            case .ended: return nil
            case .wait(let wait):
                await withTaskCancellationHandler {
                    await wait.value
                } onCancel: {
                    wait.cancel()
                }
                state.withLock { $0.endWait() }
            }
        }
        return nil
    }

    public func makeAsyncIterator() -> Iterator { Iterator(monitor: self) }

    /// Waits for the monitor's next event.
    public struct Iterator: AsyncIteratorProtocol {
        let monitor: SerialPortMonitor

        public mutating func next() async throws(SerialError) -> SerialPortEvent? { try await monitor.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SerialError) -> SerialPortEvent?
        {
            try await monitor.next()
        }
    }
}
