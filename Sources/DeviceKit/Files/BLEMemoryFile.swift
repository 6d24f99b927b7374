public import BlueZ
internal import Glibc
public import Transports

/// Which device each BLE name led to, in a file that only its user may read.
///
/// ```swift
/// let memory = BLEMemoryFile(path: home + "/.local/state/bench/ble-devices")
/// var schemes = LinkSchemes.standard
/// schemes.add("ble", BLEEndpoint.opener(BLEUse(profiles: .families, memory: memory)))
/// ```
///
/// A line holds an address, a space and a name. A name that is new is added, and the file replaced at once; of two
/// commands that do so in one moment the later counts, and the other's name is remembered when it is used again.
public struct BLEMemoryFile: BLENameMemory {
    /// The most names that are kept; those that were added first go first.
    public static let limit = 1000
    /// The most bytes that are read. What is longer was not written here.
    static let sizeLimit = 1 << 20

    /// Where it is.
    public let path: String
    private let onProblem: (@Sendable (FileError) -> Void)?

    /// The file at a path. It is made, with the folders above it, when there is something to remember.
    ///
    /// - Parameter onProblem: Called where a link needs the file, and it can't be read or written: links do without it.
    public init(path: String, onProblem: (@Sendable (FileError) -> Void)? = nil) {
        self.path = path
        self.onProblem = onProblem
    }

    // MARK: For links

    public func address(of name: String) -> BluetoothAddress? {
        do throws(FileError) {
            guard case .device(let address, _) = try lines().last(where: { $0.isOf(name) }) else { return nil }
            return address
        } catch {
            onProblem?(error)
            return nil
        }
    }

    public func remember(_ address: BluetoothAddress, as name: String) {
        do throws(FileError) {
            var lines = try lines()
            if case .device(address, _) = lines.last(where: { $0.isOf(name) }) { return }
            lines.removeAll { $0.isOf(name) }
            lines.append(.device(address, name: name))
            if lines.count > Self.limit { lines.removeFirst(lines.count - Self.limit) }
            try replace(with: lines)
        } catch {
            onProblem?(error)
        }
    }

    // MARK: For people

    /// Removes a name, in any letter case, or all.
    ///
    /// - Parameter name: The name; nil for all.
    /// - Returns: What was removed.
    /// - Throws: Where the file can't be read or written.
    public func forget(_ name: String?) throws(FileError) -> [(name: String, address: BluetoothAddress)] {
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

    /// The names that are remembered; none where the file can't be read.
    public var names: [String] {
        let lines = (try? lines()) ?? []
        return lines.compactMap { if case .device(_, let name) = $0 { name } else { nil } }
    }

    // MARK: The file

    /// What the file holds; nothing where there is none.
    private func lines() throws(FileError) -> [BLEMemoryLine] {
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

    private func replace(with lines: [BLEMemoryLine]) throws(FileError) {
        if let slash = path.lastIndex(of: "/") { PrivateFolder.make(String(path[..<slash])) }
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

    private func failure(_ reason: CInt) -> FileError { FileError(path: path, errno: reason) }
}
