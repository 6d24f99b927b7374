internal import CSerial
internal import Glibc

/// The way to a pseudo-terminal, as it was at one time.
///
/// The number of a pseudo-terminal that has gone is given to whoever makes the next. So a path that leads somewhere again
/// may lead to another program's terminal, and nothing that is read from it tells. What does is a link on the way: who
/// offers a device makes it anew for each terminal, as ``PseudoTerminal`` and socat do.
public struct PseudoTerminalPath: Sendable {
    /// Where the path leads by now.
    public enum Destination: Sendable, Hashable {
        /// To the same terminal.
        case same
        /// To one that was put there since: a link on the way was made anew.
        case replaced
        /// Nowhere, or by chance to somebody else's; whoever made the link may make it anew.
        case gone
        /// The same, and there is no link on the way that could tell of a terminal to come.
        case goneForGood
    }

    /// The most links that a path may lead through, as the kernel has it.
    private static let mostLinks = 40

    private let path: String
    /// What stands at each step of the way: links, and the terminal.
    private let steps: [Step]

    /// - Returns: nil where the path leads to no pseudo-terminal.
    public init?(_ path: String) {
        guard Self.isTerminal(path) else { return nil }
        self.path = path
        steps = Self.steps(from: path)
    }

    /// Where the path leads now.
    public var destination: Destination {
        let now = Self.steps(from: path)
        if now == steps { return .same }
        if steps.count == 1 { return .goneForGood }
        let isRenewed = now.filter(\.isLink) != steps.filter(\.isLink)
        return isRenewed && Self.isTerminal(path) ? .replaced : .gone
    }

    /// Whether a path that leads nowhere may have led to a pseudo-terminal. The nodes of devices are below /dev.
    package static func isLikely(_ path: String) -> Bool { !path.hasPrefix("/dev/") || path.hasPrefix("/dev/pts/") }

    static func isTerminal(_ path: String) -> Bool {
        var (number, fileSystem) = (UInt32(0), UInt64(0))
        return cserial_pty_slave(path, &number, &fileSystem) == 0
    }

    // MARK: The way

    /// What tells a file from a later one of its name: file systems use the numbers of files again, and only the time of
    /// the last change goes on.
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
            guard step.isLink, let target = target(of: path) else { break }
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
            path = target.hasPrefix("/") ? target : folder + target
        }
        return steps
    }

    private static func target(of link: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBytes { readlink(link, $0.baseAddress!, $0.count) }
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
