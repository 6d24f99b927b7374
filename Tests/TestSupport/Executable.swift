internal import Glibc

/// The programs of this package.
public enum Executable {
    /// `pumpctl`, beside the test bundle.
    public static let pumpctl = path(of: "pumpctl")

    /// `pumpctl-record`, beside it.
    public static let pumpctlRecord = path(of: "pumpctl-record")

    /// `pumpctld`, beside it.
    public static let pumpctld = path(of: "pumpctld")

    /// The library that tells what a program puts on the disk, when it is preloaded.
    public static let syncCounter = path(of: "libSyncCounter.so")

    private static var folder: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            let count = readlink("/proc/self/exe", buffer.baseAddress!, 4095)
            buffer[max(0, count)] = 0
            let path = String(cString: buffer.baseAddress!)
            return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        }
    }

    /// What records without end, for the tests of the recorder.
    public static let recorderProbe = path(of: "recorder-probe")

    /// The path of a program that stands beside the test bundle.
    public static func path(of program: String) -> String { "\(folder)/\(program)" }

    /// The path of a program on PATH; nil if there is none.
    public static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
