/// Shells for running `pumpctl`.
public enum Shell {
    /// Returns the arguments that make bash run a script, with `$0` and the parameters after it.
    ///
    /// The standard input of a ``ChildProcess`` is a socket. Without `--norc`, bash then assumes that rsh has started
    /// it, and reads the start-up file in HOME.
    public static func bash(_ script: String, _ arguments: String...) -> [String] {
        ["/bin/bash", "--norc", "-c", script] + arguments
    }
}
