public import BlueZ
internal import Glibc
public import Transports

/// The device addresses that were found for BLE names, in a file that only its user may read.
///
/// ```swift
/// let memory = BLEMemoryFile(path: home + "/.local/state/bench/ble-devices")
/// var schemes = LinkSchemes.standard
/// schemes.add("ble", BLEEndpoint.opener(BLEUse(profiles: .families, memory: memory)))
/// ```
///
/// Each line holds an address, a space and a name. Adding a name rewrites the file. If two commands add names at the
/// same moment, the later write wins; the other name is stored at its next use.
public struct BLEMemoryFile: BLENameMemory {
    /// The largest number of lines. Beyond it, lines at the beginning, which are the oldest, are dropped.
    public static let limit = 1000
    /// The largest size in bytes. A larger file was not written by this type.
    static let sizeLimit = 1 << 20

    /// The path of the file.
    public let path: String
    private let onProblem: (@Sendable (FileError) -> Void)?

    /// Creates a memory for the file at `path`. The file and its parent folders are created when the first name is
    /// stored.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - onProblem: Called if the file can't be read or written when a link needs it. The link goes on without the
    ///     file.
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

    /// Removes one name, in any letter case, or all names.
    ///
    /// - Parameter name: The name; nil for all.
    /// - Returns: The removed names with their addresses.
    /// - Throws: `FileError` if the file can't be read or written.
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

    /// The stored names; empty if the file can't be read.
    public var names: [String] {
        let lines = (try? lines()) ?? []
        return lines.compactMap { if case .device(_, let name) = $0 { name } else { nil } }
    }

    // MARK: The file

    /// Reads the lines of the file; empty if there is no file.
    private func lines() throws(FileError) -> [BLEMemoryLine] {
        // O_NONBLOCK ensures that opening a FIFO can't block a command.
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

    /// Writes the lines to a new file, which then replaces the old one.
    private func replace(with lines: [BLEMemoryLine]) throws(FileError) {
        if let slash = path.lastIndex(of: "/") { PrivateFolder.make(String(path[..<slash])) }
        let new = "\(path).\(getpid())"
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(errno) }
        let bytes = lines.reduce(into: [UInt8]()) { $0 += $1.bytes + [0x0A] }
        // Flush before renaming, so that a crash can't leave a partial file under this path.
        let count = write(file, bytes, bytes.count)
        let isWritten = count == bytes.count && fsync(file) == 0
        // A short write sets no errno; the usual cause is a full disk.
        let error = count >= 0 && count < bytes.count ? ENOSPC : errno
        close(file)
        guard isWritten, rename(new, path) == 0 else {
            let reason = isWritten ? errno : error
            unlink(new)
            throw failure(reason)
        }
    }

    private func failure(_ reason: CInt) -> FileError { FileError(path: path, errno: reason) }
}
