internal import DescriptorIO
internal import Glibc

/// The program that listens on a TCP port of this machine, as far as /proc shows it to this user.
enum PortHolder {
    /// Returns the name and the ID of the process, as `nginx (pid 4711)`; nil if none is found.
    static func name(ofPort port: Int) -> String? {
        let listening = Set(["tcp", "tcp6"].flatMap { sockets(in: "/proc/net/\($0)", port: port) })
        guard !listening.isEmpty else { return nil }
        for process in Folder.names(in: "/proc") where process.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            for descriptor in Folder.names(in: "/proc/\(process)/fd")
            where Folder.target(ofLink: "/proc/\(process)/fd/\(descriptor)").map(listening.contains) ?? false {
                let name = lines(of: "/proc/\(process)/comm").first.map(String.init) ?? "a program"
                return "\(name) (pid \(process))"
            }
        }
        return nil
    }

    /// Returns the listening sockets at a port in a table of the kernel, in the form that links in `/proc/PID/fd` have:
    /// `socket:[4711]`.
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
}
