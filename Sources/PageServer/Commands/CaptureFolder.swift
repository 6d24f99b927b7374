internal import Glibc
internal import NIOHTTP1
internal import StrictJSON

/// A folder with captures: files with all bytes of a link, which programs write by `--capture`. Every call may block on
/// the disk.
struct CaptureFolder: Sendable {
    /// The path of the folder.
    let path: String
    /// The largest number of captures in a list. A list that lacks some says so.
    var listLimit = 1000
    /// The largest number of names that are read for a list.
    var nameLimit = 10_000

    /// Returns the captures in order of their names, as JSON, with the number of files that can't be read, and whether
    /// the list has all captures.
    ///
    /// - Throws: `captures_unusable` if the folder can't be read.
    func list() throws(Problem) -> [String: JSONValue] {
        guard let directory = opendir(path) else { throw .unusable(path, errno) }
        defer { closedir(directory) }
        var (names, isComplete) = try names(directory)
        names.sort()
        var captures: [JSONValue] = []
        var unreadable = 0
        for name in names {
            do throws(ReadError) {
                guard let capture = try OpenCapture(name, in: dirfd(directory)) else { continue }
                capture.close()
                guard captures.count < listLimit else {
                    isComplete = false
                    break
                }
                captures.append(.object(capture.members.merging(["name": .text(name)]) { $1 }))
            } catch {
                unreadable += 1
            }
        }
        return [
            "captures": .array(captures), "unreadable": .integer(unreadable), "complete": .boolean(isComplete),
        ]
    }

    /// Opens a capture. The caller closes it.
    ///
    /// - Throws: `no_such_capture` if no capture has this name, `captures_unusable` if it can't be read.
    func open(_ name: String) throws(Problem) -> OpenCapture {
        let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .unusable(path, errno) }
        defer { close(folder) }
        do throws(ReadError) {
            if let capture = try OpenCapture(name, in: folder) { return capture }
        } catch {
            throw .unusable(name, error.number)
        }
        throw Problem(
            .notFound, "no_such_capture", "there is no capture named '\(name)'",
            hint: "list them: GET /api/v1/captures", outcome: "not_sent")
    }

    /// Returns the names of files that a request can name, and whether these are all.
    private func names(_ directory: OpaquePointer) throws(Problem) -> (names: [String], isComplete: Bool) {
        var names: [String] = []
        for _ in 0..<nameLimit {
            errno = 0
            guard let entry = readdir(directory) else {
                if errno != 0 { throw .unusable(path, errno) }
                return (names, true)
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
            }
            if let name, Request.isSegment(name) { names.append(name) }
        }
        return (names, false)
    }
}

/// A failure to read a file, with its number in `errno`.
private struct ReadError: Error {
    let number: CInt
}

/// A capture, open for reading.
struct OpenCapture: Sendable {
    /// The largest size of a capture's first line in bytes.
    private static let headLimit = 4096
    /// The number of bytes in a part.
    private static let partLength = 65_536

    private let descriptor: CInt
    /// The size in bytes at the time of opening.
    let size: Int
    /// The size of the file, and the family and the time of the start from its first line, as JSON.
    let members: [String: JSONValue]

    /// Opens a file of a folder; nil if it is no capture.
    fileprivate init?(_ name: String, in folder: CInt) throws(ReadError) {
        // Checked before the file is opened: opening a serial port can restart a device. In the moment between the two,
        // the owner of the folder can still put something else there.
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard [ENOENT, ENAMETOOLONG].contains(errno) else { throw ReadError(number: errno) }
            return nil
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw ReadError(number: errno) }
            return nil
        }
        do throws(ReadError) {
            guard fstat(descriptor, &status) == 0 else { throw ReadError(number: errno) }
            guard status.st_mode & S_IFMT == S_IFREG, let head = try Self.head(descriptor) else {
                Glibc.close(descriptor)
                return nil
            }
            size = Int(status.st_size)
            members = [
                "bytes": .integer(size), "family": head["family"]?.text.map(JSONValue.text) ?? .null,
                "started": head["started"]?.text.map(JSONValue.text) ?? .null,
            ]
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Closes the file.
    func close() { Glibc.close(descriptor) }

    /// Reads the next part; empty if the file has become shorter, or can't be read.
    func read(from offset: Int) -> [UInt8] {
        (try? Self.bytes(descriptor, from: offset, min(Self.partLength, size - offset))) ?? []
    }

    /// Returns the first line; nil if the file is no capture.
    private static func head(_ descriptor: CInt) throws(ReadError) -> JSONValue? {
        let line = try bytes(descriptor, from: 0, headLimit).prefix { $0 != 0x0A }
        guard let head = try? JSONValue(Array(line), size: headLimit), head["pumpctl_capture"]?.integer ?? 0 >= 1
        else { return nil }
        return head
    }

    private static func bytes(_ descriptor: CInt, from offset: Int, _ count: Int) throws(ReadError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let count = pread(descriptor, &bytes, count, off_t(offset))
        guard count >= 0 else { throw ReadError(number: errno) }
        return Array(bytes.prefix(count))
    }
}

extension Problem {
    fileprivate static func unusable(_ name: String, _ error: CInt) -> Problem {
        Problem(
            .serviceUnavailable, "captures_unusable", "can't read \(name): \(String(cString: strerror(error)))",
            hint: "check the folder of captures: whether it exists, and whether pumpctl-page may read it",
            outcome: "not_sent")
    }
}
