import BlueZ
import Glibc
import LineProtocol
import Transports

/// Which device each BLE name led to, in the file `ble-devices` of the ``StateFolder``, which only its user may read.
///
/// A line holds an address, a space and a name. A name that is new is added, and the file replaced at once; of two
/// commands that do so in one moment the later counts, and the other's name is remembered when it is used again.
struct BLEMemoryFile: BLENameMemory {
    /// The most names that are kept; those that were added first go first.
    static let limit = 1000
    /// The most bytes that are read. What is longer was not written here.
    static let sizeLimit = 1 << 20

    let path: String
    /// Where to say that the file can't be read or written; nil for nowhere.
    private let note: (@Sendable (String) -> Void)?

    /// The user's file; nil where there is no home for it.
    init?(note: (@Sendable (String) -> Void)? = nil) {
        guard let folder = StateFolder.path else { return nil }
        path = folder + "/ble-devices"
        self.note = note
    }

    // MARK: For links

    func address(of name: String) -> BluetoothAddress? {
        do throws(Failure) {
            guard case .device(let address, _) = try lines().last(where: { $0.isOf(name) }) else { return nil }
            return address
        } catch {
            tell(error)
            return nil
        }
    }

    func remember(_ address: BluetoothAddress, as name: String) {
        do throws(Failure) {
            var lines = try lines()
            if case .device(address, _) = lines.last(where: { $0.isOf(name) }) { return }
            lines.removeAll { $0.isOf(name) }
            lines.append(.device(address, name: name))
            if lines.count > Self.limit { lines.removeFirst(lines.count - Self.limit) }
            try replace(with: lines)
        } catch {
            tell(error)
        }
    }

    private func tell(_ failure: Failure) {
        note?("pumpctl: it is not remembered which device a name leads to: \(failure.message.printable())")
    }

    // MARK: For people

    /// Removes a name, in any letter case, or all.
    ///
    /// - Parameter name: The name; nil for all.
    /// - Returns: What was removed.
    func forget(_ name: String?) throws(Failure) -> [(name: String, address: BluetoothAddress)] {
        var removed: [(name: String, address: BluetoothAddress)] = []
        var kept: [BLEMemoryLine] = []
        for line in try lines() {
            if case .device(let address, let own) = line, name.map(line.isOf) ?? true {
                removed.append((own, address))
            } else {
                kept.append(line)
            }
        }
        if !removed.isEmpty { try replace(with: kept) }
        return removed
    }

    /// The names that are remembered.
    var names: [String] {
        let lines = (try? lines()) ?? []
        return lines.compactMap { if case .device(_, let name) = $0 { name } else { nil } }
    }

    // MARK: The file

    /// What the file holds; nothing where there is none.
    private func lines() throws(Failure) -> [BLEMemoryLine] {
        // What is no file must not hold up a command.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw failure(errno)
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0 { throw failure(errno) }
            if count == 0 { break }
            bytes += buffer[..<count]
            if bytes.count > Self.sizeLimit { throw failure(EFBIG) }
        }
        return bytes.split(separator: 0x0A).map { BLEMemoryLine($0) }
    }

    private func replace(with lines: [BLEMemoryLine]) throws(Failure) {
        if let slash = path.lastIndex(of: "/") { StateFolder.make(String(path[..<slash])) }
        let new = "\(path).\(getpid())"
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(errno) }
        let bytes = lines.reduce(into: [UInt8]()) { $0 += $1.bytes + [0x0A] }
        // On the disk before it has the name: a crash must not leave half of it there.
        let isWritten = write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        let error = errno
        close(file)
        guard isWritten, rename(new, path) == 0 else {
            let reason = isWritten ? errno : error
            unlink(new)
            throw failure(reason)
        }
    }

    private func failure(_ reason: CInt) -> Failure {
        var failure = Failure(file: path, errno: reason)
        failure.hint = nil
        return failure
    }
}
