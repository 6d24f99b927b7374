import CSerial
import Glibc
import Synchronization

/// What the processes have open of devices, as one look through /proc finds it: for all ports this costs no more than for one.
///
/// Of other users' processes only root sees the open files.
struct OpenDevices: Sendable {
    /// What tells a device from others, whatever its node is called.
    private struct Device: Hashable {
        /// /dev/ptmx and /dev/pts/ptmx: 5, 2.
        static let terminalMultiplexer: UInt64 = 0x502

        private(set) var number: UInt64 = 0
        /// That of a pseudo-terminal, and 0 for other devices: a container has its own, with terminals of the same numbers.
        private var fileSystem: UInt64 = 0

        /// - Returns: nil where no character device is behind the path.
        init?(at path: String) {
            guard cserial_device_number(path, &number, &fileSystem) == 0, number != 0 else { return nil }
        }
    }

    /// When the look began.
    private let time = ContinuousClock.now
    /// By process, the descriptors that it has for a device.
    private var uses: [Device: [Int32: [String]]] = [:]
    /// The numbers of the pseudo-terminals of which a process has the master.
    private var masters: [Int32: Set<UInt32>] = [:]

    /// What is open now.
    init() {
        for process in PortHolder.entries(of: "/proc").compactMap({ Int32($0) }) { look(at: process) }
    }

    /// Remembers the last look: a program that has opened a thousand ports looks once for all of them.
    final class Memory: Sendable {
        static let shared = Memory()

        private let last = Mutex<OpenDevices?>(nil)

        /// What was open at some time since `earliest`.
        func devices(since earliest: ContinuousClock.Instant) -> OpenDevices {
            if let last = last.withLock({ $0 }), last.time >= earliest { return last }
            let devices = OpenDevices()
            last.withLock { $0 = devices }
            return devices
        }
    }

    private mutating func look(at processID: Int32) {
        let process = "/proc/\(processID)"
        for descriptor in PortHolder.entries(of: "\(process)/fd") {
            guard let device = Device(at: "\(process)/fd/\(descriptor)") else { continue }
            if device.number == Device.terminalMultiplexer {
                let number = Self.terminalNumber("\(process)/fdinfo/\(descriptor)")
                if let number { masters[processID, default: []].insert(number) }
            }
            uses[device, default: [:]][processID, default: []].append(descriptor)
        }
    }

    /// A master's descriptor has a line such as `tty-index:	5` in its fdinfo.
    private static func terminalNumber(_ fdinfo: String) -> UInt32? {
        let title = "tty-index:\t"
        return PortHolder.firstBytes(of: fdinfo).split(separator: "\n").first { $0.hasPrefix(title) }
            .flatMap { UInt32($0.dropFirst(title.count)) }
    }

    /// The processes that took the locks that a descriptor has, by lines such as
    /// `lock:	1: FLOCK  ADVISORY  WRITE 4150 00:1a:4 0 EOF` in its fdinfo. 0 is one in another container.
    private static func lockers(_ fdinfo: String) -> [Int32] {
        PortHolder.firstBytes(of: fdinfo).split(separator: "\n").filter { $0.hasPrefix("lock:") }.map {
            let fields = $0.split { $0 == " " || $0 == "\t" }
            return fields.count > 5 ? Int32(fields[5]) ?? 0 : 0
        }
    }

    /// The processes that have the device behind a path open.
    ///
    /// A lock is had by who took it, and not by a process that it is just starting, which still has copies of all
    /// descriptors; but by those too once who took it is there no more.
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

    /// Whether a process has the master of the pseudo-terminal behind a path: it is the device. It often keeps the slave open
    /// as well, so that the device survives its clients; it takes nobody's answers by that.
    func isDevice(_ processID: Int32, behind path: String) -> Bool {
        var (number, fileSystem) = (UInt32(0), UInt64(0))
        guard cserial_pty_slave(path, &number, &fileSystem) == 0 else { return false }
        return masters[processID]?.contains(number) ?? false
    }
}
