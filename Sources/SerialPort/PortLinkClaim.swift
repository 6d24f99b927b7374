import Glibc

/// A claim on the path of a link: a file next to the link, `.pump.lock` for `pump`, that is locked as long as the link is
/// served.
///
/// flock(2) ends with its process, so a killed program leaves the file unlocked. The file then still says which link was
/// made: its inode and its time of creation tell it from a link of the same name that somebody else has put there.
struct PortLinkClaim: Sendable {
    private static let word = "pumpctl-link"
    private static let processTitle = "pid "

    private let descriptor: CInt
    private let path: String
    /// Which link was made by the program that had the claim before; nil where there was none.
    let formerLink: Identity?

    /// What tells a link from a later one of its name.
    struct Identity: Sendable, Hashable {
        /// As it stands in the file.
        fileprivate var text: String

        /// - Returns: nil where there is no link.
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
    /// - Throws: ``SerialError`` with ``SerialError/Code/pathTaken`` where a living program has claimed it, or the file is
    ///   somebody else's; or ``SerialError/Code/system``.
    init(link: String) throws(SerialError) {
        let slash = link.lastIndex(of: "/").map { link.index(after: $0) } ?? link.startIndex
        path = "\(link[..<slash]).\(link[slash...]).lock"
        while true {
            let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
            guard file >= 0 else {
                let error = errno
                // Where there is a link too, it is another user's.
                if [EACCES, EPERM].contains(error), Identity(ofLink: link) != nil { throw Self.taken(link) }
                throw SerialError(
                    .system, errno: error, activity: "linking", path: link,
                    hint: "choose a path in a folder that you may write to")
            }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                defer { close(file) }
                throw Self.taken(link, by: Self.owner(Self.text(of: file)))
            }
            // Whoever had the claim may have removed the file before it was locked here.
            guard Self.isFile(file, at: path) else {
                close(file)
                continue
            }
            let text = Self.text(of: file)
            guard text.isEmpty || text.hasPrefix(Self.word + " ") else {
                close(file)
                throw SerialError(
                    .pathTaken, errno: EEXIST, activity: "linking", path: path,
                    hint: "remove what is there, or choose another path for the link")
            }
            descriptor = file
            formerLink = text.isEmpty ? nil : Identity(text: "\(text.prefix { $0 != "\n" })\n")
            return
        }
    }

    /// That something else is at the path of a link.
    ///
    /// - Parameter owner: The program that serves it; nil where that is not known.
    static func taken(_ link: String, by owner: PortHolder? = nil) -> SerialError {
        SerialError(
            .pathTaken, errno: EEXIST, activity: "linking", path: link,
            hint: owner.map { "\($0) serves it: end that program, or choose another path" }
                ?? "remove what is there, or choose another path")
    }

    /// The program that has noted itself in a claim; nil where it no longer runs.
    private static func owner(_ text: String) -> PortHolder? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(processTitle) }),
            let processID = Int32(line.dropFirst(processTitle.count)), let command = LockFile.command(of: processID)
        else { return nil }
        return PortHolder(processID: processID, command: command, holdsLock: true)
    }

    /// Notes which link was made, and by whom.
    func note(_ link: Identity) {
        // Where this fails, the link of a killed program is left for a person to remove.
        ftruncate(descriptor, 0)
        let bytes = Array("\(link.text)\(Self.processTitle)\(getpid())\n".utf8)
        pwrite(descriptor, bytes, bytes.count, 0)
    }

    /// Gives the claim up; the last use of it.
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
