import CSerial
import Glibc
import Synchronization

/// A pseudo-terminal with both ends: the slave, a port for other programs, and the master that serves the port.
///
/// A simulator reads and writes the master with ``read(into:)`` and ``write(_:)``; its client opens ``path``, or the
/// link, as it would open a serial port.
///
/// ```swift
/// let terminal = try PseudoTerminal(link: "/tmp/pump")
/// defer { terminal.close() }
/// let port = try SerialPort(path: "/tmp/pump", options: SerialOptions(baudRate: 115_200))
/// print(try terminal.clientOptions().baudRate)  // 115200
/// ```
///
/// A pseudo-terminal has no modem lines, no parity, and always 8 data bits. Its baud rate is only stored: bytes pass at
/// full speed. Its buffer holds some 17 kB each way.
public final class PseudoTerminal: Sendable {
    /// The path of the slave, such as `/dev/pts/3`.
    public let path: String
    /// The identity of the pseudo-terminal; nil if its slave can't be found.
    public let id: PseudoTerminalID?
    /// The path of the symbolic link to the slave; nil if there is none.
    public var linkPath: String? { link.withLock { $0?.path } }

    let master: SharedDescriptor
    /// The slave, kept open so that the device survives its clients; nil if it is not kept open.
    let heldSlave: SharedDescriptor?
    private let link: Mutex<PortLink?>
    private let packetMode = Atomic(false)

    /// Creates a pseudo-terminal with its slave in raw mode at 9600 baud.
    ///
    /// - Parameters:
    ///   - linkPath: The path for a symbolic link to the slave; nil for no link. A link whose program no longer runs,
    ///     or whose target does not exist, is replaced; anything else at the path is left alone.
    ///   - holdsSlaveOpen: Whether to keep the slave open, so that the device survives its clients. If false,
    ///     ``read(into:)`` throws ``SerialError/Code/disconnected`` from the time the last client leaves until the next
    ///     one opens the slave. If true, bytes written while there is no client reach the next client.
    /// - Throws: ``SerialError``, for example with ``SerialError/Code/pathTaken`` or ``SerialError/Code/system``.
    public init(link linkPath: String? = nil, holdsSlaveOpen: Bool = true) throws(SerialError) {
        let activity = "creating the pseudo-terminal"
        var number: CInt = -1
        var name = [CChar](repeating: 0, count: 64)
        let error = cserial_open_pty(&number, &name, name.count)
        guard error == 0 else {
            throw SerialError(
                .system, errno: error, activity: activity, path: "/dev/ptmx",
                hint: Self.hint(onError: error))
        }
        master = SharedDescriptor(number)
        path = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        id = PseudoTerminalID(at: path)
        // Master and slave share one set of settings, so the master can write them.
        try SerialOptions().write(to: number, activity: activity, path: path)
        if holdsSlaveOpen {
            let slave = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            guard slave >= 0 else { throw SerialError(opening: path, errno: errno) }
            heldSlave = SharedDescriptor(slave)
        } else {
            heldSlave = nil
        }
        link = Mutex(nil)
        if let linkPath { try putLink(at: linkPath) }
    }

    /// Returns the hint for a failure to create a pseudo-terminal: too many exist, a resource is exhausted, or their
    /// file system is not mounted, as in a container without a terminal.
    static func hint(onError error: CInt) -> String {
        switch error {
        case ENOSPC: "close programs that use pseudo-terminals, or raise /proc/sys/kernel/pty/max"
        case EMFILE, ENFILE: "close open files of this program, or raise its limit: ulimit -n 1024"
        case ENOMEM: "free memory"
        default: "mount the devpts file system: mount -t devpts devpts /dev/pts; in a container: docker run -t"
        }
    }

    /// Removes the previous symbolic link to the slave, and creates another one.
    ///
    /// - Parameter linkPath: The path of the link. A link whose program no longer runs, or whose target does not exist,
    ///   is replaced; anything else at the path is left alone.
    /// - Throws: ``SerialError`` with ``SerialError/Code/pathTaken``, ``SerialError/Code/closed`` or
    ///   ``SerialError/Code/system``; the previous link is removed even if this function throws.
    public func putLink(at linkPath: String) throws(SerialError) {
        removeLink()
        _ = try borrow("linking")
        defer { master.giveBack() }
        let link = try PortLink(path: linkPath, target: path)
        self.link.withLock { $0 = link }
    }

    private func removeLink() {
        link.withLock { link in
            link?.remove()
            link = nil
        }
    }

    deinit {
        close()
    }

    /// Whether ``close()`` was called.
    public var isClosed: Bool { master.isRetired }

    /// The master's descriptor, for an event loop to wait on: non-blocking, close-on-exec.
    ///
    /// The caller must remove the descriptor from the loop before the pseudo-terminal is closed.
    public var descriptor: CInt { master.number }

    /// Reads bytes that the client wrote, as many as fit in the buffer, without waiting.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/disconnected`` from the time the last program closes the slave
    ///   until the next one opens the slave, ``SerialError/Code/closed`` or ``SerialError/Code/system``.
    public func read(into buffer: inout MutableRawSpan) throws(SerialError) -> TransferResult {
        let descriptor = try borrow("reading from the master of")
        defer { master.giveBack() }
        guard !buffer.isEmpty else { return .bytes(0) }
        return try result(
            buffer.withUnsafeMutableBytes { bytes in
                TransferResult.of { Glibc.read(descriptor, bytes.baseAddress, bytes.count) }
            }, "reading from the master of")
    }

    /// Writes to the client as many bytes as the kernel accepts, without waiting.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/closed`` or ``SerialError/Code/system``.
    public func write(_ bytes: RawSpan) throws(SerialError) -> TransferResult {
        let descriptor = try borrow("writing to the master of")
        defer { master.giveBack() }
        guard !bytes.isEmpty else { return .bytes(0) }
        let moved = try result(
            bytes.withUnsafeBytes { bytes in
                TransferResult.of { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
            }, "writing to the master of")
        return moved == .bytes(0) ? .wouldBlock : moved
    }

    /// Returns the line settings that the client chose, including the baud rate: a simulator can answer a wrong rate
    /// with garbage, as a UART would. All other options have the defaults of `SerialOptions.init`.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/closed``.
    public func clientOptions() throws(SerialError) -> SerialOptions {
        let activity = "reading the settings of"
        let descriptor = try borrow(activity)
        defer { master.giveBack() }
        var settings = cserial_settings()
        let error = cserial_get_settings(descriptor, &settings)
        guard error == 0 else { throw SerialError(errno: error, activity: activity, path: path) }
        var options = SerialOptions()
        options.update(from: settings)
        return options
    }

    /// Turns packet mode on or off. In packet mode each read begins with a byte of ``PacketStatus``, which is 0 before
    /// data.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/closed``.
    public func setPacketMode(_ on: Bool) throws(SerialError) {
        let activity = "setting packet mode of"
        let descriptor = try borrow(activity)
        defer { master.giveBack() }
        let error = cserial_set_packet_mode(descriptor, on ? 1 : 0)
        guard error == 0 else { throw SerialError(errno: error, activity: activity, path: path) }
        packetMode.store(on, ordering: .relaxed)
    }

    /// Whether packet mode is on.
    public var isInPacketMode: Bool { packetMode.load(ordering: .relaxed) }

    /// Removes the link and closes both ends, which disconnects the client. A second call does nothing.
    public func close() {
        guard master.retire() != nil else { return }
        removeLink()
        if heldSlave?.retire() != nil { heldSlave?.giveBack() }
        master.giveBack()
    }

    private func borrow(_ activity: String) throws(SerialError) -> CInt {
        guard let descriptor = master.borrow() else {
            throw SerialError(.closed, activity: activity, path: path)
        }
        return descriptor
    }

    private func result(
        _ result: Result<TransferResult, SystemFailure>, _ activity: String
    ) throws(SerialError) -> TransferResult {
        switch result {
        case .success(let moved): return moved
        case .failure(let failure): throw SerialError(errno: failure.errno, activity: activity, path: path)
        }
    }
}

/// A change by the slave's user, as a master in packet mode receives it (`TIOCPKT_*`).
public struct PacketStatus: OptionSet, Sendable, Hashable {
    /// The bits that the kernel reports.
    public let rawValue: UInt8

    /// Creates a status from the kernel's bits; 0 precedes data.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The client flushed its input.
    public static let flushedInput = PacketStatus(rawValue: 0x01)
    /// The client flushed its output.
    public static let flushedOutput = PacketStatus(rawValue: 0x02)
    /// The client's output was stopped.
    public static let stopped = PacketStatus(rawValue: 0x04)
    /// The client's output was started again.
    public static let started = PacketStatus(rawValue: 0x08)
    /// The client turned off flow control by XON and XOFF.
    public static let flowControlOff = PacketStatus(rawValue: 0x10)
    /// The client turned on flow control by XON and XOFF.
    public static let flowControlOn = PacketStatus(rawValue: 0x20)
    /// The client changed the settings of the line.
    public static let settingsChanged = PacketStatus(rawValue: 0x40)
}
