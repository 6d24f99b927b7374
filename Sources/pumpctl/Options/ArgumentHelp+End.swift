import ArgumentParser

/// The help of the options that end a command automatically.
extension ArgumentHelp {
    /// Returns the help of `--count`.
    static func end(after things: String) -> ArgumentHelp {
        ArgumentHelp("End after this many \(things).", valueName: "number")
    }

    /// The help of `--for`.
    static let endOfTime = ArgumentHelp("End after this time.", valueName: "time")
}
