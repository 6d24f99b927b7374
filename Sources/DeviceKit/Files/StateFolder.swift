internal import Glibc

/// The folder for data that the programs of this toolkit remember: `$XDG_STATE_HOME/pumpctl` or
/// `~/.local/state/pumpctl`.
public enum StateFolder {
    /// The path of the folder; nil if XDG_STATE_HOME is not set, and HOME is not set or names no existing folder.
    /// ``PrivateFolder`` creates the folder.
    public static var path: String? {
        if let state = getenv("XDG_STATE_HOME"), state.pointee != 0 { return String(cString: state) + "/pumpctl" }
        if let home = getenv("HOME"), home.pointee != 0, access(home, F_OK) == 0 {
            return String(cString: home) + "/.local/state/pumpctl"
        }
        return nil
    }
}

extension BLEMemoryFile {
    /// Returns the memory in the user's file, `ble-devices` in ``StateFolder``; nil if ``StateFolder/path`` is nil.
    ///
    /// - Parameter onProblem: See ``init(path:onProblem:)``.
    public static func user(onProblem: (@Sendable (FileError) -> Void)? = nil) -> BLEMemoryFile? {
        StateFolder.path.map { BLEMemoryFile(path: $0 + "/ble-devices", onProblem: onProblem) }
    }
}
