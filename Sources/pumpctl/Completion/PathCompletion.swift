import Glibc
import SerialPort

/// The completion of paths.
enum PathCompletion {
    /// The kind of files to offer, besides folders.
    enum Kind {
        case file, folder, socket
        /// Pseudo-terminals in /dev/pts and links to them, as simulators create them, and other character devices that
        /// are not directly in /dev: ``EndpointCompletion`` lists the serial ports there.
        case terminal
    }

    /// Returns the paths that continue a typed path. A folder that can't be read has none.
    static func candidates(_ typed: some StringProtocol, _ kind: Kind) -> [Candidate] {
        let parent = typed.lastIndex(of: "/").map { typed[...$0] } ?? ""
        let beginning = typed.dropFirst(parent.count)
        var path = parent.isEmpty ? "./" : String(parent)
        if path.hasPrefix("~/"), let home = getenv("HOME") { path = String(cString: home) + path.dropFirst() }
        return names(in: path, from: beginning, kind).compactMap { name in
            guard let isFolder = offer(path + name, kind) else { return nil }
            return Candidate(text: parent + name + (isFolder ? "/" : ""))
        }
    }

    /// Returns whether a file is a folder; nil if it is not to be offered.
    private static func offer(_ path: String, _ kind: Kind) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch (status.st_mode & S_IFMT, kind) {
        case (S_IFDIR, _): return true
        case (_, .file), (S_IFSOCK, .socket): return false
        case (S_IFCHR, .terminal): return path.hasPrefix("/dev/") && !path.dropFirst(5).contains("/") ? nil : false
        default: return nil
        }
    }

    /// Returns the names in a folder with this beginning, sorted; hidden ones only if the beginning has their dot.
    private static func names(in path: String, from beginning: some StringProtocol, _ kind: Kind) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            // A large folder mostly has files, and to ask for the kind of each would take long.
            if kind != .file, entry.pointee.d_type == DT_REG { continue }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(entry.pointee.d_reclen)) { String(cString: $0) }
            }
            if name.hasPrefix(beginning), name != ".", name != "..", !name.hasPrefix(".") || !beginning.isEmpty {
                names.append(name)
            }
        }
        return names.sorted()
    }
}
