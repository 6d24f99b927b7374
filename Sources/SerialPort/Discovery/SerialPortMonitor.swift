public import DescriptorIO
import Glibc
import Synchronization

/// The arrival or removal of a serial port.
public enum SerialPortEvent: Sendable, Hashable {
    /// A port was plugged in, or was already present when the sequence began. If udev runs here, it has set the port's
    /// links and permissions.
    case attached(SerialPortInfo)
    /// A port was unplugged. The value describes the port as it was last seen.
    case detached(SerialPortInfo)
}

/// A sequence of events that report the plugging and unplugging of serial ports.
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
/// The sequence begins with the present ports, unless ``presentPorts()`` was called before. The monitor collects udev
/// events from its creation, before it enumerates the ports, so that no change is missed; a port that is found in both
/// ways is reported once. The monitor uses no processor time between events.
///
/// Only one task may iterate. The sequence ends when that task is cancelled, or after ``close()``. A monitor that is no
/// longer referenced closes itself.
public final class SerialPortMonitor: AsyncSequence, Sendable {
    /// The arrival or removal of a port.
    public typealias Element = SerialPortEvent
    /// The error of udev that ends the sequence.
    public typealias Failure = SerialError

    private let loop: EventLoop
    private let state: Mutex<PortWatch>

    /// Starts collecting udev events.
    ///
    /// - Parameter loop: The loop that waits for events.
    /// - Throws: ``SerialError`` with ``SerialError/Code/system``.
    public init(on loop: EventLoop = .shared) throws(SerialError) {
        self.loop = loop
        state = try Mutex(PortWatch())
    }

    /// Returns the present ports. The sequence then reports only later changes.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/closed`` or ``SerialError/Code/system``.
    public func presentPorts() throws(SerialError) -> [SerialPortInfo] {
        try state.withLock { watch throws(SerialError) in try watch.takePresent() }
    }

    /// Ends the sequence and releases its resources. Closing twice is allowed.
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

    /// The iterator of a monitor.
    public struct Iterator: AsyncIteratorProtocol {
        let monitor: SerialPortMonitor

        public mutating func next() async throws(SerialError) -> SerialPortEvent? { try await monitor.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SerialError) -> SerialPortEvent?
        {
            try await monitor.next()
        }
    }
}
