import Glibc

/// A claim on the path of a symbolic link: a file next to the link, `.pump.lock` for `pump`. The program that creates
/// the link keeps the file locked until after the removal of the link.
///
/// An flock(2) lock ends with its process, so a killed program leaves the file unlocked. The file then still identifies
/// the link that the program created: inode and modification time distinguish that link from a later one of the same
/// name.
///
/// The file has two lines: the link as `pumpctl-link DEVICE INODE SECONDS.NANOSECONDS`, and `pid NUMBER`.
struct PortLinkClaim: Sendable {
    private static let word = "pumpctl-link"
    private static let processTitle = "pid "

    private let descriptor: CInt
    private let path: String
    /// The link that the claim file recorded when the claim was made: the link of a killed program. Nil if the file was
    /// new or empty.
    let formerLink: Identity?

    /// The identity of a link: distinguishes the link from a later one of the same name.
    struct Identity: Sendable, Hashable {
        /// The identity as the first line of a claim file, including the line feed.
        fileprivate var text: String

        /// Reads the identity of the link at a path; nil if there is no link.
        init?(ofLink path: String) {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
            let time = status.st_mtim
            text = "\(PortLinkClaim.word) \(status.st_dev) \(status.st_ino) \(time.tv_sec).\(time.tv_nsec)\n"
        }

        fileprivate init(text: String) {
            self.text = text
        }
    }

    /// Claims the path of a link.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/pathTaken`` if a running program has claimed the path, if a
    ///   link exists and this user may not open or create the claim file, or if the claim file has contents that no
    ///   claim wrote; or with ``SerialError/Code/system``.
    init(link: String) throws(SerialError) {
        let slash = link.lastIndex(of: "/").map { link.index(after: $0) } ?? link.startIndex
        path = "\(link[..<slash]).\(link[slash...]).lock"
        while true {
            // O_NOFOLLOW and O_NONBLOCK: a link at the path must not lead to another file, and a FIFO must not block.
            let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
            guard file >= 0 else {
                let error = errno
                // If there is a link, the path is taken: the claim file belongs to another user, or this user may not
                // write to the folder.
                if [EACCES, EPERM].contains(error), Identity(ofLink: link) != nil { throw Self.taken(link) }
                throw SerialError(
                    .system, errno: error, activity: "linking", path: link,
                    hint: "choose a path in a folder that you may write to")
            }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                defer { close(file) }
                throw Self.taken(link, by: Self.owner(Self.text(of: file)))
            }
            // The previous owner may have removed the file between our open and flock.
            guard Self.isFile(file, at: path) else {
                close(file)
                continue
            }
            let text = Self.text(of: file)
            guard text.isEmpty || text.hasPrefix(Self.word + " ") else {
                close(file)
                throw SerialError(
                    .pathTaken, errno: EEXIST, activity: "linking", path: path,
                    hint: "remove the existing file, or choose another path for the link")
            }
            descriptor = file
            formerLink = text.isEmpty ? nil : Identity(text: "\(text.prefix { $0 != "\n" })\n")
            return
        }
    }

    /// Returns the error for a path that is in use.
    ///
    /// - Parameters:
    ///   - link: The path of the link.
    ///   - owner: The running program that has claimed the path; nil if unknown, or if there is none.
    static func taken(_ link: String, by owner: PortHolder? = nil) -> SerialError {
        SerialError(
            .pathTaken, errno: EEXIST, activity: "linking", path: link,
            hint: owner.map { "end \($0), which uses this path, or choose another path" }
                ?? "remove the existing file or link, or choose another path")
    }

    /// Returns the program whose process ID is in the text of a claim; nil if the program no longer runs, or the text
    /// contains no ID.
    private static func owner(_ text: String) -> PortHolder? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(processTitle) }),
            let processID = Int32(line.dropFirst(processTitle.count)), let command = LockFile.command(of: processID)
        else { return nil }
        return PortHolder(processID: processID, command: command, holdsLock: true)
    }

    /// Records the link and this process in the claim file.
    func note(_ link: Identity) {
        // A failure of this write is ignored. It matters only if the program is killed later, and the number of the
        // link's target then goes to another program's terminal: a person has to remove the link.
        ftruncate(descriptor, 0)
        let bytes = Array("\(link.text)\(Self.processTitle)\(getpid())\n".utf8)
        pwrite(descriptor, bytes, bytes.count, 0)
    }

    /// Releases the claim. Must be the last use of this value.
    func end() {
        unlink(path)
        close(descriptor)
    }

    private static func isFile(_ file: CInt, at path: String) -> Bool {
        var (opened, named) = (stat(), stat())
        guard fstat(file, &opened) == 0, lstat(path, &named) == 0 else { return false }
        return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
    }

    private static func text(of file: CInt) -> String {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(file, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
