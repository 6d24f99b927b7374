import DeviceKit
import Glibc
import LineProtocol

/// Where pumpctl keeps what it has learnt, `$XDG_STATE_HOME/pumpctl` or `~/.local/state/pumpctl`.
enum StateFolder {
    /// Its path; nil where there is no home for it.
    static var path: String? {
        if let state = getenv("XDG_STATE_HOME"), state.pointee != 0 { return String(cString: state) + "/pumpctl" }
        if let home = getenv("HOME"), home.pointee != 0 { return String(cString: home) + "/.local/state/pumpctl" }
        return nil
    }

    /// Makes a folder and those above it, for their user alone.
    static func make(_ path: String) { PrivateFolder.make(path) }
}

extension BLEMemoryFile {
    /// The user's file, `ble-devices` of the state folder; nil where there is no home for it.
    ///
    /// - Parameter note: Where to say that the file can't be read or written; nil for nowhere.
    static func user(note: (@Sendable (String) -> Void)? = nil) -> BLEMemoryFile? {
        StateFolder.path.map { folder in
            BLEMemoryFile(path: folder + "/ble-devices") { error in
                note?("pumpctl: it is not remembered which device a name leads to: \("\(error)".printable())")
            }
        }
    }
}
