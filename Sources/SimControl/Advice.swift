public import FirmwareSim
internal import LineProtocol

extension DeviceVerbError {
    /// What to do about it for who controls the device: the word that was probably meant, or else ``hint``.
    public var advice: String? {
        if case .argument(let error) = self { return error.advice }
        return unknownWord?.correction ?? hint
    }
}

extension SimulatorOptionError {
    /// What to do about it for who starts or controls the device: the word that was probably meant, or else ``hint``.
    public var advice: String? {
        switch problem {
        case .step(let error): error.advice
        case .noWayBack: "start the simulator with --link"
        default: unknownWord?.correction ?? hint
        }
    }
}

extension UnknownWord {
    /// The word that was probably meant; nil where none is like it.
    fileprivate var correction: String? {
        EditDistance.nearest(to: word, among: known).map { "write \($0) instead of '\(word)'" }
    }
}
