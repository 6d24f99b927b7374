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

    private struct Use {
        let processID: Int32
        var descriptors: [String]
    }

    /// When the look began.
    private let time = ContinuousClock.now
    private var uses: [Device: [Use]] = [:]
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
            var ofDevice = uses[device, default: []]
            if ofDevice.last?.processID == processID {
                ofDevice[ofDevice.count - 1].descriptors.append(descriptor)
            } else {
                ofDevice.append(Use(processID: processID, descriptors: [descriptor]))
            }
            uses[device] = ofDevice
        }
    }

    /// A master's descriptor has a line such as `tty-index:	5` in its fdinfo.
    private static func terminalNumber(_ fdinfo: String) -> UInt32? {
        let title = "tty-index:\t"
        return PortHolder.firstBytes(of: fdinfo).split(separator: "\n").first { $0.hasPrefix(title) }
            .flatMap { UInt32($0.dropFirst(title.count)) }
    }

    /// Whether a descriptor has a line such as `lock:	1: FLOCK  ADVISORY  WRITE 4150 00:1a:4 0 EOF` in its fdinfo.
    private static func isLocked(_ fdinfo: String) -> Bool {
        PortHolder.firstBytes(of: fdinfo).split(separator: "\n").contains { $0.hasPrefix("lock:") }
    }

    /// The processes that have the device behind a path open.
    func holders(of path: String) -> [PortHolder] {
        guard let device = Device(at: path) else { return [] }
        return uses[device, default: []].map { use in
            let process = "/proc/\(use.processID)"
            return PortHolder(
                processID: use.processID,
                command: PortHolder.firstBytes(of: "\(process)/comm").split(separator: "\n").first.map(String.init)
                    ?? "?",
                holdsLock: use.descriptors.contains { Self.isLocked("\(process)/fdinfo/\($0)") },
                descriptorCount: use.descriptors.count)
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
