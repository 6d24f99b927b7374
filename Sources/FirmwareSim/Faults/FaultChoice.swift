/// Which faults a device can be given while it runs: those that it could have been given at the start, where it is.
struct FaultChoice: Sendable {
    /// The option that names faults, as that of the device's row.
    var option = SimulatorOption.faults()
    var carrier = SimulatorOption.Carrier.line
    /// Whether it is on a pseudo-terminal, where a baud rate is known.
    var isOnTerminal = true
    /// Whether programs find it again once its cable was pulled.
    var hasWayBack = true

    /// The faults of a text, parted by commas.
    ///
    /// - Throws: Where the text names something else, or a fault that makes no sense for the device or where it is.
    func faults(_ text: String) throws(SimulatorOptionError) -> (orders: [FaultOrder], own: String?) {
        let settings = try SimulatorSettings([option], [option.name: text], over: carrier)
        if !isOnTerminal { try settings.checkWithoutTerminal() }
        if !hasWayBack, settings.pullsCable { throw SimulatorOptionError(option.name, .noWayBack) }
        return (settings.faults(option.name), settings.ownFault(option.name))
    }
}
