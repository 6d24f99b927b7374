internal import CSerial
internal import DescriptorIO
internal import Glibc

/// The links from a path to a pseudo-terminal, recorded at one time.
///
/// The kernel gives the number of a closed pseudo-terminal to the next one that any program creates. So a path that
/// leads to a terminal again may lead to another program's, and the terminal itself doesn't show whose it is. A new
/// link on the way does: programs that offer a device create a new link for each terminal, as ``PseudoTerminal`` and
/// socat do.
public struct PseudoTerminalPath: Sendable {
    /// The present destination of the path, compared with the recorded one.
    public enum Destination: Sendable, Hashable {
        /// The same terminal.
        case same
        /// A new terminal: a link on the way was created since.
        case replaced
        /// No terminal, or by chance the terminal of another program. A program may create a new link later.
        case gone
        /// No terminal, or by chance the terminal of another program. There was no link on the way whose renewal could
        /// announce a new terminal.
        case goneForGood
    }

    /// The kernel's limit for the number of links in a path.
    private static let mostLinks = 40

    private let path: String
    /// The files along the path: the links in order, then the terminal.
    private let steps: [Step]

    /// Records the links from a path to a pseudo-terminal.
    ///
    /// - Parameter path: A pseudo-terminal's path, or a link to it.
    /// - Returns: nil if the path does not lead to a pseudo-terminal.
    public init?(_ path: String) {
        self.init(path, isTerminal: Self.isTerminal)
    }

    /// Records the links from a path that `isTerminal` accepts.
    init?(_ path: String, isTerminal: (String) -> Bool) {
        guard isTerminal(path) else { return nil }
        self.path = path
        steps = Self.steps(from: path)
    }

    /// The destination of the path now.
    public var destination: Destination {
        let now = Self.steps(from: path)
        if now == steps, !steps.isEmpty { return .same }
        // The terminal may have gone while the links were recorded, so that only links were found; or the first link, so
        // that nothing was found. A terminal itself is in /dev.
        guard steps.first?.isLink ?? !path.hasPrefix("/dev/") else { return .goneForGood }
        let isRenewed = now.filter(\.isLink) != steps.filter(\.isLink)
        return isRenewed && Self.isTerminal(path) ? .replaced : .gone
    }

    /// Whether a path that does not exist may have led to a pseudo-terminal. Below /dev, only paths in /dev/pts do.
    package static func isLikely(_ path: String) -> Bool { !path.hasPrefix("/dev/") || path.hasPrefix("/dev/pts/") }

    static func isTerminal(_ path: String) -> Bool {
        var (number, fileSystem) = (UInt32(0), UInt64(0))
        return cserial_pty_slave(path, &number, &fileSystem) == 0
    }

    // MARK: Links

    /// The identity of a file. File systems reuse inode numbers, so the time of the last change distinguishes a file
    /// from a later one.
    private struct Step: Hashable {
        var isLink: Bool
        var device: UInt
        var number: UInt
        var changed: [Int]

        init?(_ path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            isLink = status.st_mode & S_IFMT == S_IFLNK
            (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
            changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
        }
    }

    private static func steps(from path: String) -> [Step] {
        var (steps, path): ([Step], String) = ([], path)
        while steps.count <= mostLinks, let step = Step(path) {
            steps.append(step)
            guard step.isLink, let target = Folder.target(ofLink: path) else { break }
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
            path = target.hasPrefix("/") ? target : folder + target
        }
        return steps
    }
}
