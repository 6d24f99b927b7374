internal import Glibc

/// Where the programs of this toolkit keep what they have learnt, `$XDG_STATE_HOME/pumpctl` or `~/.local/state/pumpctl`.
public enum StateFolder {
    /// Its path; nil where there is no home for it, or HOME names no folder. ``PrivateFolder`` makes the folder.
    public static var path: String? {
        if let state = getenv("XDG_STATE_HOME"), state.pointee != 0 { return String(cString: state) + "/pumpctl" }
        if let home = getenv("HOME"), home.pointee != 0, access(home, F_OK) == 0 {
            return String(cString: home) + "/.local/state/pumpctl"
        }
        return nil
    }
}

extension BLEMemoryFile {
    /// The user's file, `ble-devices` of ``StateFolder``; nil where there is no home for it.
    ///
    /// - Parameter onProblem: As for ``init(path:onProblem:)``.
    public static func user(onProblem: (@Sendable (FileError) -> Void)? = nil) -> BLEMemoryFile? {
        StateFolder.path.map { BLEMemoryFile(path: $0 + "/ble-devices", onProblem: onProblem) }
    }
}
