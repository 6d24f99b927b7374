internal import Glibc

/// The Unix sockets at which processes listen, from /proc.
package struct ListeningSockets {
    /// The paths of the sockets, by the targets of the links to them in /proc.
    private let paths: [String: String]

    /// Reads the sockets of all processes.
    package init() { self.init(table: TextFile.contents(of: "/proc/net/unix") ?? "") }

    /// Reads a table with the columns of /proc/net/unix: slot, references, protocol, flags, type, state, inode, path.
    init(table: String) {
        /// The flag of a socket that listens, `__SO_ACCEPTCON` of the kernel.
        let listens = 0x10000
        var paths: [String: String] = [:]
        for line in table.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 7)
            // Names without a file begin with `@`.
            guard fields.count == 8, let flags = Int(fields[3], radix: 16), flags & listens != 0,
                !fields[7].hasPrefix("@")
            else { continue }
            paths["socket:[\(fields[6])]"] = String(fields[7])
        }
        self.paths = paths
    }

    /// Returns the paths of the sockets that a process has open, as far as this user may see them. A relative path is
    /// completed by the process's working directory.
    ///
    /// The links to the process's files are read, not followed: stat(2) of a file on a network server that does not
    /// answer would block.
    package func paths(of processID: Int32) -> [String] {
        let process = "/proc/\(processID)"
        return Folder.names(in: "\(process)/fd").compactMap { descriptor in
            Folder.target(ofLink: "\(process)/fd/\(descriptor)").flatMap { paths[$0] }.map {
                $0.hasPrefix("/") ? $0 : "\(process)/cwd/\($0)"
            }
        }
    }
}
