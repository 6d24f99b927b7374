internal import Glibc

/// The programs of this package.
///
/// The programs that users install come from the folder named by `PUMPCTL_PROGRAMS`; if that is not set, from the
/// folder of the test bundle. Programs and libraries for tests only are always in the bundle's folder.
public enum Executable {
    /// The folder of ``pumpctl``, ``pumpctlPage``, ``pumpctlRecord`` and ``pumpctld``.
    public static let folder: String = {
        guard let name = getenv("PUMPCTL_PROGRAMS").map({ String(cString: $0) }), !name.isEmpty else {
            return bundleFolder
        }
        // An absolute path, because a test may start a program in another working folder.
        guard let path = realpath(name, nil) else { fatalError("PUMPCTL_PROGRAMS=\(name): there is no such folder") }
        defer { free(path) }
        return String(cString: path)
    }()

    public static let pumpctl = "\(folder)/pumpctl"
    public static let pumpctlPage = "\(folder)/pumpctl-page"
    public static let pumpctlRecord = "\(folder)/pumpctl-record"
    public static let pumpctld = "\(folder)/pumpctld"

    /// A library for `LD_PRELOAD` that logs a program's calls of fsync(2), fdatasync(2), rename(2) and posix_spawnp(3),
    /// and its writes to terminals, to the file named by `SYNC_COUNTER`.
    public static let syncCounter = path(of: "libSyncCounter.so")

    private static var bundleFolder: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            let count = readlink("/proc/self/exe", buffer.baseAddress!, 4095)
            buffer[max(0, count)] = 0
            let path = String(cString: buffer.baseAddress!)
            return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        }
    }

    /// A program that records without end, for the recorder's tests.
    public static let recorderProbe = path(of: "recorder-probe")

    /// The path of a program in the test bundle's folder.
    public static func path(of program: String) -> String { "\(bundleFolder)/\(program)" }

    /// The path of a program in PATH; nil if there is none.
    public static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
