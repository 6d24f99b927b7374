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
/// The port is in raw mode: bytes pass unchanged, nothing is echoed, and no byte acts as a signal or an end of file.
/// Only ``drain(deadline:)`` and ``close(drainTimeout:)`` block the thread until bytes are sent, each no longer than
/// its limit. All methods may be called from any thread; the descriptor is closed only when no call uses it any more. A
/// port that is no longer referenced closes itself.
///
/// Opening flushes nothing, so that the greeting of a device that starts up is not lost (pyserial#249). Start reading
/// at once: only some 5 kB are kept between opening and the first read (serialport-rs#308).
///
/// ## Topics
///
/// ### Bytes
/// - ``read(into:)``
/// - ``write(_:)``
///
/// ### Settings
/// - ``currentOptions()``
/// - ``apply(_:)``
/// - ``setLowLatency(_:)``
///
/// ### Lines
/// - ``modemLines()``
/// - ``setDTR(_:)``
/// - ``setRTS(_:)``
/// - ``setBreak(_:)``
///
/// ### Buffers
/// - ``queuedInput()``
/// - ``queuedOutput()``
/// - ``flush(_:)``
/// - ``drain(deadline:)``
public final class SerialPort: Sendable {
    /// The path by which the port was opened.
    public let path: String

    let shared: SharedDescriptor
    /// The options as given at opening, or by ``apply(_:)`` since.
    let options: Mutex<SerialOptions>
    /// Whether opening raised DTR, which resets an Arduino: true the first time after plugging in, and after a program
    /// that left `HUPCL` set. It is also true, wrongly, if another program has the port open with `HUPCL`.
    public let raisedDTR: Bool
    /// Whether the terminal echoed its input when it was opened, as terminals do after plugging in. If so, the device
    /// may have got its own output back, and may still hold that output as the beginning of a line.
    public let echoed: Bool

    /// Whether this process set TIOCEXCL and must clear it.
    let isMarkedExclusive: Bool

    /// Opens a port, locks it, and puts it in raw mode with the given settings.
    ///
    /// - Parameters:
    ///   - path: A device node, such as `/dev/ttyUSB0`, or the slave of a pseudo-terminal.
    ///   - options: The line settings, and the behaviour at opening and closing.
    /// - Throws: ``SerialError``, for example with ``SerialError/Code/noSuchPort``,
    ///   ``SerialError/Code/notATerminal``, ``SerialError/Code/notPermitted``, ``SerialError/Code/busy(holder:)``,
    ///   ``SerialError/Code/settingsRefused(asked:taken:)`` or ``SerialError/Code/invalidOption``. The port is closed
    ///   again before the error is thrown.
    public init(path: String, options: SerialOptions = SerialOptions()) throws(SerialError) {
        try options.validate(for: path)
        var port = try OpeningPort(path: path)
        do {
            try port.claim(options.exclusivity)
            (raisedDTR, echoed) = try port.configure(options)
        } catch {
            port.abandon()
            // Look up the holder only after closing, so that our own descriptor does not count as the holder's.
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
    /// The caller must remove the descriptor from the loop before the port is closed.
    public var descriptor: CInt { shared.number }

    /// Begins a use of the descriptor, which `shared.giveBack()` ends.
    func borrow(_ activity: String) throws(SerialError) -> CInt {
        guard let descriptor = shared.borrow() else {
            throw SerialError(.closed, activity: activity, path: path)
        }
        return descriptor
    }

    /// Runs a system call that returns −1 and sets errno on failure.
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
