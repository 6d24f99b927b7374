internal import CSerial
public import DescriptorIO
internal import Glibc
internal import Synchronization

/// Tells how many programs have the slave of a pseudo-terminal open.
///
/// A pseudo-terminal that holds its own slave open is never told that a client came or went; inotify tells. With it a
/// simulator can behave as a device on a real line: what it says while nobody has the port open is lost, and does not
/// wait to be taken for news by the next client.
public final class PseudoTerminalClients: Sendable {
    private let count = Mutex(0)
    private let events: DescriptorChannel

    /// Begins to watch.
    ///
    /// - Parameter onChange: Gets the number of clients each time it changes, on the loop's thread.
    /// - Returns: nil where inotify is not to be had; nothing is known of the clients then.
    public init?(
        of terminal: PseudoTerminal, on loop: EventLoop = .shared, onChange: @escaping @Sendable (Int) -> Void
    ) async {
        let descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        guard inotify_add_watch(descriptor, terminal.path, UInt32(IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE)) >= 0
        else {
            Glibc.close(descriptor)
            return nil
        }
        events = DescriptorChannel(taking: descriptor, kind: .stream, on: loop)
        await events.forward { [weak self] arrival in
            guard case .bytes(let bytes) = arrival, let change = self?.take(bytes) else { return }
            onChange(change)
        }
    }

    /// Ends the watch.
    public func close() async { await events.close() }

    /// Counts openings and closings; returns the new number of clients.
    private func take(_ bytes: [UInt8]) -> Int {
        count.withLock { count in
            bytes.withUnsafeBytes { buffer in
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= buffer.count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    count += event.mask & UInt32(IN_OPEN) != 0 ? 1 : -1
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
            count = max(0, count)
            return count
        }
    }
}

extension PseudoTerminal {
    /// Throws away what was written to the client and was not read, as a serial port does when it is closed.
    public func discardUnread() {
        guard let descriptor = heldSlave?.borrow() else { return }
        tcflush(descriptor, TCIFLUSH)
        heldSlave?.giveBack()
    }
}
