import Glibc

/// Where pumpctl keeps what it has learnt, `$XDG_STATE_HOME/pumpctl` or `~/.local/state/pumpctl`.
enum StateFolder {
    /// Its path; nil where there is no home for it.
    static var path: String? {
        if let state = getenv("XDG_STATE_HOME"), state.pointee != 0 { return String(cString: state) + "/pumpctl" }
        if let home = getenv("HOME"), home.pointee != 0 { return String(cString: home) + "/.local/state/pumpctl" }
        return nil
    }

    /// Makes a folder and those above it, for their user alone. What can't be made shows when something is put there.
    static func make(_ path: String) {
        var end = path.startIndex
        while let slash = path[path.index(after: end)...].firstIndex(of: "/") {
            mkdir(String(path[..<slash]), 0o700)
            end = slash
        }
        mkdir(path, 0o700)
    }
}
