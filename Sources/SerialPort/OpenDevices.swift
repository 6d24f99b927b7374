import CSerial
internal import DescriptorIO
import Glibc
import Synchronization

/// The open device descriptors of all processes, found in one pass through /proc. A pass costs the same for one port
/// and for all.
///
/// Only root sees the open files of other users' processes.
struct OpenDevices: Sendable {
    /// The identity of a device, regardless of the name of its node.
    private struct Device: Hashable {
        /// The device number of /dev/ptmx and /dev/pts/ptmx: major 5, minor 2.
        static let terminalMultiplexer: UInt64 = 0x502

        private(set) var number: UInt64 = 0
        /// The file system of a pseudo-terminal, 0 for other devices. Each container may have a file system of its own,
        /// with terminals of the same numbers.
        private var fileSystem: UInt64 = 0

        /// Identifies the device at a path; nil if the path does not lead to a character device.
        init?(at path: String) {
            guard cserial_device_number(path, &number, &fileSystem) == 0, number != 0 else { return nil }
        }
    }

    /// The start of the pass through /proc.
    private let time = ContinuousClock.now
    /// The locks at the time of the scan, of all users.
    let locks = FileLocks()
    /// For each device, the descriptors of each process that has the device open.
    private var uses: [Device: [Int32: [String]]] = [:]
    /// For each process, the numbers of the pseudo-terminals whose master it has open.
    private(set) var masters: [Int32: Set<UInt32>] = [:]

    /// Scans /proc.
    init() {
        for process in Folder.names(in: "/proc").compactMap({ Int32($0) }) { look(at: process) }
    }

    /// The last scan. A program that has opened a thousand ports scans /proc once for all of them.
    final class Memory: Sendable {
        static let shared = Memory()

        private let last = Mutex<OpenDevices?>(nil)

        /// Returns the last scan if it began at `earliest` or later, otherwise a new one.
        func devices(since earliest: ContinuousClock.Instant) -> OpenDevices {
            if let last = last.withLock({ $0 }), last.time >= earliest { return last }
            let devices = OpenDevices()
            last.withLock { $0 = devices }
            return devices
        }
    }

    private mutating func look(at processID: Int32) {
        let process = "/proc/\(processID)"
        for descriptor in Folder.names(in: "\(process)/fd") {
            guard let device = Device(at: "\(process)/fd/\(descriptor)") else { continue }
            if device.number == Device.terminalMultiplexer {
                let number = Self.terminalNumber("\(process)/fdinfo/\(descriptor)")
                if let number { masters[processID, default: []].insert(number) }
            }
            uses[device, default: [:]][processID, default: []].append(descriptor)
        }
    }

    /// Returns the number of a master's pseudo-terminal, from a line such as `tty-index:\t5` (with a tab) in the
    /// descriptor's fdinfo; nil if there is no such line.
    private static func terminalNumber(_ fdinfo: String) -> UInt32? {
        let title = "tty-index:\t"
        return PortHolder.firstBytes(of: fdinfo).split(separator: "\n").first { $0.hasPrefix(title) }
            .flatMap { UInt32($0.dropFirst(title.count)) }
    }

    /// Returns the IDs of the processes that took the locks of a descriptor, from lines such as `lock:    1: FLOCK
    /// ADVISORY  WRITE 4150 00:1a:4 0 EOF` in its fdinfo. 0 stands for a process that has ended, or that is not visible
    /// from this container.
    private static func lockers(_ fdinfo: String) -> [Int32] {
        PortHolder.firstBytes(of: fdinfo).split(separator: "\n").filter { $0.hasPrefix("lock:") }.map {
            let fields = $0.split { $0 == " " || $0 == "\t" }
            return fields.count > 5 ? Int32(fields[5]) ?? 0 : 0
        }
    }

    /// Returns the processes that have the device behind a path open, as far as this user may see them.
    ///
    /// A lock belongs to the process that took it. A child that was just forked shares the lock's descriptor but does
    /// not own the lock. Once the process that took the lock no longer has the device open, all processes that share
    /// the descriptor count as owners.
    func holders(of path: String) -> [PortHolder] {
        guard let device = Device(at: path), let descriptors = uses[device] else { return [] }
        return descriptors.sorted { $0.key < $1.key }.map { processID, numbers in
            let process = "/proc/\(processID)"
            let lockers = numbers.flatMap { Self.lockers("\(process)/fdinfo/\($0)") }
            return PortHolder(
                processID: processID,
                command: PortHolder.firstBytes(of: "\(process)/comm").split(separator: "\n").first.map(String.init)
                    ?? "?",
                holdsLock: lockers.contains { $0 == processID || descriptors[$0] == nil },
                descriptorCount: numbers.count)
        }
    }

    /// Whether a process has the master of the pseudo-terminal behind a path open, and so is the device itself. Such a
    /// process often keeps the slave open as well, so that the device survives its clients. It does not read the slave,
    /// so it takes no replies from clients. Masters are compared by number only: one in another container may have the
    /// same.
    func isDevice(_ processID: Int32, behind path: String) -> Bool {
        var (number, fileSystem) = (UInt32(0), UInt64(0))
        guard cserial_pty_slave(path, &number, &fileSystem) == 0 else { return false }
        return masters[processID]?.contains(number) ?? false
    }
}
