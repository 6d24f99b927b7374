import DescriptorIO
import Glibc
import LineProtocol
import TOMLReading

/// A configuration file of the daemon.
struct ConfigurationFile: Sendable, Hashable {
    /// The path of the system's file.
    static let system = "/etc/pumpctl/pumpctld.toml"
    /// The maximum size of a configuration file in bytes. A larger file is taken for one of another kind, and is not
    /// read.
    private static let limit: off_t = 1 << 20

    let path: String

    /// The default file: this user's own if it exists, otherwise the system's. Root uses only the system's.
    ///
    /// - Throws: ``DaemonFailure`` if neither exists.
    static func standard() throws(DaemonFailure) -> ConfigurationFile {
        let paths = (geteuid() == 0 ? [] : [own].compactMap(\.self)) + [system]
        guard let path = paths.first(where: { access($0, F_OK) == 0 }) else {
            throw DaemonFailure(
                .noInput, "no configuration file was found: \(paths.joined(separator: " or "))",
                hint: "create one, or name a device: pumpctl serve --port usb:1a86:7523 --pty /tmp/pump")
        }
        return ConfigurationFile(path: path)
    }

    /// The path of this user's file; nil if XDG_CONFIG_HOME is not an absolute path, and HOME is not set.
    private static var own: String? {
        if let folder = getenv("XDG_CONFIG_HOME"), folder.pointee == UInt8(ascii: "/") {
            return String(cString: folder) + "/pumpctl/pumpctld.toml"
        }
        return getenv("HOME").map { String(cString: $0) + "/.config/pumpctl/pumpctld.toml" }
    }

    /// Reads the configuration.
    ///
    /// - Throws: ``DaemonFailure``, whose message names the file.
    func read() throws(DaemonFailure) -> DaemonConfiguration {
        let text = try contents()
        do throws(ConfigurationError) { return try DaemonConfiguration(toml: text) } catch {
            throw DaemonFailure(.usage, "\(path): \(error)", hint: error.hint)
        }
    }

    private func contents() throws(DaemonFailure) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.limit else {
            throw DaemonFailure(.noInput, "\(path): not a configuration file", hint: "name another file with --config")
        }
        guard access(path, R_OK) == 0 else { throw failure(errno) }
        guard let text = TextFile.contents(of: path) else { throw failure(EIO) }
        return text
    }

    private func failure(_ errno: CInt) -> DaemonFailure {
        let reason = String(cString: strerror(errno))
        return errno == EACCES
            ? DaemonFailure(.noPermission, "\(path): \(reason)", hint: "let this user read it: sudo chmod a+r \(path)")
            : DaemonFailure(.noInput, "\(path): \(reason)", hint: "name another file with --config")
    }
}
