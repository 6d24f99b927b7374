internal import Glibc

/// The program that listens on a TCP port of this machine, as far as /proc shows it to this user.
enum PortHolder {
    /// Returns the name and the ID of the process, as `nginx (pid 4711)`; nil if none is found.
    static func name(ofPort port: Int) -> String? {
        let listening = Set(["tcp", "tcp6"].flatMap { sockets(in: "/proc/net/\($0)", port: port) })
        guard !listening.isEmpty else { return nil }
        for process in names(in: "/proc") where process.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            for descriptor in names(in: "/proc/\(process)/fd")
            where target(of: "/proc/\(process)/fd/\(descriptor)").map(listening.contains) ?? false {
                let name = lines(of: "/proc/\(process)/comm").first.map(String.init) ?? "a program"
                return "\(name) (pid \(process))"
            }
        }
        return nil
    }

    /// Returns the listening sockets at a port in a table of the kernel, as links to them read.
    private static func sockets(in path: String, port: Int) -> [String] {
        lines(of: path).compactMap { line in
            let columns = line.split(separator: " ")
            // 0A is the state of a socket that listens.
            guard columns.count > 9, columns[3] == "0A", let digits = columns[1].split(separator: ":").last,
                Int(digits, radix: 16) == port
            else { return nil }
            return "socket:[\(columns[9])]"
        }
    }

    private static func lines(of path: String) -> [Substring] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 14))
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    private static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.first != "." { names.append(name) }
        }
        return names
    }

    private static func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = buffer.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { readlink(path, $0.baseAddress!, $0.count) }
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
