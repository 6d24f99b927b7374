/// Other people's shells, to run `pumpctl` by.
public enum Shell {
    /// The words that let bash run a script, with `$0` and what follows it.
    ///
    /// Without `--norc`, bash reads the start-up file in HOME where its standard input is a socket, as it is for a
    /// ``ChildProcess``: it takes itself for the far end of rsh.
    public static func bash(_ script: String, _ arguments: String...) -> [String] {
        ["/bin/bash", "--norc", "-c", script] + arguments
    }
}
