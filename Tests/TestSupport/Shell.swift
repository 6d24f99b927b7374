/// Shells for running `pumpctl`.
public enum Shell {
    /// Returns the arguments that make bash run a script, with `$0` and the parameters after it.
    ///
    /// Without `--norc`, bash reads the start-up file in HOME if its standard input is a socket, as for a
    /// ``ChildProcess``, because it takes itself for the far end of rsh.
    public static func bash(_ script: String, _ arguments: String...) -> [String] {
        ["/bin/bash", "--norc", "-c", script] + arguments
    }
}
