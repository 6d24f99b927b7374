import ArgumentParser

/// How the options are explained by which a command ends by itself.
extension ArgumentHelp {
    /// That of `--count`.
    static func end(after things: String) -> ArgumentHelp {
        ArgumentHelp("End after this many \(things).", valueName: "number")
    }

    /// That of `--for`.
    static let endOfTime = ArgumentHelp("End after this time.", valueName: "time")
}
