public import FirmwareSim
internal import LineProtocol

// FirmwareSim can't make these suggestions itself: it does not import LineProtocol, which compares words.

extension DeviceVerbError {
    /// A suggestion for the user who controls the device: the word that was probably meant, or else `hint`; nil if
    /// there is neither.
    public var advice: String? {
        if case .argument(let error) = self { return error.advice }
        return unknownWord?.correction ?? hint
    }
}

extension SimulatorOptionError {
    /// A suggestion for the user who starts or controls the device: the word that was probably meant, or else `hint`.
    public var advice: String? {
        switch problem {
        case .step(let error): error.advice
        case .noWayBack: "start the simulator with --link"
        default: unknownWord?.correction ?? hint
        }
    }
}

extension UnknownWord {
    /// A suggestion of the word that was probably meant; nil if no known word is similar.
    fileprivate var correction: String? {
        EditDistance.nearest(to: word, among: known).map { "write \($0) instead of '\(word)'" }
    }
}
