import CSerial
import Glibc
import Synchronization

/// Both ends of a pseudo-terminal: a port for other programs, and the wire that leads to it.
///
/// A simulator reads and writes the master, by ``read(into:)`` and ``write(_:)``; its client opens ``path``, or the
/// link, as it would open a serial port.
///
/// ```swift
/// let terminal = try PseudoTerminal(link: "/tmp/pump")
/// defer { terminal.close() }
/// let port = try SerialPort(path: "/tmp/pump", options: SerialOptions(baudRate: 115_200))
/// print(try terminal.clientOptions().baudRate)  // 115200
/// ```
///
/// A pseudo-terminal has no modem lines, no line rate, no parity and no character size but 8 bits. Its buffer holds some
/// 17 kB each way.
public final class PseudoTerminal: Sendable {
    /// The path of the slave, as in `/dev/pts/3`.
    public let path: String
    /// The path of the symbolic link to it, if one was asked for.
    public var linkPath: String? { link.withLock { $0?.path } }

    let master: SharedDescriptor
    let heldSlave: SharedDescriptor?
    private let link: Mutex<PortLink?>
    private let packetMode = Atomic(false)

    /// Makes a pseudo-terminal, its slave in raw mode at 9600 baud.
    ///
    /// - Parameters:
    ///   - linkPath: Where to put a symbolic link to the slave. A stale link there is replaced, anything else is not.
    ///   - holdsSlaveOpen: Whether to keep the slave open, so that the device survives its clients. Without it,
    ///     ``read(into:)`` throws ``SerialError/Code/disconnected`` from the last client's leaving until the next one's
    ///     coming. With it, what is written while there is no client reaches the next.
    /// - Throws: ``SerialError`` with ``SerialError/Code/pathTaken`` or ``SerialError/Code/system``.
    public init(link linkPath: String? = nil, holdsSlaveOpen: Bool = true) throws(SerialError) {
        let activity = "making a pseudo-terminal"
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
        // The settings of a pseudo-terminal are one, and the master may write them.
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

    /// What to do where none can be made: there are too many, or there is no file system for them, as in a container without a
    /// terminal.
    static func hint(onError error: CInt) -> String {
        switch error {
        case ENOSPC: "close programs that use pseudo-terminals, or raise /proc/sys/kernel/pty/max"
        case EMFILE, ENFILE: "close open files of this program, or raise its limit: ulimit -n 1024"
        case ENOMEM: "free memory"
        default: "mount a file system for them: mount -t devpts devpts /dev/pts; in a container: docker run -t"
        }
    }

    /// Puts a symbolic link to the slave somewhere, in place of one that it has.
    ///
    /// - Parameter linkPath: A stale link there is replaced, anything else is not.
    /// - Throws: ``SerialError`` with ``SerialError/Code/pathTaken`` or ``SerialError/Code/system``; the link that it had is
    ///   gone then.
    public func putLink(at linkPath: String) throws(SerialError) {
        link.withLock { link in
            link?.remove()
            link = nil
        }
        let link = try PortLink(path: linkPath, target: path)
        self.link.withLock { $0 = link }
    }

    deinit {
        close()
    }

    /// Whether ``close()`` was called.
    public var isClosed: Bool { master.isRetired }

    /// The master's descriptor, for an event loop to wait on: non-blocking, close-on-exec.
    ///
    /// It is the caller's part to take it off the loop before the pseudo-terminal is closed.
    public var descriptor: CInt { master.number }

    /// Reads what the client wrote, as much as the buffer takes, without waiting.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/disconnected`` while nobody has the slave open any more (which
    ///   ends when someone opens it), ``SerialError/Code/closed`` or ``SerialError/Code/system``.
    public func read(into buffer: inout MutableRawSpan) throws(SerialError) -> TransferResult {
        let descriptor = try borrow("reading from the master of")
        defer { master.giveBack() }
        guard !buffer.isEmpty else { return .bytes(0) }
        return try result(
            buffer.withUnsafeMutableBytes { bytes in
                TransferResult.of { Glibc.read(descriptor, bytes.baseAddress, bytes.count) }
            }, "reading from the master of")
    }

    /// Writes to the client as much as there is room for, without waiting.
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

    /// The settings that the client gave the port, its baud rate among them: a simulator can answer a wrong rate with
    /// garbage, as a UART would. What is no setting of the line is as in ``SerialOptions/init``.
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

    /// Begins or ends packet mode: each read then begins with a byte of ``PacketStatus``, which is 0 before data.
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

    /// Whether ``setPacketMode(_:)`` was switched on last.
    public var isInPacketMode: Bool { packetMode.load(ordering: .relaxed) }

    /// Removes the link, and closes both ends: the client finds itself disconnected. A second call does nothing.
    public func close() {
        guard master.retire() != nil else { return }
        link.withLock { $0?.remove() }
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

/// What the user of a slave changed, as a master in packet mode is told (`TIOCPKT_*`).
public struct PacketStatus: OptionSet, Sendable, Hashable {
    /// Bits as the kernel has them.
    public let rawValue: UInt8

    /// A status from its bits; 0 stands before data.
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
    /// XON and XOFF are no longer heeded.
    public static let flowControlOff = PacketStatus(rawValue: 0x10)
    /// XON and XOFF are heeded.
    public static let flowControlOn = PacketStatus(rawValue: 0x20)
    /// The client changed the settings of the line.
    public static let settingsChanged = PacketStatus(rawValue: 0x40)
}
