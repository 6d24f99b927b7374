import CSerial
import Glibc
import Synchronization

/// An open serial port.
///
/// ```swift
/// let port = try SerialPort(path: "/dev/ttyUSB0", options: SerialOptions(baudRate: 115_200))
/// defer { port.close() }
/// _ = try port.write([UInt8]("STATUS\n".utf8).span.bytes)
/// ```
///
/// The port is in raw mode: bytes pass unchanged, and none of them is a signal, an echo or an end of file. No call waits
/// for the device, apart from ``drain(deadline:)`` and ``close(drainTimeout:)``, which wait for no longer than they are
/// told. All may be called from any thread; closing ends them in an orderly way. A port that is let go closes itself.
///
/// Opening flushes nothing: the greeting of a device that starts up is not lost (pyserial#249). Some 5 kB survive unread
/// between opening and the first read (serialport-rs#308), so begin to read at once.
///
/// ## Topics
/// - ``read(into:)``, ``write(_:)``
/// - ``currentOptions()``, ``apply(_:)``, ``setLowLatency(_:)``
/// - ``modemLines()``, ``setDTR(_:)``, ``setRTS(_:)``, ``setBreak(_:)``
/// - ``queuedInput()``, ``queuedOutput()``, ``flush(_:)``, ``drain(deadline:)``
/// - ``close(drainTimeout:)``
public final class SerialPort: Sendable {
    /// The path the port was opened by.
    public let path: String

    let shared: SharedDescriptor
    let options: Mutex<SerialOptions>
    /// Whether opening made DTR active, which resets an Arduino: true the first time after plugging in, and after a
    /// program that left `HUPCL` set. If another program had the port open all the while, it was active already.
    public let raisedDTR: Bool
    /// Whether the terminal was echoing when it was opened, as each is after plugging in: what the device said until
    /// then was sent back to it, and may stand there as the beginning of a line.
    public let echoed: Bool

    /// Whether TIOCEXCL is ours to take back.
    let isMarkedExclusive: Bool

    /// Opens a port, locks it, and puts it in raw mode with the settings given.
    ///
    /// - Parameters:
    ///   - path: A device node, such as `/dev/ttyUSB0`, or the slave of a pseudo-terminal.
    ///   - options: Settings and manners.
    /// - Throws: ``SerialError`` with ``SerialError/Code/noSuchPort``, ``SerialError/Code/notATerminal``,
    ///   ``SerialError/Code/notPermitted``, ``SerialError/Code/busy(holder:)``,
    ///   ``SerialError/Code/settingsRefused(asked:taken:)``, ``SerialError/Code/invalidOption`` or
    ///   ``SerialError/Code/system``. The port is closed again then.
    public init(path: String, options: SerialOptions = SerialOptions()) throws(SerialError) {
        try options.validate(for: path)
        var port = try OpeningPort(path: path)
        do {
            try port.claim(options.exclusivity)
            (raisedDTR, echoed) = try port.configure(options)
        } catch {
            port.abandon()
            // Who holds it is looked up only now, so that our own descriptor is not taken for the holder's.
            if case .busy = error.code { throw SerialError(busy: path, isLocked: error.errno == EWOULDBLOCK) }
            throw error
        }
        self.path = path
        self.options = Mutex(options)
        isMarkedExclusive = port.isMarkedExclusive
        shared = SharedDescriptor(port.descriptor)
    }

    deinit {
        close()
    }

    /// Whether ``close(drainTimeout:)`` was called.
    public var isClosed: Bool { shared.isRetired }

    /// The descriptor, for an event loop to wait on: non-blocking, close-on-exec.
    ///
    /// It is the caller's part to take it off the loop before the port is closed.
    public var descriptor: CInt { shared.number }

    /// Begins a use of the descriptor, to be ended by `shared.giveBack()`.
    func borrow(_ activity: String) throws(SerialError) -> CInt {
        guard let descriptor = shared.borrow() else {
            throw SerialError(.closed, activity: activity, path: path)
        }
        return descriptor
    }

    /// Runs a system call that returns −1 and sets errno when it fails.
    func perform(_ activity: String, _ call: (CInt) -> CInt) throws(SerialError) {
        let descriptor = try borrow(activity)
        defer { shared.giveBack() }
        guard call(descriptor) >= 0 else { throw SerialError(errno: errno, activity: activity, path: path) }
    }

    /// Runs a function of the C shim, which returns an errno.
    func performShim(_ activity: String, _ call: (CInt) -> CInt) throws(SerialError) {
        let descriptor = try borrow(activity)
        defer { shared.giveBack() }
        let error = call(descriptor)
        guard error == 0 else { throw SerialError(errno: error, activity: activity, path: path) }
    }
}
